#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Holds the whole model against stock kernels: boots each, records workloads with
# the costs of kernel paths, simulates the same on the same machine, compares.
#
#   verify/behaviour.sh [--keep DIR] [--sample] [KERNEL...]
#
# KERNEL is a row of vm/kernels.txt; without one: a kernel of each series of amd64.
# Each runs on one CPU, where time is exact, and on four. --keep DIR leaves the
# recordings and reports (JSON) in DIR; --sample records one CPU only.
#
# The guests' time is the count of instructions (--icount), so that costs do not
# depend on what else this machine does. Several CPUs then take turns at the one
# processor of the emulation: short ones here (--turns), so that each gets its part
# at any time. The recorder finds that out, and the model shares a processor as well.
#
# One line a machine; the last line is "behaviour: N passed, N failed". A kernel
# passes if of no workload a quantity disagrees.

set -euo pipefail
cd "$(dirname "$0")/.."
. verify/recorder.sh

mapfile -t KERNELS < <(amd64_kernels)
PROGRAMS=(sysbench stress-ng rt-app)
TURNS_US=2
MACHINES=(one four)

keep=''
while [ $# -gt 0 ]; do
	case $1 in
	--keep) keep=$2 && shift 2 ;;
	--sample) MACHINES=(one) && shift ;;
	*) break ;;
	esac
done
[ $# -eq 0 ] || KERNELS=("$@")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
keep=${keep:-$work}
mkdir -p "$keep"
target=${CARGO_TARGET_DIR:-target}
passed=0 failed=0

install -d "$work/guest/behaviour"
recorder amd64 "$work/guest"
install -m 644 verify/behaviour-load.sh "$work/guest/"
cp verify/behaviour/*.json "$work/guest/behaviour/"
judge
programs=$(vm/programs.sh amd64 "${PROGRAMS[@]}")

# record KERNEL MACHINE DIR: leaves a recording of each workload in DIR.
record() {
	local machine=(--smp 1)
	[ "$2" = one ] || machine=(--smp 4 --turns $TURNS_US)
	cat >"$work/run.sh" <<-'G'
		mkdir -p /tmp
		sh /behaviour-load.sh "$1" 12 || exit
		echo "bytes written: $(wc -c </tmp/behaviour.tar)"
		cat /tmp/behaviour.tar >/dev/out
	G
	vm/run.sh --kernel "$1" --icount "${machine[@]}" --timeout 3600 --add "$work/guest" --add "$programs" \
		--out "$work/behaviour.tar" "$work/run.sh" "$2" >"$work/console" || {
		cat "$work/console" >&2
		return 1
	}
	arrived "$work/behaviour.tar" || return
	mkdir -p "$3"
	tar -xf "$work/behaviour.tar" -C "$3"
}

# count VERDICT REPORT
count() { grep -c "\"verdict\": \"$1\"" "$2" || true; }

for kernel in "${KERNELS[@]}"; do
	good=1
	case $kernel in
	amd64-*) ;;
	*)
		printf 'FAIL  %s: behaviour is recorded on amd64 only\n' "$kernel"
		failed=$((failed + 1))
		continue
		;;
	esac
	for machine in "${MACHINES[@]}"; do
		name=$kernel-$machine status=0
		: >"$keep/$name-behaviour.json" # stays empty if there is nothing to report
		record "$kernel" "$machine" "$keep/$name" || { good=0 && continue; }
		"$alight" verify behaviour --json "$keep/$name"/*.alight \
			>"$keep/$name-behaviour.json" 2>"$work/errors" || status=$?
		[ $status -le 1 ] || cat "$work/errors" >&2
		[ $status = 0 ] || good=0
		printf '%s: %s agree, %s disagree, %s too few, %s not measured; exit status %s\n' "$name" \
			"$(count agree "$keep/$name-behaviour.json")" "$(count disagree "$keep/$name-behaviour.json")" \
			"$(count too_few "$keep/$name-behaviour.json")" \
			"$(count not_measured "$keep/$name-behaviour.json")" $status
	done
	if [ $good = 1 ]; then
		passed=$((passed + 1))
	else
		printf 'FAIL  %s\n' "$kernel"
		failed=$((failed + 1))
	fi
done
printf 'behaviour: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
