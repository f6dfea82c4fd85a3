#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest: makes a capture of a small load with each tool that `alight import` reads, and
# what the same tools print of it, and leaves all as /tmp/captures.tar.
#
# Of the addresses of functions only those of timers are kept (kallsyms), as they are most of a
# trace.dat otherwise, and captures are kept in the tree.

cd /tmp || exit
tracing=/sys/kernel/tracing

grep -E ' (tick_|hrtimer_|it_real_fn|posix_)' /proc/kallsyms >kallsyms
mount --bind kallsyms /proc/kallsyms

cat >load.sh <<'L'
hackbench -g 1 -f 2 -l 20 -p >/dev/null
cyclictest -q -t 1 -i 2000 -l 10 >/dev/null
sysbench threads --threads=2 --events=2 --thread-yields=5 --thread-locks=1 run >/dev/null
sleep 0.02
L

# made FILE COMMAND...
made() {
	file=$1
	shift
	"$@" >"$file.out" 2>&1 || {
		echo "$file: failed"
		cat "$file.out"
		exit 1
	}
	echo "$file: $(wc -c <"$file") bytes"
}

SCHED='sched:sched_switch,sched:sched_waking,sched:sched_wakeup,sched:sched_wakeup_new,sched:sched_migrate_task,sched:sched_process_fork,sched:sched_process_exit'
TIMERS='timer:hrtimer_expire_entry,timer:hrtimer_expire_exit,timer:timer_expire_entry,timer:timer_expire_exit'
REST='irq:*,power:cpu_frequency,power:cpu_idle,syscalls:sys_enter_sched_yield'
ALL="$SCHED,$TIMERS,$REST"

made sched.data perf sched record -o sched.data -- sh load.sh
made full.data perf record -o full.data -a -e "$ALL" -- sh load.sh
made zstd.data perf record -o zstd.data -z -a -k CLOCK_MONOTONIC -e "$SCHED,$TIMERS" \
	-e raw_syscalls:sys_enter --filter 'id == 24' -- sh load.sh
perf record -o - -a -e "$ALL" -- sh load.sh 2>pipe.err | cat >pipe.data
echo "pipe.data: $(wc -c <pipe.data) bytes"
# A CPU goes and comes.
made hotplug.data perf record -o hotplug.data -a -e "$SCHED,cpuhp:cpuhp_enter" -- \
	sh -c 'echo 0 >/sys/devices/system/cpu/cpu3/online; sleep 0.02; echo 1 >/sys/devices/system/cpu/cpu3/online'
# Groups of tasks.
mkdir -p /sys/fs/cgroup/app/inner
made groups.data perf record -o groups.data -a --all-cgroups -e "$SCHED" -- \
	sh -c 'echo $$ >/sys/fs/cgroup/app/inner/cgroup.procs; sleep 0.02; hackbench -g 1 -f 1 -l 10 -p'
# Buffers that are too small, on a CPU on which perf waits for what it records.
made lost.data taskset 1 perf record -o lost.data -m 1 -a -e "$SCHED" -- \
	chrt -f 50 hackbench -g 1 -f 2 -l 60 -p

# tc FILE OPTION...
tc() {
	file=$1
	shift
	made "$file" trace-cmd record -o "$file" "$@" -e sched_switch -e sched_waking -e sched_wakeup \
		-e sched_wakeup_new -e sched_migrate_task -e sched_process_fork -e sched_process_exit \
		-e irq -e hrtimer_expire_entry -e hrtimer_expire_exit -e timer_expire_entry \
		-e timer_expire_exit -e cpu_frequency -e cpu_idle -e sys_enter_sched_yield sh load.sh
}
tc v7.dat -C mono
tc v7plain.dat --compression none --file-version 7
tc v6.dat --compression none --file-version 6

# The kernel's own text.
echo 0 >$tracing/tracing_on
echo >$tracing/trace
for event in sched/sched_switch sched/sched_waking sched/sched_wakeup sched/sched_wakeup_new \
	sched/sched_migrate_task sched/sched_process_fork sched/sched_process_exit \
	irq/irq_handler_entry irq/irq_handler_exit irq/softirq_entry irq/softirq_exit \
	timer/hrtimer_expire_entry timer/hrtimer_expire_exit power/cpu_idle power/cpu_frequency; do
	echo 1 >$tracing/events/$event/enable
done
echo 1 >$tracing/tracing_on
sh load.sh
echo 0 >$tracing/tracing_on
cat $tracing/trace >ftrace.txt
echo 0 >$tracing/events/enable
echo "ftrace.txt: $(wc -c <ftrace.txt) bytes"

# What the tools themselves read in them.
for file in sched full zstd hotplug groups lost; do
	perf script --header -i $file.data -F comm,tid,cpu,time,event,trace --ns >$file.script 2>/dev/null
done
perf script --header -i - -F comm,tid,cpu,time,event,trace --ns <pipe.data >pipe.script 2>/dev/null
for file in v7 v7plain v6; do
	trace-cmd report -R -t -i $file.dat >$file.raw 2>/dev/null
	trace-cmd report -t -i $file.dat >$file.txt 2>/dev/null
	trace-cmd report -l -t -i $file.dat >$file.lat 2>/dev/null
done
tar -cf captures.tar ./*.data ./*.dat ./*.script ./*.raw ./*.lat ./*.txt
