#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Boots both architectures' kernels and checks from inside the guests that they
# are what the tests of the project take them for, then that run.sh reports
# failures as it says. One line a check; exit status 0 only if all hold.

set -euo pipefail
. "$(dirname "$0")/env.sh"

AMD64=amd64-7.2-cloud
ARM64=arm64-6.18

. "$(dirname "$0")/../tests/checks.sh"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fact GUEST NAME: the value that the guest printed after "NAME:".
fact() { sed -n "s/^$2: *//p" "$work/$1.out" 2>/dev/null | head -n 1; }

# boot GUEST OPTION...: runs the script on standard input; leaves GUEST.out, GUEST.status.
boot() {
	local guest=$1 status=0
	shift
	cat >"$work/$guest.sh"
	"$VM_DIR/run.sh" "$@" --console "$work/$guest.console" "$work/$guest.sh" one 'two words' \
		>"$work/$guest.out" 2>"$work/$guest.err" || status=$?
	echo $status >"$work/$guest.status"
}

booted_after() { sed -n 's/.*ALIGHT-VM-BOOT uptime=\([0-9.]*\) .*/\1 s/p' "$work/$1.console"; }

# shellcheck disable=SC2016 # the guest expands it
COMMON='
echo "release: $(uname -r)"
echo "cpus: $(nproc)"
echo "config: $(ls /boot)"
echo "sched_ext: $(cat /sys/kernel/sched_ext/state)"
echo "btf: $(head -c 2 /sys/kernel/btf/vmlinux | hexdump -e "1/2 \"%04x\"")"
echo "controllers: $(cat /sys/fs/cgroup/cgroup.subtree_control)"
echo "wakeup event: $(ls /sys/kernel/tracing/events/sched | grep -x sched_wakeup)"
echo "cyclictest samples: $(cyclictest -q -t 1 -i 1000 -l 50 | sed -n "s/.*C: *\([0-9]*\) .*/\1/p")"
'

test_amd64() {
	mkdir "$work/add"
	cp "$(command -v xz)" "$work/add/added"
	{
		echo "$COMMON"
		cat <<-'G'
			echo "arguments: $# $2"
			echo "hackbench: $(hackbench -g 2 -l 100 | sed -n 's/^Time: //p')"
			echo "added: $(/added --version | sed -n 's/^xz //p')"
			echo "fifo: $(chrt -f 10 chrt -p 0 | sed -n 's/.*policy: //p')"
			echo "pinned: $(taskset 2 grep Cpus_allowed_list /proc/self/status | tr -s '\t ' ' ')"
			exit 7
		G
	} | boot amd64 --kernel $AMD64 --smp 4 --add "$work/add"
}

judge_amd64() {
	local release
	release=$(cat "$CACHE/kernels/$AMD64/release")
	check 'amd64 exit status is the script'"'"'s' 7 "$(cat "$work/amd64.status")"
	matches 'amd64 user space after' '[0-9.]+ s' "$(booted_after amd64)"
	check 'amd64 release' "$release" "$(fact amd64 release)"
	check 'amd64 CPUs' 4 "$(fact amd64 cpus)"
	check 'amd64 kernel config in /boot' "config-$release" "$(fact amd64 config)"
	check 'amd64 sched_ext' disabled "$(fact amd64 sched_ext)"
	check 'amd64 BTF magic' eb9f "$(fact amd64 btf)"
	matches 'amd64 cgroup controllers' '.*cpu.*' "$(fact amd64 controllers)"
	check 'amd64 tracepoint' sched_wakeup "$(fact amd64 'wakeup event')"
	check 'amd64 arguments of the script' '2 two words' "$(fact amd64 arguments)"
	matches 'amd64 hackbench seconds' '[0-9]+[.][0-9]+' "$(fact amd64 hackbench)"
	check 'amd64 cyclictest samples' 50 "$(fact amd64 'cyclictest samples')"
	matches 'amd64 program added with its libraries' '.*[0-9]+[.][0-9]+.*' "$(fact amd64 added)"
	check 'amd64 chrt' SCHED_FIFO "$(fact amd64 fifo)"
	check 'amd64 taskset' 'Cpus_allowed_list: 1' "$(fact amd64 pinned)"
}

