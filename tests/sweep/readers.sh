#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The store of a sweep, read by DuckDB, pandas and polars as docs/reference/sweep.md says. They are
# installed into target/tools/readers. Ends with `N passed, N failed`.

set -euo pipefail
cd "$(dirname "$0")/../.."

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
readers=$target/tools/readers
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The extension by which DuckDB reads SQLite comes from the package, for it is downloaded otherwise.
wanted="duckdb==1.5.5 duckdb-extension-sqlite-scanner==1.5.5 pandas==3.1.1 polars==2.1.0"
if [ "$(cat "$readers/wanted" 2>/dev/null)" != "$wanted" ]; then
	rm -rf "$readers"
	python3 -m venv "$readers"
	# shellcheck disable=SC2086 # several words
	"$readers/bin/pip" install -q --disable-pip-version-check $wanted
	echo "$wanted" >"$readers/wanted"
fi

tests/programs.sh
alight=$target/debug/alight
"$alight" sweep sweeps/first.toml --store "$folder/first.sqlite" >"$folder/answer.txt"
"$alight" sweep export "$folder/first.sqlite" --csv "$folder/first.csv"
"$readers/bin/python" tests/sweep/readers.py "$folder/first.sqlite" "$folder/first.csv"
