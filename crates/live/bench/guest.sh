#!/bin/sh
# shellcheck shell=dash disable=SC2086 # COMMAND... are words
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest: every row of `make bench-live` under every scheduler, round
# after round, the schedulers in another order each round.
#
#   guest.sh ROUNDS ROW...
#
# Schedulers: the kernel's own ("kernel"), and each line of /schedulers:
# NAME COMMAND.... Prints "value ROUND SCHEDULER ROW METRIC NUMBER", and
# "refused SCHEDULER REASON" once for one that does not load.

rounds=$1
shift
rows=$*
state=/sys/kernel/sched_ext/state
mkdir -p /tmp/refused

value() { [ -z "$3" ] || echo "value $round $name $1 $2 $3"; }

# settle: waits until the guest is idle: what the last row left has ended.
busy() { awk 'NR == 1 { print $2 + $3 + $4 + $7 + $8, $5 }' /proc/stat; }
settle() {
	waits=0 calm=0
	before=$(busy)
	while [ $calm -lt 1 ] && [ $waits -lt 20 ]; do
		sleep 0.3
		after=$(busy)
		set -- $before $after
		if [ $((($3 - $1) * 100)) -le $((($3 - $1 + $4 - $2) * 3)) ]; then calm=$((calm + 1)); fi
		before=$after
		waits=$((waits + 1))
	done
}

# begin NAME COMMAND...: loads a scheduler; fails if it does not load.
begin() {
	scx=
	[ "$1" != kernel ] || return 0
	[ ! -e "/tmp/refused/$1" ] || return 1
	log=/tmp/$1.log
	shift
	"$@" >"$log" 2>&1 &
	scx=$!
	waits=0
	until [ "$(cat $state)" = enabled ]; do
		sleep 0.2
		waits=$((waits + 1))
		if [ $waits -gt 600 ] || ! kill -0 $scx 2>/dev/null; then
			echo "refused $name $(grep -v '^ *$' "$log" | tail -n 1)"
			: >"/tmp/refused/$name"
			kill -9 $scx 2>/dev/null
			return 1
		fi
	done
}

# finish: unloads it; says so if the kernel has ended it meanwhile.
finish() {
	[ -n "$scx" ] || return 0
	[ "$(cat $state)" = enabled ] || echo "ended $name $(tail -n 1 "$log")"
	kill -INT $scx
	waits=0
	until [ "$(cat $state)" = disabled ] || [ $waits = 100 ]; do
		sleep 0.1
		waits=$((waits + 1))
		[ $waits != 80 ] || kill -9 $scx
	done
	wait $scx
}

# row NAME: runs one and prints its figures.
row() {
	settle
	case $1 in
	# One CPU: a wakeup that queues, and a switch; twice a loop. ns of a loop / 2.
	pipe-one-cpu) value "$1" ns "$(/usr/bin/taskset 1 perf bench sched pipe -l 4000 | awk '/usecs\/op/ { print int($1 * 500) }')" ;;
	# Any CPU: with a decision.
	pipe) value "$1" ns "$(perf bench sched pipe -l 4000 | awk '/usecs\/op/ { print int($1 * 500) }')" ;;
	hackbench-pipes) value "$1" s "$(hackbench -g 4 -l 60 -p -T | sed -n 's/^Time: //p')" ;;
	hackbench-sockets) value "$1" s "$(hackbench -g 4 -l 30 | sed -n 's/^Time: //p')" ;;
	sysbench-threads) value "$1" events "$(sysbench threads --threads=8 --time=1 run | awk '/total number of events/ { print $NF }')" ;;
	schbench)
		schbench -m 2 -t 4 -r 1 -i 100 -F 16 -n 1 >/tmp/row 2>&1
		for percentile in 50.0 99.0 99.9; do
			value "$1" "p$percentile" "$(awk -v p="$percentile" '/^Wakeup Latencies/ { on = 1 } /^Request Latencies/ { on = 0 }
				on && ($1 == p "th:" || $2 == p "th:") { for (i = 1; i <= NF; i++) if ($i == p "th:") v = $(i + 1) } END { print v }' /tmp/row)"
		done
		value "$1" rps "$(awk '/average rps:/ { print $NF }' /tmp/row)"
		;;
	cyclictest)
		cyclictest -q -t 8 -i 1000 -l 300 -h 30000 >/tmp/row 2>&1
		latency "$1"
		;;
	# The same among CPU hogs, one a CPU, normal ones or SCHED_IDLE.
	cyclictest-loaded | cyclictest-idle)
		policy='/usr/bin/chrt -o 0'
		[ "$1" = cyclictest-loaded ] || policy='/usr/bin/chrt -i 0'
		$policy stress-ng --cpu "$(nproc)" --cpu-method loop -q &
		hogs=$!
		sleep 0.5
		cyclictest -q -t 8 -i 1000 -l 300 -h 30000 >/tmp/row 2>&1
		kill $hogs
		wait $hogs
		latency "$1"
		;;
	esac
}

# latency ROW: of cyclictest's histograms, all threads together; more than 30 ms counts as 30 ms.
latency() {
	value "$1" avg "$(sed -n 's/^# Avg Latencies: //p' /tmp/row | awk '{ for (i = 1; i <= NF; i++) s += $i; print s / NF }')"
	value "$1" p99 "$(awk '/^# Histogram Overflows:/ { for (i = 4; i <= NF; i++) all += $i }
		/^[0-9]/ { for (i = 2; i <= NF; i++) { n[$1 + 0] += $i; all += $i } if ($1 + 0 > m) m = $1 + 0 }
		END { for (u = 0; u < m; u++) { sum += n[u]; if (sum >= all * .99) break } print u }' /tmp/row)"
	value "$1" max "$(sed -n 's/^# Max Latencies: //p' /tmp/row | awk '{ for (i = 1; i <= NF; i++) if ($i + 0 > m) m = $i + 0; print m }')"
}

{ echo kernel; cat /schedulers; } >/tmp/all
number=$(wc -l </tmp/all)
round=0
while [ $round -lt "$rounds" ]; do
	n=0
	while [ $n -lt "$number" ]; do
		line=$(sed -n "$(((n + round) % number + 1))p" /tmp/all)
		name=${line%% *}
		if begin $line; then
			for which in $rows; do row "$which"; done
			finish
		fi
		n=$((n + 1))
	done
	round=$((round + 1))
done
echo "kernel errors: $(dmesg | grep -c -e 'BUG' -e 'WARNING:' -e 'sched_ext: .* disabled (runtime error')"
