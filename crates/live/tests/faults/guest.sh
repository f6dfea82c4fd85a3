#!/bin/sh
# shellcheck shell=dash disable=SC2086,SC2046,SC2013 # numbers and lists of numbers
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest: does to scx_alight what machines and people do to a
# scheduler, and checks that it holds.
#
#	guest.sh SCALE FAULT...		most faults take about SCALE x 3 seconds
#
# One line a check, "ok    NAME: FOUND" or "FAIL  NAME: ...", and the measured,
# "figure NAME: NUMBER UNIT". A fault is a function fault_NAME below.

scale=$1
shift
faults=$*
: "${SCHEDULER:=linux-7.2}"
cpus=$(nproc)
last=$((cpus - 1))
kernel=/sys/kernel/sched_ext
cgroups=/sys/fs/cgroup
log=/tmp/scx_alight.log
# Busybox has poorer ones of these names, and its shell prefers them.
chrt=/usr/bin/chrt taskset=/usr/bin/taskset setpriv=/usr/bin/setpriv
mkdir -p /tmp

# A normal task that waits longer than this, in ms, counts as starved. The
# watchdog of the kernel waits 30 s; an emulated CPU may itself be late.
STARVED_MS=2000

# ---- checks ----

check() { # NAME EXPECTED FOUND
	if [ "$2" = "$3" ]; then echo "ok    $1: $3"; else echo "FAIL  $1: expected $2, found ${3:-nothing}"; fi
}

at_most() { # NAME LIMIT FOUND UNIT
	echo "figure $1: ${3:-unknown} $4"
	if [ -n "$3" ] && [ "$3" -le "$2" ]; then
		echo "ok    $1, at most $2 $4: $3"
	else
		echo "FAIL  $1: expected at most $2 $4, found ${3:-nothing}"
	fi
}

at_least() { # NAME LIMIT FOUND
	if [ -n "$3" ] && [ "$3" -ge "$2" ]; then echo "ok    $1, at least $2: $3"; else echo "FAIL  $1: expected at least $2, found ${3:-nothing}"; fi
}

contains() { # NAME TEXT FILE
	if grep -qF "$2" "$3"; then echo "ok    $1: $2"; else echo "FAIL  $1: expected '$2', found '$(tail -n 1 "$3")'"; fi
}

figure() { echo "figure $1: $2 $3"; }

# word NAME TEXT: NUMBER of the word NAME=NUMBER.
word() { echo "$2" | tr ' ' '\n' | sed -n "s/^$1=//p"; }

now_ms() { awk '{ print int($1 * 1000) }' /proc/uptime; }
seconds() { echo $((scale * $1)); }
milliseconds() { echo $((scale * $1 * 1000)); }

# ---- the scheduler ----

state() { cat $kernel/state; }

# begin: loads scx_alight unless it runs.
begin() {
	[ -z "$scx" ] || { [ "$(state)" = enabled ] && kill -0 "$scx" 2>/dev/null && return; }
	[ -z "$scx" ] || { kill -KILL "$scx" 2>/dev/null; wait "$scx" 2>/dev/null; }
	until [ "$(state)" = disabled ]; do sleep 0.1; done
	/scx_alight --metrics 9776 "$SCHEDULER" >$log 2>&1 &
	scx=$!
	waits=0
	until [ "$(state)" = enabled ]; do
		sleep 0.1
		waits=$((waits + 1))
		if ! kill -0 $scx 2>/dev/null || [ $waits = 600 ]; then
			echo "FAIL  $fault: scx_alight does not load: $(tail -n 1 $log)"
			return 1
		fi
	done
	sequence=$(cat $kernel/enable_seq)
}

# end: unloads it as a user does.
end() {
	[ -n "$scx" ] || return
	kill -INT "$scx" 2>/dev/null
	wait "$scx"
	status=$?
	scx=
}

# holds WHAT: it is still the same scheduler, loaded once.
holds() {
	check "$1: state" enabled "$(state)"
	check "$1: not loaded anew" "$sequence" "$(cat $kernel/enable_seq)"
	# Whose scheduler the kernel has ended is about to say why.
	waits=0
	while [ "$(state)" != enabled ] && kill -0 "$scx" 2>/dev/null && [ $waits -lt 100 ]; do
		sleep 0.1
		waits=$((waits + 1))
	done
	if kill -0 "$scx" 2>/dev/null; then
		echo "ok    $1: scx_alight runs: yes"
	else
		echo "FAIL  $1: scx_alight has ended: $(tail -n 1 $log)"
	fi
	[ "$(state) $(cat $kernel/enable_seq)" = "enabled $sequence" ] || sed 's/^/  log: /' $log
}

