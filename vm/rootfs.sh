#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the root file system of a guest that is a small Debian with systemd, to
# be booted by run.sh --root: the script runs as a service when the system is up.
#
#   vm/rootfs.sh SUITE [PACKAGE...]    bookworm or trixie; prints the archive's name
#
# Made once for the same packages; delete it to get newer packages. Needs root, as mmdebstrap does here.

set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$VM_DIR/apt.sh"

# What the package under test depends on is there: the guests have no network.
PACKAGES=systemd,systemd-sysv,libelf1,zlib1g

[ $# -ge 1 ] || die 'usage: vm/rootfs.sh SUITE [PACKAGE...]' 2
suite=$1
need mmdebstrap cpio
root=$CACHE/roots/$(IFS=+ && printf '%s' "$*").cpio
shift
PACKAGES=$(IFS=, && printf '%s' "$PACKAGES${*:+,$*}")
if [ -e "$root" ] && [ "$root" -nt "$0" ]; then
	printf '%s\n' "$root"
	exit
fi
[ "$(id -u)" = 0 ] || die "making a root file system needs root"
mkdir -p "$CACHE/roots"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say "making Debian $suite of packages ($ALIGHT_DEBIAN_MIRROR)"
mmdebstrap --quiet --variant=minbase --include="$PACKAGES" \
	--dpkgopt='path-exclude=/usr/share/locale/*' --aptopt='Acquire::Languages "none"' \
	"$suite" "$work/root.tar" "$ALIGHT_DEBIAN_MIRROR" >&2
mkdir "$work/tree"
# Device nodes are the kernel's own (devtmpfs).
tar -C "$work/tree" --exclude='./dev/*' --exclude='./var/cache/*' --exclude='./var/lib/apt/lists/*' \
	-xf "$work/root.tar"
rm "$work/root.tar"

# run.sh's script, as the last thing to start. The lines that run.sh looks for are those of init.
install -m 755 /dev/stdin "$work/tree/alight-test" <<'E'
#!/bin/sh
export HOME=/root TERM=dumb LC_ALL=C.UTF-8
dmesg -n 1
echo "ALIGHT-VM-BOOT uptime=$(cut -d' ' -f1 /proc/uptime) kernel=$(uname -r) cpus=$(nproc)"
set --
while IFS= read -r argument; do
	set -- "$@" "$argument"
done </test.args
echo ALIGHT-VM-BEGIN
cd /root || exit
sh /test.sh "$@" </dev/null 2>&1
echo "ALIGHT-VM-END status=$? uptime=$(cut -d' ' -f1 /proc/uptime)"
systemctl poweroff --force --force
E
units=$work/tree/etc/systemd/system
install -m 644 /dev/stdin "$units/alight-test.service" <<'E'
[Unit]
Description=The script of run.sh
After=multi-user.target

[Service]
ExecStart=/alight-test
StandardOutput=file:/dev/console
StandardError=file:/dev/console
E
mkdir -p "$units/graphical.target.wants" "$units/multi-user.target.wants"
ln -s ../alight-test.service "$units/multi-user.target.wants/"
# Nobody logs in, and nothing is to be done at certain hours.
for unit in getty.target systemd-networkd.service systemd-timesyncd.service apt-daily.timer \
	apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer; do
	ln -sf /dev/null "$units/$unit"
done
ln -s lib/systemd/systemd "$work/tree/init"
echo alight >"$work/tree/etc/hostname"
(cd "$work/tree" && find . -mindepth 1 | LC_ALL=C sort | cpio -o -H newc -R 0:0 --quiet) >"$root.$$"
mv "$root.$$" "$root"
printf '%s\n' "$root"
