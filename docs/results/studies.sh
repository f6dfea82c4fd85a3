#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Makes docs/results/studies.md, the pictures in docs/results/studies and studies/outcomes.toml again:
# every published experiment as it was published. `make studies`. Build the program again afterwards:
# `alight study list` shows the outcomes that it was built with.
#
#	docs/results/studies.sh PROGRAM
#
#	RESULTS=DIR	each study's part is kept in DIR, and one that is there does not run
#			again: what was interrupted goes on. All must be of one program

set -eu
program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work" studies.md.new ../../studies/outcomes.toml.new' EXIT
parts=$work
if [ -n "${RESULTS:-}" ]; then
	mkdir -p "$RESULTS"
	parts=$(realpath "$RESULTS")
fi
cd "$(dirname "$0")"

these=$(sha256sum <"$program")
if [ -e "$parts/of" ] && [ "$(cat "$parts/of")" != "$these" ]; then
	echo "studies.sh: what is in $parts is of another program; empty it" >&2
	exit 2
fi
echo "$these" >"$parts/of"

# A line below the head that is not indented begins with the name of a study.
"$program" study list | sed -n '2,${/^[^ ]/s/ .*//p}' >"$work/names"
while read -r study; do
	[ ! -e "$parts/$study.md" ] || continue
	# A sensitivity table would take hours of each of these, and shorter loads predict otherwise:
	# eevdf-hackbench-xeon +53 % with a tenth of its messages, -60 % with a third.
	case $study in
	cyclictest-hackbench-hikey | eevdf-* | schbench-wakers-spr | sis-util-*) table=() ;;
	*) table=(--sensitivity) ;;
	esac
	# A check that does not hold (3) is part of the report.
	"$program" study run "$study" "${table[@]}" --style markdown --pictures studies \
		--outcome "$parts/$study.toml" </dev/null >"$work/part" || [ $? = 3 ]
	mv "$work/part" "$parts/$study.md"
done <"$work/names"

# What a study depends on; the page itself and the rest of the docs are not.
sources=(../../crates ../../policy ../../machines ../../studies ../../workloads)
commit=$(git log -1 --format=%h -- "${sources[@]}" 2>/dev/null || echo unknown)
git diff --quiet HEAD -- "${sources[@]}" 2>/dev/null || commit="$commit, and changes to it"
{
	cat <<-E
		# The published experiments: the report

		\`make studies\` made this page with $("$program" --version) of commit $commit.
		[studying.md](../explanation/studying.md) says what the tables show, to what the costs were fitted,
		and what else could explain a figure. \`alight study show NAME\` shows what a study stands for.
		\`alight study run NAME --traces DIR\` writes traces of its first runs. A prediction that is far from
		the published figure stays here as it is. Residencies, and times in percent, are of the time of all
		CPUs of the machine.
	E
	while read -r study; do
		echo
		cat "$parts/$study.md"
	done <"$work/names"
} >studies.md.new
{
	sed -n '/^#/!q;p' ../../studies/outcomes.toml
	while read -r study; do
		echo
		cat "$parts/$study.toml"
	done <"$work/names"
} >../../studies/outcomes.toml.new
mv ../../studies/outcomes.toml.new ../../studies/outcomes.toml
mv studies.md.new studies.md
