#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs every fuzz target of the tree for a while: tests/fuzz.sh [SECONDS]
#
# The targets are those of cargo-fuzz. This script does with a stable compiler
# what `cargo fuzz run` does with an unstable one, but for the address
# sanitizer, which the parsers, being safe Rust, do not need. The last line is
# `fuzz: N passed, N failed`; an input that makes a target fail is kept in
# crates/NAME/fuzz/artifacts.

set -u
cd "$(dirname "$0")/.." || exit 1
seconds=${1:-15}
triple=$(rustc -vV | sed -n 's/^host: //p')

# Coverage that libFuzzer reads.
flags=(
	--cfg fuzzing
	-Cpasses=sancov-module
	-Cllvm-args=-sanitizer-coverage-level=4
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters
	-Cllvm-args=-sanitizer-coverage-pc-table
	-Cdebug-assertions
)

# What takes long is to build them, not to run them.
export CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=4

passed=0 failed=0
for manifest in crates/*/fuzz/Cargo.toml; do
	[ -e "$manifest" ] || break
	folder=$(dirname "$manifest")
	build=${CARGO_TARGET_DIR:-$PWD/target}/fuzz
	# The triple keeps the flags away from build scripts.
	if ! RUSTFLAGS="${flags[*]}" CARGO_TARGET_DIR=$build \
		cargo build --quiet --release --target "$triple" --manifest-path "$manifest"; then
		echo "FAIL  $folder: does not build"
		failed=$((failed + 1))
		continue
	fi
	for source in "$folder"/fuzz_targets/*.rs; do
		target=$(basename "$source" .rs)
		mkdir -p "$folder/corpus/$target" "$folder/artifacts/$target"
		if "$build/$triple/release/$target" -max_total_time="$seconds" -timeout=10 \
			-rss_limit_mb=2048 -verbosity=0 -print_final_stats=1 \
			-artifact_prefix="$folder/artifacts/$target/" \
			"$folder/corpus/$target" >"$build/$target.log" 2>&1; then
			inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$build/$target.log")
			echo "ok    $folder/$target: $inputs inputs in $seconds s"
			passed=$((passed + 1))
		else
			echo "FAIL  $folder/$target"
			tail -n 30 "$build/$target.log"
			failed=$((failed + 1))
		fi
	done
done
echo "fuzz: $passed passed, $failed failed"
[ "$failed" = 0 ]
