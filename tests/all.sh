#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Every test of the project; what `make test` and continuous integration call.
#
# Installs what is missing. Ends with what was skipped and why, what failed, and the
# line `N passed, N failed, N skipped`. Exit status 0 only if nothing failed.
#
#	tests/all.sh		everything, in two lanes side by side: what guests do, and the rest
#	tests/all.sh STEP...	only these steps, one after the other:
#				format builds lint cargo golden newcomer book licences sanitize fuzz sixth decisions package vm live import

set -u
cd "$(dirname "$0")/.." || exit 1
FUZZ_SECONDS=${FUZZ_SECONDS:-15}
# Of use to who builds again and again, at twice the space.
export CARGO_INCREMENTAL=0

passed=0 failed=0 skipped=0
skips=() failures=()
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

# logged NAME COMMAND...: runs it; its output is kept, and what `shown` leaves of it shown.
shown=cat
logged() {
	local status began=$SECONDS
	echo
	echo "== $1"
	"${@:2}" 2>&1 | tee "$log" | $shown
	status=${PIPESTATUS[0]}
	echo "-- $1: $((SECONDS - began)) s"
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

cargo_tests() {
	local status=0 before=$skipped
	shown=results logged "cargo test" cargo test "${crates[@]}" --no-fail-fast -- --show-output || status=$?
	local good bad ignored
	good=$(summed passed)
	bad=$(summed failed)
	# What needs a build without debug assertions is run by the step "golden".
	ignored=$(grep -v 'without debug assertions' "$log" | sed -n 's/^test \(.*\) \.\.\. ignored/\1/p')
	skips_of_log
	# The harness counts a test that skipped itself as passed.
	pass $((good - (skipped - before)))
	if [ $status != 0 ] && [ "$bad" = 0 ]; then bad=1; fi
	fail "$bad" "cargo test"
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
	cargo build -q -p alight -p alight-live --bins &&
		vm/fetch.sh sysroot &&
		vm/cross.sh cargo build -q --target aarch64-unknown-linux-gnu -p alight-live
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
	cargo) cargo_tests ;;
	golden)
		# Debug builds prove invariants after every event, which takes long, and allocates.
		one "golden runs" cargo test --profile quick -p alight-sim --test golden --test no_allocation
		;;
	newcomer) guests "a newcomer's path" tests/newcomer.sh ;;
	book)
		one "the book and its links" docs/book.sh
		one "lines of the docs" short_lines
		;;
	licences) one "licences" licences ;;
	sanitize) counted "sanitizers" tests/sanitize.sh ;;
	fuzz) counted "fuzz" tests/fuzz.sh "$FUZZ_SECONDS" ;;
	vm) guests "virtual machines" vm/test.sh ;;
	live)
		guests "live scheduler" crates/live/tests/guest.sh
		guests "live machine" crates/live/tests/machine.sh
		guests "kernels" crates/live/tests/kernels.sh
		guests "the program" crates/live/tests/program.sh
		guests "logs of decisions" crates/live/tests/logs.sh
		guests "rules" crates/live/tests/rules.sh
		guests "recordings of workloads" crates/live/tests/workload.sh
		guests "faults" crates/live/tests/faults.sh
		;;
	decisions)
		guests "decisions in BPF" verify/select.sh --sample
		guests "decisions of a kernel" verify/decisions.sh --sample amd64-7.2-cloud
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

# A guest is emulated by one processor and sleeps at times; builds and tests want two. Side by side
# they leave nothing idle. Guests whose checks depend on time count instructions for it, or leave room:
# a busy host makes them slower, not wrong.
both_lanes() {
	local lane name guests
	lane=$(mktemp)
	"$0" $GUESTS >"$lane" 2>&1 &
	guests=$!
	for name in $HERE; do step "$name"; done
	wait $guests || true	# what it counted says so
	shown_lane "$lane"
	rm -f "$lane"
}

HERE="format builds lint cargo golden newcomer sanitize fuzz sixth decisions package"
GUESTS="book licences vm live import"
STEPS="$HERE $GUESTS"
crates=(--workspace)
if [ $# -gt 0 ]; then
	for name; do step "$name"; done
elif install; then
	both_lanes
else
	# The live scheduler is part of the workspace: its build needs the packages first.
	crates+=(--exclude alight-live)
	skip "crates/live: packages are missing, see above"
	for name in $STEPS; do step "$name"; done
fi

echo
echo "== closing"
for reason in "${skips[@]}"; do echo "skipped: $reason"; done
for reason in "${failures[@]}"; do echo "failed: $reason"; done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
