#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest while decisions are recorded: tasks that wake each other in
# pairs and crowds, by timers and interrupts, nice, SCHED_IDLE and real-time,
# clamped, with affinities, forked and executed.
#
#   decisions-load.sh SECONDS	of guest time for the longest part; 0: a sample of each
#
# What a kernel does not have (clamps before 6.18 in Debian's cloud flavour) fails quietly.

cd /tmp || exit
seconds=$1

# A mix of periods, loads and affinities, and two tasks that take turns.
cat >mix.json <<'J'
{"global": {"duration": DURATION, "default_policy": "SCHED_OTHER", "calibration": 100,
	"lock_pages": false, "logdir": "/tmp"},
 "tasks": {
	"small": {"instance": 6, "loop": -1, "run": 400, "timer": {"ref": "unique", "period": 4000}},
	"large": {"instance": 2, "loop": -1, "run": 9000, "timer": {"ref": "unique", "period": 16000}},
	"pinned": {"instance": 3, "loop": -1, "cpus": [1, 2], "run": 700,
		"timer": {"ref": "unique", "period": 5000}},
	"ping": {"loop": -1, "run": 200, "resume": "m", "sleep": 1500},
	"pong": {"loop": -1, "suspend": "m", "run": 300}}}
J

# Little to do: energy decides only while no CPU is overutilized, and what runs at the same time on
# CPUs that take turns takes as long as one after the other.
cat >light.json <<'J'
{"global": {"duration": DURATION, "default_policy": "SCHED_OTHER", "calibration": 100,
	"lock_pages": false, "logdir": "/tmp"},
 "tasks": {
	"small": {"instance": 4, "loop": -1, "run": 150, "timer": {"ref": "unique", "period": 5000}},
	"medium": {"instance": 2, "loop": -1, "run": 600, "timer": {"ref": "unique", "period": 12000}}}}
J

# stress DIVISOR ARGUMENT...: for a part of the time.
stress() {
	part=$((seconds / $1))
	shift
	stress-ng -q --temp-path /tmp -t "$part" "$@"
}

# mix SECONDS: with tasks of SCHED_IDLE beside it, a policy that rt-app 1.0 does not know.
mix() {
	sed "s/DURATION/$1/" mix.json >run.json
	chrt -i 0 stress-ng -q --cpu 3 --cpu-load 40 --cpu-load-slice 3 -t "$1" &
	rt-app run.json
	wait
}

light() {
	sed "s/DURATION/$seconds/" light.json >run.json
	rt-app run.json
}

whole() {
	stress 1 --switch 4
	stress 2 --nanosleep 6 &
	stress 1 --eventfd 4
	wait
	taskset 3c stress-ng -q --temp-path /tmp --mq 3 -t $((seconds / 2)) &
	chrt -i 0 stress-ng -q --cpu 5 --cpu-load 40 --cpu-load-slice 3 -t $((seconds / 2)) &
	stress 2 --switch 2
	wait
	sysbench threads --threads=16 --thread-yields=100 --thread-locks=4 --time=$((seconds / 2)) run
	chrt -i 0 stress-ng -q --nanosleep 2 -t $((seconds / 2)) &
	renice -n 5 -p $!
	stress 2 --futex 4 --pipe 2
	wait
	uclampset -m 300 -M 700 stress-ng -q --nanosleep 2 -t $((seconds / 3)) &
	stress 3 --wait 3 --sigq 2
	wait
	taskset 0f stress-ng -q --temp-path /tmp --sem 4 --msg 2 --eventfd 1 -t $((seconds / 3)) &
	taskset f1 stress-ng -q --temp-path /tmp --switch 2 -t $((seconds / 3))
	wait
	chrt -f 10 stress-ng -q --cpu 2 --cpu-load 50 --cpu-load-slice 2 -t $((seconds / 3)) &
	stress 3 --switch 3 --fork 1
	wait
	mix 4
	light
	cyclictest -q --policy=other -t 6 -i 500 -D "$seconds" &
	light
	wait
	schbench -m 2 -t 6 -F 16 -n 1 -s 500 -r "$seconds"
	hackbench -g 2 -f 1 -l 8000 -p -T
	hackbench -g 4 -f 4 -l 300
	hackbench -g 2 -f 2 -l 2000 -p
}

# Some ten thousand decisions. One of 1000 may differ, since a CPU can change twice meanwhile; of three
# thousand decisions three did once.
sample() {
	stress-ng -q --temp-path /tmp --switch 2 --switch-ops 4000
	taskset 5 hackbench -g 1 -f 2 -l 1000
	chrt -i 0 stress-ng -q --nanosleep 1 --nanosleep-ops 30 &
	sysbench threads --threads=6 --thread-yields=10 --thread-locks=3 --events=2400 run
	wait
	uclampset -m 300 -M 700 hackbench -g 1 -f 1 -l 1000
	chrt -f 10 stress-ng -q --cpu 1 --cpu-load 50 --cpu-load-slice 2 --cpu-ops 3 &
	hackbench -g 2 -f 2 -l 1000 -p
	wait
	mix 1
}

if [ "$seconds" -gt 0 ]; then whole; else sample; fi >/dev/null 2>&1
# Tasks that are born on every CPU and go at once.
for _ in 1 2 3 4 5 6 7 8 9 10; do
	/bin/busybox true &
done
wait
