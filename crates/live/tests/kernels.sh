#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Loads scx_alight on stock Debian kernels of vm/kernels.txt, those with broken
# BTF of sched_ext included: each is booted, and runs hackbench under two
# schedulers. A check is a line; the last line is "kernels: N passed, N failed".
#
#	crates/live/tests/kernels.sh			two kernels that guest.sh does not boot
#	crates/live/tests/kernels.sh NAME...		these rows of vm/kernels.txt
#	crates/live/tests/kernels.sh --all		(make soak) all that have sched_ext, one of them with up to 255 CPUs;
#							writes docs/results/live-kernels.md
#
# With KEEP=DIR what each guest printed stays in DIR.

set -euo pipefail
cd "$(dirname "$0")/../../.."

# The most broken one, and the newest.
SHORT=(amd64-7.2-bpo-cloud amd64-7.3-cloud)
# Before 6.18 Debian does not enable sched_ext.
WITHOUT_SCHED_EXT='^(amd64|arm64)-(5[.]10|6[.]1?[0-2]?)(-|$)'
SCHEDULERS=(linux-7.2 linux-6.5+bias-prev+sched-idle)
CPUS=4
# Guests with more CPUs than a desktop has: emulated one after the other by two
# cores, they are slow, not wide.
MANY_KERNEL=amd64-7.2-cloud
MANY=(64 128 255)
PAGE=docs/results/live-kernels.md
# What hackbench makes at the least.
LEAST_DECISIONS=200
# What a busy task gets of a CPU when there is one for each, at the least, in percent.
LEAST_FREED=80

. tests/checks.sh

work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
target=${CARGO_TARGET_DIR:-target}

fact() { sed -n "s/^$2: *//p" "$work/$1.out" | head -n 1; }

# The guest's script. The kernel log is read from where it was before the first scheduler.
guest_script() {
	echo "SCHEDULERS='${SCHEDULERS[*]}'"
	cat <<-'G'
		state() { cat /sys/kernel/sched_ext/state; }
		used() { awk '{ print $14 + $15 }' /proc/$1/stat; }
		# Two busy tasks share CPU 1, and then may leave it. What the poorer one gets in the next
		# three seconds, which are many slices; in percent of a CPU.
		freed() {
			taskset 2 sh -c 'while :; do :; done' &
			one=$!
			taskset 2 sh -c 'while :; do :; done' &
			two=$!
			sleep 0.5
			taskset -p f $one >/dev/null
			taskset -p f $two >/dev/null
			sleep 1
			of_one=$(used $one) of_two=$(used $two)
			sleep 3
			of_one=$(($(used $one) - of_one)) of_two=$(($(used $two) - of_two))
			kill $one $two
			echo $(((of_one < of_two ? of_one : of_two) / 3))
		}
		mkdir -p /tmp
		echo "release: $(uname -r)"
		echo "CPUs: $(nproc)"
		dmesg -c >/dev/null
		/scx_alight --verbose --duration 1 linux-7.2 2>/tmp/verbose >/dev/null
		sed -n 's/^scx_alight: //p' /tmp/verbose | sed 's/^/says: /'
		for scheduler in $SCHEDULERS; do
			/scx_alight $scheduler >/tmp/out 2>/tmp/errors &
			loader=$!
			waited=0
			until [ "$(state)" = enabled ] || ! kill -0 $loader 2>/dev/null || [ $waited = 600 ]; do
				sleep 0.1
				waited=$((waited + 1))
			done
			echo "$scheduler state: $(state)"
			echo "$scheduler name: $(cat /sys/kernel/sched_ext/root/ops 2>/dev/null)"
			echo "$scheduler hackbench: $(hackbench -g 1 -l 100 -p -T | sed -n 's/^Time: //p')"
			echo "$scheduler freed: $(freed)"
			echo "$scheduler state under load: $(state)"
			kill -INT $loader
			wait $loader
			echo "$scheduler status: $?"
			echo "$scheduler decisions: $(sed -n 's/^\([0-9]*\) decisions.*/\1/p' /tmp/out)"
			echo "$scheduler state after: $(state)"
			sed "s/^/$scheduler printed: /" /tmp/out /tmp/errors
		done
		echo "complaints: $(dmesg |
			grep -c -e BUG -e WARNING -e 'rcu.*stall' -e 'runtime error' -e 'Call Trace')"
		echo "deprecated: $(dmesg | grep -c deprecated)"
		dmesg | sed 's/^/log: /'
	G
}

