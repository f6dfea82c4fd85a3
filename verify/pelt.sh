#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Holds policy/pelt.h against stock kernels: boots each, records every change of
# its load-tracking signals while tasks of every kind run, and makes each again.
#
#   verify/pelt.sh [--keep DIR] [--sample] [KERNEL...]
#
# KERNEL is a row of vm/kernels.txt; without one: a kernel of each series of amd64, and
# some of arm64 with little and big CPUs that change their frequency. --keep DIR leaves
# the recordings and reports (JSON) in DIR; the report of a kernel that could not be
# recorded is empty. A recording that is empty or short fails, with the reason.
# --sample records some ten thousand updates instead of half a million or more.
#
# One line a kernel; the last line is "pelt: N passed, N failed".

set -euo pipefail
cd "$(dirname "$0")/.."
. verify/recorder.sh

mapfile -t KERNELS < <(amd64_kernels)
KERNELS+=("${ARM64_KERNELS[@]}")
# What a recording must hold at the least to count.
LEAST_UPDATES=500000
# Messages a sender of hackbench passes: as many as make enough updates. CFS (up to 6.5)
# switches most often, and with more the recorder would not keep up.
declare -A LOOPS=([amd64-5.10-cloud]=400 [amd64-6.1-cloud]=400)
LOOPS_amd64=3200
LOOPS_arm64=1300

keep='' sample=''
while [ $# -gt 0 ]; do
	case $1 in
	--keep) keep=$2 && shift 2 ;;
	--sample) sample=1 && shift ;;
	*) break ;;
	esac
done
[ $# -eq 0 ] || KERNELS=("$@")
[ -z "$sample" ] || LEAST_UPDATES=10000 LOOPS=() LOOPS_amd64=40 LOOPS_arm64=20

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
keep=${keep:-$work}
mkdir -p "$keep"
target=${CARGO_TARGET_DIR:-target}
passed=0 failed=0

# record KERNEL FILE
record() {
	local arch=${1%%-*} machine=(--smp 4) loops
	loops=LOOPS_$arch
	recorder "$arch" "$work/$arch"
	install -m 644 verify/pelt-load.sh "$work/$arch/" # no program: it has no libraries
	if [ "$arch" = arm64 ]; then
		vm/dtb.py "$work/asym.dtb" --little 2 --big 2 --opps
		machine=(--dtb "$work/asym.dtb" --module cpufreq-dt)
	fi
	cat >"$work/run.sh" <<-'G'
		renice -n -20 -p $$
		/alight-record pelt -o /tmp/run.alight --ring 1024 -- sh /pelt-load.sh "$@" || exit
		echo "bytes written: $(wc -c </tmp/run.alight)"
		cat /tmp/run.alight >/dev/out
	G
	vm/run.sh --kernel "$1" --mem 6144 --timeout 1800 "${machine[@]}" --add "$work/$arch" \
		--out "$2" "$work/run.sh" "${LOOPS[$1]:-${!loops}}" >"$work/console" || {
		cat "$work/console" >&2
		return 1
	}
	arrived "$2"
}

# verify KERNEL FILE
verify() {
	local status=0 updates
	"$alight" verify pelt --json "$2" >"$keep/$1.json" || status=$?
	updates=$(sed -n 's/^  "updates": \([0-9]*\),/\1/p' "$keep/$1.json")
	printf '%s: %s updates, exit status %s\n' "$1" "${updates:-no}" $status
	[ "${updates:-0}" -ge $LEAST_UPDATES ] || {
		printf '%s: at least %s updates are wanted\n' "$1" $LEAST_UPDATES
		status=1
	}
	[ $status = 0 ]
}

judge
for kernel in "${KERNELS[@]}"; do
	: >"$keep/$kernel.json" # stays empty if there is nothing to report
	if record "$kernel" "$keep/$kernel.alight" && verify "$kernel" "$keep/$kernel.alight"; then
		passed=$((passed + 1))
	else
		printf 'FAIL  %s\n' "$kernel"
		failed=$((failed + 1))
	fi
done
printf 'pelt: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
