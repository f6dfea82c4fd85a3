#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Measures what shells hand down to the workloads that they start: their `wakee_flips`,
# of which crates/sim/src/setup/shell.rs has a table and docs/reference/workloads.md what it means.
#
#   verify/shell.sh [KERNEL...]
#
# KERNEL is a row of vm/kernels.txt of amd64, with type information (BTF); without
# one: amd64-6.1-cloud and amd64-7.2-cloud. Each boots a Debian with systemd and sshd,
# in which scripts start hackbench again and again. bpftrace notes what hackbench has
# where it first forks, and says it at the end: an observer that is woken would count.
#
# A line a script: of each start the second of the script, and the figure. The last
# lines are the middles of the tenths of what was started from the eighth second on,
# and of what was started first after a login. Takes seven minutes a kernel.

set -euo pipefail
cd "$(dirname "$0")/.."

[ $# -gt 0 ] || set -- amd64-6.1-cloud amd64-7.2-cloud
SETTLED_S=8

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# First, for a name that is none.
vm/fetch.sh "$@"
root=$(vm/rootfs.sh trixie openssh-server openssh-client bpftrace rt-tests iproute2)
for kernel; do
	vm/run.sh --kernel "$kernel" --smp 4 --mem 6144 --timeout 1800 --root "$root" verify/shell-load.sh \
		>"$work/console"
	# Marks and starts in the order of time; a script's starts come after its mark.
	sed -n 's/^@started\[\([0-9]*\), \([0-9]*\)\].*/\1 start \2/p; s/^MARK //p' "$work/console" |
		sort -n >"$work/events"
	printf '%s\n' "$kernel"
	awk -v settled=$SETTLED_S -v starts="$work/starts" '
		$2 == "mark" {
			from = $1; login = $3; $1 = $2 = $3 = ""; sub(/^ +/, "")
			printf "%s%s:", line++ ? "\n" : "", $0
		}
		$2 == "start" {
			second = ($1 - from) / 1000
			printf " %.0f:%d", second, $3
			if (second >= settled) print "settled", $3 >>starts
			else if (login == "login") { print "first", $3 >>starts; login = "" }
			else if (login == "each") print "first", $3 >>starts
		}
		END { print "" }' "$work/events"
done

# tenths KIND: the middles of the tenths of these starts.
tenths() {
	awk -v kind="$1" '$1 == kind { print $2 }' "$work/starts" | sort -n |
		awk '{ v[NR - 1] = $1 } END { for (i = 0; i < 10; i++) printf " %d", v[int((i + 0.5) * NR / 10)]; printf " (of %d)\n", NR }'
}
printf 'settled:%s\n' "$(tenths settled)"
printf 'first after a login:%s\n' "$(tenths first)"
