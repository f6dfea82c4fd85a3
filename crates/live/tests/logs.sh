#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Logs of decisions: written in a guest of vm/ under load, replayed on the host
# by `alight verify live`. A whole one, one that a full disk ended, and what is
# left of one whose scheduler was killed. One line a check; the last line is
# "logs: N passed, N failed".
#
#	crates/live/tests/logs.sh [SECONDS]	of hackbench, 6 by default

set -euo pipefail
cd "$(dirname "$0")/../../.."
seconds=${1:-6}
KERNEL=amd64-7.2-cloud
# hackbench alone wakes its tasks this often.
LEAST_DECISIONS=1000

. tests/checks.sh

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
target=${CARGO_TARGET_DIR:-target}

vm/fetch.sh $KERNEL
tests/programs.sh
install -d "$work/add"
# Debug information would fill the guest's memory.
strip -o "$work/add/scx_alight" "$target/debug/scx_alight"

{
	echo "SECONDS_OF_LOAD=$seconds"
	cat <<-'G'
		mkdir -p /tmp/logs /tmp/small

		begin() { # NAME OPTION...
			name=$1
			shift
			/scx_alight "$@" >/tmp/$name.out 2>&1 &
			scx=$!
			waited=0
			until [ "$(cat /sys/kernel/sched_ext/state)" = enabled ] || [ $waited = 240 ]; do
				sleep 0.5
				waited=$((waited + 1))
			done
			echo "$name state: $(cat /sys/kernel/sched_ext/state)"
		}

		load() { # SECONDS
			end=$(($(date +%s) + $1))
			while [ "$(date +%s)" -lt $end ]; do hackbench -g 2 -l 200 -p -T >/dev/null; done
		}

		end() { # NAME
			echo "$1 state under load: $(cat /sys/kernel/sched_ext/state)"
			kill -INT $scx
			wait $scx
			echo "$1 status: $?"
			sed "s/^/$1: /" /tmp/$1.out
		}

		begin whole --log-decisions /tmp/logs/whole linux-7.2
		load $SECONDS_OF_LOAD
		end whole

		mount -t tmpfs -o size=1500k none /tmp/small
		begin full --log-decisions /tmp/small/log linux-7.2
		waited=0
		until grep -q 'log of decisions ends' /tmp/full.out || [ $waited = 60 ]; do
			load 1
			waited=$((waited + 1))
		done
		end full
		cp /tmp/small/log /tmp/logs/full
		echo "full times said: $(grep -c 'the scheduler goes on' /tmp/full.out)"
		echo "full left behind: $(ls -A /tmp/small | grep -vc '^log$')"

		begin killed --log-decisions /tmp/logs/killed linux-7.2
		load 4
		kill -KILL $scx
		wait $scx 2>/dev/null
		waited=0
		until [ "$(cat /sys/kernel/sched_ext/state)" = disabled ] || [ $waited = 20 ]; do
			sleep 0.5
			waited=$((waited + 1))
		done
		echo "killed state after: $(cat /sys/kernel/sched_ext/state)"
		echo "killed has its name: $(ls /tmp/logs/killed 2>/dev/null | wc -l)"
		mv /tmp/logs/.alight-recording-* /tmp/logs/killed

		/scx_alight --log-decisions /nowhere/log linux-7.2 >/tmp/refused.out 2>&1
		echo "refused status: $?"
		echo "refused text: $(cat /tmp/refused.out)"
		tar -cf /dev/out -C /tmp logs
	G
} >"$work/guest.sh"

status=0
vm/run.sh --kernel $KERNEL --smp 4 --mem 1500 --timeout $((seconds * 4 + 400)) --add "$work/add" \
	--console "$work/console" --out "$work/out.tar" "$work/guest.sh" >"$work/guest.out" || status=$?
check 'guest: exit status' 0 "$status"
tar -xf "$work/out.tar" -C "$work" || true

# fact NAME: the value that the guest printed after "NAME:".
fact() { sed -n "s/^$1: *//p" "$work/guest.out" | head -n 1; }

# replay NAME: `alight verify live` of a log; leaves NAME.text and NAME.errors.
replay() {
	local status=0
	"$target/debug/alight" verify live "$work/logs/$1" >"$work/$1.text" 2>"$work/$1.errors" || status=$?
	echo $status
}

# has NAME PATTERN FILE: a line of the file matches.
has() { check "$1" yes "$(grep -qE "$2" "$3" && echo yes || echo "no: $(tail -n 3 "$3")")"; }

replayed() { sed -n 's/^\([0-9]*\) decisions replayed.*/\1/p' "$work/$1.text"; }

check 'whole: loaded' enabled "$(fact 'whole state under load')"
check 'whole: exit status' 0 "$(fact 'whole status')"
check 'whole: replay' 0 "$(replay whole)"
has 'whole: all equal' '^[0-9]+ decisions replayed, all equal \([0-9]+ lost\)$' "$work/whole.text"
check "whole: $LEAST_DECISIONS decisions or more" yes \
	"$([ "$(replayed whole)" -ge $LEAST_DECISIONS ] && echo yes || replayed whole)"
check 'whole: as many as were logged' \
	"$(sed -n 's/^whole: .*: \([0-9]* decisions\) logged \(([0-9]* lost)\)$/\1 \2/p' "$work/guest.out")" \
	"$(sed -n 's/^\([0-9]* decisions\) replayed, all equal \(([0-9]* lost)\)$/\1 \2/p' "$work/whole.text")"
check 'full disk: the scheduler goes on' enabled "$(fact 'full state under load')"
check 'full disk: said once' 1 "$(fact 'full times said')"
check 'full disk: exit status' 1 "$(fact 'full status')"
check 'full disk: nothing else left behind' 0 "$(fact 'full left behind')"
check 'full disk: replay' 0 "$(replay full)"
has 'full disk: the log says so' 'ends before the scheduler.*No space left' "$work/full.text"
check 'killed: the kernel took over' disabled "$(fact 'killed state after')"
check 'killed: no log under its name' 0 "$(fact 'killed has its name')"
check 'killed: replay of what is left' 2 "$(replay killed)"
has 'killed: cut short' 'is cut short after [0-9]+ records' "$work/killed.errors"
check 'no such directory: exit status' 1 "$(fact 'refused status')"
check 'no such directory: text' 'scx_alight: the log of decisions, /nowhere/log: No such file or directory' \
	"$(fact 'refused text' | sed 's/ (os error.*//; s/ at path.*//')"
if [ "${KEEP:-}" ]; then cp "$work"/logs/* "$KEEP"; fi
tail -n 1 "$work/whole.text"
if [ $failed -gt 0 ]; then
	printf '%s: what the guest printed:\n' "${0##*/}" >&2
	sed 's/^/  /' "$work/guest.out" >&2
fi
printf 'logs: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
