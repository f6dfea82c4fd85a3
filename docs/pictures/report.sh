#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Takes docs/pictures/report.png: the upper part of the page that `make demo` writes, in Chromium
# (vm/install.sh --browser installs it).
#
#	docs/pictures/report.sh PAGE	the page, such as target/demo.html

set -euo pipefail
page=$(realpath "${1:?usage: docs/pictures/report.sh PAGE}")
cd "$(dirname "$0")"
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$profile" \
	--blink-settings=preferredColorScheme=1 --virtual-time-budget=5000 --window-size=1280,1360 \
	--screenshot="$PWD/report.png" "file://$page" 2>/dev/null
