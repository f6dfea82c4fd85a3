# SPDX-License-Identifier: GPL-2.0-only
#
# The recorder in the guests, for the scripts of this folder, which source it.
# They set $target, cargo's target directory, and $work, a directory of their own
# with what the guest printed in $work/console.
# shellcheck shell=bash

# recorder ARCH DIR: leaves alight-record for this architecture in DIR.
recorder() {
	install -d "$2"
	case $1 in
	amd64)
		cargo build -q --profile quick -p alight-live
		strip -o "$2/alight-record" "$target/quick/alight-record"
		;;
	arm64)
		vm/cross.sh cargo build -q --profile quick --target aarch64-unknown-linux-gnu -p alight-live
		aarch64-linux-gnu-strip -o "$2/alight-record" \
			"$target/aarch64-unknown-linux-gnu/quick/alight-record"
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
