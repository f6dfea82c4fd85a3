#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs of Debian packages that need not be installed here, as a directory for
# run.sh's --add: the programs in usr/bin, the libraries that they load in lib.
# All from bookworm, as the guests' root is.
#
#   vm/programs.sh ARCH PACKAGE...
#
# Prints the directory; it is made once.

set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$VM_DIR/elf.sh"
. "$VM_DIR/apt.sh"

SUITE=bookworm
# Rounds in which packages of missing libraries are looked for: the depth of dependencies.
DEPTH=6

[ $# -ge 2 ] || die 'usage: vm/programs.sh ARCH PACKAGE...' 2
arch=$1
shift
set_arch "$arch"
need apt-get apt-cache dpkg readelf
[ "$arch" = "$(dpkg --print-architecture)" ] || "$VM_DIR/fetch.sh" sysroot

name=$(printf '%s\n' "$@" | sort | paste -sd+)
target=$CACHE/programs/$arch/$name
if [ -e "$target/.complete" ]; then
	printf '%s\n' "$target"
	exit 0
fi

state=programs-$arch
export APT_ARCH=$arch
apt_prepare "$state" $SUITE
apt_update "$state"
mkdir -p "$CACHE/programs/$arch"
work=$(mktemp -d "$CACHE/programs/$arch/.XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/root" "$work/debs" "$work/tree/usr/bin" "$work/tree/lib/$TRIPLET"

unpack_packages() {
	# As if nothing were installed: else the version that this machine has is asked for.
	(cd "$work/debs" && apt_private "$state" apt-get download -o Dir::State::status=/dev/null "$@" >/dev/null)
	for deb in "$work/debs"/*.deb; do
		dpkg -x "$deb" "$work/root"
		rm "$deb"
	done
}

depends_of() {
	apt_private "$state" apt-cache depends --no-recommends --no-suggests --no-conflicts --no-breaks \
		--no-replaces --no-enhances "$@" | sed -En 's/^ *\|*(Pre)?Depends: ([^<]*)$/\2/p' | sort -u
}

# Libraries that the programs load and that are neither in the guests' root nor unpacked.
missing_libraries() {
	local file library
	find "$work/tree" -type f | while read -r file; do
		{ readelf -d "$file" 2>/dev/null || true; } | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
	done | sort -u | while read -r library; do
		[ -e "$work/tree/lib/$TRIPLET/$library" ] || find_library "$library" >/dev/null ||
			printf '%s\n' "$library"
	done
}

# From the unpacked packages into the tree, as far as they have them.
take_libraries() {
	local library place
	for library in $(missing_libraries); do
		place=$(find "$work/root" -name "$library" | head -n 1)
		[ -z "$place" ] || cp -L "$place" "$work/tree/lib/$TRIPLET/$library"
	done
}

packages=("$@")
unpack_packages "${packages[@]}"
find "$work/root" -path '*/bin/*' -type f -exec cp {} "$work/tree/usr/bin/" \;
for ((round = 0; round < DEPTH; round++)); do
	[ -n "$(missing_libraries)" ] || break
	mapfile -t packages < <(depends_of "${packages[@]}" | grep -E '^lib' | grep -vxE 'libc6|libgcc-s1')
	[ ${#packages[@]} -gt 0 ] || break
	unpack_packages "${packages[@]}"
	while
		before=$(missing_libraries)
		take_libraries
		[ "$before" != "$(missing_libraries)" ]
	do :; done
done
left=$(missing_libraries | paste -sd' ')
[ -z "$left" ] || die "no package of $SUITE was found for $left"
while IFS= read -r file; do
	add_libraries "$work/tree" "$file"
done < <(find "$work/tree" -type f)
touch "$work/tree/.complete"
rm -rf "$target"
mv -T "$work/tree" "$target"
printf '%s\n' "$target"
