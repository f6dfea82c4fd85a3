#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does to scx_alight, in the guests of vm/, what machines and people do to a
# scheduler: faults/guest.sh has the faults and what must hold.
#
#	crates/live/tests/faults.sh			the short part, in `make test`
#	crates/live/tests/faults.sh --soak REPORT.md	all, at full length, and a minute of
#							logs.sh, `make soak`: hours; writes REPORT.md, and what
#							the guests printed to target/soak
#
# One line a check; the last line is "faults: N passed, N failed".
#
#	LENGTH=PERCENT	of the full lengths of --soak (100); the page says so
#	GUESTS=NAMES	only these guests of --soak, "logs" among them; the page says which are missing
#	CONTINUE=1	go on: a guest that has come to its end in target/soak does not run
#			again; all must be of one scheduler

set -euo pipefail
cd "$(dirname "$0")/../../.."
LENGTH=${LENGTH:-100}
GUESTS=${GUESTS:-}
CONTINUE=${CONTINUE:-}

report=
case ${1:-} in
'') ;;
--soak)
	report=${2:?usage: faults.sh [--soak REPORT.md]}
	[[ $report == *.md ]] || {
		echo "faults.sh: '$report' does not end in .md" >&2
		exit 2
	}
	;;
*)
	echo "faults.sh: unknown option '$1'; see the head of $0" >&2
	exit 2
	;;
esac

work=$(mktemp -d)
slow=
trap '[ -z "$slow" ] || pkill -P "$slow" || true; rm -rf "$work"' EXIT
results=$work
target=${CARGO_TARGET_DIR:-target}
passed=0 failed=0
guests=() missing=()

# prepare ARCH: what the guests of one architecture get.
prepare() {
	local tree=$work/$1 programs file compiler
	vm/fetch.sh sysroot
	install -d "$tree/usr/bin"
	# Debug information would fill the guests' memory.
	case $1 in
	amd64)
		tests/programs.sh
		strip -o "$tree/scx_alight" "$target/debug/scx_alight"
		compiler=gcc
		;;
	arm64)
		tests/programs.sh arm64
		aarch64-linux-gnu-strip -o "$tree/scx_alight" "$target/aarch64-unknown-linux-gnu/debug/scx_alight"
		compiler=aarch64-linux-gnu-gcc
		;;
	esac
	programs=$(vm/programs.sh "$1" stress-ng util-linux)
	for file in stress-ng setpriv chrt taskset; do cp "$programs/usr/bin/$file" "$tree/usr/bin/"; done
	cp -r "$programs"/lib* "$tree/"
	$compiler -O2 -Wall -Wextra -static -pthread -o "$tree/usr/bin/strain" crates/live/tests/faults/strain.c
}

# wanted NAME: is this guest among GUESTS?
wanted() {
	[ -z "$GUESTS" ] || [[ " $GUESTS " == *" $1 "* ]] || {
		missing+=("$1")
		return 1
	}
}

# keep DIR: results go to DIR. With CONTINUE they join those that it has, if these are of this
# scheduler and LENGTH.
keep() {
	local these
	these=$(cat policy/*.h crates/live/src/bpf/*.[ch] | sha256sum | sed "s/ .*/ $LENGTH/")
	results=$1
	[ -n "$CONTINUE" ] || rm -f "$results"/of "$results"/*.{out,status,guest,console}
	mkdir -p "$results"
	if [ -e "$results/of" ] && [ "$(cat "$results/of")" != "$these" ]; then
		echo "faults.sh: what is in $results is of another scheduler or another LENGTH; run this without CONTINUE" >&2
		exit 2
	fi
	echo "$these" >"$results/of"
}

# guest NAME KERNEL OPTIONS SCALE FAULT...: runs the faults in a guest; leaves NAME.out and what it was.
guest() {
	local name=$1 kernel=$2 options=$3 scale=$(($4 * LENGTH / 100)) status=0
	shift 4
	[ $scale -gt 0 ] || scale=1
	[ ! -e "$results/$name.guest" ] || return 0
	echo "${0##*/}: the guest $name begins" >&2
	# shellcheck disable=SC2086 # options are words
	vm/run.sh --kernel "$kernel" --add "$work/${kernel%%-*}" --console "$results/$name.console" $options \
		crates/live/tests/faults/guest.sh $scale "$@" >"$results/$name.out" || status=$?
	echo $status >"$results/$name.status"
	echo "$name|$kernel|$options|$scale|$(sed -n 's/^figure kernel: *\([^ ]*\).*/\1/p' "$results/$name.out")" >"$results/$name.guest"
}

# count NAME: prints and counts what a guest has found.
count() {
	local name=$1 status
	status=$(cat "$results/$name.status")
	sed -En "s/^(ok|FAIL) +/\1\t$name: /p" "$results/$name.out" | expand -t 6
	sed -n 's/^SKIPPED: /&'"$name: /p" "$results/$name.out"
	passed=$((passed + $(grep -c '^ok ' "$results/$name.out" || true)))
	failed=$((failed + $(grep -c '^FAIL ' "$results/$name.out" || true)))
	# A guest that did not come to its end has failed, whatever it had printed.
	if [ "$status" != 0 ]; then
		echo "FAIL  $name: ended with status $status"
		failed=$((failed + 1))
	fi
	if grep -q '^FAIL ' "$results/$name.out"; then
		printf '%s: what %s printed:\n' "${0##*/}" "$name" >&2
		sed 's/^/  /' "$results/$name.out" >&2
	fi
}