# boot RUN KERNEL CPUS: leaves RUN.out.
boot() {
	local arch=${2%%-*} limit=300 emulator=()
	# Many that wait for each other, each in a thread of its own, come to nothing on a few CPUs.
	[ "$3" -le 8 ] || limit=1200 emulator=(--accel 'tcg,thread=single')
	vm/run.sh --kernel "$2" --smp "$3" --timeout $limit "${emulator[@]}" --add "$work/add-$arch" \
		"$work/guest.sh" >"$work/$1.out" 2>"$work/$1.errors" || echo "ended: $?" >>"$work/$1.out"
}

lacks() { grep -q "^says: does without $2 " "$work/$1.out"; } # RUN FUNCTION

judge() { # RUN CPUS
	local run=$1 scheduler
	check "$run: ended in order" '' "$(fact "$run" ended)"
	check "$run: CPUs" "$2" "$(fact "$run" CPUs)"
	for scheduler in "${SCHEDULERS[@]}"; do
		check "$run $scheduler: loaded" 'enabled alight' \
			"$(fact "$run" "$scheduler state") $(fact "$run" "$scheduler name")"
		check "$run $scheduler: after hackbench" enabled "$(fact "$run" "$scheduler state under load")"
		check "$run $scheduler: exit status" 0 "$(fact "$run" "$scheduler status")"
		check "$run $scheduler: unloaded" disabled "$(fact "$run" "$scheduler state after")"
		at_least "$run $scheduler: decisions" $LEAST_DECISIONS "$(fact "$run" "$scheduler decisions")"
		at_least "$run $scheduler: percent of a CPU for each of two" $LEAST_FREED \
			"$(fact "$run" "$scheduler freed")"
	done
	check "$run: complaints in the kernel log" 0 "$(fact "$run" complaints)"
	# Slices are written directly only where the function for it is missing.
	lacks "$run" scx_bpf_task_set_slice ||
		check "$run: deprecated writes" 0 "$(fact "$run" deprecated)"
}

# One row of the page's table.
row() { # RUN
	local run=$1 loads=no without broken
	[ "$(fact "$run" "${SCHEDULERS[0]} state")" != enabled ] || loads=yes
	# shellcheck disable=SC2016 # Markdown
	without=$(sed -n 's/^says: does without \([a-z_]*\).*/`\1`/p' "$work/$run.out" | paste -sd, | sed 's/,/, /g')
	broken=$(sed -n 's/^says: this kernel.s type information of \([0-9]*\) .*/\1/p' "$work/$run.out")
	printf '| %s | %s | %s | %s | %s | %s | %s |\n' "$(fact "$run" release)" "${run%%-*}" "$loads" \
		"$(fact "$run" "${SCHEDULERS[0]} decisions")" "${broken:-0}" "${without:--}" "$(fact "$run" complaints)"
}

TABLE_HEAD='| kernel | | loads | decisions | broken | does without | complaints |
|---|---|---|---|---|---|---|'

print_table() {
	local run
	printf '%s\n' "$TABLE_HEAD"
	for run; do row "$run"; done
}

many_rows() {
	local cpus run
	for cpus in "${MANY[@]}"; do
		run=$MANY_KERNEL-$cpus
		printf '| %s | %s | %s | %s | %s |\n' "$cpus" "$(fact "$run" "${SCHEDULERS[0]} state")" \
			"$(fact "$run" "${SCHEDULERS[0]} decisions")" \
			"$(fact "$run" "${SCHEDULERS[0]} hackbench")" "$(fact "$run" complaints)"
	done
}

# Lines of Markdown wrapped at 100 characters, each a paragraph or an item of a list.
prose() { fold -s -w 100 | sed 's/ *$//'; }
items() {
	local line
	while IFS= read -r line; do
		fold -s -w 98 <<<"$line" | sed -e 's/ *$//' -e '1s/^/- /' -e '2,$s/^/  /'
	done
}

