#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The page of `make soak`, on standard output, of what the guests printed: all of it,
# so that nothing is on the page that another run would not put there again.
#
#	report.sh DIR LENGTH MISSING GUEST|KERNEL|OPTIONS|SCALE|RELEASE...
#
# DIR/GUEST.out is what a guest printed, DIR/GUEST.status how it ended, LENGTH the per cent of
# the full lengths, MISSING the names of the guests that were left out; all is of the tree's scheduler.
# "logs", which is no guest of faults.sh, is of logs.sh.

set -euo pipefail
dir=$1 length=$2 missing=$3
shift 3
names=("${@%%|*}")
[[ " $missing " == *" logs "* ]] || names+=(logs)

# Lines of Markdown wrapped at 100 characters, each a paragraph or an item of a list.
prose() { fold -s -w 100 | sed 's/ *$//'; }
items() {
	local line
	while IFS= read -r line; do
		fold -s -w 98 <<<"${line#- }" | sed -e 's/ *$//' -e '1s/^/- /' -e '2,$s/^/  /'
	done
}

cat <<'P'
# Faults

`make soak` boots stock Debian kernels in emulated machines, does to them what machines and people
do to a scheduler, and writes this page: what `scx_alight` endures. `make test` runs a short part.
`crates/live/tests/faults/guest.sh` says what each fault does and what must hold.

Emulated CPUs share a few real ones and are late by themselves. So delays here are upper bounds of
those on hardware. Where the same fault was run under the kernel's own scheduler too, its figure is
the measure.

In a guest with `--icount` the CPUs take turns, and time is the count of their instructions. So
shares of time are the scheduler's alone. In other guests a turn lasts as long as the host has the
CPU. 64 CPUs that run side by side on a few real ones wait for locks whose holders do not run. The
work that asks each CPU whether a task was forgotten then comes 15 s late, for which the kernel ends
any scheduler. In a guest with `--accel tcg,thread=single` the CPUs take turns too, in real time.
The guest `mixed-64` runs beside the others and takes a CPU of the host from them.

With `tsc=reliable` Linux trusts the emulated TSC although CPUs are late. Without it, beside another
guest and builds, Linux took the TSC for unstable and read the HPET, for which all CPUs wait for one
lock of QEMU. After 150 s RCU took the CPUs for stalled, for which the kernel ends any scheduler
("RCU CPU stall detected!", in `read_hpet()`).

P
# Results that are kept are refused by faults.sh when these files have changed.
scheduler=('policy/*.h' 'crates/live/src/bpf/*.[ch]')
changed=
git diff --quiet HEAD -- "${scheduler[@]}" 2>/dev/null || changed=', and of changes to it'
# shellcheck disable=SC2016 # Markdown
printf 'The results are of the scheduler of commit %s%s. `make soak` keeps the output of the guests in `target/soak`; `CONTINUE=1 make soak` goes on from there.\n' \
	"$(git log -1 --format=%h -- "${scheduler[@]}" 2>/dev/null || echo unknown)" "$changed" | prose
echo
if [ "$length" != 100 ]; then
	# shellcheck disable=SC2016 # Markdown
	printf 'This page was written with `LENGTH=%s`: the faults took %s %% of the time that `make soak` gives them, at least that of scale 1.\n' \
		"$length" "$length" | prose
	echo
fi
if [ -n "$missing" ]; then
	# shellcheck disable=SC2016 # Markdown
	printf 'Left out this time (`GUESTS`): %s.\n' "${missing// /, }" | prose
	echo
fi
cat <<'P'
## Guests

A fault of scale 1 takes about 3 seconds of the guest, everything at once 20, shares 110.

| guest | kernel | options | scale | checks that held | that did not |
|---|---|---|---|---|---|
P
for guest; do
	IFS='|' read -r name row options scale release <<<"$guest"
	# shellcheck disable=SC2016 # Markdown
	printf '| %s | %s (`%s`) | `%s` | %d | %d | %d |\n' "$name" "$release" "$row" \
		"$(sed -E 's/--dtb [^ ]*/--dtb: 4 little and 2 big CPUs/; s/ ?--timeout [0-9]+//' <<<"$options")" "$scale" \
		"$(grep -c '^ok ' "$dir/$name.out" || true)" "$(grep -c '^FAIL ' "$dir/$name.out" || true)"
done

# section TITLE LINES: a list, of which there may be none.
section() { printf '\n## %s\n\n%s\n' "$1" "${2:-Nothing.}"; }

section 'What did not hold' "$(
	for name in "${names[@]}"; do
		sed -n "s/^FAIL */- $name: /p" "$dir/$name.out"
		[ "$(cat "$dir/$name.status")" = 0 ] || echo "- $name: ended with status $(cat "$dir/$name.status")"
	done | items
)"
section 'What could not be judged' "$(
	for name in "${names[@]}"; do sed -n "s/^SKIPPED: /- $name: /p" "$dir/$name.out"; done | items
)"

echo
echo '## Measured'
for guest; do
	name=${guest%%|*}
	grep -q '^figure ' "$dir/$name.out" || continue
	printf '\n### %s\n\n| what | measured |\n|---|---|\n' "$name"
	sed -n -e '/^figure kernel: /d' -e '/^figure [a-z]* took: /d' -e 's/^figure \(.*\): \([0-9].*\)$/| \1 | \2 |/p' "$dir/$name.out" |
		sed 's/ *|$/ |/'
done

if [ "${names[-1]}" = logs ]; then
	cat <<-'P'

		## Every decision, made again

		The last lines of `crates/live/tests/logs.sh`: decisions under hackbench were logged in a guest, and
		the native build made them again on the host. Lost decisions came faster than the guest wrote.

	P
	# shellcheck disable=SC2016 # Markdown
	tail -n 2 "$dir/logs.out" | sed 's/.*/- `&`/'
fi