# kicks_arrive WHAT: on no CPU, at three looks, is a kick waiting to be sent, by the kernel's own
# dump. One that had been put off on a CPU which was about to go keeps all later ones from being sent.
kicks_arrive() {
	tracing=/sys/kernel/tracing
	[ -e $tracing/events ] || mount -t tracefs tracefs $tracing
	dumps=$tracing/events/sched_ext/sched_ext_dump/enable
	if [ ! -e $dumps ] || [ ! -w /proc/sysrq-trigger ]; then
		echo "SKIPPED: $1: kicks: this kernel does not dump the state of sched_ext"
		return
	fi
	echo 1 >$dumps
	for _ in 1 2 3; do
		echo >$tracing/trace
		echo D >/proc/sysrq-trigger
		sleep 0.3
		sed -n 's/.*sched_ext_dump: *//p' $tracing/trace | awk '/^CPU / { cpu = $2 } /^cpus_to_/ { print cpu }' | sort -u
	done | sort | uniq -c | awk '$1 == 3 { print $2 }' >/tmp/unkicked
	at_least "$1: lines of the dump" 10 "$(grep -c sched_ext_dump $tracing/trace)"
	echo 0 >$dumps
	check "$1: CPUs whose kicks do not arrive" '' "$(paste -sd' ' /tmp/unkicked)"
}

# ---- loads ----

# load_begin: hackbench again and again; each message must arrive, or it never ends.
load_begin() {
	rm -f /tmp/load.*
	: >/tmp/load.done
	: >/tmp/load.lost
	(
		while [ ! -e /tmp/load.stop ]; do
			if timeout 120 hackbench -g 1 -f 10 -l 50 -p -T >/dev/null; then
				echo >>/tmp/load.done
			else
				echo >>/tmp/load.lost
			fi
		done
	) &
	load=$!
}

load_end() { # WHAT
	: >/tmp/load.stop
	wait $load
	at_least "$1: hackbench runs that finished" 1 "$(wc -l </tmp/load.done)"
	check "$1: hackbench runs that did not finish" 0 "$(wc -l </tmp/load.lost)"
}

# spin COMMAND...: an endless loop under COMMAND (chrt, taskset).
spin() {
	"$@" sh -c 'while :; do :; done' &
	spinning="$spinning $!"
	sleep 0.05
	kill -0 $! 2>/dev/null || echo "FAIL  $fault: no hog under $*"
}

spin_end() {
	kill $spinning 2>/dev/null
	for pid in $spinning; do wait "$pid" 2>/dev/null; done
	spinning=
}

# every_cpu_serves WHAT: as many hogs as there are CPUs all get their part.
every_cpu_serves() {
	result=$(strain hogs "$cpus" 1000)
	at_least "$1: CPUs used afterwards, ms of the least served of as many hogs" 100 \
		"$(($(word least "$result") / 1000))"
}

# latencies OPTION...: of threads that sleep 2 ms at a time; sets $average and $longest, us.
latencies() {
	cyclictest -q -i 2000 "$@" >/tmp/latencies
	average=$(sed -n 's/.*Avg: *\([0-9]*\) .*/\1/p' /tmp/latencies | awk '{ s += $1 } END { print int(s / NR) }')
	longest=$(sed -n 's/.*Max: *\([0-9]*\).*/\1/p' /tmp/latencies | sort -n | tail -n 1)
}

every_cpu() { seq 0 $last; }

# starvation WHAT THREADS [CPUS]: so many spinning threads, and the longest time one of them waits.
starvation() {
	result=$(strain hogs "$2" "$(milliseconds 2)" $3)
	at_most "$1: longest run delay" $STARVED_MS "$(($(word longest "$result") / 1000))" ms
	at_least "$1: processor time of the least served, ms" 1 "$(($(word least "$result") / 1000))"
}

# ---- the loader ----

fault_kill() {
	begin || return
	load_begin
	sleep "$(seconds 1)"
	check 'SIGKILL: under load, tasks are the scheduler'\''s' 1 "$(sed -n 's/^ext.enabled *: *//p' /proc/$load/sched)"
	before=$(now_ms)
	kill -KILL $scx
	until [ "$(state)" = disabled ]; do :; done
	at_most 'SIGKILL: the kernel takes over after' 2000 $(($(now_ms) - before)) ms
	check 'SIGKILL: tasks are the kernel'\''s' 0 "$(sed -n 's/^ext.enabled *: *//p' /proc/$load/sched)"
	sleep 1
	load_end SIGKILL
	wait $scx 2>/dev/null
	scx=
}

fault_reload() {
	end
	load_begin
	before=$(cat $kernel/enable_seq)
	done=0 bad=0
	times=$((scale * 2))
	while [ $done -lt $times ]; do
		begin || break
		end
		[ $status = 0 ] && [ "$(state)" = disabled ] || bad=$((bad + 1))
		done=$((done + 1))
	done
	check "load and unload $times times: loads" $times $(($(cat $kernel/enable_seq) - before))
	check "load and unload $times times: ends other than clean" 0 $bad
	load_end 'load and unload'
}

fault_second() {
	begin || return
	/scx_alight "$SCHEDULER" >/tmp/second 2>&1
	check 'second instance: status' 1 $?
	contains 'second instance: text' 'another sched_ext scheduler is loaded' /tmp/second
	holds 'second instance'
}

