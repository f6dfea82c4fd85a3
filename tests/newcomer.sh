#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The path of a newcomer: the commands of README.md, as written, on a fresh Debian 12 with Rust.
#
#	tests/newcomer.sh
#
# Makes a Debian 12 in a folder (mmdebstrap), which has git, make and the Rust of this machine, and
# nothing else; clones the tree there; runs the commands of README's `sh` and `console` blocks in order
# in one shell, but not `make test`, which is what runs this. The release is built with little
# optimisation, which changes no result. Then holds what `make demo` printed against
# docs/tutorial.md, and its picture against docs/pictures/demo.svg. One line a check; the last line is
# "newcomer: N passed, N failed".
#
# Needs root, and the packages of vm/install.sh. The system and what was built in it stay in
# target/newcomer: the next run builds only what has changed. Delete debian12.tar there to get a newer
# Debian 12.

set -euo pipefail
cd "$(dirname "$0")/.."
. tests/checks.sh
. vm/env.sh
need mmdebstrap unshare

if ! unshare --mount --pid --fork --kill-child true 2>/dev/null; then
	echo 'SKIPPED: the path of a newcomer needs root, and namespaces to mount in'
	echo 'newcomer: 0 passed, 0 failed'
	exit
fi

home=$(realpath -m "${CARGO_TARGET_DIR:-target}")/newcomer
system=$home/debian12.tar
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The system is unpacked anew each time: what an earlier run installed must not help.
make_system() {
	mkdir -p "$home/target"
	[ -e "$system" ] || {
		say 'making a Debian 12'
		mmdebstrap --quiet --format=tar --variant=minbase --include=ca-certificates,git,make bookworm "$system.new" \
			"${ALIGHT_DEBIAN_MIRROR:-http://deb.debian.org/debian}"
		mv "$system.new" "$system"
	}
	mkdir "$work/root"
	tar -C "$work/root" -xf "$system" --exclude='./dev/*'
}

# The clone has the tree as it was committed.
clone() {
	git clone -q . "$work/root/root/alight"
	git diff --quiet HEAD || say 'what is not committed is not tested'
}

# commands: those of README's blocks, without comments and prompts.
commands() {
	awk '/^```/ { inside = ($0 == "```sh" || $0 == "```console"); next } inside' README.md |
		sed -E 's/ +#.*//; s/^\$ //' | grep -vx 'make test'
}

# Runs /script in the system, with a file system of its own to mount in.
in_system() {
	local rust cargo
	rust=$(realpath "${RUSTUP_HOME:-$HOME/.rustup}")
	cargo=$(realpath "${CARGO_HOME:-$HOME/.cargo}")
	# shellcheck disable=SC2016 # expanded inside
	unshare --mount --pid --fork --kill-child bash -euc '
		root=$1 rust=$2 cargo=$3 target=$4
		mkdir -p "$root/root/.rustup" "$root/root/.cargo" "$root/root/alight/target"
		mount --bind "$rust" "$root/root/.rustup"
		mount --bind "$cargo" "$root/root/.cargo"
		mount --bind "$target" "$root/root/alight/target"
		mount --rbind /dev "$root/dev"
		mount -t proc proc "$root/proc"
		mount --rbind /sys "$root/sys"
		cp -L /etc/resolv.conf "$root/etc/"
		exec chroot "$root" env -i HOME=/root TERM=dumb \
			CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=4 \
			CARGO_PROFILE_RELEASE_OPT_LEVEL=1 PATH=/root/alight/target/release:/root/.cargo/bin:/usr/sbin:/usr/bin:/sbin:/bin \
			bash -c "cd /root/alight && . /script"
	' bash "$work/root" "$rust" "$cargo" "$home/target" </dev/null
}

make_system
clone
commands >"$work/root/script"
at_least 'commands of README.md' 4 "$(wc -l <"$work/root/script")"
# Each line must succeed.
sed -i '1i set -e' "$work/root/script"
status=0
in_system >"$work/out" 2>"$work/err" || status=$?
check 'all of them succeed' 0 "$status"
[ "$status" = 0 ] || tail -n 30 "$work/out" "$work/err"

for number in 1 2; do
	# shellcheck disable=SC2016 # Markdown
	awk -v want=$number '
		/^<!-- `make demo` prints -->$/ { number++; getline; inside = number == want; next }
		/^```$/ { inside = 0 }
		inside' docs/tutorial.md >"$work/block"
	at_least "lines of block $number in docs/tutorial.md" 20 "$(wc -l <"$work/block")"
	check "make demo prints block $number of docs/tutorial.md" yes \
		"$(python3 -c 'import sys; print("yes" if open(sys.argv[1]).read() in open(sys.argv[2]).read() else "no")' "$work/block" "$work/out")"
done
page=$(sed -n 's/^page *//p' "$work/out" | head -n 1)
check 'make demo names its page' target/demo.html "$page"
check 'it has the timelines' 1 "$(grep -c 'class="timeline"' "$home/$page")"
picture=$(sed -n 's/^picture *//p' "$work/out" | head -n 1)
check 'make demo names its picture' target/demo.svg "$picture"
check 'it is the picture of README.md' same "$(cmp "$home/$picture" docs/pictures/demo.svg && echo same)"

echo "newcomer: $passed passed, $failed failed"
[ "$failed" = 0 ]
