#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Holds replays against stock kernels: records workloads in guests, checks each replay
# against its own recording, and lets replays predict what happens under another kernel,
# another affinity, another scheduler.
#
#   verify/workload.sh [--keep DIR] [--runs N] [--workloads 'NAME...'] [--reports] [SET...]
#
# --keep DIR leaves the recordings in DIR/SET/WORKLOAD-RUN.alight and the reports (JSON) in
# DIR/reports; recordings that are there already are not made again. --runs N records each
# workload N times instead of 5. --workloads records some of them only. --reports makes the reports
# of the recordings in DIR, and records nothing.
#
# SET is one of those below, without one all: a kernel (a row of vm/kernels.txt) on one or four
# CPUs; on four also with all tasks pinned to two of them, and under scx_alight without and with a
# feature. schbench, which no distribution has, is recorded if it is on PATH or in PEERS, a path of
# folders.
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

# FROM|TO|OPTIONS of alight verify workload.
PAIRS=(
	"$OLD-one|$NEW-one|"
	"$NEW-one|$OLD-one|"
	"$OLD-four|$NEW-four|"
	"$NEW-four|$OLD-four|"
	"$OLD-four|$OLD-four-pinned|--affinity 0-1"
	"$OLD-four-pinned|$OLD-four|--affinity 0-3"
	"$NEW-four|$NEW-four-pinned|--affinity 0-1"
	"$NEW-four-pinned|$NEW-four|--affinity 0-3"
	"$NEW-four-scx|$NEW-four-scx-bias-prev|--scheduler $PLAIN --predict $FEATURE"
	"$NEW-four-scx-bias-prev|$NEW-four-scx|--scheduler $FEATURE --predict $PLAIN"
)
# Seconds that one report may take.
LONGEST=600

# On one CPU and on four; in the sets that are pinned or under scx_alight only SOME.
WORKLOADS='crowded pipes make database sockets threads schbench'
SOME='crowded pipes make schbench'

keep='' runs=5 reports='' workloads=''
while [ $# -gt 0 ]; do
	case $1 in
	--keep) keep=$2 && shift 2 ;;
	--runs) runs=$2 && shift 2 ;;
	--workloads) workloads=$2 && shift 2 ;;
	--reports) reports=1 && shift ;;
	-*) echo "workload.sh: unknown option $1; see its head" >&2 && exit 2 ;;
	*) break ;;
	esac
done

asked=$*
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
	strip -o "$work/guest/scx_alight" "$target/debug/scx_alight"
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
	local machine=(--smp 1) which=${workloads:-$WORKLOADS}
	[ -z "$4$workloads" ] || which=${workloads:-$SOME}
	[ "$3" = one ] || machine=(--smp 4 --turns $TURNS_US)
	cat >"$work/run.sh" <<-'G'
		mkdir -p /tmp
		sh /workload-load.sh "$@" || exit
		echo "bytes written: $(wc -c </tmp/workload.tar)"
		cat /tmp/workload.tar >/dev/out
	G
	vm/run.sh --kernel "$2" --icount "${machine[@]}" --mem 3072 --timeout 7200 --add "$work/guest" \
		--add "$programs" --out "$work/workload.tar" "$work/run.sh" "$3" 6 "$runs" "$which" \
		${4:+"$4"} >"$work/console" || {
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
		[ -z "$asked" ] || [[ " $asked " = *" $set "* ]] || continue
		[ ! -d "$keep/$set" ] || continue
		status=0
		record "$set" "$kernel" "$cpus" "$under" || status=1
		verdict "$set" $status
	done
fi

# predict FROM TO OPTION...: leaves a report of each recording of FROM in $keep/reports, or the
# message why there is none.
predict() {
	local from=$1 to=$2 reports=$keep/reports/$1..$2 recording name code status=0
	shift 2
	rm -rf "$reports"
	mkdir -p "$reports"
	for recording in "$keep/$from"/*.alight; do
		name=$(basename "$recording" .alight) code=0
		[ -e "$keep/$to/$name.alight" ] || continue
		timeout $LONGEST "$target/debug/alight" verify workload --json --no-write "$@" "$recording" \
			"$keep/$to/$name.alight" >"$reports/$name.json" 2>"$work/errors" || code=$?
		# 1: the replay is not usable, which the report says.
		[ $code -gt 1 ] || continue
		status=1
		[ $code != 124 ] || echo "no report within $LONGEST s" >"$work/errors"
		sed "s|$keep/||g" "$work/errors" >"$reports/$name.error"
		rm "$reports/$name.json"
	done
	return $status
}

tests/programs.sh
for row in "${PAIRS[@]}"; do
	IFS='|' read -r from to options <<<"$row"
	[ -d "$keep/$from" ] && [ -d "$keep/$to" ] || continue
	status=0
	# shellcheck disable=SC2086 # options are words
	predict "$from" "$to" $options || status=1
	verdict "$from predicts $to" $status
done
printf 'workload: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
