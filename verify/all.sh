#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Holds the model against stock kernels and writes docs/results/fidelity.md, fidelity-behaviour.md beside
# it, and docs/your-workload-fidelity.md: what `make verify` calls. Takes hours under emulation.
#
#   verify/all.sh [--sample] [KERNEL...]
#
# --sample records short loads: minutes a kernel. Recordings stay in verify/ of cargo's target directory;
# reports go to verify/reports, a folder for each kernel. With a KERNEL (a row of vm/kernels.txt) only its
# reports are made anew, and the pages take the others from there. The pages are written even if something
# differs or fails: that is what they are for. Exit status 0 only if every verification passed.

set -euo pipefail
cd "$(dirname "$0")/.."
. verify/recorder.sh

sample=()
[ "${1:-}" != --sample ] || { sample=(--sample) && shift; }
keep=${CARGO_TARGET_DIR:-target}/verify
reports=verify/reports
vm/install.sh --test
mapfile -t KERNELS < <(amd64_kernels)
KERNELS+=("${ARM64_KERNELS[@]}")
[ $# -eq 0 ] || KERNELS=("$@")
of=$(git log -1 --format='commit %h of %cs' -- crates policy)
git diff --quiet HEAD -- crates policy || of="$of, and of changes to it"

# hold KERNEL: against the model; its reports take the place of those that there were.
hold() {
	local part parts=(pelt decisions) made=$keep/$1 status=0
	case $1 in amd64-*) parts+=(behaviour) ;; esac
	rm -rf "$made"
	mkdir -p "$made/reports"
	for part in "${parts[@]}"; do
		verify/$part.sh --keep "$made/$part" ${sample[@]+"${sample[@]}"} "$1" || status=1
		cp "$made/$part"/*.json "$made/reports" || status=1
	done
	echo "$of" >"$made/reports/model"
	mkdir -p $reports
	rm -rf "${reports:?}/$1"
	cp -r "$made/reports" "$reports/$1"
	return $status
}

status=0
for kernel in "${KERNELS[@]}"; do
	hold "$kernel" || status=1
done
# What is the project's own, and says nothing of a kernel's scheduler: not on the page.
[ $# -gt 0 ] || verify/select.sh || status=1
[ $# -gt 0 ] || verify/itmt.sh || status=1
[ $# -gt 0 ] || crates/live/tests/slowdown.sh || status=1
# The routine tests boot one of these. On arm64 each takes ten minutes and more.
[ $# -gt 0 ] || crates/live/tests/workload.sh amd64-6.1-cloud arm64-6.1 arm64-7.2 || status=1
[ $# -gt 0 ] || crates/live/tests/workload.sh --load amd64-6.12-cloud amd64-6.18-cloud amd64-6.19-cloud \
	amd64-7.0-cloud amd64-7.1-cloud amd64-7.3-cloud arm64-6.12 arm64-6.18 arm64-7.3-cloud || status=1
tests/programs.sh
alight=${CARGO_TARGET_DIR:-target}/debug/alight
# page FILE VERB...: made by `alight verify VERB...`.
page() {
	"$alight" verify "${@:2}" >"$1.new"
	mv "$1.new" "$1"
}
page docs/results/fidelity.md report $reports
page docs/results/fidelity-behaviour.md report --quantities $reports
# Without a KERNEL only, as replays predict one kernel from another.
if [ $# = 0 ]; then
	verify/workload.sh --keep "$keep/workload" || status=1
	page docs/your-workload-fidelity.md predictions "$keep/workload/reports" --of "$of"
fi
exit $status
