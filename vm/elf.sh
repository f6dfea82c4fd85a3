# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs into the root tree of a guest, with the shared libraries they load.
# The libraries are followed by readelf, not ldd, so that arm64 programs are
# handled on an amd64 machine as its own are. Sourced after env.sh and set_arch.

# find_library NAME: its path in the root that programs of this architecture are built against.
find_library() {
	local directory
	for directory in "$ROOT_OF_ARCH"/{lib,usr/lib}{/$TRIPLET,64,}; do
		if [ -e "$directory/$1" ]; then
			printf '%s\n' "$directory/$1"
			return
		fi
	done
	return 1
}

# add_libraries TREE FILE: copies what FILE needs, and what that needs, and the loader.
add_libraries() {
	local tree=$1 file=$2 library source needed
	# Scripts may be among the programs: readelf fails on them.
	needed=$({ readelf -d "$file" 2>/dev/null || true; } | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
	[ -n "$needed" ] || return 0
	if [ ! -e "$tree$LOADER" ]; then
		source=$(find_library "${LOADER##*/}") || die "the loader $LOADER is not in $ROOT_OF_ARCH"
		install -D -m 755 "$source" "$tree$LOADER"
	fi
	for library in $needed; do
		if [ -e "$tree/lib/$TRIPLET/$library" ] || [ "$library" = "${LOADER##*/}" ]; then continue; fi
		source=$(find_library "$library") ||
			die "$file needs $library, which is not in $ROOT_OF_ARCH for $TRIPLET"
		install -D -m 644 "$source" "$tree/lib/$TRIPLET/$library"
		add_libraries "$tree" "$source"
	done
}

# pack TREE OUT: a cpio archive whose bytes depend on the tree's content alone.
pack() {
	find "$1" -exec touch -h -d @0 {} +
	(cd "$1" && find . -mindepth 1 | LC_ALL=C sort |
		cpio -o -H newc -R 0:0 --quiet --reproducible) >"$2.$$"
	mv "$2.$$" "$2"
}
