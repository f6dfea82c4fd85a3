#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest of vm/rootfs.sh: starts hackbench by shells of several kinds, for
# shell.sh. Prints a mark where each begins (ms since boot, `login` if it logs in first,
# `each` if it does for every start), and what hackbench had where it first forked.

cd /root || exit
mkdir -p /run/sshd .ssh
ip link set lo up
ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519
cp .ssh/id_ed25519.pub .ssh/authorized_keys
ssh-keygen -A >/dev/null
systemctl start ssh

# script NAME: an executable of what comes on standard input.
script() { { echo '#!/bin/bash' && cat; } >"$1" && chmod +x "$1"; }

script silent <<'S'
for run in {1..20}; do hackbench -g 2 -l 400 -p >>log; done
S
script prints <<'S'
for run in {1..20}; do echo "run $run" && hackbench -g 2 -l 400 -p | tee -a log; done
S
script rests <<'S'
for run in {1..10}; do echo "run $run" && sleep 3 && hackbench -l 100 -g 1 -p; done
S
script harness <<'S'
for run in {1..15}; do
	echo "run $run"
	hackbench -g $((run / 5 + 1)) -l 50 -p 2>&1 | tee out
	echo "$run $(grep Time out | awk '{ print $2 }')" >>results
done
S

bpftrace -e 'tracepoint:sched:sched_process_fork /comm == "hackbench" && !@seen[pid]/ {
	@seen[pid] = 1;
	@started[nsecs / 1000000, curtask->wakee_flips] = 1;
}' >started 2>errors &
observer=$!
sleep 15

mark() {
	sleep 1
	echo "MARK $(awk '{ print int($1 * 1000) }' /proc/uptime) mark $*"
}
remote() { ssh -q -o StrictHostKeyChecking=no -o BatchMode=yes "$@" >/dev/null; }

mark none a service, which takes figures
./harness >/dev/null
mark each ssh, each start
for _ in 1 2 3 4 5; do remote localhost hackbench -g 1 -l 100 -p; done
for name in silent rests harness; do
	mark login "ssh, $name"
	remote localhost "./$name"
done
for name in prints rests harness; do
	mark login "ssh with a terminal, $name"
	remote -tt localhost "./$name"
done
mark login ssh with a terminal, typed
{
	sleep 3
	for _ in 1 2 3 4 5 6 7 8 9 10; do echo 'hackbench -g 1 -l 100 -p' && sleep 4; done
	echo exit
} | remote -tt localhost

kill -INT $observer
wait $observer
cat errors started
