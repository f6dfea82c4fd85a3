#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Makes captures with perf, trace-cmd and ftrace in guests, imports them, and compares every event
# and field with what the same tools print of them.
#
#   verify/import.sh [--keep DIR] [KERNEL...]
#
# KERNEL is a row of vm/kernels.txt; without one: 6.1 and 7.2. --keep DIR leaves the captures in
# DIR/KERNEL, compressed; crates/import/tests/data was made so.
#
# One line a kernel; the last line is "import: N passed, N failed".

set -euo pipefail
cd "$(dirname "$0")/.."
. verify/recorder.sh

KERNELS=(amd64-6.1-cloud amd64-7.2-cloud)
PACKAGES=(linux-perf rt-tests sysbench trace-cmd)

keep=''
if [ "${1:-}" = --keep ]; then
	keep=$2
	shift 2
fi
[ $# -eq 0 ] || KERNELS=("$@")

command -v zstd >/dev/null || {
	echo 'import.sh: zstd is missing; as root, run apt-get install zstd' >&2
	echo 'import: 0 passed, 1 failed'
	exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
keep=${keep:-$work/captures}
passed=0 failed=0

install -d "$work/guest"
install -m 644 verify/import-load.sh "$work/guest/"
programs=$(vm/programs.sh amd64 "${PACKAGES[@]}")

# capture KERNEL DIR: leaves compressed captures in DIR.
capture() {
	cat >"$work/run.sh" <<-'G'
		mkdir -p /tmp
		sh /import-load.sh || exit
		echo "bytes written: $(wc -c </tmp/captures.tar)"
		cat /tmp/captures.tar >/dev/out
	G
	vm/run.sh --kernel "$1" --smp 4 --mem 3072 --timeout 900 --add "$work/guest" --add "$programs" \
		--out "$work/captures.tar" "$work/run.sh" >"$work/console" || {
		cat "$work/console" >&2
		return 1
	}
	arrived "$work/captures.tar" || return
	install -d "$work/plain" "$2"
	rm -f "$work/plain"/*
	tar -xf "$work/captures.tar" -C "$work/plain"
	find "$work/plain" -type f -size +0 -exec zstd -q -f -19 --output-dir-flat "$2" {} +
}

for kernel in "${KERNELS[@]}"; do
	if capture "$kernel" "$keep/$kernel" && ALIGHT_CAPTURES="$keep/$kernel" \
		cargo test -q --workspace --test tools >"$work/test" 2>&1; then
		echo "ok    $kernel"
		passed=$((passed + 1))
	else
		cat "$work/test" >&2 || true
		echo "FAIL  $kernel"
		failed=$((failed + 1))
	fi
done
printf 'import: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
