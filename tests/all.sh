#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every test of the project; what `make test` and continuous integration call.
#
# Installs what is missing. Ends with what was skipped and why, what failed, and the
# line `N passed, N failed, N skipped`. Exit status 0 only if nothing failed.
#
#	tests/all.sh		everything, in two lanes side by side: what guests do, and the rest;
#				the lane that is done first helps the other
#	tests/all.sh STEP...	only these steps, one after the other:
#				format builds lint cargo python newcomer browser book licences sanitize fuzz
#				sixth decisions package sweep vm live import; of live: live-scheduler
#				live-machine live-kernels live-program live-logs live-rules live-workload live-faults

set -u
cd "$(dirname "$0")/.." || exit 1
FUZZ_SECONDS=${FUZZ_SECONDS:-15}
# Of use to who builds again and again, at twice the space.
export CARGO_INCREMENTAL=0

passed=0 failed=0 skipped=0
skips=() failures=() took=()
log=$(mktemp)
trap 'rm -f "$log"' EXIT

pass() { passed=$((passed + $1)); }

# fail N WHAT: the lines of the log that tell come with it.
fail() {
	local line
	[ "$1" != 0 ] || return 0
	failed=$((failed + $1))
	while read -r line; do
		failures+=("$2: $line")
	done < <(grep -E '^FAIL |^test .* FAILED$|^error' "$log" || tail -n 3 "$log")
}

skip() { # REASON
	skipped=$((skipped + 1))
	skips+=("$1")
	echo "skipped: $1"
}

# Hundredths of a second that processors have worked for ended children of this script.
worked() { awk '{ print $16 + $17 }' /proc/$$/stat; }

# logged NAME COMMAND...: runs it; its output is kept, and what `shown` leaves of it shown.
shown=cat
logged() {
	local status began=$SECONDS before line
	before=$(worked)
	echo
	echo "== $1"
	"${@:2}" 2>&1 | tee "$log" | $shown
	status=${PIPESTATUS[0]}
	line="$1: $((SECONDS - began)) s, $((($(worked) - before) / 100)) s of processors"
	echo "-- $line"
	took+=("$line")
	return "$status"
}

# one NAME COMMAND...: a command that is one test.
one() {
	if logged "$@"; then pass 1; else fail 1 "$1"; fi
}

# counted NAME COMMAND...: a command that ends in a line `...: N passed, N failed`.
counted() {
	local status=0 last good bad
	logged "$@" || status=$?
	last=$(tail -n 1 "$log")
	good=$(sed -n 's/.*[^0-9]\([0-9][0-9]*\) passed.*/\1/p' <<<" $last")
	bad=$(sed -n 's/.*[^0-9]\([0-9][0-9]*\) failed.*/\1/p' <<<" $last")
	pass "${good:-0}"
	# A failure that it could not count is one.
	if [ $status != 0 ] && [ "${bad:-0}" = 0 ]; then bad=1; fi
	fail "${bad:-0}" "$1"
	skips_of_log
}

# Tests say `SKIPPED: reason` where they cannot judge.
skips_of_log() {
	local line
	while read -r line; do
		skip "$line"
	done < <(sed -n 's/^SKIPPED: //p' "$log")
}

# summed WORD: the total before WORD in the result lines of all test binaries.
summed() {
	sed -n "s/^test result: .* \([0-9]*\) $1.*/\1/p" "$log" | awk '{ n += $1 } END { print n + 0 }'
}

# Of what test binaries print: their results, and all that failing tests say.
results() {
	awk '
		/^ *(Running|Doc-tests) / { begun = 1 }
		/^(successes|test result):/ { failing = 0 }
		/^failures:/ { failing = 1 }
		!begun || failing || /^ *(Running|Doc-tests) |^test result|FAILED$|^SKIPPED|^error/'
}

# cargo_tests NAME ARGUMENT...: the tests of `cargo test ARGUMENT...`.
cargo_tests() {
	local status=0 before=$skipped
	shown=results logged "$1" cargo test "${@:2}" --no-fail-fast -- --show-output || status=$?
	local good bad ignored
	good=$(summed passed)
	bad=$(summed failed)
	ignored=$(sed -n 's/^test \(.*\) \.\.\. ignored/\1/p' "$log")
	skips_of_log
	# The harness counts a test that skipped itself as passed.
	pass $((good - (skipped - before)))
	if [ $status != 0 ] && [ "$bad" = 0 ]; then bad=1; fi
	fail "$bad" "$1"
	while read -r line; do
		[ -z "$line" ] || skip "ignored by its author: $line"
	done <<<"$ignored"
}

# What runs in virtual machines needs packages; only root can add missing ones. That they are
# missing is a failure, which is counted once.
installed=
install() {
	[ -z "$installed" ] || return "$installed"
	installed=0
	logged "packages" vm/install.sh --test || {
		installed=1
		fail 1 "packages"
	}
	return $installed
}

# guests NAME COMMAND...: as `counted`, where the packages are there.
guests() {
	if install; then counted "$@"; else skip "$1: packages are missing, see above"; fi
}

# The tests of x.rs are in x/tests.rs. Lists the files that have them inside.
no_inline_tests() { ! grep -rlE '^ *mod tests \{' crates --include='*.rs'; }

