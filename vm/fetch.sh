#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Downloads stock Debian kernels and the arm64 programs and libraries of the
# guests into vm/cache. What is there already is not looked up again.
#
#   vm/fetch.sh NAME...       kernels.txt's NAME -> cache/kernels/NAME/{vmlinuz,config,release,modules/kernel/}
#   vm/fetch.sh sysroot       arm64 user space   -> cache/sysroot/arm64/
#   vm/fetch.sh --list        the names, and what of them is there
#
# To get a newer build of a kernel, delete its directory first.

set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$VM_DIR/apt.sh"

# Programs and libraries of the arm64 guest, and what linking against libelf
# and zlib takes. Bookworm's, as Debian 12's cross compiler and libc are.
SYSROOT_SUITE=bookworm
SYSROOT_PACKAGES=(
	busybox-static rt-tests util-linux
	libc6 libgcc-s1 libnuma1 libsmartcols1 libtinfo6 libcap-ng0
	libelf1 zlib1g libzstd1
	libelf-dev zlib1g-dev
)

# One package into one tree.
unpack() {
	local arch=$1 package=$2 tree=$3 download
	download=$(mktemp -d "$CACHE/apt/download.XXXXXX")
	say "downloading $package ($arch)"
	(cd "$download" && apt_private "$arch" apt-get download "$package" >/dev/null) &&
		dpkg -x "$download"/*.deb "$tree"
	local status=$?
	rm -rf "$download"
	return $status
}

package_names() { apt_private "$1" apt-cache pkgnames "${2:-}" 2>/dev/null; }

# newest_image ARCH PATTERN: the highest version among the packages that match.
newest_image() {
	package_names "$1" linux-image- | grep -xE "$2" | sort -V | tail -n 1 || true
}

# An image's files are in up to four packages: to 6.18 all in linux-image-*; then
# vmlinuz in linux-binary-*; in 7.2 modules in linux-modules-*, config in linux-base-*.
unpack_kernel() {
	local arch=$1 image=$2 tree=$3 part
	local version=${image#linux-image-}
	for part in image binary modules base; do
		if package_names "$arch" "linux-$part-$version" | grep -Fx "linux-$part-$version" >/dev/null; then
			unpack "$arch" "linux-$part-$version" "$tree" || return
		fi
	done
}

only_file() {
	local found
	mapfile -t found < <(find "$@")
	[ ${#found[@]} -eq 1 ] || return 1
	printf '%s\n' "${found[0]}"
}

# arrange TREE VERSION TARGET: from the packages' layout (boot/ or usr/lib/modules/)
# to ours. A kernel boots without config and modules, which Debian drops first.
arrange() {
	local tree=$1 version=$2 target=$3 image config modules
	image=$(only_file "$tree" -type f \( -name "vmlinuz-$version" -o -name vmlinuz \)) || return
	mkdir -p "$target/modules/kernel"
	mv "$image" "$target/vmlinuz"
	if config=$(only_file "$tree" -type f \( -name "config-$version" -o -path "*/modules/$version/config" \)); then
		mv "$config" "$target/config"
	else
		say "no package with the config of $version is offered any more"
	fi
	if modules=$(only_file "$tree" -type d -path "*/modules/$version/kernel"); then
		mv -T "$modules" "$target/modules/kernel"
	else
		say "no package with the modules of $version is offered any more"
	fi
	printf '%s\n' "$version" >"$target/release"
}

fetch_kernel() {
	local name=$1 arch pattern image
	known_kernel "$name"
	[ ! -e "$CACHE/kernels/$name/release" ] || return 0
	arch=$(kernel_field "$name" 2)
	pattern=$(kernel_field "$name" 3)
	apt_prepare "$arch" "${APT_SUITES[@]}"
	work=$(mktemp -d "$CACHE/kernels/.$name.XXXXXX")
	# The lists at hand may be too old: the second try is with new ones.
	for attempt in 1 2; do
		image=$(newest_image "$arch" "$pattern")
		if [ -n "$image" ] && unpack_kernel "$arch" "$image" "$work/tree"; then break; fi
		if [ $attempt = 2 ]; then
			no_such_image "$name" "$arch" "$pattern" "$image"
		fi
		rm -rf "$work/tree"
		apt_update "$arch"
	done
	if ! arrange "$work/tree" "${image#linux-image-}" "$work/kernel"; then
		say "$image is not laid out as known; it holds:"
		(cd "$work/tree" && find . -name 'vmlinuz*' -o -name 'config*' -o -path '*/modules/*' -prune) >&2
		exit 1
	fi
	mv -T "$work/kernel" "$CACHE/kernels/$name"
	rm -rf "$work"
	say "$name is Linux $(cat "$CACHE/kernels/$name/release")"
}

# no_such_image NAME ARCH PATTERN IMAGE: says which failure it was, and what there is instead.
no_such_image() {
	local offered
	[ -z "$4" ] || die "$4, the newest package for $1, cannot be downloaded from $ALIGHT_DEBIAN_MIRROR"
	offered=$(package_names "$2" linux-image- | grep -E '^linux-image-[0-9]' |
		grep -vE -- '-(dbg|unsigned|rt|16k)' | sort -V | sed 's/^/  /' || true)
	[ -n "$offered" ] || die "$ALIGHT_DEBIAN_MIRROR cannot be read, so $1 cannot be downloaded; see $CACHE/apt/$2/update.log"
	say "$ALIGHT_DEBIAN_MIRROR offers no package like $3 for $1; of this architecture it offers:"
	printf '%s\n' "$offered" >&2
	die "choose one and put its pattern into $VM_DIR/kernels.txt"
}

fetch_sysroot() {
	local target=$CACHE/sysroot/arm64 package
	[ ! -e "$target/.complete" ] || return 0
	# Its own state: the newest libelf of all suites would not suit bookworm's libc.
	local state=sysroot-arm64
	export APT_ARCH=arm64
	apt_prepare $state $SYSROOT_SUITE
	apt_update $state
	mkdir -p "$CACHE/sysroot"
	work=$(mktemp -d "$CACHE/sysroot/.arm64.XXXXXX")
	chmod 755 "$work"
	for package in "${SYSROOT_PACKAGES[@]}"; do
		unpack $state "$package" "$work" ||
			die "$package (arm64) cannot be downloaded from $ALIGHT_DEBIAN_MIRROR"
	done
	# libz.so and its like point into /; the linker must find the sysroot's own.
	find "$work" -lname '/*' -printf '%p %l\n' | while read -r link place; do
		ln -sfrn "$work$place" "$link"
	done
	rm -rf "${work:?}/usr/share" "${target:?}"
	touch "$work/.complete"
	mv -T "$work" "$target"
	unset APT_ARCH
}

list() {
	local name release
	for name in $(kernel_names); do
		release=$(cat "$CACHE/kernels/$name/release" 2>/dev/null || echo -)
		printf '%-18s %s\n' "$name" "$release"
	done
}

[ $# -gt 0 ] || die 'usage: vm/fetch.sh NAME... | sysroot | --list' 2
need apt-get apt-cache dpkg flock
mkdir -p "$CACHE/kernels" "$CACHE/apt"
# One download at a time: a second caller waits and then finds what it wants.
exec 9>"$CACHE/fetch.lock"
flock 9
# What is under way, next to where it will be; gone whatever happens.
work=
trap 'rm -rf "$work"' EXIT
for name in "$@"; do
	case $name in
	--list) list ;;
	sysroot) fetch_sysroot ;;
	*) fetch_kernel "$name" ;;
	esac
done
