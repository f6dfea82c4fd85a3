#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What scx_alight knows of the machine, in an arm64 guest with little and big CPUs,
# operating points, schedutil and an energy model, all the stock kernel's: small
# periodic tasks that ran on a big CPU go to little ones where energy decides; every
# decision comes out the same on the host side. schedutil is told what CPUs need.
# Capacities and an energy model that come while the scheduler runs, with the cpufreq
# driver, are noticed. A machine file is believed, or refused. The guest's time is its
# count of instructions: how busy this host is does not count.
# One line a check; the last line is "machine: N passed, N failed".

set -euo pipefail
cd "$(dirname "$0")/../../.."

ARM64=arm64-6.18

. tests/checks.sh

at_most() { # NAME MOST FOUND
	if [ "${3:-99}" -le "$2" ]; then check "$1 (at most $2)" "$3" "$3"; else check "$1" "$2 or fewer" "$3"; fi
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target=${CARGO_TARGET_DIR:-target}

# fact NAME: the value that the guest printed after "NAME:".
fact() { sed -n "s/^$1: *//p" "$work/out" | head -n 1; }

# The guest's machine, told otherwise: the little CPUs are smaller than its kernel thinks.
machine_file() { # LITTLE_CAPACITY LLC
	cat <<-M
		schema = "alight.machine/1"
		name = "guest"
		description = "the guest, told otherwise"
		hz = { value = 250, source = "test" }
		governor = { value = "schedutil", source = "test" }
		[sources]
		test = { text = "for this test", confidence = "assumed" }
		[topology]
		source = "test"
		cpus = "0-5"
		core = ["0", "1", "2", "3", "4", "5"]
		llc = $2
		node = ["0-5"]
		power_gated = ["MC"]
	M
	local kind cpus capacity power
	for kind in "little 0-3 $1 10,30" "big 4-5 1024 168,616"; do
		read -r kind cpus capacity power <<<"$kind"
		cat <<-M
			[core_type.$kind]
			source = "test"
			cpus = "$cpus"
			capacity = $capacity
			l2_kib = 512
			costs = "$kind"
			[[core_type.$kind.idle_state]]
			name = "WFI"
			source = "test"
			exit_us = 1
			residency_us = 1
			power_mw = 10
			[freq_domain.$kind]
			source = "test"
			cpus = "$cpus"
			khz = [450_000, 850_000]
			core_power_mw = [$power]
			cluster_power_mw = [20, 50]
			switch_us = 500
			[cluster.$kind]
			source = "test"
			cpus = "$cpus"
			idle_power_mw = 50
			off_power_mw = 17
		M
	done
	cat <<-M
		[memory]
		source = "test"
		llc_line_ns = 20
		cross_llc_line_ns = 120
		cross_node_line_ns = 120
		dram_line_ns = 150
		refill_mlp = 3
		channel_lines = 4
		working_set_kib = 32
	M
}

# shellcheck disable=SC2016 # the guest expands it
GUEST='
mkdir -p /tmp
FREQ=/sys/devices/system/cpu/cpufreq
TRACE=/sys/kernel/tracing
SWITCH=$TRACE/events/sched/sched_switch
cpu_of() { sed "s/.*) //" /proc/$1/stat | cut -d" " -f37; }

# begin ARGUMENT...: starts the scheduler and waits until it schedules.
begin() {
	/scx_alight "$@" >/tmp/scx.out 2>&1 &
	scx=$!
	waited=0
	until [ "$(cat /sys/kernel/sched_ext/state)" = enabled ] || [ $waited = 240 ]; do
		sleep 0.5
		waited=$((waited + 1))
	done
}

# top POLICY: time at the highest frequency, and in all, 10 ms.
top() { awk "{ all += \$2; top = \$2 } END { print top, all }" $FREQ/policy$1/stats/time_in_state; }

# share NAME POLICY BEFORE: percent of the time since then at the highest frequency.
share() {
	echo "$1 policy$2 at top: $(echo $3 $(top $2) | awk "{ print int((\$3 - \$1) * 100 / (\$4 - \$2 + 1)) }")"
}

# finish NAME
finish() {
	kill -INT $scx
	wait $scx
	echo "$1 status: $?"
	echo "$1 result: $(tail -n 1 /tmp/scx.out)"
	echo "$1 energy: $(sed -n "s/^scx_alight: //p" /tmp/scx.out | grep energy-aware)"
	echo "$1 eas: $(sed -n "s/^ *\([0-9]*\) eas_.*/\1/p" /tmp/scx.out | awk "{ n += \$1 } END { print n + 0 }")"
	sed "s/^/$1: /" /tmp/scx.out
}

# small NAME: a task of a few percent on each big CPU, then free for a second, six times; how many of
# their switches meanwhile are to big CPUs. One that finds its CPU busy goes to another and stays there,
# so it is brought back. The kernel writes them down: a program that looks is a load itself, which
# can overutilize a CPU just when it looks. Frequencies are looked at while the tasks are on the
# big CPUs: one on which nothing runs keeps what it had last.
small() {
	taskset 30 cyclictest -q --policy=other -t 2 -i 8000 -D 60 >/dev/null 2>&1 & periodic=$!
	sleep 1
	tasks=
	filter=
	for t in /proc/$periodic/task/*; do
		[ ${t##*/} = $periodic ] && continue
		tasks="$tasks $t/stat"
		filter="$filter || next_pid == ${t##*/}"
	done
	big=$(top 4)
	sleep 1
	share $1 4 "$big"
	echo "$1 before: $(cat $tasks | sed "s/.*) //" | cut -d" " -f37 | awk "\$1 < 4" | wc -l)"
	echo "${filter# || }" >$SWITCH/filter
	echo >$TRACE/trace
	for round in 1 2 3 4 5 6; do
		taskset -ap 30 $periodic >/dev/null 2>&1
		sleep 0.2
		taskset -ap 3f $periodic >/dev/null 2>&1
		echo 1 >$SWITCH/enable
		sleep 1
		echo 0 >$SWITCH/enable
	done
	switches=$(grep -c "\[00[0-5]\]" $TRACE/trace)
	echo "$1 switches: $switches"
	echo "$1 on big: $(($(grep -c "\[00[45]\]" $TRACE/trace) * 100 / (switches + 1)))"
	kill $periodic
	wait $periodic
}

