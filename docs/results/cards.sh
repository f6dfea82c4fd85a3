#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Makes the cards in docs/results/policies again: what stands between a line
#
#	<!-- alight card FEATURE --base BASE -->
#
# and the line `<!-- end of the card -->` becomes what that command prints. `make cards`.
#
#	docs/results/cards.sh PROGRAM [PAGE...]		all pages by default

set -eu
program=$(realpath "$1")
shift
cd "$(dirname "$0")/../.."
[ $# != 0 ] || set -- docs/results/policies/*.md

for page; do
	new=$(mktemp)
	trap 'rm -f "$new"' EXIT
	inside=
	while IFS= read -r line; do
		if [ "$line" = '<!-- end of the card -->' ]; then
			inside=
		fi
		[ -n "$inside" ] || printf '%s\n' "$line" >>"$new"
		if [[ $line =~ ^'<!-- alight '(card .*)' -->'$ ]]; then
			inside=yes
			read -ra words <<<"${BASH_REMATCH[1]}"
			echo "$page: alight ${words[*]}" >&2
			"$program" "${words[@]}" --style markdown </dev/null >>"$new"
		fi
	done <"$page"
	[ -z "$inside" ] || { echo "$page: a card without its end" >&2; exit 1; }
	cat "$new" >"$page"
	rm -f "$new"
done
