#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Adds the policy that docs/howto/write-a-policy.md walks through to a copy of this
# tree, from the page's own words, and does with it what the page says: its tests
# and the properties of all schedulers, the commands of the page, and in a guest
# the scheduler in the kernel, whose decisions must replay equal, and random states.
#
#	tests/sixth.sh [--no-guest]
#
# In the page a block of C or Rust whose fence names a file is that file; a block
# of diff is a change to one; a block of sh is run. The copy stays in cargo's target
# directory, so that a second run builds only what has changed.
# One line a check; the last line is "sixth: N passed, N failed".

set -euo pipefail
cd "$(dirname "$0")/.."

PAGE=docs/howto/write-a-policy.md
SCHEDULER=linux-6.5+sync-stays
STEP=sync_stays
KERNEL=amd64-7.2-cloud

target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
copy=$target/sixth/tree
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tests/checks.sh

# ran NAME COMMAND...: a check that it succeeds; its output is in $work/NAME, shown if not.
ran() {
	local name=$1 status=0
	shift
	"$@" >"$work/$name" 2>&1 || status=$?
	[ $status = 0 ] || tail -n 40 "$work/$name"
	check "$name" 0 $status
}

# Writes the tree with the page's policy to a folder.
with_the_policy() {
	mkdir "$1"
	git ls-files -z | tar -c --null -T - | tar -x -C "$1"
	python3 - "$PAGE" "$1" <<-'P'
		import re, subprocess, sys
		page, tree = open(sys.argv[1]).read(), sys.argv[2]
		commands = open(tree + "/commands.sh", "w")
		for kind, path, text in re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", page, re.M | re.S):
		    if path and kind in ("c", "rust"):
		        open(f"{tree}/{path}", "x").write(text)
		    elif kind == "diff":
		        subprocess.run(["patch", "-s", "-p1", "-d", tree], input=text, text=True, check=True)
		    elif kind == "sh":
		        commands.write(text)
	P
}

# What differs of the new tree goes to the copy; what does not keeps its time.
into_the_copy() {
	mkdir -p "$copy"
	python3 - "$1" "$copy" <<-'P'
		import filecmp, os, shutil, sys
		new, copy = sys.argv[1:]
		def files(top):
		    for folder, _, names in os.walk(top):
		        for name in names:
		            yield os.path.relpath(os.path.join(folder, name), top)
		wanted = set(files(new))
		for name in set(files(copy)) - wanted:
		    if not name.startswith("vm/cache"):
		        os.remove(f"{copy}/{name}")
		for name in wanted:
		    old = f"{copy}/{name}"
		    if not os.path.exists(old) or not filecmp.cmp(f"{new}/{name}", old, shallow=False):
		        os.makedirs(os.path.dirname(old), exist_ok=True)
		        shutil.copy(f"{new}/{name}", old)
	P
	[ -e "$copy/vm/cache" ] || [ ! -e vm/cache ] || ln -s "$(realpath vm/cache)" "$copy/vm/cache"
	# The dependencies are built already: as links they cost neither time nor space. What build
	# scripts and cargo write over in place is no link: the tree's next build would change it here.
	if [ ! -e "$target/sixth/debug" ] && [ -e "$target/debug" ]; then
		mkdir -p "$target/sixth/debug"
		cp -al "$target/debug/deps" "$target/sixth/debug/"
		cp -a "$target/debug/"{build,.fingerprint} "$target/sixth/debug/"
	fi
}

# shellcheck disable=SC2016 # the guest expands it
GUEST='
mkdir -p /tmp
/scx_alight --verify "$1" >/tmp/out 2>&1 &
scx=$!
waited=0
until [ "$(cat /sys/kernel/sched_ext/state)" = enabled ] || [ $waited = 240 ]; do
	sleep 0.5
	waited=$((waited + 1))
done
hackbench -g 1 -l 200 -p >/dev/null
kill -INT $scx
wait $scx
echo "replay status: $?"
cat /tmp/out
/bpf_equals_native --states 20000 --scheduler "$1" 2>&1 | cut -c 1-300 | tail -n 40
'

in_a_guest() {
	install -d "$work/add"
	strip -o "$work/add/scx_alight" "$CARGO_TARGET_DIR/debug/scx_alight"
	strip -o "$work/add/bpf_equals_native" "$CARGO_TARGET_DIR/debug/bpf_equals_native"
	echo "$GUEST" >"$work/guest.sh"
	ran guest vm/run.sh --kernel $KERNEL --smp 4 --add "$work/add" "$work/guest.sh" $SCHEDULER
	check 'guest: replay' 0 "$(sed -n 's/^replay status: //p' "$work/guest")"
	check 'guest: decisions replayed' 'all equal' \
		"$(sed -n 's/.* decisions replayed, \(all equal\).*/\1/p' "$work/guest")"
	at_least "guest: decisions by $STEP" 1 \
		"$(sed -n "s/^ *\([0-9]*\) $STEP\$/\1/p" "$work/guest" | head -n 1)"
	check 'guest: random states' '20224 states of 1 schedulers, all equal' \
		"$(grep 'states of 1 schedulers' "$work/guest" || true)"
}

with_the_policy "$work/tree"
into_the_copy "$work/tree"
cd "$copy"
export CARGO_TARGET_DIR=$target/sixth
started=$(date +%s)
# All at once, as tests/programs.sh says why.
crates=(--workspace)
[ "${1:-}" != --no-guest ] || crates+=(--exclude alight-live)
ran build cargo build -q "${crates[@]}" --bins --test select
ran tests cargo test -q "${crates[@]}" --test select -- "$STEP" properties
PATH=$CARGO_TARGET_DIR/debug:$PATH ran commands bash -ex commands.sh
at_least "commands: wakeups by $STEP" 1 \
	"$(sed -n "s/^ *$STEP  *\([0-9]*\) .*/\1/p" "$work/commands" | head -n 1)"
if [ "${1:-}" != --no-guest ]; then
	in_a_guest
fi
printf '%s s in all\n' $(($(date +%s) - started))
printf 'sixth: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