# ---- masks ----

fault_hotplug() {
	begin || return
	load_begin
	toggles=0
	stop=$(($(now_ms) + $(milliseconds 3)))
	while [ "$(now_ms)" -lt $stop ]; do
		for cpu in $(seq 1 $last); do
			echo 0 2>/dev/null >/sys/devices/system/cpu/cpu$cpu/online && toggles=$((toggles + 1))
		done
		for cpu in $(seq 1 $last); do
			echo 1 2>/dev/null >/sys/devices/system/cpu/cpu$cpu/online
		done
	done
	load_end hotplug
	figure 'hotplug: CPUs taken off and brought back' $toggles times
	at_least 'hotplug: CPUs taken off and brought back' 1 $toggles
	check 'hotplug: CPUs online at the end' "0-$last" "$(cat /sys/devices/system/cpu/online)"
	every_cpu_serves hotplug
	kicks_arrive hotplug
	holds hotplug
}

# CPUs come and go under load. Who takes them off has to wait for its turn when the CPU that
# goes wakes it, so that this CPU has somebody to tell, which it can not any more.
fault_kicks() {
	begin || return
	load_begin
	for _ in $(seq $((cpus + 1))); do spin env; done
	(
		for _ in $(seq $((scale * 5))); do
			for cpu in $(seq 1 $last); do
				echo 0 >/sys/devices/system/cpu/cpu$cpu/online
				echo 1 >/sys/devices/system/cpu/cpu$cpu/online
			done
		done
	) &
	toggling=$!
	renice -n 10 -p $toggling
	wait $toggling
	spin_end
	load_end kicks
	check 'kicks: CPUs online at the end' "0-$last" "$(cat /sys/devices/system/cpu/online)"
	kicks_arrive kicks
	holds kicks
}

# The machine sleeps in RAM, which takes all CPUs but one off, until its clock wakes it.
fault_suspend() {
	alarm=/sys/class/rtc/rtc0/wakealarm
	if ! grep -qF '[deep]' /sys/power/mem_sleep 2>/dev/null || [ ! -w $alarm ]; then
		echo 'SKIPPED: suspend: this machine cannot sleep in RAM and be woken by its clock'
		return
	fi
	begin || return
	load_begin
	sleeps=0
	before=$(cat /sys/power/suspend_stats/success)
	while [ $sleeps -lt "$scale" ]; do
		sleep 0.5
		echo 0 >$alarm
		echo +5 >$alarm		# an alarm before it sleeps would be lost
		echo mem >/sys/power/state || break
		sleeps=$((sleeps + 1))
	done
	load_end suspend
	check 'suspend: sleeps in RAM' "$scale" $(($(cat /sys/power/suspend_stats/success) - before))
	check 'suspend: CPUs online at the end' "0-$last" "$(cat /sys/devices/system/cpu/online)"
	every_cpu_serves suspend
	kicks_arrive suspend
	holds suspend
}

fault_affinity() {
	begin || return
	result=$(strain affinity $((cpus * 4)) "$(milliseconds 3)")
	figure 'affinity storm: changes' "$(word changes "$result")" ''
	at_least 'affinity storm: changes' 100 "$(word changes "$result")"
	check 'affinity storm: threads off their mask' 0 "$(word off "$result")"
	check 'affinity storm: threads that never ran' 0 "$(word never_ran "$result")"
	holds 'affinity storm'
}

# A cpuset whose CPUs change, with tasks that come and go and move between it and another.
fault_cpuset() {
	begin || return
	mkdir -p $cgroups/one $cgroups/two
	if [ ! -e $cgroups/one/cpuset.cpus ]; then
		echo "SKIPPED: cpuset churn: this kernel has no cpuset controller"
		return
	fi
	for group in one two; do
		(
			exec sh -c "echo \$\$ >$cgroups/$group/cgroup.procs; exec stress-ng --cpu $cpus --switch 2 -q"
		) &
		spinning="$spinning $!"
	done
	strain offmask "$(milliseconds 3)" >/tmp/offmask 2>/tmp/offmask.err &
	watcher=$!
	changes=0
	while kill -0 $watcher 2>/dev/null; do
		first=$((changes % cpus))
		echo "$first-$last" >$cgroups/one/cpuset.cpus
		echo "0-$first" >$cgroups/two/cpuset.cpus
		if [ $((changes % 5)) = 0 ]; then
			set -- $(tail -n 1 $cgroups/one/cgroup.procs) $(tail -n 1 $cgroups/two/cgroup.procs)
			[ -z "$1" ] || echo "$1" >$cgroups/two/cgroup.procs
			[ -z "$2" ] || echo "$2" >$cgroups/one/cgroup.procs
		fi 2>/dev/null
		changes=$((changes + 1))
	done
	result=$(cat /tmp/offmask)
	kill -KILL $(cat $cgroups/one/cgroup.procs $cgroups/two/cgroup.procs) 2>/dev/null
	spin_end
	for group in one two; do
		until rmdir $cgroups/$group 2>/dev/null; do sleep 0.1; done
	done
	figure 'cpuset churn: changes' $changes ''
	at_least 'cpuset churn: tasks looked at from outside' 20 "$(word checked "$result")"
	check 'cpuset churn: tasks off their mask' 0 "$(word off "$result")"
	sed 's/^/  /' /tmp/offmask.err
	holds 'cpuset churn'
}