# hogs NAME: two hogs on little CPUs, then free.
hogs() {
	taskset f sh -c "while :; do :; done" & one=$!
	taskset f sh -c "while :; do :; done" & two=$!
	sleep 1
	taskset -p 3f $one >/dev/null
	taskset -p 3f $two >/dev/null
	waited=0
	until where=$(echo $(cpu_of $one) $(cpu_of $two) | tr " " "\n" | sort | xargs)
		[ "$where" = "4 5" ] || [ $waited = 15 ]; do
		sleep 1
		waited=$((waited + 1))
	done
	echo "$1 hogs: $where"
	big=$(top 4)
	sleep 1
	share $1 4 "$big"
	kill $one $two
}
'

vm/fetch.sh $ARM64 sysroot
tests/programs.sh arm64
install -d "$work/add"
aarch64-linux-gnu-strip -o "$work/add/scx_alight" \
	"$target/aarch64-unknown-linux-gnu/debug/scx_alight"
module=$(find "${ALIGHT_VM_CACHE:-vm/cache}/kernels/$ARM64/modules/kernel" -name 'cpufreq-dt.ko*' | head -n 1)
case $module in
*.xz) xz -dc "$module" >"$work/add/cpufreq-dt.ko" ;;
*) cp "$module" "$work/add/cpufreq-dt.ko" ;;
esac
machine_file 200 '["0-5"]' >"$work/add/told.toml"
machine_file 0 '["0-5"]' >"$work/add/broken.toml"
vm/dtb.py "$work/opps.dtb" --little 4 --big 2 --opps
# The little CPUs' clock as it is before cpufreq knows better: 162 of 1024 instead of 344.
fdtput -t u "$work/opps.dtb" /little-clock clock-frequency 400000000
{
	echo "$GUEST"
	cat <<-'G'
		begin linux-6.1
		echo "capacity before: $(cat /sys/devices/system/cpu/cpu0/cpu_capacity)"
		insmod /cpufreq-dt.ko
		# A CPU must run something to notice; idle ones have no tick.
		waited=0
		until grep -q 'loading again' /tmp/scx.out || [ $waited = 60 ]; do
			usleep 200000
			waited=$((waited + 1))
		done
		until [ "$(cat /sys/kernel/sched_ext/state)" = enabled ] || [ $waited = 240 ]; do
			sleep 0.5
			waited=$((waited + 1))
		done
		echo "capacity after: $(cat /sys/devices/system/cpu/cpu0/cpu_capacity)"
		echo "change noticed: $(grep 'loading again' /tmp/scx.out | head -n 1)"
		echo "change energy: $(grep -c '2 performance domains' /tmp/scx.out)"
		echo "change state: $(cat /sys/kernel/sched_ext/state)"
		finish change
		echo "governors: $(cat $FREQ/policy[04]/scaling_governor | xargs)"
		begin linux-7.2
		small energy
		finish energy
		begin --verify linux-5.5
		hogs busy
		finish busy
		begin --verify --machine /told.toml linux-6.1
		small told
		finish told
		echo 0 >/proc/sys/kernel/sched_energy_aware
		begin linux-7.2
		small off
		finish off
		for file in rk3588 /broken.toml /none.toml; do
			/scx_alight --machine $file linux-6.1 >/tmp/refused 2>&1
			status=$?
			file=$(basename $file .toml)
			echo "$file status: $status"
			echo "$file text: $(tail -n 1 /tmp/refused)"
			echo "$file state: $(cat /sys/kernel/sched_ext/state)"
		done
		echo "kernel errors: $(dmesg | grep -c -e 'BUG' -e 'WARNING' -e 'runtime error')"
	G
} >"$work/script"
vm/run.sh --kernel $ARM64 --dtb "$work/opps.dtb" --icount --add "$work/add" \
	--timeout 900 --console "$work/console" "$work/script" >"$work/out" || {
	echo "FAIL  the guest ended with status $?"
	failed=$((failed + 1))
}

