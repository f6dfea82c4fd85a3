#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Holds the model against stock kernels and writes docs/results/fidelity.md and
# docs/your-workload-fidelity.md: what `make verify` calls. Takes hours under emulation.
#
#   verify/all.sh [--sample] [KERNEL...]
#
# --sample records short loads: minutes a kernel. Recordings and reports stay in verify/ of cargo's target directory. With a
# KERNEL (a row of vm/kernels.txt) only its reports are made anew, and the page
# takes the others from there. The page is written even if something differs or
# fails: that is what it is for. Exit status 0 only if every verification passed.

set -euo pipefail
cd "$(dirname "$0")/.."

sample=()
[ "${1:-}" != --sample ] || { sample=(--sample) && shift; }
keep=${CARGO_TARGET_DIR:-target}/verify
vm/install.sh --test
[ $# -gt 0 ] || rm -rf "$keep"
rm -rf "$keep/reports"
mkdir -p "$keep/reports"

status=0
for part in pelt decisions behaviour; do
	mkdir -p "$keep/$part"
	verify/$part.sh --keep "$keep/$part" ${sample[@]+"${sample[@]}"} "$@" || status=1
	cp "$keep/$part"/*.json "$keep/reports" || status=1
done
# What is the project's own, and says nothing of a kernel's scheduler: not on the page.
[ $# -gt 0 ] || verify/select.sh || status=1
[ $# -gt 0 ] || verify/itmt.sh || status=1
[ $# -gt 0 ] || crates/live/tests/slowdown.sh || status=1
# The routine tests boot one of these. On arm64 each takes ten minutes and more.
[ $# -gt 0 ] || crates/live/tests/workload.sh amd64-6.1-cloud arm64-6.1 arm64-7.2 || status=1
[ $# -gt 0 ] || crates/live/tests/workload.sh --load amd64-6.12-cloud amd64-6.18-cloud amd64-6.19-cloud \
	amd64-7.0-cloud amd64-7.1-cloud amd64-7.3-cloud arm64-6.12 arm64-6.18 arm64-7.3-cloud || status=1
of=$(git log -1 --format='commit %h of %cs' -- crates policy)
git diff --quiet HEAD -- crates policy || of="$of, and of changes to it"
tests/programs.sh
"${CARGO_TARGET_DIR:-target}/debug/alight" verify report "$keep/reports" --of "$of" >docs/results/fidelity.md.new
mv docs/results/fidelity.md.new docs/results/fidelity.md
# Without a KERNEL only, as replays predict one kernel from another.
if [ $# = 0 ]; then
	verify/workload.sh --keep "$keep/workload" || status=1
	page=docs/your-workload-fidelity.md
	"${CARGO_TARGET_DIR:-target}/debug/alight" verify predictions "$keep/workload/reports" --of "$of" >$page.new
	mv $page.new $page
fi
exit $status
