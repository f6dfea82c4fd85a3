#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest: records each workload with alight-record, several times, one file
# each, and leaves them as /tmp/behaviour.tar.
#
#   behaviour-load.sh one|four LEVEL	for a guest of so many CPUs; zstd's level
#
# The workloads are command lines and rt-app files that the model reads too.

cd /tmp || exit
machine=$1
level=$2
# What the boot left to do is done by then.
sleep 5

# How long a loop of rt-app takes here, ns: by its own calibration. Each rt-app file then says it.
cat >calibrate.json <<'J'
{"global": {"duration": 1, "calibration": "CPU0", "lock_pages": false, "logdir": "/tmp"},
 "tasks": {"one": {"loop": 1, "run": 1000}}}
J
calibration=$(rt-app calibrate.json 2>&1 | sed -n 's/.*pLoad = \([0-9]*\)ns.*/\1/p' | head -n 1)
[ -n "$calibration" ] || { echo 'rt-app does not say its calibration' && exit 1; }
for file in /behaviour/*.json; do
	sed "s/CALIBRATION/$calibration/" "$file" >"${file##*/}"
done

# record NAME COMMAND...: several times, for one run of a kernel is not its mean.
record() {
	workload=$1
	shift
	for run in 1 2 3 4 5; do
		name=$workload-$run
		/alight-record behaviour -o "$name.alight" --ring 128 --level "$level" -- "$@" >"$name.out" 2>&1 || {
			echo "$name: alight-record failed"
			cat "$name.out"
			exit 1
		}
		echo "$name: $(tail -n 1 "$name.out")"
	done
}

case $machine in
one)
	record nice rt-app nice.json
	record crowded rt-app crowded.json
	record pipes hackbench -g 2 -f 5 -l 4000 -p
	record sockets hackbench -g 2 -f 5 -l 1000
	record threads sysbench threads --threads=6 --thread-yields=100 --thread-locks=2 --time=1 run
	;;
four)
	# rt-tests 2.4 pins thread k to the k-th CPU without -a too (process_options()); the model only with it.
	record cyclictest cyclictest -q -a -t 6 -i 2000 -D 5
	record mix rt-app mix.json
	record pipes hackbench -g 2 -f 5 -l 2000 -p
	;;
esac
tar -cf behaviour.tar ./*.alight
