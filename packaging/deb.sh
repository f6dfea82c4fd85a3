#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the Debian package, for the architecture of this machine, from the tree
# as it is: TARGET/deb/alight_VERSION_ARCH.deb, whose name it prints.
#
#	packaging/deb.sh [--dev]
#
# --dev takes the developers' build of the programs, which is there sooner than that of release.sh.
# Built on Debian 12 the package installs on Debian 12 and 13.

set -euo pipefail
cd "$(dirname "$0")/.."

dev=
case "${1:-}" in
--dev) dev=1 ;;
'') ;;
*)
	echo "usage: packaging/deb.sh [--dev], not '$1'" >&2
	exit 2
	;;
esac
for tool in dh dpkg-deb cargo python3; do
	command -v $tool >/dev/null || {
		echo "deb.sh: $tool is missing; as root, run vm/install.sh --test" >&2
		exit 1
	}
done

target=${CARGO_TARGET_DIR:-target}
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
packaged=$(dpkg-parsechangelog -l packaging/debian/changelog -S Version)
[ "${packaged%-*}" = "$version" ] || {
	echo "deb.sh: packaging/debian/changelog is of $packaged, Cargo.toml of $version: add an entry" >&2
	exit 1
}

if [ $dev ]; then
	tests/programs.sh
	programs=$target/debug
else
	programs=$(packaging/release.sh -p alight -p alight-live -p xtask \
		--bin alight --bin scx_alight --bin alight-record --bin xtask)
fi
stage=$target/deb/alight-$version
rm -rf "$stage"
mkdir -p "$stage/bin" "$stage/doc"
for program in alight scx_alight alight-record; do
	install "$programs/$program" "$stage/bin/"
done
"$programs/xtask" pages "$stage/share"
packaging/crates.py "$stage/crates" alight alight-live
cp -r packaging/debian packaging/default machines workloads README.md "$stage/"
# systemd's name, not the package's.
cp packaging/scx_alight.service "$stage/debian/alight.scx_alight.service"
cp -r docs/. "$stage/doc/"
find "$stage/doc" -name '*.sh' -delete

# What dh writes besides is for the eyes of who mends it.
(cd "$stage" && debian/rules binary) >"$stage.log" 2>&1 || {
	tail -n 40 "$stage.log" >&2
	exit 1
}
# dh puts packages beside the tree that they are made of.
printf '%s\n' "$target/deb/alight_${packaged}_$(dpkg --print-architecture).deb"
