#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Installs from Debian what this project needs; harmless to repeat.
#
#   vm/install.sh --build   what the build of `alight` needs: a C compiler, make
#   vm/install.sh --bench   and what counts instructions, for `make bench`
#   vm/install.sh --deb     and what the Debian package with the live scheduler needs
#   vm/install.sh --browser what the tests of pages in a browser need
#   vm/install.sh --test    (default) and what the guests and the live scheduler need
#
# Only packages are installed. The machine's sources are not edited: QEMU comes
# from bookworm-backports through a private apt state if that can be reached,
# else from the machine's own suites.

set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$VM_DIR/apt.sh"

BUILD=(gcc libc6-dev make)
BENCH=(valgrind)
QEMU_PACKAGES=(qemu-system-x86 qemu-system-arm)
DEB=(
	clang-19 libelf-dev zlib1g-dev pkg-config         # the BPF scheduler and its loader
	debhelper python3 python3-venv
)
TEST=(
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross       # the same for arm64
	busybox-static cpio xz-utils binutils             # the guests' root file system
	zstd                                              # captures of traces
	rt-tests util-linux                               # programs that run in it
	device-tree-compiler                              # checks dtb.py
	acpica-tools                                      # makes the table of cppc.py
	g++                                               # the fuzz targets' runtime
	lintian man-db mmdebstrap systemd                 # the Debian package looked at, and installed in guests
)
BROWSER=(chromium chromium-driver fonts-dejavu-core iproute2 util-linux)
# These a machine may have from elsewhere.
command -v java >/dev/null || BROWSER+=(default-jre-headless)
command -v npm >/dev/null || BROWSER+=(npm)
python3 -c 'import ensurepip, venv' 2>/dev/null || BROWSER+=(python3 python3-venv)

missing() {
	local package
	for package in "$@"; do
		# shellcheck disable=SC2016 # the format is dpkg-query's, not the shell's
		[ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null)" = 'ii ' ] ||
			printf '%s\n' "$package"
	done
}

install_options=(-y -q --no-install-recommends -o DPkg::Lock::Timeout=600)

install_packages() {
	local wanted
	mapfile -t wanted < <(missing "$@")
	[ ${#wanted[@]} -gt 0 ] || return 0
	say "installing ${wanted[*]}"
	# A list that cannot be refreshed matters only if the package is then not found.
	apt-get update -q || say 'apt-get update failed; trying with the lists there are'
	apt-get install "${install_options[@]}" "${wanted[@]}"
}

# QEMU 7.2 of bookworm serves too; backports' 10.x emulates faster.
install_qemu() {
	local wanted
	mapfile -t wanted < <(missing "${QEMU_PACKAGES[@]}")
	[ ${#wanted[@]} -gt 0 ] || return 0
	if [ "$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" = bookworm ]; then
		local state=install
		export APT_ARCH
		APT_ARCH=$(dpkg --print-architecture)
		apt_prepare $state bookworm bookworm-updates bookworm-backports
		apt_update $state
		if apt_private $state apt-get install "${install_options[@]}" \
			-t bookworm-backports "${wanted[@]}"; then
			return
		fi
		say 'bookworm-backports has no QEMU for this machine now; taking that of bookworm'
	fi
	install_packages "${QEMU_PACKAGES[@]}"
}

add_rust_target() {
	command -v rustup >/dev/null || return 0
	rustup target list --installed | grep -qx aarch64-unknown-linux-gnu ||
		rustup target add aarch64-unknown-linux-gnu
}

what=${1:---test}
case $what in
--build) packages=("${BUILD[@]}") ;;
--bench) packages=("${BUILD[@]}" "${BENCH[@]}") ;;
--deb) packages=("${BUILD[@]}" "${DEB[@]}") ;;
--browser) packages=("${BROWSER[@]}") ;;
--test) packages=("${BUILD[@]}" "${BENCH[@]}" "${DEB[@]}" "${TEST[@]}" "${QEMU_PACKAGES[@]}") ;;
*) die "usage: vm/install.sh [--build|--bench|--deb|--browser|--test], not '$what'" 2 ;;
esac
if [ -n "$(missing "${packages[@]}")" ]; then
	[ "$(id -u)" = 0 ] || die "run this as root; missing: $(missing "${packages[@]}" | paste -sd' ')"
	export DEBIAN_FRONTEND=noninteractive
	case $what in
	--build) install_packages "${BUILD[@]}" ;;
	--bench) install_packages "${BUILD[@]}" "${BENCH[@]}" ;;
	--deb) install_packages "${BUILD[@]}" "${DEB[@]}" ;;
	--browser) install_packages "${BROWSER[@]}" ;;
	--test)
		install_packages "${BUILD[@]}" "${BENCH[@]}" "${DEB[@]}" "${TEST[@]}"
		install_qemu
		;;
	esac
fi
[ "$what" != --test ] || add_rust_target
