#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds scx_alight for both architectures and runs it in the guests of vm/:
# every decision that the kernel side makes must come out the same on the host
# side, and on CPUs of different capacity a CPU hog must end on a big one.
# One line a check; the last line is "live: N passed, N failed".

set -euo pipefail
cd "$(dirname "$0")/../../.."

AMD64=amd64-7.2-cloud
# The verifier of kernels before 7 takes minutes for one scheduler in an emulated guest.
ARM64=arm64-7.2-cloud
# Each has searches of its own, which must pass the verifier. 5.5 runs anyway.
BASES=(linux-3.9 linux-5.4 linux-6.1 linux-6.5 linux-7.2)
# What the load below makes at the least: hackbench alone wakes its tasks this often.
LEAST_DECISIONS=1000

. tests/checks.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target=${CARGO_TARGET_DIR:-target}

# fact GUEST NAME: the value that the guest printed after "NAME:".
fact() { sed -n "s/^$2: *//p" "$work/$1.out" | head -n 1; }

# boot GUEST OPTION...: runs the script on standard input; leaves GUEST.out.
boot() {
	local guest=$1
	shift
	cat >"$work/$guest.sh"
	vm/run.sh "$@" --console "$work/$guest.console" "$work/$guest.sh" >"$work/$guest.out" || {
		echo "FAIL  $guest: the guest ended with status $?"
		failed=$((failed + 1))
	}
}

# Functions of the guests' scripts. "run NAME ARGUMENT..." runs the function
# "load" under scx_alight and prints what became of it.
# shellcheck disable=SC2016 # the guest expands it
COMMON='
run() {
	name=$1
	shift
	/scx_alight "$@" >/tmp/$name.out 2>&1 &
	scx=$!
	waited=0
	until [ "$(cat /sys/kernel/sched_ext/state)" = enabled ] || [ $waited = 240 ]; do
		sleep 0.5
		waited=$((waited + 1))
	done
	echo "$name state: $(cat /sys/kernel/sched_ext/state)"
	load $name
	kill -INT $scx
	wait $scx
	echo "$name status: $?"
	echo "$name result: $(tail -n 1 /tmp/$name.out)"
	echo "$name state after: $(cat /sys/kernel/sched_ext/state)"
	sed "s/^/$name: /" /tmp/$name.out
}

benchmarks() {
	echo "$1 hackbench: $(hackbench -g 2 -l 200 -p -T | sed -n "s/^Time: //p")"
	echo "$1 cyclictest: $(cyclictest -q -t 2 -i 1000 -l 200 | sed -n "s/.*C: *\([0-9]*\) .*/\1/p" | head -n 1)"
}

cpu_of() { sed "s/.*) //" /proc/$1/stat | cut -d" " -f37; }
'

