#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Holds the decision in BPF against the native build: random machines, states and
# wakeups are put to both in a guest (crates/live/src/bpf_equals_native.rs),
# and everything that they answer and write must be equal.
#
#   verify/select.sh [--sample] [KERNEL...]
#
# KERNEL is a row of vm/kernels.txt; without one: amd64-7.2-cloud and arm64-6.18.
# A million states a kernel. On amd64 half of them under every base with every
# combination of features that BPF can carry, and with features that are told something;
# half by another seed, under fewer. The verifier of kernels before 7 takes up to minutes for one
# scheduler in an emulated guest: on arm64 the bases alone, with all features and
# with each. --sample: 100000 states, bases alone and with all features.
# A host that is wrong on purpose must be found out, and the state that it prints
# must show the same alone.
#
# One line a check; the last line is "select: N passed, N failed".

set -euo pipefail
cd "$(dirname "$0")/.."

KERNELS=(amd64-7.2-cloud arm64-6.18)
# The first 12 schedulers are the bases alone and with all features, 34 those with each too.
FEW=12 MORE=34

sample=
if [ "${1:-}" = --sample ]; then
	sample=1
	shift
fi
[ $# -eq 0 ] || KERNELS=("$@")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target=${CARGO_TARGET_DIR:-target}
. tests/checks.sh

# program ARCH DIR: leaves the program for this architecture in DIR.
program() {
	local name=bpf_equals_native
	install -d "$2"
	case $1 in
	amd64)
		tests/programs.sh
		strip -o "$2/$name" "$target/debug/$name"
		;;
	arm64)
		tests/programs.sh arm64
		aarch64-linux-gnu-strip -o "$2/$name" \
			"$target/aarch64-unknown-linux-gnu/debug/$name"
		;;
	esac
}

# runs KERNEL: the arguments of the program, a line a run.
runs() {
	if [ $sample ]; then
		echo "--states 100000 --schedulers $FEW"
	elif [ "${1%%-*}" = arm64 ]; then
		echo "--states 1000000 --schedulers $MORE"
	else
		echo '--states 500000 --seed 1'
		echo "--states 500000 --seed 2 --schedulers $MORE"
	fi
}

# shellcheck disable=SC2016 # the guest expands it
GUEST='
/bpf_equals_native --states 1000 --schedulers 3 --wrong >/tmp/wrong 2>&1
echo "wrong status: $?"
again=$(sed -n "s/^alone: //p" /tmp/wrong)
/bpf_equals_native $again --wrong >/tmp/again 2>&1
echo "again status: $?"
cmp -s /tmp/wrong /tmp/again
echo "again the same: $?"
/bpf_equals_native $again >/dev/null 2>&1
echo "right status: $?"
while read -r run; do
	/bpf_equals_native $run >/tmp/run 2>&1
	echo "run status: $?"
	tail -n 80 /tmp/run | cut -c 1-300
done </runs
echo "kernel errors: $(dmesg | grep -c -e BUG -e WARNING)"
'

# boot KERNEL: leaves what the guest printed in KERNEL.out.
boot() {
	local arch=${1%%-*}
	program "$arch" "$work/$arch"
	runs "$1" >"$work/$arch/runs"
	echo "$GUEST" >"$work/$1.sh"
	vm/run.sh --kernel "$1" --smp 2 --timeout 7200 --add "$work/$arch" \
		--console "$work/console" "$work/$1.sh" >"$work/$1.out" || {
		echo "FAIL  $1: the guest ended with status $?"
		failed=$((failed + 1))
	}
}

# fact KERNEL NAME: the values that the guest printed after "NAME:", one line.
fact() { sed -n "s/^$2: *//p" "$work/$1.out" | paste -sd ' '; }

# states KERNEL: how many were equal, over all runs.
states() { awk '/^[0-9]+ states of [0-9]+ schedulers, all equal$/ { n += $1 } END { print n + 0 }' "$work/$1.out"; }

judge() {
	local least=1000000 count runs
	[ ! $sample ] || least=100000
	check "$1: a wrong host is found out" 1 "$(fact "$1" 'wrong status')"
	check "$1: its state alone" '1 0' "$(fact "$1" 'again status') $(fact "$1" 'again the same')"
	check "$1: the same with the right host" 0 "$(fact "$1" 'right status')"
	runs=$(runs "$1" | wc -l)
	check "$1: exit status" "$(yes 0 | head -n "$runs" | paste -sd ' ')" "$(fact "$1" 'run status')"
	count=$(states "$1")
	[ "$count" -ge $least ] && least=$count
	check "$1: equal states" "$least" "$count"
	check "$1: errors in the kernel log" 0 "$(fact "$1" 'kernel errors')"
	sed -n "s/^\(times\|[0-9]* states of\)/      $1: &/p" "$work/$1.out"
}

for kernel in "${KERNELS[@]}"; do
	boot "$kernel"
	judge "$kernel"
done
if [ $failed -gt 0 ]; then
	for kernel in "${KERNELS[@]}"; do
		printf '%s: what the guest %s printed:\n' "${0##*/}" "$kernel" >&2
		sed 's/^/  /' "$work/$kernel.out" >&2
	done
fi
printf 'select: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
