#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Rules and clamps in a guest of vm/ whose CPUs 0 to 3 are little and 4 and 5
# big: who is named by a rule runs where its clamps say, others as before, all
# decisions replay equal, and bad rules load nothing. One line a check; the last line is "rules: N passed, N failed".

set -euo pipefail
cd "$(dirname "$0")/../../.."
KERNEL=arm64-6.18

. tests/checks.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target=${CARGO_TARGET_DIR:-target}

vm/fetch.sh $KERNEL sysroot
tests/programs.sh arm64
install -d "$work/add"
# Debug information would fill the guest's memory.
aarch64-linux-gnu-strip -o "$work/add/scx_alight" \
	"$target/aarch64-unknown-linux-gnu/debug/scx_alight"
vm/dtb.py "$work/asym.dtb" --little 4 --big 2

cat >"$work/guest.sh" <<-'G'
	begin() { # NAME OPTION...
		name=$1
		shift
		/scx_alight "$@" >/tmp/$name.out 2>&1 &
		scx=$!
		waited=0
		until [ "$(cat /sys/kernel/sched_ext/state)" = enabled ] || [ $waited = 240 ]; do
			sleep 0.5
			waited=$((waited + 1))
		done
	}

	end() {
		echo "$name state: $(cat /sys/kernel/sched_ext/state)"
		kill -INT $scx
		wait $scx
		echo "$name status: $?"
		echo "$name result: $(tail -n 1 /tmp/$name.out)"
	}

	# A task that runs for a moment every 10 ms, first on CPU 0 and then where it likes: $task.
	small() {
		taskset 1 cyclictest -q -t 1 -i 10000 -l 100000 >/dev/null &
		starter=$!
		sleep 1
		for task in $(ls /proc/$starter/task); do taskset -p 3f $task >/dev/null; done
	}

	mkdir -p /tmp
	# From CPU 0 once more.
	again() {
		taskset -p 1 $task >/dev/null
		sleep 1
		taskset -p 3f $task >/dev/null
	}

	# What looks where a task is, and waits on descriptor 3, starts no process, which would be in
	# its way.
	mkfifo /tmp/never
	exec 3<>/tmp/never
	cpu_of() { # TASK: $cpu
		read -r line </proc/$1/stat
		set -- ${line##*) }
		cpu=${37}
	}
	# How often of 6 times, a second apart, that thread is found on a big CPU.
	count_big() {
		read -r -t 2 line <&3
		n=0
		found=0
		while [ $n -lt 6 ]; do
			cpu_of $task
			[ $cpu -lt 4 ] || found=$((found + 1))
			read -r -t 1 line <&3
			n=$((n + 1))
		done
	}
	# The same until it is often or seldom, as is expected; else the last of three.
	often() {
		for attempt in 1 2 3; do
			count_big
			[ $found -lt 5 ] || break
		done
		echo $found
	}
	seldom() {
		for attempt in 1 2 3; do
			count_big
			[ $found -gt 1 ] || break
			again
		done
		echo $found
	}

	echo 'comm=capped uclamp_max=20  # stays little' >/tmp/rules

	begin plain --verify linux-6.1
	small
	mkdir /sys/fs/cgroup/asked
	echo 60 >/sys/fs/cgroup/asked/cpu.uclamp.min
	echo $starter >/sys/fs/cgroup/asked/cgroup.procs
	again
	echo "plain in a group with a lower clamp: $(often)"
	kill $starter
	end

	begin rules --verify --rule 'comm=cyclic* uclamp_min=60' --rules /tmp/rules linux-6.1
	small
	echo "rules small task: $(often)"
	kill $starter
	# Hogs; this one has its name only while it runs, and never sleeps.
	taskset 1 sh -c 'printf capped >/proc/$$/comm; while :; do :; done' &
	capped=$!
	taskset 2 sh -c 'while :; do :; done' &
	hog=$!
	# From little CPUs, until the hog without a rule has come to a big one.
	set_free() {
		taskset -p 1 $capped >/dev/null
		taskset -p 2 $hog >/dev/null
		sleep 2
		taskset -p 3f $capped >/dev/null
		taskset -p 3f $hog >/dev/null
		waited=0
		until cpu_of $hog; [ $cpu -ge 4 ] || [ $waited = 40 ]; do
			read -r -t 1 line <&3
			waited=$((waited + 1))
		done
	}
	# A big CPU that is idle takes a task that waits, and a hog that never wakes stays there: again.
	task=$capped
	for attempt in 1 2 3; do
		set_free
		hog_cpu=$cpu
		count_big
		[ $found -gt 1 ] || break
	done
	echo "rules hog: $hog_cpu"
	echo "rules capped hog: $found"
	kill $hog $capped
	end

	begin cgroups --verify --rule 'cgroup=/games* nice=-20..0 uclamp_min=60' linux-7.2
	small
	echo "cgroups small task: $(seldom)"
	mkdir "/sys/fs/cgroup/games" "/sys/fs/cgroup/games/$(printf 'a\033[2J*? uclamp_min=1')"
	sh -c 'printf "x\033[2J*?\n=%%" >/proc/$$/comm; sleep 1; exec sleep 1' &
	echo $starter >"/sys/fs/cgroup/games/$(printf 'a\033[2J*? uclamp_min=1')/cgroup.procs"
	echo "cgroups in a new group: $(often)"
	renice -n 5 -p $task >/dev/null
	again
	echo "cgroups nicer: $(seldom)"
	kill $starter
	end
	echo "cgroups control characters: $(tr -d '\n\t -~' </tmp/cgroups.out | wc -c)"

	# By what only the thread itself is: its number, its policy.
	small
	begin themselves --verify --rule "pid=$task uclamp_min=60" --rule 'policy=batch uclamp_min=60' linux-6.1
	again
	echo "themselves by its number: $(often)"
	kill $starter
	small
	echo "themselves another: $(seldom)"
	chrt -b -p 0 $task
	again
	echo "themselves by its policy: $(often)"
	chrt -o -p 0 $task
	again
	echo "themselves with another policy: $(seldom)"
	kill $starter
	end

	for rule in 'comm=a uclamp_mim=60' 'comm=a uclamp_min=160' 'nice=3'; do
		/scx_alight --rule "$rule" linux-6.1 >/tmp/bad.out 2>&1
		echo "bad status: $?"
		sed 's/^/bad text: /' /tmp/bad.out
	done
	echo 'pid=1' >/tmp/bad
	/scx_alight --rules /tmp/bad linux-6.1 >/tmp/bad.out 2>&1
	echo "bad file status: $?"
	sed 's/^/bad file text: /' /tmp/bad.out
	echo "kernel errors: $(dmesg | grep -c -e 'BUG' -e 'WARNING' -e 'runtime error')"
G

status=0
vm/run.sh --kernel $KERNEL --dtb "$work/asym.dtb" --icount --timeout 600 --add "$work/add" \
	--console "$work/console" "$work/guest.sh" >"$work/guest.out" || status=$?
check 'guest: exit status' 0 "$status"

fact() { sed -n "s/^$1: *//p" "$work/guest.out" | head -n 1; }

# Found on a big CPU most of 6 times, or seldom: what else wakes may be in the way for a moment.
mostly() { check "$1: on a big CPU" yes "$([ "${2:-0}" -ge 5 ] && echo yes || echo "${2:-?} of 6 times")"; }
seldom() { check "$1: on a little CPU" yes "$([ "${2:-6}" -le 1 ] && echo yes || echo "$((6 - ${2:-0})) of 6 times")"; }

mostly 'no rule, but a lower clamp of its group' "$(fact 'plain in a group with a lower clamp')"
mostly 'named by a rule' "$(fact 'rules small task')"
check 'a hog: on a big CPU' yes "$([ "$(fact 'rules hog')" -ge 4 ] && echo yes)"
seldom 'a hog that a rule caps by the name that it took' "$(fact 'rules capped hog')"
seldom 'a rule for a group, outside of it' "$(fact 'cgroups small task')"
mostly 'in a group that came later' "$(fact 'cgroups in a new group')"
seldom 'nicer than the rule says' "$(fact 'cgroups nicer')"
mostly 'named by its number' "$(fact 'themselves by its number')"
seldom 'another than of that number' "$(fact 'themselves another')"
mostly 'of the policy that the rule names' "$(fact 'themselves by its policy')"
seldom 'of that policy no more' "$(fact 'themselves with another policy')"
check 'names of attackers do not reach the terminal' 0 "$(fact 'cgroups control characters')"
for run in plain rules cgroups themselves; do
	check "$run: runs to its end" enabled "$(fact "$run state")"
	check "$run: exit status" 0 "$(fact "$run status")"
	check "$run: replay" yes \
		"$(fact "$run result" | grep -q 'decisions replayed, all equal' && echo yes || fact "$run result")"
done
check 'bad rules: exit status' '2 2 2' "$(sed -n 's/^bad status: //p' "$work/guest.out" | xargs)"
check 'bad rule: column and text' yes "$(grep -q "column 8: found 'uclamp_mim', expected a match.*did you mean 'uclamp_min='" "$work/guest.out" && echo yes)"
check 'bad file: exit status' 2 "$(fact 'bad file status')"
check 'bad file: line and column' yes "$(grep -q '/tmp/bad:1, column 6: found the end, expected a setting' "$work/guest.out" && echo yes)"
check 'errors in the kernel log' 0 "$(fact 'kernel errors')"
if [ "$failed" -gt 0 ]; then
	printf '%s: what the guest printed:\n' "${0##*/}" >&2
	sed 's/^/  /' "$work/guest.out" >&2
fi
printf 'rules: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