# Groups that come, get tasks and weights, and go.
fault_cgroup() {
	begin || return
	load_begin
	made=0
	stop=$(($(now_ms) + $(milliseconds 3)))
	while [ "$(now_ms)" -lt $stop ]; do
		mkdir $cgroups/churn $cgroups/churn/inner
		echo $load >$cgroups/churn/cgroup.procs
		sh -c "echo \$\$ >$cgroups/churn/cgroup.procs; echo $((made % 100 * 100 + 1)) >$cgroups/churn/cpu.weight
			echo $((made % 2)) >$cgroups/churn/cpu.idle; exec hackbench -g 1 -l 2 -p >/dev/null" 2>/dev/null
		for pid in $(cat $cgroups/churn/cgroup.procs); do
			echo "$pid" >$cgroups/cgroup.procs
		done 2>/dev/null
		rmdir $cgroups/churn/inner
		until rmdir $cgroups/churn 2>/dev/null; do
			for pid in $(cat $cgroups/churn/cgroup.procs); do echo "$pid" >$cgroups/cgroup.procs; done 2>/dev/null
		done
		made=$((made + 1))
	done
	load_end 'cgroup churn'
	adds_up 'cgroup churn'
	figure 'cgroup churn: groups made and removed' $made ''
	at_least 'cgroup churn: groups made and removed' 1 $made
	holds 'cgroup churn'
}

# ---- many ----

fault_fork() {
	begin || return
	stress-ng -q --fork 4 --vfork 2 --clone 2 --exec 2 -t "$(seconds 3)" --metrics-brief >/tmp/fork 2>&1
	check 'fork storm: status of stress-ng' 0 $?
	figure 'fork storm: processes a second' "$(awk '/fork|clone|exec/ && $5 ~ /^[0-9]/ { n += $9 } END { print int(n) }' /tmp/fork)" ''
	holds 'fork storm'
}

fault_threads() {
	begin || return
	number=$((scale * 2000))
	[ $number -le 10000 ] || number=10000
	echo 40000 >/proc/sys/kernel/threads-max
	echo 40000 >/proc/sys/kernel/pid_max
	result=$(strain threads $number)
	check "$number threads: created" $number "$(word created "$result")"
	check "$number threads: finished" $number "$(word finished "$result")"
	holds 'many threads'
}

# ---- other classes ----

# The kernel's deadline server, which came with 7.0, gives this class so many ns of its period on each CPU.
server=/sys/kernel/debug/sched/ext_server
server_gives() {
	for file in "$server"/cpu*/runtime; do [ ! -e "$file" ] || echo "$1" >"$file"; done
}

fault_rt() {
	begin || return
	usual=$(cat $server/cpu0/runtime 2>/dev/null)
	# Without the server, what waits on a CPU with an RT hog must go to the one that has none.
	server_gives 0
	[ ! -e $server ] || check 'RT hogs on all CPUs but one: what the server gives' 0 "$(cat $server/cpu$last/runtime)"
	for cpu in $(seq 1 $last); do spin $taskset -c "$cpu" $chrt -f 50; done
	starvation 'RT hogs on all CPUs but one' 4
	spin_end
	server_gives "$usual"
	holds 'RT hogs on all CPUs but one'
	if [ ! -e $server ]; then
		echo "SKIPPED: RT hogs on all CPUs: this kernel has no deadline server for sched_ext"
		return
	fi
	for cpu in $(every_cpu); do spin $taskset -c "$cpu" $chrt -f 50; done
	starvation 'RT hogs on all CPUs' 2
	spin_end
	holds 'RT hogs on all CPUs'
}

fault_deadline() {
	begin || return
	for cpu in $(seq 1 2 $last); do
		spin $chrt -d -T 6000000 -D 10000000 -P 10000000 0
	done
	starvation 'deadline tasks on half of the CPUs' "$cpus"
	spin_end
	holds 'deadline tasks'
}

# Tasks of one CPU, as many kernel threads are: the decision has no say, the queue has.
fault_pinned() {
	begin || return
	for cpu in $(every_cpu); do spin; spin $taskset -c "$cpu"; done
	latencies -a -t "$cpus" -D "$(seconds 2)"
	at_most 'pinned sleepers among hogs: longest latency' $STARVED_MS $((longest / 1000)) ms
	spin_end
	holds 'pinned sleepers'
}