# judge NAME: count, and what the guest was, for the page.
judge() {
	local kernel options scale
	IFS='|' read -r _ kernel options scale _ <"$results/$1.guest"
	echo "-- $1: $kernel $options, scale $scale"
	count "$1"
	guests+=("$(cat "$results/$1.guest")")
}

# logs SECONDS: decisions under load, logged and made again; leaves logs.out.
logs() {
	local seconds=$(($1 * LENGTH / 100)) status=0
	wanted logs || return 0
	[ $seconds -gt 0 ] || seconds=1
	echo "-- logs: decisions of $seconds s"
	if [ ! -e "$results/logs.status" ]; then
		crates/live/tests/logs.sh $seconds >"$results/logs.out" || status=$?
		echo $status >"$results/logs.status"
	fi
	count logs
}

boot() {
	wanted "$1" || return 0
	guest "$@"
	judge "$1"
}

SHORT='second kill reload affinity hotplug kicks cpuset fork threads rt pinned idle readers memory permission input conserving'
LONG='second kill reload affinity hotplug kicks cpuset cgroup fork threads rt deadline pinned idle readers memory permission input conserving'

# CPUs that are emulated in turn. Of CPUs side by side one in some hundred sleeps loses one, under the
# kernel's own scheduler too ("CPU1 failed to report alive state"), and it does not come back.
IN_TURN='--accel tcg,thread=single --smp 4'

if [ -z "$report" ]; then
	LENGTH=100 GUESTS=
	prepare amd64
	# shellcheck disable=SC2086 # faults are words
	boot faults amd64-7.2-cloud '--smp 4 --timeout 600' 1 $SHORT
	boot suspend amd64-7.2-cloud "$IN_TURN --timeout 600" 1 suspend
	# Shares are of time, which is exact only where it is what the CPUs did.
	boot shares amd64-7.2-cloud '--icount --smp 4 --timeout 1200' 1 shares
	boot without-sched_ext amd64-6.12-cloud '--smp 2' 1 refused
else
	keep "$target/soak"
	prepare amd64
	[[ ${GUESTS:-arm64} != *arm64* ]] || prepare arm64
	vm/dtb.py "$work/asym.dtb" --little 4 --big 2
	# CPUs that outnumber the real ones so far would wait for each other's locks while these
	# do not run. Here they take turns, and time is what they did: others do not disturb it.
	if wanted mixed-64; then
		guest mixed-64 amd64-7.2-cloud '--icount --smp 64 --mem 6144 --timeout 14400' 15 mixed &
		slow=$!
	fi
	# tsc=reliable: when emulated CPUs are late Linux takes the TSC for unstable, and reads the HPET
	# instead, for which all CPUs wait for QEMU's one lock; then RCU stalls.
	# shellcheck disable=SC2086 # faults are words
	{
		boot amd64 amd64-7.2-cloud '--smp 8 --append tsc=reliable --timeout 5400' 5 $LONG
		# Each load rewrites code of the kernel; of CPUs emulated side by side one in some hundred
		# times still runs the breakpoint that stands there meanwhile, and the guest panics.
		boot reload amd64-7.2-cloud "$IN_TURN --timeout 5400" 50 reload
		boot suspend amd64-7.2-cloud "$IN_TURN --timeout 5400" 5 suspend
		boot suspend-oldest amd64-6.18-cloud "$IN_TURN --timeout 5400" 3 suspend
		boot oldest amd64-6.18-cloud '--smp 4 --append tsc=reliable --timeout 5400' 3 $LONG
		boot arm64 arm64-6.18 "--dtb $work/asym.dtb --timeout 5400" 2 $LONG
		boot shares amd64-7.2-cloud '--icount --smp 4 --timeout 1800' 3 shares
		boot shares-oldest amd64-6.18-cloud '--icount --smp 4 --timeout 1800' 3 shares
		boot shares-arm64 arm64-6.18 "--icount --dtb $work/asym.dtb --timeout 1800" 2 shares
		boot no-memory amd64-7.2-cloud '--smp 4 --mem 384 --timeout 1200' 3 nomemory
		boot without-sched_ext amd64-6.12-cloud '--smp 2' 1 refused
		boot mixed-8 amd64-7.2-cloud '--smp 8 --append tsc=reliable --timeout 5400' 30 mixed
	}
	logs 60
	if [ -n "$slow" ]; then
		wait $slow || true	# judge tells
		slow=
		judge mixed-64
	fi
	crates/live/tests/faults/report.sh "$results" "$LENGTH" "${missing[*]:-}" "${guests[@]}" >"$report.$$"
	mv "$report.$$" "$report"
fi
printf 'faults: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
