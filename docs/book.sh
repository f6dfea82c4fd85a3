#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the documentation as a book and checks its links: `make book`.
#
#	docs/book.sh		writes target/book/index.html; installs mdbook if it is missing
#
# Exit status 1 if mdbook warns, or if a link of the book leads nowhere.

set -euo pipefail
cd "$(dirname "$0")/.."

book=${CARGO_TARGET_DIR:-target}/book
mdbook=$(tests/tool.sh mdbook)

rm -rf "$book"
mkdir -p "$(dirname "$book")"
"$mdbook" build --dest-dir "$(realpath -m "$book")" docs 2>&1 | tee "$book.log"
if grep -qE 'WARN|ERROR' "$book.log"; then
	echo "docs/book.sh: mdbook warns; mend the pages it names" >&2
	exit 1
fi
docs/links.py "$book"
echo "the book: $book/index.html"