# Each kernel of Debian that is not in the table, and why.
not_tried() {
	local without
	# shellcheck disable=SC2016 # Markdown
	without=$(awk '!/^#/ && NF { print $1 }' vm/kernels.txt | grep -E "$WITHOUT_SCHED_EXT" | sed 's/.*/`&`/' | paste -sd, | sed 's/,/, /g')
	printf '\n## Not tried\n\n'
	items <<-P
		$without: Debian does not enable sched_ext before 6.18, in 6.16 and 6.17 as well. \`scx_alight\` says so and ends: the guest \`without-sched_ext\` of [soak.md](soak.md).
		The flavours \`rt\`: tried once by hand, on 7.2.13+deb14-rt-amd64. The scheduler loads, and its decisions replayed equal. Ticks end turns, because programs may not have timers with PREEMPT_RT.
		The flavours \`16k\` of arm64: the emulated CPU, a Cortex-A57, has no pages of that size.
		The other flavour of a series that has one row: the source is the same, with more or fewer drivers.
		Older builds of a series: Debian replaces them by its newest.
	P
}

write_page() { # RUN...
	local run
	{
		cat <<-'P'
			# Kernels

			<!-- Written by crates/live/tests/kernels.sh --all -->

			`crates/live/tests/kernels.sh --all` boots stock Debian kernels in QEMU and loads `scx_alight` on
			each. `hackbench -g 1 -l 100 -p -T` runs on 4 CPUs under two schedulers. The decisions in the table
			are those of the first, `linux-7.2`.

			- **broken**: functions of sched_ext that no program can call there, because the kernel's type
			  information (BTF) of them is incomplete. Since 7.1 most of these functions have a hidden
			  parameter, and BTF must describe them twice. pahole 1.30, with which the kernels of
			  trixie-backports for amd64 were built, leaves some pairs out. `scx_alight` needs none of them.
			- **does without**: functions that `scx_alight` uses where they exist, and that this kernel lacks:
			  they are broken, or not there yet.
			- **complaints**: lines of the kernel log with BUG, WARNING, a stall or a call trace, from before
			  the scheduler is loaded until it is gone. A kernel of 7.2 without `scx_bpf_task_set_slice` also
			  says that writing to `p->scx.slice` is deprecated; there is no other way then.

		P
		print_table "$@"
		# shellcheck disable=SC2016 # Markdown
		printf '\nMessages of `scx_alight` at its start:\n\n'
		for run; do
			sed -n "s/^${SCHEDULERS[0]} printed: scx_alight: \(this kernel lacks.*\)/$(fact "$run" release): \1/p" \
				"$work/$run.out" | head -n 1
			[ "$(fact "$run" "${SCHEDULERS[0]} state")" = enabled ] ||
				printf '%s: it does not load: %s\n' "$(fact "$run" release)" \
					"$(sed -n "s/^${SCHEDULERS[0]} printed: scx_alight: //p" "$work/$run.out" | tail -n 1)"
		done | items
		printf '\n## Many CPUs\n\n'
		printf 'The same on %s with more CPUs. The few CPUs of the host emulate them all: hackbench shows that the scheduler runs, not how fast.\n' \
			"$(fact "$MANY_KERNEL" release)" | prose
		printf '\n| CPUs | state | decisions | hackbench, s | complaints |\n|---|---|---|---|---|\n'
		many_rows
		not_tried
	} >"$PAGE.new"
	mv "$PAGE.new" "$PAGE"
}

build() { # ARCH...
	local arch
	for arch; do
		install -d "$work/add-$arch"
		case $arch in
		amd64)
			tests/programs.sh
			strip -o "$work/add-amd64/scx_alight" "$target/debug/scx_alight"
			;;
		arm64)
			vm/fetch.sh sysroot
			tests/programs.sh arm64
			aarch64-linux-gnu-strip -o "$work/add-arm64/scx_alight" \
				"$target/aarch64-unknown-linux-gnu/debug/scx_alight"
			;;
		esac
	done
}

all_kernels() {
	awk '!/^#/ && NF { print $1 }' vm/kernels.txt | grep -vE "$WITHOUT_SCHED_EXT"
}

all=
case ${1:-} in
--all)
	all=1
	mapfile -t kernels < <(all_kernels)
	;;
'') kernels=("${SHORT[@]}") ;;
-*)
	echo "usage: ${0##*/} [--all | KERNEL...], not '$1'" >&2
	exit 2
	;;
*) kernels=("$@") ;;
esac
mapfile -t archs < <(printf '%s\n' "${kernels[@]%%-*}" | sort -u)

vm/fetch.sh "${kernels[@]}"
build "${archs[@]}"
mkdir -p "$work"
guest_script >"$work/guest.sh"
# One guest of each architecture at a time.
for arch in "${archs[@]}"; do
	for kernel in "${kernels[@]}"; do
		[ "${kernel%%-*}" != "$arch" ] || boot "$kernel" "$kernel" $CPUS
	done &
done
wait
for kernel in "${kernels[@]}"; do judge "$kernel" $CPUS; done
if [ -n "$all" ]; then
	for cpus in "${MANY[@]}"; do
		boot "$MANY_KERNEL-$cpus" $MANY_KERNEL "$cpus"
		judge "$MANY_KERNEL-$cpus" "$cpus"
	done
	write_page "${kernels[@]}"
fi
print_table "${kernels[@]}"
if [ $failed -gt 0 ]; then
	for kernel in "$work"/*.out; do
		printf '%s: what the guest %s printed:\n' "${0##*/}" "${kernel##*/}" >&2
		sed 's/^/  /' "$kernel" "${kernel%.out}.errors" >&2
	done
fi
printf 'kernels: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
