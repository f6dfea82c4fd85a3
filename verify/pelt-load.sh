#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest while load tracking is recorded: tasks of every kind, on
# few CPUs, so that they sleep, wait, run, move and change their weights.
#
#   pelt-load.sh LOOPS [group]	LOOPS: messages a sender of hackbench; group: in cgroups
#
# Ends when hackbench does.

# The recorder has started this, and it must keep up.
renice -n 0 -p $$

loops=$1
busy='while :; do :; done'
# About a millisecond of work between sleeps of a few.
periodic='while :; do usleep $0; i=0; while [ $i -lt 300 ]; do i=$((i + 1)); done; done'

started=''
keep() {
	"$@" >/dev/null 2>&1 &
	started="$started $!"
}

if [ "$2" = group ]; then
	for name in a b; do
		mkdir -p /sys/fs/cgroup/$name
	done
	echo 30 >/sys/fs/cgroup/b/cpu.weight
	echo $$ >/sys/fs/cgroup/a/cgroup.procs
fi

for nice in 0 5 19 -5; do
	keep sh -c "$busy"
	hog=$!
	renice -n $nice -p $hog
done
keep chrt -i 0 sh -c "$busy"
keep chrt -b 0 sh -c "$busy"
keep taskset 1 sh -c "$busy"
for sleep in 1500 4000 9000 30000 70000; do
	keep sh -c "$periodic" $sleep
	keep sh -c "$periodic" $sleep
	renice -n 10 -p $!
done
[ "$2" != group ] || echo $! >/sys/fs/cgroup/b/cgroup.procs
keep chrt -f 10 sh -c "$periodic" 7000
# A deadline task must not fork; its bandwidth makes it sleep.
keep chrt -d -T 2000000 -D 9000000 -P 10000000 0 sh -c "$busy"
keep cyclictest -q -t 2 -p 50 -i 3000

# Weights, classes and affinities change under way, and tasks come and go.
change() {
	while :; do
		for nice in 3 -8 12 0; do
			renice -n $nice -p $hog >/dev/null 2>&1
			usleep 20000
			taskset -p 3 $hog >/dev/null 2>&1
			usleep 20000
			taskset -p f $hog >/dev/null 2>&1
			chrt -p -f 1 $hog 2>/dev/null
			usleep 2000
			chrt -p -o 0 $hog 2>/dev/null
			sh -c 'i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done'
		done
	done
}
change &
started="$started $!"

hackbench -g 2 -l "$loops" -p -T
status=$?
hackbench -g 1 -l $((loops / 4)) || status=1
# shellcheck disable=SC2086 # a list of numbers
kill -9 $started 2>/dev/null
exit $status