# What SCHED_IDLE hogs cost others, against what they cost under the kernel's own scheduler.
fault_idle() {
	end
	for cpu in $(every_cpu); do spin $chrt -i 0 $taskset -c "$cpu"; done
	latencies -t "$cpus" -D "$(seconds 2)"
	kernels=$average
	figure 'SCHED_IDLE hogs on every CPU: average latency of others, kernel'\''s scheduler' "$kernels" us
	begin || return
	latencies -t "$cpus" -D "$(seconds 2)"
	# Emulated CPUs are late by themselves, by more or less.
	at_most 'SCHED_IDLE hogs on every CPU: average latency of others' $((2 * kernels + 2000)) "$average" us
	spin_end
	for cpu in $(every_cpu); do spin; done
	# The scheduler serves them by age, after 4 s (PATIENCE_NS of queue.h), which begin anew when one has
	# moved, and emulated CPUs are late as for others. They run for longer than that, so that it can be seen.
	result=$($chrt -i 0 strain hogs "$cpus" $((12000 + $(milliseconds 1))))
	at_least 'SCHED_IDLE among normal hogs: processor time of the least served, us' 1 "$(word least "$result")"
	at_most 'SCHED_IDLE among normal hogs: longest run delay' $((2 * 4000 + STARVED_MS)) "$(($(word longest "$result") / 1000))" ms
	spin_end
	holds 'SCHED_IDLE hogs'
}

# grace: the longest grace period of RCU among SCHED_IDLE readers and two hogs on every CPU, in ms, into $longest.
grace() {
	for cpu in $(every_cpu) $(every_cpu); do spin $taskset -c "$cpu"; done
	longest=$(($(word longest "$(strain readers "$cpus" "$(milliseconds 3)")") / 1000))
	spin_end
}

# Who is preempted while it reads under RCU holds up all who wait for a grace period, and from 7.2 the kernel ends
# the scheduler after 21 s of that.
fault_readers() {
	# To compare with, where there is time: it is seconds, and may be a stall, which is none of ours.
	if [ "$scale" -gt 1 ]; then
		end
		echo 1 >/sys/module/rcupdate/parameters/rcu_cpu_stall_suppress
		grace
		echo 0 >/sys/module/rcupdate/parameters/rcu_cpu_stall_suppress
		figure 'RCU readers among hogs: longest grace period, kernel'\''s scheduler' "$longest" ms
	fi
	begin || return
	grace
	at_most 'RCU readers among hogs: longest grace period' $((STARVED_MS / 2)) "$longest" ms
	holds 'RCU readers'
}

# ---- shares ----

# group NAME WEIGHT: a cgroup of this cpu.weight; of "idle" it is cpu.idle.
group() {
	mkdir "$cgroups/$1"
	if [ "$2" = idle ]; then echo 1 >"$cgroups/$1/cpu.idle"; else echo "$2" >"$cgroups/$1/cpu.weight"; fi
}

groups_end() {
	for group; do
		until rmdir "$cgroups/$group" 2>/dev/null; do sleep 0.1; done
	done
}

# ran PID...: CPU time of each, us. An RT task has their CPU while it reads them, so all are of one moment.
ran() { $chrt -f 50 $taskset -c $last cat $(printf '/proc/%s/schedstat ' "$@") | awk '{ printf "%d ", $1 / 1000 }'; }

# How far from what its weight says a share may be, of 1000. One turn more or less at an end of the time measured, of 8 ms
# where only ticks end turns, is 4. Who takes a group for its tasks, or forgets a level or a weight, is 50 off at least in
# one of the shares below. That is asked of guests with --icount: elsewhere a turn goes on for as long as the host has the CPU.
SHARE_OFF=10

