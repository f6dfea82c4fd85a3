#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Makes docs/studies.md and the pictures in docs/studies again: every published
# experiment as it was published. `make studies`.
#
#	docs/studies.sh PROGRAM

set -eu
program=$(realpath "$1")
cd "$(dirname "$0")"
new=studies.md.new
trap 'rm -f "$new"' EXIT

{
	cat <<-'E'
		# The published experiments: the report

		Made by `make studies`. What the tables are, to what the costs were fitted, and what else could explain a figure is in
		[studying.md](studying.md); what each study stands for, `alight study show NAME`. A prediction that is far from what was measured stays here as it is.

	E
	# A check that does not hold (3) is part of the report.
	"$program" study run --all --sensitivity --style markdown --pictures studies || [ $? = 3 ]
} >"$new"
mv "$new" studies.md