test_arm64() {
	"$VM_DIR/dtb.py" "$work/asym.dtb" --little 4 --big 2
	{
		echo "$COMMON"
		cat <<-'G'
			echo "capacities: $(cat /sys/devices/system/cpu/cpu*/cpu_capacity | xargs)"
			echo "domain flags: $(grep -l SD_ASYM_CPUCAPACITY_FULL /sys/kernel/debug/sched/domains/cpu0/*/flags | wc -l)"
			echo "hackbench: $(hackbench -g 2 -l 50 -p -T | sed -n 's/^Time: //p')"
		G
	} | boot arm64 --kernel $ARM64 --dtb "$work/asym.dtb" --append sched_verbose
}

judge_arm64() {
	local release
	release=$(cat "$CACHE/kernels/$ARM64/release")
	check 'arm64 exit status' 0 "$(cat "$work/arm64.status")"
	matches 'arm64 user space after' '[0-9.]+ s' "$(booted_after arm64)"
	check 'arm64 release' "$release" "$(fact arm64 release)"
	check 'arm64 CPUs (from the device tree)' 6 "$(fact arm64 cpus)"
	check 'arm64 kernel config in /boot' "config-$release" "$(fact arm64 config)"
	check 'arm64 sched_ext' disabled "$(fact arm64 sched_ext)"
	check 'arm64 BTF magic' eb9f "$(fact arm64 btf)"
	check 'arm64 tracepoint' sched_wakeup "$(fact arm64 'wakeup event')"
	check 'arm64 cpu_capacity' '446 446 446 446 1024 1024' "$(fact arm64 capacities)"
	check 'arm64 domains that span all capacities' 1 "$(fact arm64 'domain flags')"
	matches 'arm64 hackbench seconds' '[0-9]+[.][0-9]+' "$(fact arm64 hackbench)"
	check 'arm64 cyclictest samples' 50 "$(fact arm64 'cyclictest samples')"
}

# Juno's little cluster reaches 850 of the big one's 1100 MHz: 446 * 850 / 1100 = 344.
test_frequencies() {
	"$VM_DIR/dtb.py" "$work/opps.dtb" --little 4 --big 2 --opps
	boot opps --kernel $ARM64 --dtb "$work/opps.dtb" --module cpufreq-dt --append sched_verbose <<-'G'
		echo "capacities: $(cat /sys/devices/system/cpu/cpu*/cpu_capacity | xargs)"
		echo "governors: $(cat /sys/devices/system/cpu/cpufreq/policy[04]/scaling_governor | xargs)"
		echo "model: $(ls /sys/kernel/debug/energy_model | xargs)"
		echo "energy-aware: $(dmesg | grep -c 'starting EAS')"
	G
}

judge_frequencies() {
	check 'device tree passes dtc' 0 "$(dtc -q -I dtb -O dts -o /dev/null "$work/opps.dtb" >&2 && echo 0)"
	check 'arm64 with frequencies: cpu_capacity' '344 344 344 344 1024 1024' "$(fact opps capacities)"
	check 'arm64 with frequencies: governors' 'schedutil schedutil' "$(fact opps governors)"
	check 'arm64 with frequencies: energy model of' 'cpu0 cpu4' "$(fact opps model)"
	matches 'arm64 with frequencies: EAS started' '[1-9][0-9]*' "$(fact opps energy-aware)"
}

test_repetition() {
	local guest
	for guest in first again; do
		boot $guest --kernel $ARM64 --smp 4 --seed 1 <<-'G'
			hackbench -g 2 -l 50 -p -T
			cat /proc/uptime /proc/stat
		G
	done
	check 'one seed, two runs: exit status' 0 "$(cat "$work/again.status")"
	check 'one seed, two runs: equal to the last digit' \
		"$(md5sum <"$work/first.out")" "$(md5sum <"$work/again.out")"
}

