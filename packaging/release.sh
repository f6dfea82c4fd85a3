#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds programs or the wheel of the release by a profile of the simulator: an instrumented `alight` runs
# some loads, and the compiler lays out the code by what it found. 6 to 17 % of the instructions go, by load.
#
#	packaging/release.sh [CARGO ARGUMENT...]	builds programs (default: -p alight), prints the folder
#	packaging/release.sh --wheel			builds the Python wheel, prints its name
#
# Needs the component llvm-tools of rustup, which it adds. Without it the programs are built without a
# profile, which is said. What is built is in TARGET/profiled; TARGET/release, cargo's own, is left alone.

set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'release.sh: %s\n' "$*" >&2; }

host=$(rustc -vV | sed -n 's/^host: //p')
target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
instrumented=$target/instrumented
profiled=$target/profiled
profile=$instrumented/alight.profdata

# Machine, runs, workload: machines with one kind of CPU, with two, with three, and with hundreds.
LOADS=(
	"hikey620 8 workloads/periodic-mix.json"
	"juno-r0 3 sysbench --test=threads --num-threads=6 --max-time=1 run"
	"gs101 6 workloads/frame-pipeline.json"
	"hikey620 4 hackbench -g 2 -f 5 -l 200 --pipe"
	"hikey620 4 hackbench -g 2 -f 5 -l 100"
	"epyc-9654-2s 1 hackbench -g 8 -f 10 -l 20 --threads --pipe"
)
# An old kernel, two with CFS, one with EEVDF.
BASES=(linux-3.9 linux-5.5 linux-6.5 linux-7.2)

# Prints the tool that merges profiles, which is of the compiler's own version.
profdata() {
	local tool
	tool=$(rustc --print sysroot)/lib/rustlib/$host/bin/llvm-profdata
	[ -x "$tool" ] || rustup component add llvm-tools >&2 2>/dev/null || return
	[ -x "$tool" ] && printf '%s\n' "$tool"
}

# train ALIGHT: runs the loads.
train() {
	local load machine runs workload
	for load in "${LOADS[@]}"; do
		read -r machine runs workload <<<"$load"
		"$1" compare -m "$machine" -w "$workload" "${BASES[@]}" --runs "$runs" \
			--duration 3s --jobs 1 >/dev/null
	done
}

# Leaves the profile of this tree in $profile. --target keeps the instruments out of what cargo runs in a
# build.
make_profile() {
	local tool=$1 raw=$instrumented/raw
	say 'building the instrumented program'
	rm -rf "$raw" "$profile"
	RUSTFLAGS="${RUSTFLAGS:-} -Cprofile-generate=$raw" \
		cargo build -q --release --target "$host" --target-dir "$instrumented" -p alight
	say 'running loads'
	train "$instrumented/$host/release/alight"
	"$tool" merge -o "$profile.new" "$raw"
	mv "$profile.new" "$profile"
	rm -rf "$raw"
}

flags=${RUSTFLAGS:-}
if tool=$(profdata); then
	make_profile "$tool"
	flags="$flags -Cprofile-use=$profile"
else
	say 'no llvm-tools for this compiler (rustup component add llvm-tools): building without a profile'
fi

export RUSTFLAGS=$flags CARGO_TARGET_DIR=$profiled
say 'building by the profile'
if [ "${1:-}" = --wheel ]; then
	rm -rf "$profiled/wheel"
	python3 -m venv "$profiled/venv" # Debian's own pip may be missing
	"$profiled/venv/bin/pip" wheel -q --no-deps -w "$profiled/wheel" .
	printf '%s\n' "$profiled"/wheel/alight-*.whl
else
	[ $# -gt 0 ] || set -- -p alight
	cargo build -q --release "$@"
	printf '%s\n' "$profiled/release"
fi
