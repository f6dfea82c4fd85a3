#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# alight-record workload in guests: records tasks that each do one thing (workload.c), and looks in
# the recording for what must be there. One line a check; the last line is
# "workload: N passed, N failed".
#
#	crates/live/tests/workload.sh [KERNEL...]	rows of vm/kernels.txt

set -euo pipefail
cd "$(dirname "$0")/../../.."

KERNELS=(amd64-7.2-cloud arm64-7.2-cloud)
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

cat >"$work/guest.sh" <<'G'
mkdir -p /tmp
cd /tmp
/alight-record workload --calls -o all.alight -- /workload "$1" >all.out 2>&1
echo "status: $?"
# A ring of 1 MiB is full at once.
/alight-record workload --ring 1 -o lost.alight -- hackbench -g 2 -l 4000 -p >lost.out 2>&1
echo "lost status: $?"
chrt -f 1 sleep 100 &
/alight-record workload --pid $! --duration 1 -o pid.alight >pid.out 2>&1
echo "pid status: $?"
/alight-record workload --pid 999999 >none.out 2>&1
echo "none: $(cat none.out)"
echo "errors: $(dmesg | grep -c -e BUG -e WARNING)"
cat ./*.out
tar -cf all.tar ./*.alight
cat all.tar >/dev/out
G

# task NAME: its number, by the name that it took.
task() { sed -n 's/.* task {.*"pid":\([0-9]*\),"comm":"'"$1"'".*/\1/p' "$work/text" | head -n 1; }
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
	local pair one other object
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

judge() { # KERNEL
	local changer
	check "$1 status" 0 "$(fact status)"
	"$target/quick/workload_text" "$work/all.alight" >"$work/text"
	judge_wakings "$1"
	judge_calls "$1"
	changer=$(task changer)
	check "$1 affinity" 1 "$(count "task {.*\"pid\":$changer,\"affinity\":\"0\"}")"
	check "$1 nice" 1 "$(count "task {.*\"pid\":$changer,\"nice\":5}")"
	check "$1 policy" 1 "$(count "task {.*\"pid\":$changer,\"policy\":\"fifo\",\"rt_priority\":10}")"
	check "$1 name" 1 "$(count "task {.*\"pid\":$changer,\"comm\":\"changed\"}")"
	at_least "$1 chosen tasks" 14 "$(count '"chosen":true')"
	at_least "$1 facts of the recorder" 1 "$(grep -c '"recorder":true.*"cpu"' "$work/text")"
	check "$1 ticks a second" 'hz: 250' "$(grep '^hz' "$work/text")"
	check "$1 errors in the kernel log" 0 "$(fact errors)"
	check "$1 no such process" 'alight-record: there is no process 999999' "$(fact none)"

	check "$1 a small ring: status" 0 "$(fact 'lost status')"
	"$target/quick/workload_text" "$work/lost.alight" >"$work/text"
	at_least "$1 a small ring: events lost" 1 "$(sed -n 's/^lost: //p' "$work/text")"
	check "$1 a small ring: as many as are told where they were" "$(sed -n 's/^lost: //p' "$work/text")" \
		"$(sed -n 's/.* Lost { count: \([0-9]*\),.*/\1/p' "$work/text" | awk '{ n += $1 } END { print n }')"

	check "$1 a running process: status" 0 "$(fact 'pid status')"
	"$target/quick/workload_text" "$work/pid.alight" >"$work/text"
	check "$1 a running process: chosen" 1 "$(count '"comm":"sleep".*"chosen":true.*"policy":"fifo"')"
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
cargo build -q --profile quick -p alight-live --bin workload_text
for kernel in "${KERNELS[@]}"; do
	arch=${kernel%%-*}
	programs "$arch"
	vm/run.sh --kernel "$kernel" --smp 4 --timeout 900 --add "$work/add-$arch" \
		--out "$work/all.tar" "$work/guest.sh" $ROUNDS >"$work/out" || {
		echo "FAIL  $kernel: the guest ended with status $?"
		failed=$((failed + 1))
		continue
	}
	tar -xf "$work/all.tar" -C "$work"
	judge "$kernel"
	[ $failed = 0 ] || sed "s/^/  $kernel: /" "$work/out" >&2
done
printf 'workload: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
