#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# scx_alight as a program, in a guest: what it prints and serves while it runs, whom
# it refuses, and how it ends. One line a check; the last line is
# "program: N passed, N failed".

set -euo pipefail
cd "$(dirname "$0")/../../.."

KERNEL=amd64-7.2-cloud
. tests/checks.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target=${CARGO_TARGET_DIR:-target}

# fact NAME: the value that the guest printed after "NAME:".
fact() { sed -n "s/^$1: *//p" "$work/out" | head -n 1; }

cat >"$work/guest.sh" <<'G'
mkdir -p /tmp
ip link set lo up
state() { cat /sys/kernel/sched_ext/state; }

# await COMMAND...: until it succeeds, 60 s at the most.
await() {
	waited=0
	until "$@" || [ $waited = 240 ]; do
		sleep 0.25
		waited=$((waited + 1))
	done
}
running() { grep -q '^scx_alight: running:' /tmp/$1.err; }

# begin NAME ARGUMENT...: runs the scheduler until it says that it runs.
begin() {
	name=$1
	shift
	/alight run "$@" >/tmp/$name.out 2>/tmp/$name.err &
	scx=$!
	await running $name
	echo "$name state: $(state)"
}

# end NAME SIGNAL: ends it, and says how.
end() {
	kill -$2 $scx
	wait $scx
	echo "$1 status: $?"
	echo "$1 state after: $(state)"
}

begin stats bias-prev sched-idle --stats 1 --metrics 9776
echo "stats said: $(grep running /tmp/stats.err)"
hackbench -g 2 -l 200 -p -T >/dev/null
sleep 1.5
echo "stats lines: $(grep -c '^  decisions  [1-9]' /tmp/stats.out)"
echo "stats delays: $(grep -c '^  runs       [1-9][0-9]*/s  delay p50 [1-9]' /tmp/stats.out)"
echo "stats steps: $(grep -c '^  steps      [a-z_]* [0-9.]* %' /tmp/stats.out)"
echo "socket: $(ls -l /var/run/scx/root/stats | cut -c 1-10)"
timeout 5 /scx_alight --monitor 1 >/tmp/monitor.out 2>/tmp/monitor.err
echo "monitor: $(grep -c '^  decisions  [1-9]' /tmp/monitor.out)"
wget -q -O /tmp/metrics http://127.0.0.1:9776/metrics
echo "metrics decisions: $(sed -n 's/^alight_decisions_total //p' /tmp/metrics)"
echo "metrics end: $(tail -n 1 /tmp/metrics)"
/alight top </dev/null >/tmp/top.out 2>&1
echo "top status: $?"
echo "top text: $(cat /tmp/top.out)"
/alight run linux-6.5 >/tmp/second.out 2>&1
echo "second status: $?"
echo "second text: $(cat /tmp/second.out)"
# Clients that say nothing and hold on.
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18; do
	sleep 100 | nc 127.0.0.1 9776 >/dev/null 2>&1 &
done
begun=$(cut -d. -f1 /proc/uptime)
end stats TERM
echo "stats took: $(($(cut -d. -f1 /proc/uptime) - begun))"
echo "socket after: $(ls /var/run/scx/root)"

# Nobody empties the pipe that the statistics go to.
mkfifo /tmp/fifo
sleep 1000 <>/tmp/fifo &
/scx_alight --stats 0.01 >/tmp/fifo 2>/tmp/stuck.err &
scx=$!
await running stuck
sleep 8
begun=$(cut -d. -f1 /proc/uptime)
echo "stuck state: $(state)"
kill -HUP $scx
waited=0
until [ "$(state)" = disabled ] || [ $waited = 240 ]; do
	sleep 0.25
	waited=$((waited + 1))
done
echo "stuck took: $(($(cut -d. -f1 /proc/uptime) - begun))"
cat /tmp/fifo >/dev/null &
wait $scx
echo "stuck status: $?"

begin sysrq
echo S >/proc/sysrq-trigger
wait $scx
echo "sysrq status: $?"
echo "sysrq text: $(tail -n 1 /tmp/sysrq.err)"

