#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs a command, usually cargo, such that Rust code for arm64 and the C code in
# it (libbpf) is built by Debian's cross compiler against the libelf and zlib of
# the arm64 guest:
#
#   vm/cross.sh cargo build --release --target aarch64-unknown-linux-gnu -p alight-live
#
# Build scripts and the crates that they need are built for this machine as ever.

set -euo pipefail
. "$(dirname "$0")/env.sh"

[ $# -gt 0 ] || die 'usage: vm/cross.sh COMMAND [ARG...]' 2
set_arch arm64
need "$TRIPLET-gcc"
"$VM_DIR/fetch.sh" sysroot

include=$ROOT_OF_ARCH/usr/include
export CC_aarch64_unknown_linux_gnu=$TRIPLET-gcc
export AR_aarch64_unknown_linux_gnu=$TRIPLET-ar
# -idirafter: the cross compiler's own libc headers come first.
export CFLAGS_aarch64_unknown_linux_gnu="-idirafter $include -idirafter $include/$TRIPLET"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=$TRIPLET-gcc
# libelf's own dependencies, when it is linked dynamically.
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS="-C link-arg=-Wl,-rpath-link,$ROOT_OF_ARCH/lib/$TRIPLET"
export LIBBPF_SYS_LIBRARY_PATH_aarch64_unknown_linux_gnu=$ROOT_OF_ARCH/usr/lib/$TRIPLET
exec "$@"