# shares NAME SECONDS HOG...: each hog, 'WEIGHT GROUP COMMAND', spins in a cgroup when it has done COMMAND, all on one
# CPU. It has to get what its WEIGHT is of theirs, and not nothing.
shares() {
	name=$1 length=$2 weights=''
	shift 2
	for hog; do
		weights="$weights${hog%% *} "
		hog=${hog#* }
		spin sh -c "echo \$\$ >$cgroups/${hog%% *}/cgroup.procs; ${hog#* }; exec $taskset -c $last \"\$@\"" sh
		while [ -e /proc/$! ] && ! grep -q "^Cpus_allowed_list:.$last\$" /proc/$!/status; do sleep 0.1; done
	done
	sleep 0.5	# the kernel's loads of groups are averages
	before=$(ran $spinning)
	sleep "$(seconds "$length")"
	after=$(ran $spinning)
	spin_end
	echo "$weights $before $after" | awk -v name="shares, $under: $name" -v most=$SHARE_OFF '
		{
			n = NF / 3
			for (i = 1; i <= n; i++) {
				weight += $i
				ran += time[i] = $(i + 2 * n) - $(i + n)
			}
			bad = NF % 3 || ran <= 0
			for (i = 1; i <= n && ran > 0; i++) {
				off = 1000 * time[i] / ran - 1000 * $i / weight
				bad = bad || time[i] <= 0 || off > most || off < -most
				due = due sprintf(" %.1f", 1000 * $i / weight)
				has = has sprintf(" %.1f", 1000 * time[i] / ran)
			}
		}
		END {
			print "figure " name ":" has " of 1000, by weight" due
			if (bad) print "FAIL  " name ": expected" due " of 1000 within " most ", found" (has ? has : " nothing")
			else print "ok    " name ", within " most " of" due " of 1000:" has
		}'
}

# The kernel's own scheduler is held to the same, which shows that it is measured rightly.
shares_under() {
	under=$1
	group heavy 300
	group light 100
	group outer 300
	echo +cpu >$cgroups/outer/cgroup.subtree_control
	group outer/heavy 300
	group outer/light 100
	group idle idle
	shares 'nice 0 and 5' 2 '1024 . :' '335 . renice -n 5 -p $$ >/dev/null'
	shares 'groups of weight 300 and 100' 2 '300 heavy :' '100 light :'
	shares 'two hogs in the group of 100' 2 '300 heavy :' '50 light :' '50 light :'
	# What outer has, 300 of 400, is shared by 300 and 100.
	shares 'groups in a group' 2 '225 outer/heavy :' '75 outer/light :' '100 light :'
	if [ "$under" = scx_alight ] && ! grep -q cgroup_set_idle /sys/kernel/btf/vmlinux; then
		echo 'SKIPPED: shares: cpu.idle: this kernel does not tell sched_ext of it'
		set --
	else
		set -- '3 idle :' '3 ever_idle :'
	fi
	shares "SCHED_IDLE${1:+ and cpu.idle}" 6 "3 . $chrt -i -p 0 \$\$" "$@" '1024 light :'
	groups_end outer/heavy outer/light outer heavy light idle

	# Who wants less than its share gets it, and waits for the end of a turn: two ticks, where no timer ends it.
	spin $taskset -c $last
	result=$($taskset -c $last strain sleeper 10000 50000 "$(milliseconds 2)")
	spin_end
	figure "shares, $under: sleeper beside a hog: average delay" "$(word average "$result")" us
	at_most "shares, $under: sleeper beside a hog: longest delay" 10000 "$(word longest "$result")" us
	at_least "shares, $under: sleeper that wants 200 of 1000 beside a hog, gets" 180 \
		$(($(word ran "$result") * 1000 / $(word took "$result")))

	result=$(strain hogs $((cpus + 1)) "$(milliseconds 32)")
	even=$(($(word least "$result") * 1000 / $(word most "$result")))
	figure "shares, $under: $((cpus + 1)) hogs on $cpus CPUs: the least of the most served" $even 'of 1000'
}

fault_shares() {
	end
	group ever_idle idle
	shares_under 'kernel'\''s scheduler'
	kernels=$even
	begin || return
	shares_under scx_alight
	groups_end ever_idle
	# Who is alone on a CPU changes by chance, some ten times a second. Where nobody changes it is 500.
	at_least "shares, scx_alight: $((cpus + 1)) hogs on $cpus CPUs: the least of the most served" $((kernels - 100)) $even
	holds shares
}

# ---- what the machine lacks ----

fault_memory() {
	begin || return
	mkdir $cgroups/small
	if [ -e $cgroups/small/memory.max ]; then
		echo 48M >$cgroups/small/memory.max
		sh -c "echo \$\$ >$cgroups/small/cgroup.procs; exec strain threads 20000" >/tmp/memory 2>&1
		echo "  $(cat /tmp/memory)"
		check 'memory exhausted while threads are made: not all were made' 0 "$(grep -c 'created=20000 ' /tmp/memory)"
		holds 'memory exhausted while threads are made'
	else
		echo 'SKIPPED: memory exhaustion: this kernel has no memory controller'
	fi
	until rmdir $cgroups/small 2>/dev/null; do sleep 0.1; done
	fault_lacking
}

# Memory for loading: what the kernel side lacks (16 MiB by --verify alone) is said.
fault_lacking() {
	end
	mkdir $cgroups/lacking
	if [ ! -e $cgroups/lacking/memory.max ]; then
		echo 'SKIPPED: loading without memory: this kernel has no memory controller'
	else
		loads_within 16M --verify
		check 'no memory for the kernel side: status' 1 $status
		contains 'no memory for the kernel side: text' \
			'scx_alight: loading the scheduler into the kernel: Cannot allocate memory' /tmp/lacking
		check 'no memory for the kernel side: state' disabled "$(state)"
		loads_within 4M
		lacked 'no memory for the loader' /tmp/lacking
		check 'no memory for the loader: state' disabled "$(state)"
	fi
	until rmdir $cgroups/lacking 2>/dev/null; do sleep 0.1; done
}

# lacked WHAT FILE: it lacked memory, by its $status: what the kernel side lacks is said, and what the
# loader itself lacks has the kernel kill it.
lacked() {
	if [ "$status" = 1 ]; then
		contains "$1: status 1, text" 'Cannot allocate memory' "$2"
	else
		check "$1: status, that of SIGKILL" 137 "$status"
	fi
}

# loads_within MEMORY OPTION...: sets $status.
loads_within() {
	echo "$1" >$cgroups/lacking/memory.max
	shift
	sh -c "echo \$\$ >$cgroups/lacking/cgroup.procs; exec /scx_alight --duration 1 $* $SCHEDULER" >/tmp/lacking 2>&1
	status=$?
}

# Memory of the whole machine: its tasks storage, and a load while there is none left.
fault_nomemory() {
	begin || return
	stress-ng -q --vm 2 --vm-bytes 95% --vm-keep --oomable -t "$(seconds 3)" &
	eater=$!
	sleep 1
	strain threads 20000 >/tmp/nomemory 2>&1
	echo "  $(cat /tmp/nomemory)"
	wait $eater
	holds 'no memory left'
	end
	stress-ng -q --vm 2 --vm-bytes 95% --vm-keep --oomable -t "$(seconds 3)" &
	eater=$!
	sleep 1
	timeout 20 /scx_alight "$SCHEDULER" --duration 1 >/tmp/nomemory.load 2>&1
	status=$?
	wait $eater
	echo "  loaded without memory: status $status, $(tail -n 1 /tmp/nomemory.load)"
	# Whom the kernel kills for memory may have left enough.
	if [ $status = 0 ]; then
		contains 'loaded without memory: status 0, text' ' decisions' /tmp/nomemory.load
	else
		lacked 'loaded without memory' /tmp/nomemory.load
	fi
	check 'loaded without memory: state afterwards' disabled "$(state)"
	begin && holds 'loaded when there is memory again'
}

# Capabilities by their numbers: bpf 39, perfmon 38, sys_admin 21, which stands for both. None given: root without some.
fault_permission() {
	end
	chmod 755 /scx_alight
	may_not 'CAP_BPF and no CAP_PERFMON' --reuid 1000 --clear-groups --inh-caps=-all --ambient-caps=-all
	may_not CAP_PERFMON --reuid 1000 --clear-groups --inh-caps=+cap_39 --ambient-caps=+cap_39
	may_not CAP_BPF --reuid 1000 --clear-groups --inh-caps=+cap_38 --ambient-caps=+cap_38
	may_not CAP_PERFMON --inh-caps=-cap_21,-cap_38 --bounding-set=-cap_21,-cap_38
	may_not CAP_BPF --inh-caps=-cap_21,-cap_39 --bounding-set=-cap_21,-cap_39
	for capabilities in +cap_39,+cap_38 +cap_21; do
		$setpriv --reuid 1000 --clear-groups --inh-caps=$capabilities --ambient-caps=$capabilities \
			/scx_alight "$SCHEDULER" --duration 1 >/tmp/permission 2>&1
		check "permission by $capabilities: status" 0 $?
		sed 's/^/  /' /tmp/permission
	done
}

# may_not LACKING OPTION...: under setpriv with OPTION it is refused, for lack of LACKING.
may_not() {
	lacking=$1
	shift
	before=$(cat $kernel/enable_seq)
	$setpriv "$@" /scx_alight "$SCHEDULER" --duration 1 >/tmp/permission 2>&1
	check "permission, $*: status" 1 $?
	check "permission, $*: text" "scx_alight: no permission: loading a scheduler needs root, or CAP_BPF and CAP_PERFMON; $lacking is missing" \
		"$(cat /tmp/permission)"
	check "permission, $*: state" disabled "$(state)"
	check "permission, $*: loads" "$before" "$(cat $kernel/enable_seq)"
}

# refused WHAT TEXT ARGUMENT...: bad input ends with status 2 and TEXT, and loads nothing.
refused() {
	what=$1 text=$2
	shift 2
	/scx_alight "$@" --duration 1 >/tmp/refused 2>&1
	check "$what: status" 2 $?
	contains "$what: text" "$text" /tmp/refused
	check "$what: loads" "$before" "$(cat $kernel/enable_seq)"
}

fault_input() {
	end
	before=$(cat $kernel/enable_seq)
	refused 'unknown scheduler' "the nearest below it is 'linux-5.5'" linux-5.6
	echo 'no machine file' >/tmp/bad.toml
	refused 'bad machine file' /tmp/bad.toml --machine /tmp/bad.toml
	refused 'missing machine file' /tmp/absent.toml --machine /tmp/absent.toml
	refused 'bad rule' uclamp_mim --rule 'comm=render* uclamp_mim=60'
}

fault_refused() {
	end
	/scx_alight "$SCHEDULER" --duration 1 >/tmp/refused 2>&1
	check 'a kernel without sched_ext: status' 1 $?
	contains 'a kernel without sched_ext: text' sched_ext /tmp/refused
}

# ---- work conserving ----

# As many that always want to run as there are CPUs, or more: no CPU may idle.
fault_conserving() {
	begin || return
	for load in "$cpus 0-$last" "$((cpus * 2)) 0-$last" "4 0-1"; do
		number=${load% *} range=${load#* }
		ms=$(milliseconds 1)
		result=$(strain hogs "$number" "$ms" "$range")
		at_most "$number hogs on CPUs $range: these CPUs' time idle" 100 \
			$(($(word idle "$result") / (ms * (${range#*-} - ${range%-*} + 1)))) 'in a thousand'
	done
	# The same while others sleep and wake. What is in use is not searched for an idle CPU at each wakeup.
	metrics_read
	decided=$(metric decisions_total) looked=$(metric scan_length_sum)
	cyclictest -q -t $((cpus * 2)) -i 1500 -l 100000 >/dev/null &
	sleepers=$!
	result=$(strain hogs "$cpus" "$ms")
	kill $sleepers
	wait $sleepers
	at_most "$cpus hogs among sleepers: CPUs' time idle" 100 $(($(word idle "$result") / (ms * cpus))) 'in a thousand'
	holds 'work conserving'
	adds_up 'work conserving'
	# Where capacities differ each is looked at, for one that is big enough.
	[ "$(cat /sys/devices/system/cpu/cpu[0-9]*/cpu_capacity 2>/dev/null | sort -u | wc -l)" -gt 1 ] ||
		at_most "$cpus hogs among sleepers: CPUs looked at" 15 \
			$((($(metric scan_length_sum) - looked) * 10 / ($(metric decisions_total) - decided))) 'by ten wakeups'
	# Who wakes among hogs waits for the end of a turn, not for a tick.
	at_least 'work conserving: turns that a timer ended' 1 "$(metric timed_total)"
}

# ---- statistics ----

metrics_read() { wget -q -O /tmp/metrics http://127.0.0.1:9776/metrics; }

# metric NAME [FILTER]: the sum of the metric's lines, only those with FILTER.
metric() { grep "^alight_$1[ {]" /tmp/metrics | grep -e "${2:-}" | awk '{ n += $NF } END { printf "%d", n }'; }

# adds_up WHAT: counters of different places of the scheduler that count the same things.
adds_up() {
	# They are read while the scheduler counts: a look that falls between two is taken again.
	for _ in 1 2 3; do
		sleep 1
		metrics_read
		decisions=$(metric decisions_total)
		[ "$decisions $decisions $(metric runs_total)" != "$(metric selections_total) $(
			metric scan_length_count
		) $(metric run_delay_seconds_count)" ] || break
	done
	at_least "$1: decisions" 100 "$decisions"
	check "$1: decisions by step" "$decisions" "$(metric selections_total)"
	check "$1: decisions by CPU" "$decisions" "$(metric cpu_decisions_total)"
	check "$1: decisions by length of the scan" "$decisions" "$(metric scan_length_count)"
	check "$1: starts by delay" "$(metric runs_total)" "$(metric run_delay_seconds_count)"
	check "$1: starts by CPU" "$(metric runs_total)" "$(metric cpu_runs_total)"
	# Who is taken off the CPU without having to queue starts again after no time.
	waited=$(($(metric runs_total) - $(metric run_delay_seconds_bucket 'le="0.000000001"')))
	queued=0
	for way in direct queued patient preempted_idle preempted misfit spread packed; do
		queued=$((queued + $(metric ${way}_total)))
	done
	at_most "$1: starts of those who waited" $queued $waited "that were queued"
}

# ---- everything at once ----

fault_mixed() {
	begin || return
	dmesg -c >/dev/null 2>&1
	length=$(seconds 20)
	load_begin
	strain offmask $((length * 1000)) >/tmp/offmask 2>&1 &
	stress-ng -q --cpu "$cpus" --switch 4 --pipe 2 --futex 2 --fork 2 --yield 2 --affinity 2 --nanosleep 2 --poll 2 \
		--sem 2 --timer 1 --cpu-online 1 --schedpolicy 2 -t "$length" &
	storm=$!
	latencies -t 4 -D "$length"
	wait $storm
	load_end mixed
	at_most 'mixed: longest latency of a sleeper' $((STARVED_MS * 5)) \
		$((longest / 1000)) ms
	adds_up mixed
	check 'mixed: tasks off their mask' 0 "$(word off "$(tail -n 1 /tmp/offmask)")"
	holds mixed
}

scx='' spinning=''
echo "figure kernel: $(uname -r) "
for fault in $faults; do
	begun=$(now_ms)
	fault_$fault
	echo "figure $fault took: $(($(now_ms) - begun)) ms"
done
end
# The kernel's words when a scheduler ends on demand are no error.
dmesg >/tmp/kernel
error='BUG:|WARNING:|runtime error|runnable task stall|rcu:.*stall'
# With what it says around each: a stall has its reason there.
grep -E -B 20 -A 60 "$error" /tmp/kernel | sed 's/^/  kernel: /'
check 'errors in the kernel log' 0 "$(grep -cE "$error" /tmp/kernel)"
