# SPDX-License-Identifier: GPL-2.0-only
#
# The kernels, the judge and the recorder in the guests, for the scripts of this
# folder, which source it. They set $target, cargo's target directory, and $work, a
# directory of their own with what the guest printed in $work/console.
# shellcheck shell=bash

# What is recorded with the functions of a kernel hooked needs entries and exits of
# functions (fentry, fexit), which arm64 has since 6.4. Of the others: the first, one
# between and the last, as one takes half an hour under emulation.
ARM64_KERNELS=(arm64-6.12 arm64-6.18 arm64-7.3)

# amd64_kernels: one row of vm/kernels.txt for each series of amd64, oldest first.
amd64_kernels() { awk '$1 ~ /^amd64-[0-9]+[.][0-9]+-cloud$/ { print $1 }' vm/kernels.txt; }

# judge: builds `alight`, which judges the recordings, and leaves its path in $alight.
judge() {
	tests/programs.sh
	# shellcheck disable=SC2034 # used by those that source this
	alight=$target/debug/alight
}

# recorder ARCH DIR: leaves alight-record for this architecture in DIR.
recorder() {
	install -d "$2"
	case $1 in
	amd64)
		tests/programs.sh
		strip -o "$2/alight-record" "$target/debug/alight-record"
		;;
	arm64)
		tests/programs.sh arm64
		aarch64-linux-gnu-strip -o "$2/alight-record" \
			"$target/aarch64-unknown-linux-gnu/debug/alight-record"
		;;
	esac
}

# arrived FILE: all that the guest wrote is there; it said how much that is.
arrived() {
	local wrote
	wrote=$(sed -n 's/^bytes written: //p' "$work/console")
	[ "${wrote:-0}" -gt 0 ] && [ "$wrote" = "$(stat -c %s "$1")" ] && return
	printf '%s: %s bytes arrived, the guest wrote %s; free on this disk: %s\n' "$1" \
		"$(stat -c %s "$1")" "${wrote:-none}" "$(df -h --output=avail "$1" | tail -n 1)" >&2
	return 1
}
