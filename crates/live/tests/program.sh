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

# await COMMAND...: until it succeeds, 2 minutes at the most.
await() {
	waited=0
	until "$@" || [ $waited = 480 ]; do
		sleep 0.25
		waited=$((waited + 1))
	done
}
running() { grep -q '^scx_alight: running:' /tmp/$1.err; }
begun() { running $1 || ! kill -0 $scx 2>/dev/null; }

# begin NAME ARGUMENT...: runs the scheduler until it says that it runs.
begin() {
	name=$1
	shift
	/alight run "$@" >/tmp/$name.out 2>/tmp/$name.err &
	scx=$!
	await begun $name
	echo "$name state: $(state)"
}

# end NAME SIGNAL: ends it, and says how.
end() {
	kill -$2 $scx
	wait $scx
	echo "$1 status: $?"
	echo "$1 state after: $(state)"
}

# in_terminal FILE COMMAND: in a terminal, which FILE becomes a record of; whoever left it
# as it was can type in it. What comes on standard input is typed.
in_terminal() {
	timeout 60 script -qc "stty rows 40 cols 120; $2; echo left: \$?; stty -a" $1 >/dev/null
	sed 1d $1 | tr '\033' '\n' >/tmp/pieces	# the first line repeats the command
	screens=$(sed -n 's/^\[?1049\([hl]\).*/\1/p' /tmp/pieces | xargs)
	modes=$(tr ' ;\r' '\n\n\n' </tmp/pieces | grep -x -e '-*icanon' -e '-*echo' | sort | xargs)
	echo "$(sed -n 's/.*left: \([0-9]*\).*/\1/p' /tmp/pieces) $screens $modes"
}

loads=$(cat /sys/kernel/sched_ext/enable_seq)
echo "version: $(/scx_alight -V)"
/scx_alight --help-stats >/tmp/described
echo "described status: $?"
echo "described: $(sed -n 's/^ *\(decisions\|packed\|delay_max_ns\) .*/\1/p' /tmp/described | sort -u | xargs)"
echo "loads for words: $(($(cat /sys/kernel/sched_ext/enable_seq) - loads))"
/scx_alight -v --duration 1 >/tmp/verbose.out 2>/tmp/verbose
echo "verbose status: $?"
echo "verbose verifier: $(grep -c '^processed [0-9]* insns' /tmp/verbose)"
echo "verbose output: $(cat /tmp/verbose.out)"

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
echo "top until q: $({ sleep 3; printf q; } | in_terminal /tmp/top.q '/alight top')"
echo "top title: $(grep -c 'linux-7.3+sched-idle+bias-prev  up [0-9]* s  4 of 4 CPUs used' /tmp/pieces)"
echo "top decisions: $(sed -n '/decisions$/{n;s/^\[[0-9;]*H\([0-9]*\)\/s$/\1/p}' /tmp/pieces | head -n 1)"
for signal in INT TERM; do
	echo "top until SIG$signal: $(sleep 5 | in_terminal /tmp/top.$signal "timeout -s $signal 3 /alight top")"
done
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

