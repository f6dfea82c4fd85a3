#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# `make bench-live`: scx_alight against the kernel's own scheduler and every other
# scx scheduler at hand, in one guest session each, interleaved.
#
#	crates/live/bench/bench.sh REPORT
#
#	PEERS=DIR	take scx_* and schbench from DIR, not from PATH
#	RUNS=N		of each row (5)
#	SCHEDULER=NAME	what scx_alight runs (linux-7.2)
#	SESSIONS=NAMES	of the two: work parallel (both)
#	KEEP=DIR	what a session of this commit and RUNS printed stays in DIR, and is taken from
#			there if it came to its end before
#
# Two sessions: in one the guest's time is its count of instructions, so that
# work is measured; in the other the CPUs run side by side.

set -euo pipefail
cd "$(dirname "$0")/../../.."
report=${1:?usage: bench.sh REPORT}
RUNS=${RUNS:-5}
SCHEDULER=${SCHEDULER:-linux-7.2}
SESSIONS=${SESSIONS:-work parallel}
KEEP=${KEEP:-}
KERNEL=amd64-7.2-cloud
WORK_ROWS='pipe-one-cpu pipe hackbench-pipes hackbench-sockets sysbench-threads schbench cyclictest cyclictest-loaded cyclictest-idle'
PARALLEL_ROWS='hackbench-pipes hackbench-sockets sysbench-threads schbench cyclictest cyclictest-loaded cyclictest-idle'
target=${CARGO_TARGET_DIR:-target}

# Quick to build; what is measured runs in the kernel.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
install -d "$tree/usr/bin"

commit=$(git describe --always --dirty 2>/dev/null || echo unknown)
vm/fetch.sh $KERNEL
cargo build -q --release -p alight-live
programs=$(vm/programs.sh amd64 linux-perf stress-ng sysbench util-linux)
for file in perf stress-ng sysbench chrt taskset; do cp "$programs/usr/bin/$file" "$tree/usr/bin/"; done
cp -r "$programs"/lib* "$tree/"
strip -o "$tree/scx_alight" "$target/release/scx_alight"
echo "alight /scx_alight $SCHEDULER" >"$tree/schedulers"

# Everything that is called scx_NAME, the first of a name; and what comes with schedulers but is none.
IFS=: read -ra places <<<"${PEERS:-$PATH}"
for place in "${places[@]}"; do
	for file in "$place"/scx_*; do
		name=${file##*/scx_}
		case $name in alight | loader | chaos | stats* | '*') continue ;; esac
		if [ ! -x "$file" ] || [ -e "$tree/scx_$name" ]; then continue; fi
		strip -o "$tree/scx_$name" "$file"
		echo "$name /scx_$name" >>"$tree/schedulers"
		echo "$name $("$file" --version 2>/dev/null | head -n 1)" >>"$work/peers"
	done
	if [ -x "$place/schbench" ] && [ ! -e "$tree/usr/bin/schbench" ]; then
		strip -o "$tree/usr/bin/schbench" "$place/schbench"
	fi
done
[ -e "$work/peers" ] || echo 'SKIPPED: no other scx scheduler is on PATH (or in PEERS)'
if [ ! -e "$tree/usr/bin/schbench" ]; then
	echo 'SKIPPED: schbench is not on PATH (or in PEERS)'
	WORK_ROWS=${WORK_ROWS/schbench /} PARALLEL_ROWS=${PARALLEL_ROWS/schbench /}
fi

# session NAME OPTION... -- ROW...
session() {
	local name=$1 options=()
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	local kept=${KEEP:+$KEEP/$commit-$RUNS-$name}
	if [ -n "$kept" ] && [ -e "$kept" ]; then
		cp "$kept" "$work/$name"
		return
	fi
	vm/run.sh --kernel $KERNEL --smp 8 --mem 3072 --timeout 14400 --add "$tree" "${options[@]}" \
		crates/live/bench/guest.sh "$RUNS" "$@" | tee "$work/$name"
	[ -z "$kept" ] || { mkdir -p "$KEEP" && cp "$work/$name" "$kept"; }
}

touch "$work/peers" "$work/work" "$work/parallel"
for which in $SESSIONS; do
	# shellcheck disable=SC2086 # rows are words
	case $which in
	work) session work --icount -- $WORK_ROWS ;;
	parallel) session parallel -- $PARALLEL_ROWS ;;
	*)
		echo "bench.sh: no session is called '$which'; known are: work parallel" >&2
		exit 2
		;;
	esac
done
crates/live/bench/report.py "$SCHEDULER" "$commit" "$(cat "${ALIGHT_VM_CACHE:-vm/cache}/kernels/$KERNEL/release")" "$work/peers" "$work/work" "$work/parallel" >"$report.$$"
mv "$report.$$" "$report"
