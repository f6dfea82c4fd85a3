#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# alight-record workload in guests: records tasks that each do one thing (workload.c), and looks in
# the recording for what must be there. One line a check; the last line is
# "workload: N passed, N failed".
#
#	crates/live/tests/workload.sh [KERNEL...]		rows of vm/kernels.txt
#	crates/live/tests/workload.sh --load KERNEL...	one recording of each, and no more: does the
#							recorder load, and are its events right?

set -euo pipefail
cd "$(dirname "$0")/../../.."

KERNELS=(amd64-7.2-cloud)
guest=guest.sh judge=judge
if [ "${1:-}" = --load ]; then
	guest=load.sh judge=judge_load
	shift
fi
[ $# -eq 0 ] || KERNELS=("$@")
ROUNDS=50
# Of the wakings of a sleeper so many must be as expected, in percent: now and then it is late, and
# does not sleep.
MOST=80

. tests/checks.sh
. verify/recorder.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target=${CARGO_TARGET_DIR:-target}

cat >"$work/load.sh" <<'G'
mkdir -p /tmp
cd /tmp
/alight-record workload --calls -o all.alight -- /workload "$1" >all.out 2>&1
echo "status: $?"
echo "errors: $(dmesg | grep -c -e BUG -e WARNING)"
cat all.out
tar -cf all.tar all.alight
cat all.tar >/dev/out
G

cat >"$work/guest.sh" <<'G'
mkdir -p /tmp
cd /tmp
/alight-record workload --calls -o all.alight -- /workload "$1" >all.out 2>&1
echo "status: $?"
# A ring of 1 MiB is full at once.
/alight-record workload --ring 1 -o lost.alight -- hackbench -g 2 -l 400 -p >lost.out 2>&1
echo "lost status: $?"
chrt -f 1 sleep 100 &
/alight-record workload --pid $! --duration 1 -o pid.alight >pid.out 2>&1
echo "pid status: $?"
/alight-record workload --pid 999999 >none.out 2>&1
echo "none: $(cat none.out)"

# running COMMAND: how many processes have this command line.
running() {
	for file in /proc/[0-9]*/cmdline; do
		[ "$(tr '\0' ' ' <"$file" 2>/dev/null)" != "$1 " ] || echo one
	done | wc -l
}

# A process of several threads, by the number of one of them.
cyclictest -q -t 3 -i 2000 >/dev/null &
threads=$!
until [ "$(ls /proc/$threads/task | wc -l)" = 4 ]; do sleep 0.1; done
/alight-record workload --pid "$(ls /proc/$threads/task | tail -n 1)" --duration 1 -o threads.alight \
	>threads.out 2>&1
echo "threads status: $?"
kill $threads

mkdir -p /sys/fs/cgroup/app/inner
/alight-record workload --cgroup app/inner >nocpu.out 2>&1
echo "nocpu: $(cat nocpu.out)"
echo +cpu >/sys/fs/cgroup/app/cgroup.subtree_control
sh -c 'echo $$ >/sys/fs/cgroup/app/inner/cgroup.procs; exec sleep 101' &
until grep -q inner /proc/$!/cgroup; do sleep 0.1; done
/alight-record workload --cgroup app --duration 1 -o group.alight >group.out 2>&1
echo "group status: $?"
/alight-record workload --cgroup nobody -o nogroup.alight >nogroup.out 2>&1
echo "nogroup: $(cat nogroup.out)"

/alight-record workload -o missing.alight -- /no/such/command >missing.out 2>&1
echo "missing status: $?"
echo "missing: $(cat missing.out)"
echo "missing files: $(ls | grep -c '^[.]*missing[.]alight')"
/alight-record workload -o killed.alight -- sh -c 'kill -KILL $$' >killed.out 2>&1
echo "killed status: $?"
/alight-record workload -o stopped.alight -- sleep 102 >stopped.out 2>&1 &
recorder=$!
until [ "$(running 'sleep 102')" = 1 ]; do sleep 0.5; done
sleep 0.5
kill -INT $recorder
wait $recorder
echo "stopped status: $?"
echo "stopped command: $(running 'sleep 102')"

# Where nothing can be recorded.
echo 'user:x:1000:1000::/tmp:/bin/sh' >>/etc/passwd
chmod 777 /tmp
su user -c '/alight-record workload -o user.alight -- ./my-app' >user.out 2>&1
echo "user status: $?"
sed 's/^/user says: /' user.out
: >empty
mount --bind empty /sys/kernel/btf/vmlinux
/alight-record workload -o nobtf.alight -- ./my-app >nobtf.out 2>&1
echo "nobtf status: $?"
sed 's/^/nobtf says: /' nobtf.out
umount /sys/kernel/btf/vmlinux
mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
if (echo confidentiality >/sys/kernel/security/lockdown) 2>/dev/null; then
	/alight-record workload -o locked.alight -- ./my-app >locked.out 2>&1
	echo "locked: $(cat locked.out)"
fi
echo "errors: $(dmesg | grep -c -e BUG -e WARNING)"
rm user.out nobtf.out locked.out 2>/dev/null
cat ./*.out
tar -cf all.tar ./*.alight
cat all.tar >/dev/out
G

# task NAME: its number, by the name that it took.
task() { sed -n 's/.* task {.*"pid":\([0-9]*\),"comm":"'"$1"'".*/\1/p' "$work/text" | head -n 1; }
# numbers NAME: of all tasks of this name, as grep wants alternatives.
numbers() { sed -n 's/.* task {.*"pid":\([0-9]*\),"comm":"'"$1"'".*/\1/p' "$work/text" | paste -sd'|' | sed 's/|/\\|/g'; }
# text NAME: that recording as text.
text() { "$target/debug/workload_text" "$work/$1.alight" >"$work/text"; }
# count PATTERN
count() { grep -c -e "$1" "$work/text" || true; }

judge_wakings() { # KERNEL
	local least=$((ROUNDS * MOST / 100)) name
	at_least "$1 timers wake from hard interrupts" $least \
		"$(count "Waking { pid: $(task timer), .*context: Some(Hardirq), sync: Some(false)")"
	for name in reader receiver poller; do
		at_least "$1 $name is woken by a task that is about to sleep" $least \
			"$(count "Waking { pid: $(task $name), .*context: Some(Task), sync: Some(true)")"
	done
	for name in futex_waiter event_reader; do
		at_least "$1 $name is woken by a task" $least \
			"$(count "Waking { pid: $(task $name), .*context: Some(Task), sync: Some(false)")"
	done
	check "$1 yields" $ROUNDS "$(count "Yield { pid: $(task yielder) }")"
	at_least "$1 timers expire" $least "$(count 'InterruptBegin { interrupt: Hrtimer')"
}

judge_calls() { # KERNEL
	local pair one other object told
	told=$(sed -n "s/^end capabilities: //p" "$work/text" | grep -c -w calls || true)
	# Calls need entries and exits of functions (bpf/record_probes.h).
	if [ "$1" = arm64-6.1 ]; then
		check "$1 calls are told (arm64 before 6.4 cannot)" 0 "$told"
		return
	fi
	check "$1 calls are told" 1 "$told"
	for pair in reader:PipeRead:writer:PipeWrite receiver:SocketReceive:sender:SocketSend \
		event_reader:EventfdRead:event_writer:EventfdWrite; do
		IFS=: read -r one call other back <<<"$pair"
		object=$(sed -n "s/.*CallBegin { pid: $(task "$one"), call: $call, object: \([0-9]*\),.*/\1/p" \
			"$work/text" | sort -u)
		check "$1 $call: calls" $ROUNDS "$(count "CallEnd { pid: $(task "$one"), call: $call,")"
		check "$1 $back: calls on the same object" $ROUNDS \
			"$(count "CallBegin { pid: $(task "$other"), call: $back, object: $object,")"
	done
	object=$(sed -n "s/.*CallBegin { pid: $(task futex_waker), call: FutexWake, object: \([0-9]*\),.*/\1/p" \
		"$work/text" | sort -u)
	at_least "$1 FutexWait: calls on the same object" 1 \
		"$(count "CallBegin { pid: $(task futex_waiter), call: FutexWait, object: $object,")"
	check "$1 SleepUntil: calls" $ROUNDS \
		"$(count "CallBegin { pid: $(task timer), call: SleepUntil,")"
}

judge_chosen() { # KERNEL
	check "$1 a running process: status" 0 "$(fact 'pid status')"
	text pid
	check "$1 a running process: chosen" 1 "$(count '"comm":"sleep".*"chosen":true.*"policy":"fifo"')"
	check "$1 threads: status" 0 "$(fact 'threads status')"
	text threads
	check "$1 threads: chosen" 4 "$(count '"comm":"cyclictest".*"chosen":true')"
	at_least "$1 threads: wakings" $((3 * 400)) \
		"$(count "Waking { pid: \($(numbers cyclictest)\),.*Some(Hardirq)")"
	check "$1 a group: status" 0 "$(fact 'group status')"
	text group
	check "$1 a group: chosen" 1 "$(count '"chosen":true')"
	check "$1 a group: the task in it" 1 \
		"$(count '"comm":"sleep".*"chosen":true.*"cgroup":"/app/inner"')"
	check "$1 a group without the cpu controller" \
		"alight-record: the task group /app/inner has no cpu controller; enable it: echo +cpu \
>/sys/fs/cgroup/app/cgroup.subtree_control" "$(fact nocpu)"
	check "$1 no such group" \
		'alight-record: there is no task group /nobody; those that there are lie in /sys/fs/cgroup' \
		"$(fact nogroup)"
}

judge_ends() { # KERNEL
	check "$1 no such command: status" 1 "$(fact 'missing status')"
	matches "$1 no such command" "alight-record: cannot run '/no/such/command': No such file .*" \
		"$(fact missing)"
	check "$1 no such command: files" 0 "$(fact 'missing files')"
	check "$1 a killed command: status" 0 "$(fact 'killed status')"
	text killed
	check "$1 a killed command: its status" 'status: 137' "$(grep '^status' "$work/text")"
	check "$1 an interrupted recorder: status" 0 "$(fact 'stopped status')"
	check "$1 an interrupted recorder: its command is left" 0 "$(fact 'stopped command')"
	text stopped
	check "$1 an interrupted recorder: status of the command" 'status: none' \
		"$(grep '^status' "$work/text")"
	at_least "$1 an interrupted recorder: chosen" 1 "$(count '"chosen":true')"
}

# What is said where nothing can be recorded.
judge_instead() { # KERNEL
	local case why
	for case in 'user:no permission: recording needs root, or CAP_BPF and CAP_PERFMON.*' \
		'nobtf:this kernel cannot be recorded: it has no type information (CONFIG_DEBUG_INFO_BTF).*'; do
		IFS=: read -r case why <<<"$case"
		check "$1 $case: status" 1 "$(fact "$case status")"
		check "$1 $case: says why" 1 "$(grep -c "^$case says: alight-record: $why" "$work/out")"
		check "$1 $case: says what to run" 4 \
			"$(grep -c -e "^$case says:   perf sched record -k CLOCK_MONOTONIC .* -- ./my-app" \
				-e "^$case says:   trace-cmd record -C mono .* ./my-app" \
				-e "^$case says:   alight import perf.data -o $case.alight" \
				-e "^$case says:   alight import trace.dat -o $case.alight" "$work/out")"
	done
	# Not every kernel can be locked down.
	! grep -q '^locked:' "$work/out" || check "$1 locked down" \
		"alight-record: no permission: the kernel is locked down (confidentiality) and lets nobody \
trace it; boot it without lockdown=confidentiality" "$(fact locked)"
}

judge_load() { # KERNEL
	check "$1 status" 0 "$(fact status)"
	text all
	judge_wakings "$1"
	judge_calls "$1"
	check "$1 errors in the kernel log" 0 "$(fact errors)"
}

judge() { # KERNEL
	local changer
	judge_load "$1"
	changer=$(task changer)
	check "$1 affinity" 1 "$(count "task {.*\"pid\":$changer,\"affinity\":\"0\"}")"
	check "$1 nice" 1 "$(count "task {.*\"pid\":$changer,\"nice\":5}")"
	check "$1 policy" 1 "$(count "task {.*\"pid\":$changer,\"policy\":\"fifo\",\"rt_priority\":10}")"
	check "$1 name" 1 "$(count "task {.*\"pid\":$changer,\"comm\":\"changed\"}")"
	at_least "$1 chosen tasks" 14 "$(count '"chosen":true')"
	at_least "$1 facts of the recorder" 1 "$(grep -c '"recorder":true.*"cpu"' "$work/text")"
	check "$1 ticks a second" 'hz: 250' "$(grep '^hz' "$work/text")"
	check "$1 no such process" 'alight-record: there is no process 999999' "$(fact none)"

	check "$1 a small ring: status" 0 "$(fact 'lost status')"
	text lost
	at_least "$1 a small ring: events lost" 1 "$(sed -n 's/^lost: //p' "$work/text")"
	check "$1 a small ring: as many as are told where they were" "$(sed -n 's/^lost: //p' "$work/text")" \
		"$(sed -n 's/.* Lost { count: \([0-9]*\),.*/\1/p' "$work/text" | awk '{ n += $1 } END { print n }')"
	judge_chosen "$1"
	judge_ends "$1"
	judge_instead "$1"
}

fact() { sed -n "s/^$1: *//p" "$work/out" | head -n 1; }

# programs ARCH: leaves what runs in guests of this architecture in add-ARCH.
programs() {
	[ ! -e "$work/add-$1" ] || return 0
	recorder "$1" "$work/add-$1"
	"$(compiler "$1")" -static -O2 -Wall -o "$work/add-$1/workload" crates/live/tests/workload.c
}

compiler() {
	case $1 in
	amd64) echo gcc ;;
	arm64) echo aarch64-linux-gnu-gcc ;;
	esac
}

vm/fetch.sh "${KERNELS[@]}"
tests/programs.sh
for kernel in "${KERNELS[@]}"; do
	arch=${kernel%%-*}
	programs "$arch"
	vm/run.sh --kernel "$kernel" --smp 4 --icount --timeout 900 --add "$work/add-$arch" \
		--out "$work/all.tar" "$work/$guest" $ROUNDS >"$work/out" || {
		echo "FAIL  $kernel: the guest ended with status $?"
		failed=$((failed + 1))
		continue
	}
	tar -xf "$work/all.tar" -C "$work"
	$judge "$kernel"
	[ $failed = 0 ] || sed "s/^/  $kernel: /" "$work/out" >&2
done
printf 'workload: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
