#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests the Python package: installs it by `pip install` from a clean copy of the tree, as somebody does
# who has cloned it, and runs python/tests beside the command of the tree.
#
#	tests/python.sh [ARGUMENT OF PYTEST...]
#
# Packages of pinned versions are installed into target/tools/python. The last line is pytest's:
# `N passed, N failed in N s`.

set -euo pipefail
cd "$(dirname "$0")/.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
tools=$target/tools/python
copy=$target/python/tree
export CARGO_TARGET_DIR=$target CARGO_INCREMENTAL=0
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore

# Anew if the list of packages has changed.
if ! cmp -s python/tests/requirements.txt "$tools/requirements.txt"; then
	rm -rf "$tools"
	python3 -m venv "$tools"
	"$tools/bin/pip" install -q -r python/tests/requirements.txt
	cp python/tests/requirements.txt "$tools"
fi

# Only files that git knows: no other can be needed.
rm -rf "$copy"
mkdir -p "$copy"
git ls-files -z | tar -c --null -T - --ignore-failed-read 2>/dev/null | tar -x -C "$copy"
PIP_CONSTRAINT=$PWD/python/tests/requirements.txt MATURIN_PEP517_ARGS="--profile dev" \
	"$tools/bin/pip" install -q --no-deps --force-reinstall "$copy"

tests/programs.sh
ALIGHT_COMMAND=$target/debug/alight "$tools/bin/python" -m pytest -q "${@:-python/tests}"
