#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Prints the path of a tool of tests that cargo installs. Installs it into ~/.cache/alight/tools if the
# machine does not have it: without optimisation, for it is built more often than it works.
#
#	tests/tool.sh mdbook|cargo-deny

set -euo pipefail
cd "$(dirname "$0")/.."

case ${1:-} in
mdbook) options=(--version 0.5.4 --no-default-features --features search) ;;
cargo-deny) options=(--version 0.20.2) ;;
*)
	echo "usage: tests/tool.sh mdbook|cargo-deny, not '${1:-}'" >&2
	exit 2
	;;
esac

tools=${XDG_CACHE_HOME:-$HOME/.cache}/alight/tools/$1-${options[1]}
command -v "$1" && exit
[ -x "$tools/bin/$1" ] || cargo install --quiet --debug --locked --root "$tools" "${options[@]}" "$1" >&2
echo "$tools/bin/$1"