check 'change: exit status' 0 "$(fact 'change status')"
check 'change: capacity of a little CPU before the driver came' 162 "$(fact 'capacity before')"
check 'change: capacity after' 344 "$(fact 'capacity after')"
matches 'change: noticed' 'scx_alight: loading again: the capacities of CPUs changed' \
	"$(fact 'change noticed')"
at_least 'change: energy decides now' 1 "$(fact 'change energy')"
check 'change: still loaded' enabled "$(fact 'change state')"
check 'governors' 'schedutil schedutil' "$(fact governors)"
for run in energy off busy told; do
	check "$run: exit status" 0 "$(fact "$run status")"
done
for run in busy told; do
	matches "$run: replay" '[0-9]+ decisions replayed, all equal \([0-9]+ lost\)' \
		"$(fact "$run result")"
done
for run in energy busy told; do
	check "$run: energy decides" 'energy-aware placement: 2 performance domains' \
		"$(fact "$run energy")"
done
at_least 'told: decisions by energy' 100 "$(fact 'told eas')"
check 'energy: small tasks on little CPUs while pinned to big ones' 0 "$(fact 'energy before')"
for run in energy off; do
	at_least "$run: switches to small tasks" 1000 "$(fact "$run switches")"
done
# While something else overutilizes a CPU, energy does not decide.
at_most 'energy: percent of them that are on big CPUs' 50 "$(fact 'energy on big')"
at_most 'energy: percent of the time that big CPUs with small tasks are at their top frequency' 60 \
	"$(fact 'energy policy4 at top')"
check 'busy: hogs go to big CPUs' '4 5' "$(fact 'busy hogs')"
at_least 'busy: percent of the time that these are at their top frequency' 80 \
	"$(fact 'busy policy4 at top')"
check 'off: why' 'no energy-aware placement: /proc/sys/kernel/sched_energy_aware is 0' \
	"$(fact 'off energy')"
at_least 'off: percent of them that are on big CPUs' 90 "$(fact 'off on big')"
for file in rk3588 broken none; do
	check "$file machine file: exit status" 2 "$(fact "$file status")"
	check "$file machine file: nothing is loaded" disabled "$(fact "$file state")"
done
matches 'foreign machine: text' \
	'machines/rk3588[.]toml:[0-9]+:[0-9]+: error .*expected the CPUs of this host, 0-5' \
	"$(fact 'rk3588 text')"
matches 'broken machine file: text' '.*/broken[.]toml:18:12: .*' "$(fact 'broken text')"
check 'errors in the kernel log' 0 "$(fact 'kernel errors')"
if [ $failed -gt 0 ]; then
	printf '%s: what the guest printed:\n' "${0##*/}" >&2
	sed 's/^/  /' "$work/out" >&2
fi
printf 'machine: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
