#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in a guest: records each workload with alight-record, several times, one file
# each, and leaves them as /tmp/workload.tar.
#
#   workload-load.sh one|four LEVEL RUNS WORKLOADS [pinned | SCHEDULER]
#
# For a guest of one or four CPUs; LEVEL is zstd's; RUNS recordings of each of these
# workloads, which are one argument. A line that begins with FAILED names a recording that is
# missing.
# pinned: all tasks may use the first two CPUs only. SCHEDULER: scx_alight decides, as
# this scheduler; one that does not load ends it with status 1.

cd /tmp || exit
machine=$1
level=$2
runs=$3
workloads=$4
under=$5
# What the boot left to do is done by then.
sleep 5

# How long a loop of rt-app takes here, ns: by its own calibration.
cat >calibrate.json <<'J'
{"global": {"duration": 1, "calibration": "CPU0", "lock_pages": false, "logdir": "/tmp"},
 "tasks": {"one": {"loop": 1, "run": 1000}}}
J
calibration=$(rt-app calibrate.json 2>&1 | sed -n 's/.*pLoad = \([0-9]*\)ns.*/\1/p' | head -n 1)
[ -n "$calibration" ] || { echo 'rt-app does not say its calibration' && exit 1; }
sed -e "s/CALIBRATION/$calibration/" -e 's/"duration": 5/"duration": 2/' \
	/behaviour/crowded.json >crowded.json

# 20 files of C that need no header; make compiles them with tcc.
mkdir -p tree
for file in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	awk -v file=$file -v functions=$((400 + 60 * (file % 7))) 'BEGIN {
		for (n = 0; n < functions; n++)
			printf "int f%d_%d(int a, int b)\n{\n\tfor (int i = 0; i < b; i++)\n" \
				"\t\ta = a * 31 + i %% (b + 1);\n\treturn a;\n}\n", file, n
	}' >tree/$file.c
done
{
	printf 'all: '
	seq -s ' ' 20 | sed 's/[0-9][0-9]*/&.o/g'
	printf '%%.o: %%.c\n\ttcc -c -o $@ $<\n'
} >tree/Makefile

# Four processes that write to one database file in memory. One that finds it locked
# tries again after some milliseconds (sqlite3_busy_timeout).
cat >database.sh <<'D'
rm -f /dev/shm/test.db
sqlite3 /dev/shm/test.db 'create table t (a integer primary key, b text);'
for client in 1 2 3 4; do
	awk -v transactions="$1" 'BEGIN {
		print ".timeout 10000"
		for (n = 0; n < transactions; n++)
			print "begin immediate; insert into t (b) values (hex(randomblob(200)));" \
				"update t set b = upper(b) where a % 7 = " n % 7 "; commit;" \
				"select count(*) from t where b like \"%ABC%\";"
	}' | sqlite3 /dev/shm/test.db >/dev/null &
done
wait
D

# begin SCHEDULER: loads it.
begin() {
	/scx_alight "$1" >scheduler.out 2>&1 &
	tries=0
	until [ "$(cat /sys/kernel/sched_ext/state)" = enabled ]; do
		sleep 0.2
		tries=$((tries + 1))
		[ $tries -lt 300 ] && kill -0 $! && continue
		echo "$1 does not load: $(tail -n 1 scheduler.out)"
		exit 1
	done
}

# record NAME COMMAND...: several times, for one run of a kernel is not its mean.
record() {
	workload=$1
	shift
	case " $workloads " in
	*" $workload "*) ;;
	*) return ;;
	esac
	[ "$under" != pinned ] || set -- taskset 3 "$@"
	run=1
	while [ $run -le "$runs" ]; do
		name=$workload-$run
		if timeout 120 /alight-record workload -o "$name.alight" --ring 128 --level "$level" -- "$@" \
			>"$name.out" 2>&1; then
			echo "$name: $(wc -c <"$name.alight") bytes; $(tail -n 1 "$name.out")"
		else
			echo "FAILED $name: $(tail -n 1 "$name.out")"
			rm -f "$name.alight"
		fi
		run=$((run + 1))
	done
}

case $under in
'' | pinned) ;;
*) begin "$under" ;;
esac
# More CPUs share the processor: what is of fixed work is shorter there.
part=1
[ "$machine" = one ] || part=2
record crowded rt-app crowded.json
record pipes hackbench -g 2 -f 5 -l $((2000 / part)) -p
record make make -s -B -j 4 -C tree
record database sh database.sh $((40 / part))
record sockets hackbench -g 2 -f 5 -l $((800 / part))
record threads sysbench threads --threads=6 --thread-yields=20 --thread-locks=2 --events=600 \
	--time=1 run
[ ! -x /usr/bin/schbench ] || record schbench schbench -m 2 -t 3 -F 16 -n 1 -s 500 -r 1
case $under in
'' | pinned) ;;
*)
	[ "$(cat /sys/kernel/sched_ext/state)" = enabled ] || {
		echo "$under was ended by the kernel: $(tail -n 1 scheduler.out)"
		exit 1
	}
	;;
esac
tar -cf workload.tar ./*.alight
