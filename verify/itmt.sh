#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Holds asymmetric packing (ITMT, SD_ASYM_PACKING) against stock kernels: boots each on CPUs that its
# firmware ranks, has busy tasks begin on the CPU that is ranked last, and looks on which cores they end
# up. The model runs the same tasks on the machine that `alight machine capture` saw in the guest.
#
#   verify/itmt.sh [KERNEL...]
#
# KERNEL is a row of vm/kernels.txt; without one: those of amd64 whose amd-pstate ranks CPUs. Each runs
# on four CPUs and on four cores of two threads, with up to as many tasks as there are cores: with more
# the kernel itself does not end up the same way twice. intel_pstate needs a CPU that QEMU does not
# emulate (HWP), so it is held against its source alone.
#
# One line a check; the last line is "itmt: N passed, N failed".

set -euo pipefail
cd "$(dirname "$0")/.."
. tests/checks.sh
. verify/recorder.sh

KERNELS=(amd64-6.12-cloud amd64-6.18-cloud amd64-6.19-cloud amd64-7.0-cloud amd64-7.1-cloud amd64-7.2-cloud
	amd64-7.3-cloud)
[ $# -eq 0 ] || KERNELS=("$@")
# Of the cores: the last is to be filled first.
RANKS=(166 186 206 231)
# Seconds from the begin of a load in which its CPUs are looked at.
FROM=4 TO=6

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target=${CARGO_TARGET_DIR:-target}

# load TASKS CPUS: so many tasks that are always busy; CPU 0 has all of them at first.
load() {
	cat <<-J
		{"global": {"duration": $TO, "default_policy": "SCHED_OTHER", "calibration": 100,
			"lock_pages": false, "logdir": "/tmp"},
		 "tasks": {"busy": {"instance": $1, "phases": {
			"pinned": {"loop": 1, "cpus": [0], "run": 10000},
			"free": {"loop": -1, "cpus": [$(seq -s, 0 $(($2 - 1)))], "run": 1000}}}}}
	J
}

cat >"$work/guest.sh" <<'G'
mkdir -p /tmp
# Hundredths of a second in which each CPU has been busy.
busy() { awk '/^cpu[0-9]/ { print $2 + $3 + $4 + $7 + $8 }' /proc/stat | xargs; }
mount -t debugfs none /sys/kernel/debug 2>/dev/null
echo Y >/sys/kernel/debug/sched/verbose
sleep 1
echo "flags: $(cat /sys/kernel/debug/sched/domains/cpu0/domain*/flags | tr ' ' '\n' | grep -c SD_ASYM_PACKING)"
for load in /loads/*.json; do
	rt-app $load >/dev/null 2>&1 &
	sleep $1
	before=$(busy)
	sleep $(($2 - $1))
	echo "${load##*/} $(echo $before $(busy) | awk -v s=$(($2 - $1)) \
		'{ for (i = 1; i <= NF / 2; i++) printf "%d ", ($(i + NF / 2) - $i) / s }')"
	wait
done
/alight machine capture >/dev/out 2>/dev/null
G

# base_of SERIES: the last base that is not newer.
base_of() {
	{ "$alight" policy list | awk '$1 ~ /^linux-[0-9]/ { print $1 }' && echo "linux-$1.999"; } | sort -Vu |
		grep -B 1 -x "linux-$1.999" | head -n 1
}

# modelled MACHINE BASE LOAD CPUS: percent of the time in which each CPU is busy, as the guest says it.
modelled() {
	"$alight" simulate -m "$1" -w "$3" "$2" --trace "$work/trace.txt" >/dev/null 2>"$work/said" || {
		cat "$work/said" >&2
		return 1
	}
	verify/busy.py $FROM $TO "$4" <"$work/trace.txt"
}

# cores THREADS PERCENT...: the numbers of the cores that are busy for at least half as long as the one that
# is busy for longest: on a busy host none has all of the time. None if that one has next to nothing to do.
cores() {
	awk -v threads="$1" '{
		for (i = 1; i <= NF; i++) {
			core = int((i - 1) / threads)
			sum[core] += $i
			if (sum[core] > most) most = sum[core]
		}
		for (i = 0; i <= core; i++) if (most >= 10 && 2 * sum[i] >= most) print i
	}' <<<"${*:2}" | xargs
}

judge
programs=$(vm/programs.sh amd64 rt-app)
for kernel in "${KERNELS[@]}"; do
	series=${kernel#amd64-}
	base=$(base_of "${series%-cloud}")
	for threads in 1 2; do
		cpus=$((4 * threads))
		place="$kernel, threads a core $threads"
		tree=$work/$kernel-$threads
		install -d "$tree/loads"
		strip -o "$tree/alight" "$alight"
		for tasks in 1 2 3 4; do load $tasks $cpus >"$tree/loads/$tasks.json"; done
		ranks=$(for rank in "${RANKS[@]}"; do for _ in $(seq $threads); do echo "$rank"; done; done | paste -sd,)
		vm/run.sh --kernel "$kernel" --smp $cpus,cores=4,threads=$threads --cppc "$ranks" --add "$tree" \
			--add "$programs" --out "$work/machine.toml" "$work/guest.sh" $FROM $TO >"$work/out" || {
			cat "$work/out" >&2
			echo "FAIL  $place: the guest ended with status $?"
			failed=$((failed + 1))
			continue
		}
		check "$place: domains that follow the ranks" 1 "$(sed -n 's/^flags: //p' "$work/out")"
		check "$place: ranks that are captured" "${RANKS[*]}" \
			"$(sed -n 's/^priority = //p' "$work/machine.toml" | sort -n | xargs)"
		for tasks in 1 2 3 4; do
			seen=$(sed -n "s/^$tasks.json //p" "$work/out")
			# shellcheck disable=SC2086 # lists of numbers
			check "$place, tasks $tasks: their cores (${seen% })" \
				"$(cores $threads "$(modelled "$work/machine.toml" "$base" "$tree/loads/$tasks.json" $cpus)")" \
				"$(cores $threads $seen)"
		done
	done
done
echo "itmt: $passed passed, $failed failed"
[ $failed = 0 ]
