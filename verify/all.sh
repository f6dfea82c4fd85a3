#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Holds the model against stock kernels and writes docs/fidelity.md: what
# `make verify` calls. Takes hours under emulation.
#
#   verify/all.sh [KERNEL...]
#
# Recordings and reports stay in verify/ of cargo's target directory. The page
# is written even if something differs: that is what it is for. Exit status 0 only if
# every verification passed.

set -euo pipefail
cd "$(dirname "$0")/.."

keep=${CARGO_TARGET_DIR:-target}/verify
vm/install.sh --test
rm -rf "$keep"
mkdir -p "$keep"

status=0
for part in pelt decisions; do
	mkdir -p "$keep/$part"
	verify/$part.sh --keep "$keep/$part" "$@" || status=1
	for report in "$keep/$part"/*.json; do
		# A kernel that could not be recorded left an empty one.
		[ ! -s "$report" ] || cp "$report" "$keep/${report##*/}"
	done
done
cargo run -q -- verify report "$keep" >docs/fidelity.md.new
mv docs/fidelity.md.new docs/fidelity.md
exit $status
