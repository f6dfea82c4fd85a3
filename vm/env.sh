# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What all scripts here agree on: where things lie, what an architecture is
# called by whom, how a message looks. Sourced, never run.
# shellcheck disable=SC2034 # used by those that source this

VM_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# Everything downloaded or built. ALIGHT_VM_CACHE lets several work trees share it.
CACHE=${ALIGHT_VM_CACHE:-$VM_DIR/cache}

say() { printf '%s: %s\n' "${0##*/}" "$*" >&2; }

die() {
	say "$1"
	exit "${2:-1}"
}

need() {
	local tool
	for tool in "$@"; do
		command -v "$tool" >/dev/null ||
			die "$tool is missing; as root, run $VM_DIR/install.sh --test"
	done
}

# kernel_field NAME COLUMN: one column of NAME's row in kernels.txt.
kernel_field() {
	awk -v name="$1" -v column="$2" \
		'$1 == name && !/^#/ { print $column }' "$VM_DIR/kernels.txt"
}

kernel_names() { awk '!/^#/ && NF { print $1 }' "$VM_DIR/kernels.txt"; }

# known_kernel NAME: dies with the list of names unless NAME has a row.
known_kernel() {
	[ -n "$(kernel_field "$1" 1)" ] ||
		die "no kernel is called '$1'; known are: $(kernel_names | paste -sd' ')" 2
}

# set_arch ARCH: the names that the GNU tools, the loader and QEMU have for it.
set_arch() {
	case $1 in
	amd64)
		TRIPLET=x86_64-linux-gnu
		LOADER=/lib64/ld-linux-x86-64.so.2
		QEMU=qemu-system-x86_64
		CONSOLE=ttyS0
		ROOT_OF_ARCH=/
		;;
	arm64)
		TRIPLET=aarch64-linux-gnu
		LOADER=/lib/ld-linux-aarch64.so.1
		QEMU=qemu-system-aarch64
		CONSOLE=ttyAMA0
		ROOT_OF_ARCH=$CACHE/sysroot/arm64
		;;
	*) die "no architecture is called '$1'; known are: amd64 arm64" 2 ;;
	esac
}
