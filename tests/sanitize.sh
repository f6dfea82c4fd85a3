#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What no test of values can see: memory that is not the core's, and arithmetic that C leaves
# undefined. The C core is built with AddressSanitizer and UndefinedBehaviorSanitizer, and its
# tests run on that build; they ask it in random states, sensible ones and nonsense. Rust that
# has unsafe code but needs no C runs under Miri, which needs a nightly toolchain with it.
#
# Ends with `N passed, N failed`; `SKIPPED: reason` says what could not be judged.

set -u
cd "$(dirname "$0")/.." || exit 1

passed=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# tests COMMAND...: cargo's tests; each counts, and a run that breaks off is a failure.
tests() {
	local status=0 good bad
	nice "$@" >"$log" 2>&1 || status=$?
	good=$(sed -n 's/^test result: .* \([0-9]*\) passed;.*/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
	bad=$(sed -n 's/^test result: .* \([0-9]*\) failed;.*/\1/p' "$log" | awk '{ n += $1 } END { print n + 0 }')
	if [ $status != 0 ] && [ "${bad:-0}" = 0 ]; then bad=1; fi
	if [ $status != 0 ] || [ "${good:-0}" = 0 ]; then
		grep -E 'runtime error|ERROR: AddressSanitizer|SUMMARY|Undefined Behavior|^error|panicked' \
			"$log" | head -n 20
		tail -n 25 "$log"
	fi
	passed=$((passed + ${good:-0}))
	failed=$((failed + ${bad:-0}))
}

checked=-fsanitize=address,undefined
# What AddressSanitizer sees as well; with these the core takes minutes to compile.
checked+=" -fno-sanitize=null,alignment,object-size,pointer-overflow"
host=$(rustc -vV | sed -n 's/^host: //p')

# The sanitizers themselves: who reads beyond an array is stopped.
stops() { # WHAT EXPRESSION
	local program
	program=$(mktemp)
	echo "int main(int n, char **v) { int a[4] = {0}; (void)v; return $2; }" |
		${CC:-cc} $checked -fno-sanitize-recover=all -x c -o "$program" - || exit 1
	if "$program" >"$log" 2>&1; then
		echo "FAIL the sanitizers do not see $1"
		failed=$((failed + 1))
	else
		passed=$((passed + 1))
	fi
	rm -f "$program"
}
stops 'a look beyond an array' 'a[n + 3]'
stops 'a division by 0' 'n / a[0]'

# For the target alone: build scripts are not tested. Rust links without the compiler's own
# libraries, so they are named; and AddressSanitizer must come before the C library.
triple=${host//-/_}
export "CFLAGS_$triple=$checked -fno-sanitize-recover=all -g -O1"
runtime=$(${CC:-cc} -print-file-name=libasan.so)
export "CARGO_TARGET_${triple^^}_RUNNER=env LD_PRELOAD=$runtime"
# Leaks are none of C's: it allocates nothing. Doctests are left out: rustdoc links them without the
# sanitizers.
RUSTFLAGS="-Clink-arg=-lasan -Clink-arg=-lubsan" ASAN_OPTIONS=detect_leaks=0 \
	CARGO_TARGET_DIR=target/sanitize \
	tests cargo test --target "$host" -p alight-policy -p alight-rules --lib --tests
unset "CFLAGS_$triple" "CARGO_TARGET_${triple^^}_RUNNER"

if cargo +nightly miri --version >"$log" 2>&1; then
	export CARGO_TARGET_DIR=target/miri PROPTEST_CASES=2 MIRIFLAGS=-Zmiri-disable-isolation
	tests cargo +nightly miri test -p alight-sim --lib -- \
		queue::tests treap:: timeline:: fair::tree::
	tests cargo +nightly miri test -p alight-verify --lib -- \
		live::record::tests::what_was_written live::record::tests::broken
else
	echo "SKIPPED: Miri is not there (rustup toolchain install nightly --component miri)"
fi

echo "$passed passed, $failed failed"
[ $failed = 0 ]