# More tasks than CPUs: some wait longer than this.
begin stall --timeout-ms 10 --exit-dump-len 8192
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
	sh -c 'while :; do :; done' &
	hogs="$hogs $!"
done
wait $scx
echo "stall status: $?"
kill $hogs
echo "stall text: $(grep -m 1 ended /tmp/stall.err)"
echo "stall dump: $(grep -c -e '^CPU ' -e 'sh\[' /tmp/stall.err)"
echo "stall state after: $(state)"

begin again
end again INT
echo "kernel errors: $(dmesg | grep -c -e 'BUG' -e 'WARNING' -e 'runtime error')"
for file in /tmp/*.err /tmp/stats.out /tmp/monitor.out; do sed "s|^|$file: |" $file; done
G

judge() {
	check 'loaded' enabled "$(fact 'stats state')"
	check 'says what runs' 'scx_alight: running: linux-7.2+sched-idle+bias-prev on 4 CPUs' \
		"$(fact 'stats said')"
	matches '--stats: decisions' '[1-9][0-9]*' "$(fact 'stats lines')"
	matches '--stats: steps' '[1-9][0-9]*' "$(fact 'stats steps')"
	matches '--stats: run delays' '[1-9][0-9]*' "$(fact 'stats delays')"
	check 'the socket is its owners' 'srw-------' "$(fact socket)"
	matches '--monitor' '[1-9][0-9]*' "$(fact monitor)"
	matches 'metrics: decisions' '[1-9][0-9]*' "$(fact 'metrics decisions')"
	check 'metrics: whole' '# EOF' "$(fact 'metrics end')"
	check 'top without a terminal: status' 2 "$(fact 'top status')"
	matches 'top without a terminal: text' '.*top needs a terminal.*' "$(fact 'top text')"
	check 'a second one: status' 1 "$(fact 'second status')"
	check 'a second one: text' \
		"scx_alight: another sched_ext scheduler is loaded: 'alight' is enabled; stop it first" \
		"$(fact 'second text')"
	check 'SIGTERM: status' 0 "$(fact 'stats status')"
	check 'SIGTERM: state' disabled "$(fact 'stats state after')"
	matches 'SIGTERM with clients that hold on: seconds' '[0-9]' "$(fact 'stats took')"
	check 'SIGTERM: the socket is gone' '' "$(fact 'socket after')"
	check 'a full pipe: loaded' enabled "$(fact 'stuck state')"
	matches 'a full pipe, SIGHUP: seconds' '[0-9]' "$(fact 'stuck took')"
	check 'a full pipe: status' 0 "$(fact 'stuck status')"
	check 'SysRq-S: status' 0 "$(fact 'sysrq status')"
	check 'a stall: status' 3 "$(fact 'stall status')"
	matches 'a stall: the reason' '.*the kernel ended the scheduler: runnable task stall: .*' \
		"$(fact 'stall text')"
	matches 'a stall: the dump' '[1-9][0-9]*' "$(fact 'stall dump')"
	check 'a stall: state' disabled "$(fact 'stall state after')"
	check 'loaded again' enabled "$(fact 'again state')"
	check 'SIGINT: status' 0 "$(fact 'again status')"
	check 'errors in the kernel log' 0 "$(fact 'kernel errors')"
}

vm/fetch.sh $KERNEL
cargo build -q -p alight-live -p alight
install -d "$work/add"
# Debug information would fill the guest's memory.
for program in scx_alight alight; do
	strip -o "$work/add/$program" "$target/debug/$program"
done
vm/run.sh --kernel $KERNEL --smp 4 --console "$work/console" --add "$work/add" \
	"$work/guest.sh" >"$work/out" || {
	echo "FAIL  the guest ended with status $?"
	failed=$((failed + 1))
}
judge
if [ $failed -gt 0 ]; then
	printf '%s: what the guest printed:\n' "${0##*/}" >&2
	sed 's/^/  /' "$work/out" >&2
fi
printf 'program: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