# What is made again on the host is made on the views of the start: the kernel ends the scheduler
# when a CPU comes or goes, and asks for it again.
runs() { [ $(grep -c '^scx_alight: running:' /tmp/restart.err) -ge $1 ]; }
decided() { wget -q -O - http://127.0.0.1:9777/metrics | sed -n 's/^alight_decisions_total //p'; }
turn() { echo $1 >/sys/devices/system/cpu/cpu3/online; }
begin restart --verify --metrics 9777
hackbench -g 1 -f 1 -l 100000000 -p -T >/dev/null &
load=$!
sleep 2
first=$(decided)
turn 0
await runs 2
sleep 2
second=$(decided)
echo "restart off: $(state)"
turn 1
await runs 3
sleep 2
third=$(decided)
echo "restart on: $(state)"
# Again and again, also while it is loaded.
for i in 1 2 3 4 5 6 7 8 9 10; do
	turn 0
	turn 1
	sleep 0.3
done
await runs 4
sleep 2
echo "restart decisions: $first $second $third $(decided)"
echo "restart storm: $(state) $(cat /sys/devices/system/cpu/online)"
kill $load
end restart INT
echo "restart said: $(grep -m 1 'loading again' /tmp/restart.err)"
echo "restart said otherwise: $(grep -v -e 'running: linux-7.3 on [34] CPUs$' -e 'metrics at' -e 'no energy-aware' \
	-e 'loading again: unregistered from the main kernel: ' /tmp/restart.err)"
echo "restart result: $(tail -n 1 /tmp/restart.out)"

# Light tasks among heavy ones wait longer than this. Their names clear the terminal, and begin
# lines as this program and as the dump.
for i in 1 2 3 4 5 6 7 8; do
	for name in '\033c\nscx_alight:' '\033c\nCPU 0 : x'; do
		sh -c "printf '$name' >/proc/\$\$/comm; while :; do :; done" &
		renice -n 19 -p $!
		hogs="$hogs $!"
	done
done
begin stall --timeout-ms 1000 --exit-dump-len 8192
for i in 1 2 3 4; do
	sh -c 'while :; do :; done' &
	hogs="$hogs $!"
done
wait $scx
echo "stall status: $?"
kill $hogs
echo "stall text: $(grep -m 1 ended /tmp/stall.err)"
echo "stall dump: $(grep -c '^| CPU [0-9]* *: nr_run' /tmp/stall.err)"
echo "stall names: $(grep -c '^| \(scx_alight:\|CPU 0 : x\)\[' /tmp/stall.err)"
echo "stall names at the start of lines: $(grep -c '^\(scx_alight:\|CPU 0 : x\)\[' /tmp/stall.err)"
echo "stall escapes: $(tr -cd '\033' </tmp/stall.err | wc -c)"
echo "stall state after: $(state)"

begin again
end again INT
echo "kernel errors: $(dmesg | grep -c -e 'BUG' -e 'WARNING' -e 'runtime error')"
for file in /tmp/*.err /tmp/stats.out /tmp/monitor.out; do sed "s|^|$file: |" $file; done
G

judge() {
	local decided
	matches '-V' 'scx_alight [0-9]+[.][0-9]+[.][0-9]+' "$(fact version)"
	check '--help-stats: status' 0 "$(fact 'described status')"
	check '--help-stats: some of them' 'decisions delay_max_ns packed' "$(fact described)"
	check '-V, --help-stats: loads' 0 "$(fact 'loads for words')"
	check '-v: status' 0 "$(fact 'verbose status')"
	matches '-v: what the verifier says of programs' '[1-9][0-9]+' "$(fact 'verbose verifier')"
	matches '-v: standard output' '[0-9]+ decisions' "$(fact 'verbose output')"
	check 'loaded' enabled "$(fact 'stats state')"
	check 'says what runs' 'scx_alight: running: linux-7.3+sched-idle+bias-prev on 4 CPUs' \
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
	check 'top until q: status, screens, terminal' '0 h l echo icanon' "$(fact 'top until q')"
	matches 'top: its title' '[1-9][0-9]*' "$(fact 'top title')"
	matches 'top: decisions a second' '[1-9][0-9]*' "$(fact 'top decisions')"
	check 'top until SIGINT: status, screens, terminal' '0 h l echo icanon' "$(fact 'top until SIGINT')"
	check 'top until SIGTERM: status, screens, terminal' '0 h l echo icanon' "$(fact 'top until SIGTERM')"
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
	check 'the kernel asks again: what is said' \
		'scx_alight: loading again: unregistered from the main kernel: cpu 3 going offline, exiting scheduler' \
		"$(fact 'restart said')"
	check 'the kernel asks again: a CPU off' enabled "$(fact 'restart off')"
	check 'the kernel asks again: a CPU on' enabled "$(fact 'restart on')"
	check 'the kernel asks again and again' 'enabled 0-3' "$(fact 'restart storm')"
	decided=$(fact 'restart decisions')
	check 'the kernel asks again: decisions grow' "$decided" "$(tr ' ' '\n' <<<"$decided" | sort -nu | xargs)"
	check 'the kernel asks again: readings of the decisions' 4 "$(wc -w <<<"$decided")"
	check 'the kernel asks again: nothing else is said' '' "$(fact 'restart said otherwise')"
	matches 'the kernel asks again: replay' '[0-9]+ decisions replayed, all equal .*' "$(fact 'restart result')"
	check 'the kernel asks again, SIGINT: status' 0 "$(fact 'restart status')"
	check 'the kernel asks again, SIGINT: state' disabled "$(fact 'restart state after')"
	check 'a stall: status' 3 "$(fact 'stall status')"
	matches 'a stall: the reason' '.*the kernel ended the scheduler: runnable task stall: .*' \
		"$(fact 'stall text')"
	matches 'a stall: the dump' '[1-9][0-9]*' "$(fact 'stall dump')"
	matches 'a stall: lines of the dump that names begin' '[1-9][0-9]*' "$(fact 'stall names')"
	check 'a stall: other lines that names begin' 0 "$(fact 'stall names at the start of lines')"
	check 'a stall: escapes' 0 "$(fact 'stall escapes')"
	check 'a stall: state' disabled "$(fact 'stall state after')"
	check 'loaded again' enabled "$(fact 'again state')"
	check 'SIGINT: status' 0 "$(fact 'again status')"
	check 'errors in the kernel log' 0 "$(fact 'kernel errors')"
}

vm/fetch.sh $KERNEL
tests/programs.sh
install -d "$work/add"
# Debug information would fill the guest's memory.
for program in scx_alight alight; do
	strip -o "$work/add/$program" "$target/debug/$program"
done
programs=$(vm/programs.sh amd64 bsdutils)
install -D "$programs/usr/bin/script" "$work/add/usr/bin/script"
cp -r "$programs"/lib* "$work/add/"
vm/run.sh --kernel $KERNEL --smp 4 --timeout 900 --console "$work/console" --add "$work/add" \
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