# No line of the documentation is longer than 200 characters, but for those of tables.
short_lines() {
	local pages
	mapfile -t pages < <(find docs -name '*.md' && ls ./*.md)
	awk 'length > 200 && !/^ *\|/ { print FILENAME ":" FNR ": " length " characters"; bad = 1 } END { exit bad }' "${pages[@]}"
}

licences() { "$(tests/tool.sh cargo-deny)" check licenses; }

build_for_guests() {
	tests/programs.sh && tests/programs.sh arm64
}

step() {
	case $1 in
	format)
		one "format" cargo fmt --all --check
		one "tests in files of their own" no_inline_tests
		;;
	builds)
		# What the guests run: built before the tests, so that no guest waits for them.
		one "builds" build_for_guests
		;;
	lint)
		one "lint" cargo clippy "${crates[@]}" --all-targets -- -D warnings
		one "rustdoc" env RUSTDOCFLAGS=-Dwarnings cargo doc -q "${crates[@]}" --no-deps
		;;
	cargo) cargo_tests "cargo test" "${crates[@]}" ;;
	python)
		if install; then
			counted "the Python package" tests/python.sh
		else
			skip "the Python package: packages are missing, see above"
		fi
		;;
	newcomer) guests "a newcomer's path" tests/newcomer.sh ;;
	browser) counted "pages in a browser" tests/browser/run.sh ;;
	book)
		one "the book and its links" docs/book.sh
		one "lines of the docs" short_lines
		;;
	licences) one "licences" licences ;;
	sanitize) counted "sanitizers" tests/sanitize.sh ;;
	fuzz) counted "fuzz" tests/fuzz.sh "$FUZZ_SECONDS" ;;
	vm) guests "virtual machines" vm/test.sh ;;
	live)
		for name in $LIVE; do step "$name"; done
		;;
	live-scheduler) guests "live scheduler" crates/live/tests/guest.sh ;;
	live-machine) guests "live machine" crates/live/tests/machine.sh ;;
	live-kernels) guests "kernels" crates/live/tests/kernels.sh ;;
	live-program) guests "the program" crates/live/tests/program.sh ;;
	live-logs) guests "logs of decisions" crates/live/tests/logs.sh ;;
	live-rules) guests "rules" crates/live/tests/rules.sh ;;
	live-workload) guests "recordings of workloads" crates/live/tests/workload.sh ;;
	live-faults) guests "faults" crates/live/tests/faults.sh ;;
	decisions)
		guests "decisions in BPF" verify/select.sh --sample
		guests "decisions of a kernel" verify/decisions.sh --sample amd64-7.3-cloud
		guests "priorities of a kernel" verify/itmt.sh amd64-7.3-cloud
		;;
	import) guests "traces of other tools" verify/import.sh ;;
	sixth)
		if install; then
			counted "a sixth policy" tests/sixth.sh
		else
			counted "a sixth policy" tests/sixth.sh --no-guest
			skip "tests/sixth.sh in a guest: packages are missing, see above"
		fi
		;;
	package) guests "the Debian package" packaging/test.sh ;;
	sweep) counted "the store of a sweep, read by others" tests/sweep/readers.sh ;;
	*)
		echo "tests/all.sh: unknown step '$1'; the steps are $STEPS" >&2
		exit 2
		;;
	esac
}

# What the guests' lane prints, once it has come to its end; what it counted is added.
shown_lane() { # FILE
	local line
	sed '/^== closing/,$d' "$1"
	while read -r line; do
		case $line in
		'skipped: '*) skips+=("${line#skipped: }") ;;
		'failed: '*) failures+=("${line#failed: }") ;;
		'took: '*) took+=("${line#took: }") ;;
		*' passed, '*' failed, '*' skipped')
			set -- $line
			passed=$((passed + $1)) failed=$((failed + $3)) skipped=$((skipped + $5))
			return
			;;
		esac
	done < <(sed '1,/^== closing/d' "$1")
	failed=$((failed + 1))
	failures+=("the lane of the guests broke off")
}

# in_turn STEP...: those that no lane has begun yet. CLAIMS is the folder where the lanes say what
# they begin; without one there is a single lane.
in_turn() {
	local name
	for name; do
		if [ -z "${CLAIMS:-}" ] || mkdir "$CLAIMS/$name" 2>/dev/null; then step "$name"; fi
	done
}

backwards() { tac -s ' ' <<<"$* " | tr '\n' ' '; }

# A guest is emulated by one processor and sleeps at times; builds and tests want two. Side by side
# they leave nothing idle. Guests whose checks depend on time count instructions for it, or leave room:
# a busy host makes them slower, not wrong.
both_lanes() {
	local lane guests
	lane=$(mktemp)
	CLAIMS=$(mktemp -d)
	export CLAIMS
	"$0" $GUESTS $(backwards $HERE) >"$lane" 2>&1 &
	guests=$!
	in_turn $HERE $(backwards $GUESTS)
	wait $guests || true	# what it counted says so
	shown_lane "$lane"
	rm -rf "$lane" "$CLAIMS"
}

LIVE="live-scheduler live-machine live-kernels live-program live-logs live-rules live-workload live-faults"
HERE="format builds lint cargo python newcomer browser sanitize fuzz sixth"
GUESTS="book licences vm $LIVE import decisions package sweep"
STEPS="$HERE $GUESTS"
crates=(--workspace)
if [ $# -gt 0 ]; then
	in_turn "$@"
elif install; then
	both_lanes
else
	# The live scheduler is part of the workspace: its build needs the packages first.
	crates+=(--exclude alight-live)
	skip "crates/live: packages are missing, see above"
	in_turn $STEPS
fi

echo
echo "== closing"
for reason in "${skips[@]}"; do echo "skipped: $reason"; done
for reason in "${failures[@]}"; do echo "failed: $reason"; done
# One line, near the end: who sees only the last lines of a long run sees where its time went.
printf -v line '%s; ' "${took[@]}"
echo "took: ${line%; }"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
