#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Tests pages in a real browser: Debian's Chromium, without a screen and without a network. Installs
# what is missing. Pictures of the pages stay in target/browser/. Ends with `browser: N passed, N failed`.
#
#	tests/browser/run.sh

set -euo pipefail
cd "$(dirname "$0")/../.."
vm/install.sh --browser

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
tools=$target/tools/browser
out=$target/browser
here=tests/browser
mkdir -p "$tools" "$out"

# What pip and npm install, once for each state of their lists.
if ! cmp -s <(cat $here/requirements.txt $here/package-lock.json) "$tools/installed"; then
	python3 -m venv --clear "$tools/venv"
	"$tools/venv/bin/pip" install --quiet --disable-pip-version-check -r $here/requirements.txt
	cp $here/package.json $here/package-lock.json "$tools/"
	npm ci --prefix "$tools" --ignore-scripts --no-audit --no-fund --silent
	cat $here/requirements.txt $here/package-lock.json >"$tools/installed"
fi

# Pages: every part at the size that is promised, at the size that stays usable, and reports.
export CARGO_INCREMENTAL=0
tests/programs.sh
"$target/debug/xtask" page 100000 "$out/parts.html"
"$target/debug/xtask" page 500000 "$out/large.html"
report() { # NAME COMMAND...: the page of a command of alight
	"$target/debug/alight" "${@:2}" --html "$out/$1.html" >"$out/$1.txt"
}
report compare compare -m juno-r0 -w 'hackbench -g 1 -l 20' --runs 5 linux-5.5 linux-5.5+asym-capacity
report simulate simulate -m rk3588 -w 'schbench -t 4 -r 1'
report explain explain -m juno-r0 -w 'hackbench -g 1 -l 20' --task hackbench \
	linux-5.5+asym-capacity
# Odd ones: no wakeup that the policy was asked about, all latencies 0, two bases, CPUs that go.
report realtime simulate -m juno-r0 -w 'chrt -f 50 hackbench -g 1 -l 10' linux-6.5
report zero simulate -m juno-r0 -w 'cyclictest -t 1 -q -D 1' --duration 300ms linux-6.5
report offline compare -m juno-r0 -w 'hackbench -g 1 -l 50' --runs 2 linux-5.5 linux-6.5 \
	--hotplug 10ms:off:2-5,15ms:on:2 --html-time 5ms:100s
# A machine of 24 clusters and 384 CPUs.
report clusters compare -m epyc-9654-2s -w 'hackbench -g 2 -l 20' --runs 2 linux-6.5 \
	linux-6.5+bias-prev
# Those of many runs, and of a recording.
report card card asym-capacity --quick -w schbench-under -w mixed -w idle --runs 6
report study study run juno-sysbench --short
rm -rf "$out/sweep"
report sweep sweep sweeps/first.toml --store "$out/sweep"
"$target/debug/alight" simulate -m juno-r0 -w 'hackbench -g 1 -l 100' --seed 4 linux-6.5 \
	--trace "$out/recording.alight" >/dev/null
report workload verify workload "$out/recording.alight" --no-write

test=("$tools/venv/bin/python" -B $here/main.py "$tools" "$out")
# A network of its own, which has nothing but a loopback, for the driver.
if unshare --net true 2>/dev/null; then
	exec unshare --net sh -c 'ip link set lo up && exec "$@"' sh "${test[@]}"
fi
echo "SKIPPED: pages in a network namespace of their own: unshare --net is not allowed here"
exec "${test[@]}"
