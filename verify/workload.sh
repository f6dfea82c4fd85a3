#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Holds replays against stock kernels: records workloads in guests, checks each replay
# against its own recording, and lets replays predict what happens under another kernel,
# another affinity, another scheduler.
#
#   verify/workload.sh [--keep DIR] [--runs N] [--sample] [--reports]
#
# --keep DIR leaves the recordings in DIR/SET/WORKLOAD-RUN.alight and the reports (JSON) in
# DIR/reports; recordings that are there already are not made again. --runs N records each
# workload N times instead of 5. --sample records one CPU under two kernels only. --reports makes
# the reports of the recordings in DIR, and records nothing.
#
# SET is a kernel (a row of vm/kernels.txt) on one or four CPUs; on four also with all tasks pinned
# to two of them, and under scx_alight without and with a feature. schbench, which no distribution
# has, is recorded if it is on PATH or in PEERS, a path of folders.
#
# The guests' time is the count of instructions (--icount); several CPUs take turns at the one
# processor of the emulation. See verify/behaviour.sh.
#
# One line a set and a pair of sets; the last line is "workload: N passed, N failed". A set passes
# if it was recorded, a pair if every report of it could be made: whether the replays are right
# is what the reports say.

set -euo pipefail
cd "$(dirname "$0")/.."
. verify/recorder.sh

OLD=amd64-6.1-cloud
NEW=amd64-7.2-cloud
PROGRAMS=(make rt-app sqlite3 sysbench tcc util-linux)
TURNS_US=2
PLAIN=linux-7.2
FEATURE=linux-7.2+bias-prev
# SET|KERNEL|CPUS|UNDER, the last for workload-load.sh.
SETS=(
	"$OLD-one|$OLD|one|"
	"$NEW-one|$NEW|one|"
	"$OLD-four|$OLD|four|"
	"$NEW-four|$NEW|four|"
	"$OLD-four-pinned|$OLD|four|pinned"
	"$NEW-four-pinned|$NEW|four|pinned"
	"$NEW-four-scx|$NEW|four|$PLAIN"
	"$NEW-four-scx-bias-prev|$NEW|four|$FEATURE"
)

keep='' runs=5 reports=
while [ $# -gt 0 ]; do
	case $1 in
	--keep) keep=$2 && shift 2 ;;
	--runs) runs=$2 && shift 2 ;;
	--sample) SETS=("${SETS[@]:0:2}") && shift ;;
	--reports) reports=1 && shift ;;
	*) echo "workload.sh: unknown option $1; see its head" >&2 && exit 2 ;;
	esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
keep=${keep:-$work/keep}
mkdir -p "$keep"
target=${CARGO_TARGET_DIR:-target}
passed=0 failed=0

# verdict NAME STATUS: counts it.
verdict() {
	if [ "$2" = 0 ]; then
		printf 'ok    %s\n' "$1"
		passed=$((passed + 1))
	else
		printf 'FAIL  %s\n' "$1"
		failed=$((failed + 1))
	fi
}

# guest: leaves what the guests run in $work/guest.
guest() {
	local schbench
	recorder amd64 "$work/guest"
	strip -o "$work/guest/scx_alight" "$target/quick/scx_alight"
	install -d "$work/guest/behaviour" "$work/guest/usr/bin"
	install -m 644 verify/workload-load.sh "$work/guest/"
	cp verify/behaviour/crowded.json "$work/guest/behaviour/"
	if schbench=$(PATH=${PEERS:-$PATH} type -P schbench); then
		cp "$schbench" "$work/guest/usr/bin"
	else
		echo 'SKIPPED: schbench is not on PATH (or in PEERS): its recordings are missing'
	fi
	programs=$(vm/programs.sh amd64 "${PROGRAMS[@]}")
}

# record SET KERNEL CPUS UNDER: leaves its recordings in $keep/SET.
record() {
	local machine=(--smp 1)
	[ "$3" = one ] || machine=(--smp 4 --turns $TURNS_US)
	cat >"$work/run.sh" <<-'G'
		mkdir -p /tmp
		sh /workload-load.sh "$@" || exit
		echo "bytes written: $(wc -c </tmp/workload.tar)"
		cat /tmp/workload.tar >/dev/out
	G
	vm/run.sh --kernel "$2" --icount "${machine[@]}" --mem 3072 --timeout 3600 --add "$work/guest" \
		--add "$programs" --out "$work/workload.tar" "$work/run.sh" "$3" 6 "$runs" ${4:+"$4"} \
		>"$work/console" || {
		cat "$work/console" >&2
		return 1
	}
	arrived "$work/workload.tar" || return
	rm -rf "$keep/.$1"
	mkdir "$keep/.$1"
	tar -xf "$work/workload.tar" -C "$keep/.$1"
	mv -T "$keep/.$1" "$keep/$1"
	! grep FAILED "$work/console"
}

if [ -z "$reports" ]; then
	guest
	for row in "${SETS[@]}"; do
		IFS='|' read -r set kernel cpus under <<<"$row"
		[ ! -d "$keep/$set" ] || continue
		status=0
		record "$set" "$kernel" "$cpus" "$under" || status=1
		verdict "$set" $status
	done
fi
printf 'workload: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