test_amd64() {
	{
		echo "$COMMON"
		echo "BASES='${BASES[*]}'"
		cat <<-'G'
			load() {
				benchmarks $1
				echo "$1 second: $(/scx_alight --duration 1 2>&1)"
			}
			mkdir -p /tmp
			run asym-capacity --verify linux-5.5+asym-capacity
			run plain linux-5.5
			for base in $BASES; do run $base --verify $base; done
			run pack --verify --power-gated mc linux-6.5+pack
			# A hog that comes to a CPU which takes no part in packing: one hog needs fewer than all.
			metric() { wget -q -O - http://127.0.0.1:9776/metrics | sed -n "s/^alight_$1.* //p"; }
			load() {
				benchmarks $1
				echo "$1 to the buddy: $(metric 'selections_total{step="pack_full"')"
				taskset 8 sh -c 'while :; do :; done' & hog=$!
				sleep 1
				taskset -p f $hog >/dev/null
				waited=0
				until packed=$(metric packed_total)
					[ "${packed:-0}" -ge 1 ] || [ $waited = 15 ]; do
					sleep 1
					waited=$((waited + 1))
				done
				kill $hog
				echo "$1 packed: $packed"
			}
			run pack-full --verify --metrics 9776 --power-gated mc linux-6.5+pack:mode=full
			load() { benchmarks $1; }
			run uclamp-sum --verify linux-6.5+uclamp-sum
			run uclamp-bias --verify linux-7.2+uclamp-sum=bias:fix
			/scx_alight linux-5.6 >/tmp/unknown 2>&1
			echo "unknown status: $?"
			echo "unknown text: $(grep -o 'the nearest below it is.*' /tmp/unknown | head -n 1)"
			echo "kernel errors: $(dmesg | grep -c -e 'BUG' -e 'WARNING' -e 'runtime error')"
		G
	} | boot amd64 --kernel $AMD64 --smp 4 --add "$work/add-amd64"
}

test_arm64() {
	vm/dtb.py "$work/asym.dtb" --little 4 --big 2
	{
		echo "$COMMON"
		cat <<-'G'
			load() {
				taskset 1 sh -c 'while :; do :; done' & freed=$!
				sleep 1
				echo "$1 pinned hog: $(cpu_of $freed)"
				taskset -p 3f $freed >/dev/null
				sh -c 'while :; do :; done' & new=$!
				# At a tick, when a big CPU is idle; emulation may be slow.
				waited=0
				until hogs=$(echo $(cpu_of $freed) $(cpu_of $new) | tr ' ' '\n' | sort | xargs)
					[ "$hogs" = '4 5' ] || [ $waited = 15 ]; do
					sleep 1
					waited=$((waited + 1))
				done
				echo "$1 hogs: $hogs"
				kill $freed $new
				benchmarks $1
			}
			mkdir -p /tmp
			run asym-capacity --verify linux-5.5+asym-capacity
			run base --verify linux-5.5
			run linux-7.2 --verify linux-7.2
			# What a tick wants to move may be in the middle of a program of ours that must not
			# move: init_task, at a fork.
			load() {
				taskset 1 sh -c 'while :; do i=0; while [ $i -lt 20 ]; do ( : ) & i=$((i + 1)); done; wait; done' & forker=$!
				moves=0
				while [ $moves -lt 60 ] && [ "$(cat /sys/kernel/sched_ext/state)" = enabled ]; do
					taskset -p 1 $forker >/dev/null
					sleep 0.2
					taskset -p 3f $forker >/dev/null
					sleep 0.1
					moves=$((moves + 1))
				done
				kill $forker
				echo "$1 moves: $moves"
			}
			run forks linux-5.5
			echo "kernel errors: $(dmesg | grep -c -e 'BUG' -e 'WARNING' -e 'runtime error')"
		G
	} | boot arm64 --kernel $ARM64 --icount --timeout 1200 --dtb "$work/asym.dtb" --add "$work/add-arm64"
}

judge_verified() { # GUEST RUN
	local result
	result=$(fact "$1" "$2 result")
	check "$1 $2: loaded" enabled "$(fact "$1" "$2 state")"
	check "$1 $2: exit status" 0 "$(fact "$1" "$2 status")"
	matches "$1 $2: replay" '[0-9]+ decisions replayed, all equal \([0-9]+ lost\)' "$result"
	at_least "$1 $2: decisions" $LEAST_DECISIONS "${result%% *}"
	matches "$1 $2: hackbench seconds" '[0-9]+[.][0-9]+' "$(fact "$1" "$2 hackbench")"
	check "$1 $2: cyclictest samples" 200 "$(fact "$1" "$2 cyclictest")"
	check "$1 $2: unloaded" disabled "$(fact "$1" "$2 state after")"
}

judge_amd64() {
	local run
	for run in asym-capacity "${BASES[@]}" pack pack-full uclamp-sum uclamp-bias; do
		judge_verified amd64 "$run"
	done
	at_least 'amd64 pack: light tasks packed' 1 \
		"$(sed -n 's/^pack: *\([0-9]*\) pack_buddy$/\1/p' "$work/amd64.out")"
	at_least 'amd64 pack-full: wakeups to the buddy' 1 "$(fact amd64 'pack-full to the buddy')"
	at_least 'amd64 pack-full: sent to a CPU that takes part' 1 "$(fact amd64 'pack-full packed')"
	check 'amd64: a second scheduler' \
		"scx_alight: another sched_ext scheduler is loaded: 'alight' is enabled; stop it first" \
		"$(fact amd64 'asym-capacity second')"
	matches 'amd64 without --verify' '[0-9]+ decisions' "$(fact amd64 'plain result')"
	check 'amd64 unknown scheduler: status' 2 "$(fact amd64 'unknown status')"
	matches 'amd64 unknown scheduler: text' "the nearest below it is 'linux-5.5'.*" "$(fact amd64 'unknown text')"
	check 'amd64 errors in the kernel log' 0 "$(fact amd64 'kernel errors')"
}

judge_arm64() {
	local run
	for run in asym-capacity base linux-7.2; do
		judge_verified arm64 $run
		check "arm64 $run: hog pinned to a little CPU" 0 "$(fact arm64 "$run pinned hog")"
		check "arm64 $run: hogs, free to move" '4 5' "$(fact arm64 "$run hogs")"
	done
	check 'arm64 forks: moves of what forks' 60 "$(fact arm64 'forks moves')"
	check 'arm64 forks: exit status' 0 "$(fact arm64 'forks status')"
	check 'arm64 errors in the kernel log' 0 "$(fact arm64 'kernel errors')"
}

vm/fetch.sh $AMD64 $ARM64 sysroot
tests/programs.sh
tests/programs.sh arm64
install -d "$work/add-amd64" "$work/add-arm64"
# Debug information would fill the guests' memory.
strip -o "$work/add-amd64/scx_alight" "$target/debug/scx_alight"
aarch64-linux-gnu-strip -o "$work/add-arm64/scx_alight" \
	"$target/aarch64-unknown-linux-gnu/debug/scx_alight"
test_amd64
test_arm64
judge_amd64
judge_arm64
if [ $failed -gt 0 ]; then
	for guest in amd64 arm64; do
		printf '%s: what the guest %s printed:\n' "${0##*/}" $guest >&2
		sed 's/^/  /' "$work/$guest.out" >&2
	done
fi
printf 'live: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
