#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the Debian package, looks at what it holds, and installs it in guests.
# A check is a line; the last line is "packaging: N passed, N failed".
#
#	packaging/test.sh		the package itself
#	packaging/test.sh --guests	also Debian 12 and 13 with systemd: the package is
#					installed there, its service run, and purged
#
# With KEEP=DIR what each guest printed stays in DIR.

set -euo pipefail
cd "$(dirname "$0")/.."

# Debian 13 has this kernel in trixie-backports; to Debian 12 an administrator can bring it.
KERNEL=amd64-7.2-bpo-cloud
SUITES=(bookworm trixie)

. tests/checks.sh

guests=
case ${1:-} in
'') ;;
--guests) guests=1 ;;
*)
	echo "usage: packaging/test.sh [--guests], not '$1'" >&2
	exit 2
	;;
esac
work=${KEEP:-$(mktemp -d)}
[ -n "${KEEP:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"

fact() { sed -n "s/^$2: *//p" "$work/$1.out" | head -n 1; }

holds() { # PATH: in the package, and not empty
	check "holds $1" yes "$([ -s "$work/root/$1" ] && echo yes)"
}

test_content() {
	local name field
	rm -rf "$work/root"
	dpkg-deb -x "$package" "$work/root"
	for name in usr/bin/{alight,scx_alight,alight-record} usr/lib/systemd/system/scx_alight.service \
		etc/default/scx_alight usr/share/man/man1/alight{,-simulate,-record}.1.gz \
		usr/share/man/man8/scx_alight.8.gz usr/share/bash-completion/completions/{alight,scx_alight} \
		usr/share/zsh/vendor-completions/_alight usr/share/fish/vendor_completions.d/alight.fish \
		usr/share/alight/machines/juno-r0.toml usr/share/doc/alight/{copyright,crates/index}; do
		holds "$name"
	done
	check 'crates without a licence' '' "$(grep ': see its text' "$work/root/usr/share/doc/alight/crates/index")"
	check 'the program in it runs' "alight $(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)" \
		"$("$work/root/usr/bin/alight" --version)"
	# What Debian 12 and 13 both have: libelf1 is a name that libelf1t64 provides.
	field=$(dpkg-deb -f "$package" Depends)
	for name in libc6 libelf1 zlib1g; do
		check "depends on $name" yes "$([[ ", $field" == *", $name ("* ]] && echo yes)"
	done
	for name in bash-completion/completions/alight bash-completion/completions/scx_alight; do
		check "bash reads $name" 0 "$(bash -n "$work/root/usr/share/$name" >&2 && echo 0)"
	done
	for name in 1/alight.1 8/scx_alight.8; do
		check "groff's complaints about man$name" '' "$(zcat "$work/root/usr/share/man/man$name.gz" |
			LC_ALL=C.UTF-8 MANWIDTH=80 man --warnings -E UTF-8 -l -Tutf8 -Z - 2>&1 >/dev/null)"
	done
	check "lintian's errors and warnings" '' "$(lintian --fail-on none --allow-root "$package" 2>&1)"
	check "systemd's complaints about the unit" '' \
		"$(systemd_verify "$work/root/usr/lib/systemd/system/scx_alight.service")"
}

seconds() { sed -n "s/^$1=\([0-9]*\)$/\1/p" "$work/root/usr/lib/systemd/system/scx_alight.service"; } # SETTING

# A limit that the slowest failures outlast never trips: a start that takes as long as it may, and a stall that
# the kernel's watchdog notices when the longest wait that it allows, and half of that to its next look, are over.
test_limit() {
	local watchdog=30
	at_least 'the limit of starts: longer than failures that are as slow as can be' \
		$(($(seconds StartLimitBurst) * ($(seconds TimeoutStartSec) + watchdog * 3 / 2 + $(seconds RestartSec)) + 1)) \
		"$(seconds StartLimitIntervalSec)"
}

# Its program is not installed here; all else is looked at.
systemd_verify() {
	command -v systemd-analyze >/dev/null || {
		echo 'SKIPPED: the unit file: systemd-analyze is not installed' >&2
		return
	}
	sed "s#/usr/bin/scx_alight#$(realpath "$work/root")/usr/bin/scx_alight#" "$1" >"$work/scx_alight.service"
	systemd-analyze verify --man=no --recursive-errors=no "$work/scx_alight.service" 2>&1 |
		grep -F scx_alight.service || true
}

# shellcheck disable=SC2016 # the guest expands
GUEST='
state() { cat /sys/kernel/sched_ext/state; }
# Regular files and links that are not logs, caches or the like.
tree() {
	find / -xdev \( -path /var/log -o -path /var/cache -o -path /tmp -o -path /root -o -path /run \
		-o -path /var/lib/dpkg -o -path /var/lib/systemd -o -path /var/lib/apt -o -path /var/tmp \) -prune \
		-o ! -type d -print | sort
}
show() { systemctl show --value -p "$1" scx_alight; }

tree >/tmp/before
echo "Debian: $(. /etc/os-release; echo $VERSION_ID)"
apt-get install -y --no-install-recommends /alight.deb >/tmp/apt 2>&1
echo "install: $?"
tail -n 3 /tmp/apt | sed "s/^/apt: /"
echo "after installing: $(systemctl is-enabled scx_alight) $(systemctl is-active scx_alight) $(state)"
echo "alight: $(alight policy list | head -n 1)"

systemctl start scx_alight
echo "start: $?"
echo "when started: $(state) $(cat /sys/kernel/sched_ext/root/ops) $(show SubState)"
systemctl status scx_alight --no-pager --lines=20 | sed "s/^/status: /"
kill -9 $(show MainPID)
sleep 1
waited=0
until [ "$(show NRestarts) $(show SubState)" = "1 running" ] || [ $waited = 120 ]; do
	sleep 0.5
	waited=$((waited + 1))
done
echo "after a kill: $(state) restarts=$(show NRestarts)"
systemctl stop scx_alight
echo "stop: $?"
echo "when stopped: $(state) $(show Result)"
echo "FLAGS=linux-9.9" >/etc/default/scx_alight
systemctl reset-failed scx_alight
systemctl start scx_alight 2>/dev/null
sleep 3
echo "bad options: $(show ActiveState) $(show ExecMainStatus) restarts=$(show NRestarts)"
# Whenever it runs a real-time task keeps a CPU from another, until the kernel has had enough of it.
stalls() {
	while :; do
		until [ "$(state)" = enabled ]; do sleep 0.5; done
		hogs=
		for class in "-f 50" "-o 0"; do
			taskset -c 1 chrt $class sh -c "while :; do :; done" &
			hogs="$hogs $!"
		done
		while [ "$(state)" = enabled ]; do sleep 0.5; done
		kill $hogs
	done
}
echo "FLAGS=\"--timeout-ms 20000\"" >/etc/default/scx_alight
echo 0 >/sys/kernel/debug/sched/ext_server/cpu1/runtime
taskset -pc 0 $$ >/dev/null
stalls &
stalling=$!
systemctl reset-failed scx_alight
begun=$(cut -d. -f1 /proc/uptime)
systemctl start scx_alight
waited=0
until [ "$(show SubState)" = failed ] || [ $waited = 600 ]; do
	sleep 1
	waited=$((waited + 1))
done
echo "stalls: $(show ActiveState) $(show ExecMainStatus) $(state)"
echo "stalls took: $(($(cut -d. -f1 /proc/uptime) - begun))"
kill $stalling
systemctl start scx_alight 2>/dev/null
echo "start after stalls: $?"
journalctl --sync
journalctl -u scx_alight -o cat --no-pager | sed "s/^/journal: /"
echo "FLAGS=\"linux-6.5+bias-prev\"" >/etc/default/scx_alight
systemctl reset-failed scx_alight
systemctl start scx_alight
echo "other options: $? $(state)"
systemctl enable scx_alight 2>/dev/null
apt-get purge -y alight >/tmp/apt 2>&1
echo "purge: $?"
tail -n 5 /tmp/apt | sed "s/^/purge: /"
echo "when purged: $(state)"
systemctl daemon-reload
tree >/tmp/after
echo "left behind: $(diff /tmp/before /tmp/after | grep "^[<>]" | xargs)"
echo "kernel errors: $(dmesg | grep -c -e BUG -e WARNING)"
'

boot() { # SUITE
	local root
	root=$(vm/rootfs.sh "$1")
	printf '%s' "$GUEST" >"$work/guest.sh"
	rm -rf "$work/add"
	install -D -m 644 "$package" "$work/add/alight.deb"
	vm/run.sh --kernel $KERNEL --root "$root" --mem 2048 --timeout 1800 --add "$work/add" \
		--append 'systemd.show_status=0 systemd.log_level=warning' \
		--console "$work/$1.console" "$work/guest.sh" >"$work/$1.out" 2>"$work/$1.errors" ||
		echo "ended: $?" >>"$work/$1.out"
}

judge() { # SUITE VERSION
	check "$1: ended in order" '' "$(fact "$1" ended)"
	check "$1: Debian" "$2" "$(fact "$1" Debian)"
	check "$1: installed" 0 "$(fact "$1" install)"
	check "$1: not started unasked" 'disabled inactive disabled' "$(fact "$1" 'after installing')"
	check "$1: alight runs" 'base kernels' "$(fact "$1" alight)"
	check "$1: service starts" 0 "$(fact "$1" start)"
	check "$1: when systemd says so, the kernel does" 'enabled alight running' "$(fact "$1" 'when started')"
	check "$1: killed, it comes back" 'enabled restarts=1' "$(fact "$1" 'after a kill')"
	check "$1: service stops" '0' "$(fact "$1" stop)"
	check "$1: stopped" 'disabled success' "$(fact "$1" 'when stopped')"
	check "$1: bad options are not tried again" 'failed 2 restarts=0' "$(fact "$1" 'bad options')"
	check "$1: stalls as often as it runs: in the end it is left alone" 'failed 3 disabled' "$(fact "$1" stalls)"
	at_least "$1: seconds that three stalls take" 60 "$(fact "$1" 'stalls took')"
	check "$1: started three times, ended by the kernel each time" 3 \
		"$(grep -c '^journal: scx_alight: the kernel ended the scheduler' "$work/$1.out")"
	check "$1: not a fourth time, by hand either" 1 "$(fact "$1" 'start after stalls')"
	check "$1: starts that the limit refused" 2 \
		"$(grep -c '^journal: scx_alight.service: Start request repeated too quickly' "$work/$1.out")"
	check "$1: other options" '0 enabled' "$(fact "$1" 'other options')"
	check "$1: purged" 0 "$(fact "$1" purge)"
	check "$1: purged while it ran: stopped" disabled "$(fact "$1" 'when purged')"
	check "$1: left behind" '' "$(fact "$1" 'left behind')"
	check "$1: errors in the kernel log" 0 "$(fact "$1" 'kernel errors')"
}

package=$(packaging/deb.sh --dev)
test_content
test_limit
if [ -n "$guests" ]; then
	for suite in "${SUITES[@]}"; do boot "$suite"; done
	judge bookworm 12
	judge trixie 13
	if [ $failed -gt 0 ]; then
		for suite in "${SUITES[@]}"; do
			printf '%s: what the guest %s printed:\n' "${0##*/}" "$suite" >&2
			sed 's/^/  /' "$work/$suite.out" "$work/$suite.errors" >&2
		done
	fi
fi
printf 'packaging: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
