#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Holds policy/select.h against stock kernels: boots each, records every choice
# of a CPU by the fair class while tasks of every kind run, and decides again.
#
#   verify/decisions.sh [--keep DIR] [--sample] [KERNEL...]
#
# KERNEL is a row of vm/kernels.txt; without one: a kernel of each series of amd64,
# each on eight equal CPUs and on two packages of two cores of two threads, and some
# of arm64 with little and big CPUs, with and without an energy model. --keep DIR leaves
# the recordings and reports (JSON) in DIR; the report of what could not be recorded is
# empty.
# --sample records a few thousand decisions instead of hundreds of thousands.
# schbench, which no distribution has, is part of the load if it is on PATH or in PEERS, a path of
# folders; amd64 only. If not, a line says so.
#
# The guests' CPUs take turns and their time is the count of instructions
# (--icount): a record shows nearly always what the kernel saw. Each record has
# the CPUs that changed before the decision was made as they were then. Of 1000
# decisions 999 must be equal: where nothing changed to the state before, of all
# to the state before or after. A recording that is empty or short fails, and so
# does one with an energy model of whose decisions energy made too few.
#
# One line a machine; the last line is "decisions: N passed, N failed".

set -euo pipefail
cd "$(dirname "$0")/.."
. verify/recorder.sh

mapfile -t KERNELS < <(amd64_kernels)
KERNELS+=("${ARM64_KERNELS[@]}")
PROGRAMS=(sysbench stress-ng rt-app)
# Decisions that the recordings of a kernel must hold together to count.
LEAST_DECISIONS=250000
# Those of them that energy must have made where there is an energy model.
LEAST_EAS=4000
# Of the longest part of the load, in the guest; the arm64 machines have fewer CPUs. With less than 3 a
# third of it is 0, which stress-ng takes for ever. Longer ones showed no other cause of a difference.
SECONDS_amd64=3
SECONDS_arm64=6
level=1 # of zstd: in the guest, while it runs

keep='' sample=''
while [ $# -gt 0 ]; do
	case $1 in
	--keep) keep=$2 && shift 2 ;;
	--sample) sample=1 && shift ;;
	*) break ;;
	esac
done
[ $# -eq 0 ] || KERNELS=("$@")
[ -z "$sample" ] || LEAST_DECISIONS=1000 LEAST_EAS=0 SECONDS_amd64=0 SECONDS_arm64=0 level=19

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
keep=${keep:-$work}
mkdir -p "$keep"
target=${CARGO_TARGET_DIR:-target}
passed=0 failed=0

# program ARCH: leaves what the guest runs in $work/ARCH.
program() {
	local schbench
	[ ! -d "$work/$1" ] || return 0
	recorder "$1" "$work/$1"
	install -d "$work/$1/usr/bin"
	case $1 in
	amd64)
		cp "$(command -v uclampset)" "$work/$1/usr/bin"
		if [ -n "$sample" ]; then
			: # has no schbench
		elif schbench=$(PATH=${PEERS:-$PATH} type -P schbench); then
			cp "$schbench" "$work/$1/usr/bin"
		else
			echo 'SKIPPED: schbench is not on PATH (or in PEERS): decisions are recorded without it'
		fi
		;;
	arm64) cp "${ALIGHT_VM_CACHE:-vm/cache}/sysroot/arm64/usr/bin/uclampset" "$work/$1/usr/bin" ;;
	esac
	install -m 644 verify/decisions-load.sh "$work/$1/" # no program: it has no libraries
}

# machines ARCH: the names of the machines that a kernel is tried on.
machines() {
	case $1 in
	amd64) echo flat threads ;;
	arm64) echo asym energy ;;
	esac
}

# options MACHINE: QEMU's.
options() {
	case $1 in
	flat) echo --smp 8 ;;
	threads) echo --smp 8,sockets=2,cores=2,threads=2 ;;
	asym) vm/dtb.py "$work/asym.dtb" --little 4 --big 2 && echo --dtb "$work/asym.dtb" ;;
	energy)
		vm/dtb.py "$work/energy.dtb" --little 4 --big 2 --opps
		echo --dtb "$work/energy.dtb" --module cpufreq-dt
		;;
	esac
}