# The CPUs share a processor: how often one waits for the other in half a second.
test_turns() {
	local turns
	mkdir "$work/gaps"
	cc -O1 -o "$work/gaps/gaps" "$VM_DIR/gaps.c"
	for turns in long short; do
		local options=()
		[ $turns = long ] || options=(--turns 6)
		boot $turns --kernel $AMD64 --smp 2 --icount "${options[@]}" --add "$work/gaps" <<<'/gaps'
	done
	matches 'usual turns of two CPUs in half a second' '[0-9]{1,3}' "$(cat "$work/long.out")"
	matches 'turns of 6 us in half a second' '[0-9]{4,5}' "$(cat "$work/short.out")"
	check 'turns without --icount: exit status' 2 \
		"$("$VM_DIR/run.sh" --kernel $AMD64 --smp 2 --turns 6 "$work/long.sh" 2>/dev/null || echo $?)"
}

test_failures() {
	boot panic --kernel $AMD64 --smp 1 <<<'echo before; echo c >/proc/sysrq-trigger'
	boot slow --kernel $AMD64 --smp 1 --timeout 40 <<<'echo before; printf unfinished; sleep 1000'
	check 'a panic: exit status' 125 "$(cat "$work/panic.status")"
	check 'a panic: output before it' before "$(head -n 1 "$work/panic.out")"
	matches 'a panic: console shown' '[1-9][0-9]*' "$(grep -c 'Kernel panic' "$work/panic.err" || true)"
	check 'time up: exit status' 124 "$(cat "$work/slow.status")"
	check 'time up: output before it' before "$(head -n 1 "$work/slow.out")"
	mkdir "$work/late"
	# shellcheck disable=SC2016 # the guest expands it
	printf '#!/bin/busybox sh\n[ "$(/bin/busybox date +%%s)" -ge %d ] || exec /bin/busybox sleep 1000\n' \
		$(($(date +%s) + 30)) | cat - "$VM_DIR/init" >"$work/late/init"
	chmod +x "$work/late/init"
	boot late --kernel $AMD64 --smp 1 --timeout 60 --add "$work/late" <<<'echo begun'
	check 'a kernel that hangs at first: exit status' 0 "$(cat "$work/late.status")"
	check 'a kernel that hangs at first: output' begun "$(cat "$work/late.out")"
	check 'a kernel that hangs at first: said' 1 "$(grep -c 'started again' "$work/late.err" || true)"
	boot patched --kernel $AMD64 --smp 1 <<-'G'
		echo before
		echo '<0>Oops: int3: 0000 [#1]' >/dev/kmsg
		echo c >/proc/sysrq-trigger
	G
	check 'a breakpoint that was gone: started again' 2 "$(grep -c 'started again' "$work/patched.err" || true)"
	check 'a breakpoint that was gone: output of one life' 1 "$(grep -c '^before' "$work/patched.out" || true)"
	check 'a breakpoint in the last life too: exit status' 125 "$(cat "$work/patched.status")"
	check 'unknown kernel: exit status' 2 \
		"$("$VM_DIR/run.sh" --kernel amd64-0.1 "$work/slow.sh" 2>/dev/null || echo $?)"
}

need cc dtc xz qemu-system-x86_64 qemu-system-aarch64
"$VM_DIR/fetch.sh" $AMD64 $ARM64 sysroot
# Two guests side by side: that runs do not disturb each other is tested with the rest.
test_amd64 &
test_arm64 &
wait
judge_amd64
judge_arm64
test_frequencies
judge_frequencies
test_turns
# SCHED_FIFO, which repetition needs, is root's.
[ "$(id -u)" != 0 ] || test_repetition
test_failures
if [ $failed -gt 0 ]; then
	for guest in amd64 arm64 opps long short first again; do
		[ -s "$work/$guest.err" ] || continue
		say "what run.sh said about the guest '$guest':"
		sed 's/^/  /' "$work/$guest.err" >&2
	done
fi
printf 'vm: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
