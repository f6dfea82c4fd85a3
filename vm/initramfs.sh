#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the root file system of the guests of one architecture: busybox, init,
# hackbench, cyclictest, chrt, taskset and the files asked for, each with the
# libraries that it loads. run.sh adds what belongs to one kernel or one run.
#
#   vm/initramfs.sh ARCH OUT [FILE[:PLACE]...]
#
# FILE goes to PLACE in the guest, /usr/bin/ of the same name by default.

set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$VM_DIR/elf.sh"

PROGRAMS=(hackbench cyclictest chrt)

program_path() {
	local directory
	for directory in "$ROOT_OF_ARCH"/{usr/bin,bin,usr/sbin,sbin}; do
		if [ -x "$directory/$1" ]; then
			printf '%s\n' "$directory/$1"
			return
		fi
	done
	die "$1 is not in $ROOT_OF_ARCH; run $VM_DIR/install.sh --test"
}

add_file() {
	local tree=$1 file=$2 place=$3
	[ -f "$file" ] || die "$file: no such file"
	install -D "$file" "$tree$place"
	add_libraries "$tree" "$file"
}

[ $# -ge 2 ] || die 'usage: vm/initramfs.sh ARCH OUT [FILE[:PLACE]...]' 2
arch=$1 out=$2
shift 2
set_arch "$arch"
need readelf cpio
[ "$arch" = "$(dpkg --print-architecture)" ] || "$VM_DIR/fetch.sh" sysroot

tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
chmod 755 "$tree"
mkdir -p "$tree"/{bin,dev,etc,lib/modules,proc,root,run,sys,tmp,usr/bin,var/tmp}
install "$VM_DIR/init" "$tree/init"
echo 'root:x:0:0:root:/root:/bin/sh' >"$tree/etc/passwd"
echo 'root:x:0:' >"$tree/etc/group"

busybox=$(program_path busybox)
readelf -l "$busybox" | grep -F INTERP >/dev/null &&
	die "$busybox is not the static one; run $VM_DIR/install.sh --test"
add_file "$tree" "$busybox" /bin/busybox
for program in "${PROGRAMS[@]}"; do
	path=$(program_path "$program")
	add_file "$tree" "$path" "/usr/bin/$program"
done
for file in "$@"; do
	case $file in
	*:/*) add_file "$tree" "${file%%:/*}" "/${file#*:/}" ;;
	*) add_file "$tree" "$file" "/usr/bin/${file##*/}" ;;
	esac
done
mkdir -p "$(dirname "$out")"
pack "$tree" "$out"
