#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# How much slower hackbench is while `alight-record workload` records it, in guests whose time is
# their count of instructions (--icount): it does not depend on what else this machine does. One
# line a check; the last line is "slowdown: N passed, N failed".
#
#	crates/live/tests/slowdown.sh [OPTION...] [KERNEL...]	rows of vm/kernels.txt
#		--machine one|four	guests of so many CPUs only
#		--runs N		of each kind; without, 5

set -euo pipefail
cd "$(dirname "$0")/../../.."

KERNELS=(amd64-7.2-cloud)
MACHINES=(one four)
# Runs without the recorder, and with it.
RUNS=5
while [ $# -gt 0 ]; do
	case $1 in
	--machine) MACHINES=("$2") && shift ;;
	--runs) RUNS=$2 && shift ;;
	-*) echo "slowdown.sh: unknown option $1; see its head" >&2 && exit 2 ;;
	*) break ;;
	esac
	shift
done
[ $# -eq 0 ] || KERNELS=("$@")
# The median of the runs is longer by less than this, in tenths of a percent.
BAR=100
# Four CPUs share the processor of the emulation, in short turns.
TURNS_US=2

. tests/checks.sh
. verify/recorder.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target=${CARGO_TARGET_DIR:-target}

cat >"$work/guest.sh" <<'G'
mkdir -p /tmp
cd /tmp
seconds() { sed -n 's/^Time: //p'; }
# compare NAME OPTION...
compare() {
	name=$1
	shift
	for run in $(seq $((RUNS + 2))); do echo "hackbench $*"; done >runs.sh
	/alight-record workload -o one.alight -- sh runs.sh >one.out 2>&1 || cat one.out
	# The first two of each warm up.
	seconds <one.out | sed "1,2d; s/^/$name recorded: /"
	sh runs.sh | seconds | sed "1,2d; s/^/$name plain: /"
	echo "$name lost: $(sed -n 's/.* records, \(.*\) lost$/\1/p' one.out)"
}
RUNS=$1
# In the first seconds of a guest hackbench took a fifth longer, recorded or not: both are measured
# behind that. Idle time passes at once.
sleep 30
compare pipes -g 2 -f 5 -l "$2" -p
compare sockets -g 2 -f 5 -l $(($2 / 4))
echo "errors: $(dmesg | grep -c -e BUG -e WARNING)"
G

# median NAME: of these lines of the guest, in us.
median() {
	sed -n "s/^$1: //p" "$work/out" | sort -n |
		awk '{ all[NR] = $1 } END { if (NR) printf "%d\n", all[int((NR + 1) / 2)] * 1000000 }'
}

# slower NAME: in tenths of a percent.
slower() {
	local plain recorded
	plain=$(median "$1 plain") recorded=$(median "$1 recorded")
	[ -z "$plain" ] || [ -z "$recorded" ] || echo $(((recorded - plain) * 1000 / plain))
}

below() { # NAME BAR FOUND
	if [ -n "$3" ] && [ "$3" -lt "$2" ]; then
		check "$1 (less than $2)" "$3" "$3"
	else
		check "$1" "less than $2" "$3"
	fi
}

vm/fetch.sh "${KERNELS[@]}"
for kernel in "${KERNELS[@]}"; do
	arch=${kernel%%-*}
	[ -e "$work/add-$arch" ] || recorder "$arch" "$work/add-$arch"
	for machine in "${MACHINES[@]}"; do
		cpus=(--smp 1) loops=5000
		[ $machine = one ] || cpus=(--smp 4 --turns $TURNS_US) loops=2000
		vm/run.sh --kernel "$kernel" --icount "${cpus[@]}" --timeout 1800 --add "$work/add-$arch" \
			"$work/guest.sh" $RUNS $loops >"$work/out" || {
			echo "FAIL  $kernel: the guest ended with status $?"
			failed=$((failed + 1))
			continue
		}
		sed "s/^/  $kernel $machine /" "$work/out"
		for load in pipes sockets; do
			check "$kernel $machine $load: recorded runs" $RUNS "$(grep -c "^$load recorded: " "$work/out")"
			check "$kernel $machine $load: lost" 0 "$(sed -n "s/^$load lost: //p" "$work/out")"
			below "$kernel $machine $load: slower, tenths of a percent" $BAR "$(slower $load)"
		done
		check "$kernel $machine: errors in the kernel log" 0 "$(sed -n 's/^errors: //p' "$work/out")"
	done
done
printf 'slowdown: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
