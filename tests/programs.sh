#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the programs of this tree for scripts that run them:
#
#	tests/programs.sh		for this machine, in target/debug
#	tests/programs.sh arm64		those of crates/live for guests of arm64,
#					in target/aarch64-unknown-linux-gnu/debug
#
# Cargo chooses the features of a crate by what is built beside it, and builds the crate again for
# another choice. So all scripts build all programs, and a test beside them, which is what makes the
# choice that of `cargo test --workspace`: each crate is built once.

set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_INCREMENTAL=0
if [ "${1:-}" = arm64 ]; then
	exec vm/cross.sh cargo build -q --target aarch64-unknown-linux-gnu -p alight-live --bins
fi
crates=(--workspace)
# What crates/live/build.rs needs; without it the tests of crates/live are left out.
command -v "${BPF_CLANG:-clang-19}" >/dev/null || crates+=(--exclude alight-live)
exec cargo build -q "${crates[@]}" --bins --test mistakes