# record KERNEL MACHINE FILE
record() {
	local arch=${1%%-*} machine programs seconds
	seconds=SECONDS_$arch
	program "$arch"
	programs=$(vm/programs.sh "$arch" "${PROGRAMS[@]}")
	read -ra machine <<<"$(options "$2")"
	cat >"$work/run.sh" <<-'G'
		mkdir -p /tmp
		chrt -R -f 50 /alight-record decisions -o /tmp/run.alight --ring 256 --level "$2" -- \
			sh /decisions-load.sh "$1" || exit
		echo "bytes written: $(wc -c </tmp/run.alight)"
		cat /tmp/run.alight >/dev/out
	G
	vm/run.sh --kernel "$1" --icount --mem 4096 --timeout 3600 "${machine[@]}" --add "$work/$arch" \
		--add "$programs" --out "$3" "$work/run.sh" "${!seconds}" "$level" >"$work/console" || {
		cat "$work/console" >&2
		return 1
	}
	arrived "$3"
}

number() { sed -n "s/^  \"$1\": \([0-9]*\),/\1/p" "$2"; }

# learned KERNEL FILE: the recorder found out what moves between kernels: the length of the tick, which
# must be the config's where that is at hand, the bits of preempt_count, the flags of domains.
learned() {
	local header config hz
	header=$(head -n 2 "$2" | tail -n 1 | tr -d '\0')
	config=${ALIGHT_VM_CACHE:-vm/cache}/kernels/$1/config
	hz='[1-9][0-9]*'
	[ ! -e "$config" ] || hz=$(sed -n 's/^CONFIG_HZ=//p' "$config")
	for fact in "\"hz\":$hz," '"hardirq_bits":"0x' '"sd_flags":"SD_'; do
		grep -qe "$fact" <<<"$header" || {
			printf '%s: the recorder did not find out %s of the running kernel\n' "$1" "$fact"
			return 1
		}
	done
}

# by_energy REPORT: how many decisions the estimate of energy made.
by_energy() {
	awk '/"eas_/ { mine = 1 } mine && /"decisions"/ { sum += $2; mine = 0 } END { print sum + 0 }' "$1"
}

judge
for kernel in "${KERNELS[@]}"; do
	all=0 good=1
	for machine in $(machines "${kernel%%-*}"); do
		name=$kernel-$machine status=0
		: >"$keep/$name.json" # stays empty if there is nothing to report
		record "$kernel" "$machine" "$keep/$name.alight" || { good=0 && continue; }
		"$alight" verify decisions --json "$keep/$name.alight" >"$keep/$name.json" || status=$?
		decisions=$(number decisions "$keep/$name.json")
		printf '%s: %s decisions, %s lost, %s equal, %s with the state at the exit;' "$name" \
			"${decisions:-no}" "$(number lost "$keep/$name.json")" \
			"$(number equal "$keep/$name.json")" "$(number equal_at_either "$keep/$name.json")"
		printf ' no CPU changed under %s, of them %s equal; exit status %s\n' \
			"$(number calm "$keep/$name.json")" "$(number calm_equal "$keep/$name.json")" $status
		[ $status = 0 ] || good=0
		learned "$kernel" "$keep/$name.alight" || good=0
		if [ "$machine" = energy ]; then
			eas=$(by_energy "$keep/$name.json")
			printf '%s: %s decisions by energy, at least %s are wanted\n' "$name" "$eas" $LEAST_EAS
			[ "$eas" -ge $LEAST_EAS ] || good=0
		fi
		all=$((all + ${decisions:-0}))
	done
	[ $all -ge $LEAST_DECISIONS ] || good=0
	if [ $good = 1 ]; then
		passed=$((passed + 1))
	else
		printf 'FAIL  %s: %s decisions, of at least %s, or one of the above\n' "$kernel" $all $LEAST_DECISIONS
		failed=$((failed + 1))
	fi
done
printf 'decisions: %d passed, %d failed\n' $passed $failed
[ $failed = 0 ]
