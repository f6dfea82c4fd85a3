#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Boots a stock kernel in QEMU, runs a shell script in it and prints what the
# script prints, as it prints it; into a file, when the guest has ended.
#
#   vm/run.sh --kernel NAME [OPTION...] SCRIPT [ARG...]
#
#   --kernel NAME    a row of kernels.txt; downloaded if it is not there
#   --smp N          CPUs (the device tree's with --dtb, else 4)
#   --mem MIB        memory (2048)
#   --root CPIO      this root file system, which has an /init of its own and /lib as a
#                    link to /usr/lib, instead of the usual one; see rootfs.sh
#   --add DIR        lay DIR's content over the guest's root; programs in it get
#                    their libraries; may be repeated
#   --module NAME    load this module of the kernel before the script; may be repeated
#   --dtb FILE       device tree instead of QEMU's own (arm64; see dtb.py)
#   --cppc LIST      highest performance of each CPU (amd64, CPUs of AMD): the kernel ranks them by
#                    it, and packs tasks where it is high; see cppc.py. Kernels from 6.12 on
#   --timeout S      seconds that the guest may take (300); one that has not begun the
#                    script in half of them is started again, once, unless --seed, and
#                    so is one, twice, whose kernel the emulator broke: see patched_late below
#   --accel ACCEL    QEMU's accelerator (amd64: tcg,thread=multi;
#                    arm64: tcg,thread=single, because hackbench can hang under
#                    multi-threaded emulation there)
#   --seed N         repeatable: the guest's time is its count of instructions and
#                    N the only source of variation; needs root. The CPUs take
#                    turns, so times measure work done, not parallel speed.
#   --icount         the guest's time is its count of instructions, as with --seed,
#                    and idle time passes at once; the run does not repeat
#   --turns US       with --icount: no CPU keeps the processor that all share for longer,
#                    in microseconds of their time; else a busy one does for a millisecond
#                    or two. Needs --smp; slower
#   --append TEXT    more kernel command line
#   --console FILE   keep all that the guest's console showed
#   --out FILE       what the script writes to /dev/out, which is a pipe: writers
#                    close it once; FILE appears when the run has ended
#
# Exit status: that of the script; 124 if the time was up; 125 if the guest ended
# without a result, for instance by a panic; 2 for a wrong command line. In the
# cases 124 and 125 the console's last lines go to standard error.
# Runs do not share anything that they write, so any number may run at once.

set -euo pipefail
. "$(dirname "$0")/env.sh"
. "$VM_DIR/elf.sh"

usage() { die "$1; see the head of $VM_DIR/run.sh" 2; }

kernel='' smp='' mem=2048 dtb='' cppc='' seconds=300 accel='' seed='' root='' icount='' turns='' append='' keep='' out=''
overlays=() modules=()
while [ $# -gt 0 ]; do
	case $1 in
	--icount)
		icount=1
		shift
		continue
		;;
	--kernel | --smp | --mem | --root | --add | --module | --dtb | --cppc | --timeout | --accel | --seed | --turns | --append | --console | --out)
		[ $# -gt 1 ] || usage "$1 needs a value"
		;;
	esac
	case $1 in
	--kernel) kernel=$2 ;;
	--smp) smp=$2 ;;
	--mem) mem=$2 ;;
	--root) root=$2 ;;
	--add) overlays+=("$2") ;;
	--module) modules+=("$2") ;;
	--dtb) dtb=$2 ;;
	--cppc) cppc=$2 ;;
	--timeout) seconds=$2 ;;
	--accel) accel=$2 ;;
	--seed) seed=$2 ;;
	--turns) turns=$2 ;;
	--append) append=$2 ;;
	--console) keep=$2 ;;
	--out) out=$2 ;;
	-*) usage "unknown option $1" ;;
	*) break ;;
	esac
	shift 2
done
[ -n "$kernel" ] || usage '--kernel NAME is missing'
[ $# -ge 1 ] || usage 'the script to run is missing'
script=$1
shift
[ -f "$script" ] || usage "$script: no such script"
for directory in ${overlays[@]+"${overlays[@]}"}; do
	[ -d "$directory" ] || usage "--add $directory: no such directory"
done
[ -z "$root" ] || [ -f "$root" ] || usage "--root $root: no such file"
[ -z "$dtb" ] || [ -f "$dtb" ] || usage "--dtb $dtb: no such file"
[ -z "$turns" ] || [ -n "$icount" ] || usage '--turns needs --icount'
[[ -z $turns || $turns =~ ^[1-9][0-9]{0,5}$ ]] || usage "--turns $turns: expected microseconds, 1 to 999999"
[[ -z $turns || $smp =~ ^[1-9][0-9]*$ ]] || usage '--turns needs --smp with a plain number'
known_kernel "$kernel"
arch=$(kernel_field "$kernel" 2)
set_arch "$arch"
[ -z "$cppc" ] || [ "$arch" = amd64 ] || usage "--cppc: $kernel is not of amd64"
commas=${cppc//[!,]/} cpus=${smp:-4}
[ -z "$cppc" ] || [ $((${#commas} + 1)) = "${cpus%%,*}" ] || usage "--cppc $cppc: not a figure for each of ${cpus%%,*} CPUs"
need "$QEMU" cpio readelf xz timeout

image=$CACHE/kernels/$kernel
# Not even asked when it is there: fetch.sh waits for downloads of others.
[ -e "$image/release" ] || "$VM_DIR/fetch.sh" "$kernel"
base=${root:-$CACHE/initramfs/$arch.cpio}
# Rebuilt when what it is made by changes; never written in place.
for source in initramfs.sh init elf.sh env.sh; do
	if [ -z "$root" ] && [ ! "$base" -nt "$VM_DIR/$source" ]; then
		"$VM_DIR/initramfs.sh" "$arch" "$base"
		break
	fi
done

# The drivers of /dev/out, in the order in which they need each other.
OUT_MODULES=(virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_console)

work=$(mktemp -d)
unfinished=${out:+$out.$$}
qemu=
# shellcheck disable=SC2317,SC2329 # called by the trap
clean() {
	[ -z "$qemu" ] || kill "$qemu" 2>/dev/null || true
	rm -rf "$work" ${unfinished:+"$unfinished"}
}
trap clean EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

# add_module TREE NAME: to be loaded before the script; fails if the kernel has no such module.
add_module() {
	local path
	path=$(find "$image/modules/kernel" -name "$2.ko" -o -name "$2.ko.xz" | head -n 1)
	case $path in
	*.xz) xz -dc "$path" >"$1/lib/modules/$2.ko" ;;
	*.ko) cp "$path" "$1/lib/modules/" ;;
	*) return 1 ;;
	esac
	printf '%s\n' "$2" >>"$1/modules.load"
}

# What this kernel and this run add to the base.
make_overlay() {
	local tree=$1 directory file module
	shift
	install -d "$tree" "$tree/boot" "$tree/lib/modules"
	[ ! -e "$image/config" ] || cp "$image/config" "$tree/boot/config-$(cat "$image/release")"
	if [ -n "$out" ]; then
		: >"$tree/out.wanted"
		for module in "${OUT_MODULES[@]}"; do
			add_module "$tree" "$module" || true # built in
		done
	fi
	for module in ${modules[@]+"${modules[@]}"}; do
		add_module "$tree" "$module" || usage "--module $module: $kernel has no such module"
	done
	for directory in ${overlays[@]+"${overlays[@]}"}; do
		cp -rL "$directory/." "$tree/"
	done
	while IFS= read -r file; do
		add_libraries "$tree" "$file"
	done < <(find "$tree" -type f -perm -u+x -not -path "$tree/lib/*")
	cp "$script" "$tree/test.sh"
	: >"$tree/test.args"
	[ $# -eq 0 ] || printf '%s\n' "$@" >"$tree/test.args"
}

make_overlay "$work/tree" "$@"
if [ -n "$root" ]; then
	# A directory would replace the link.
	mkdir -p "$work/tree/usr"
	mv "$work/tree/lib" "$work/tree/usr/lib"
fi
pack "$work/tree" "$work/overlay.cpio"
cat "$base" "$work/overlay.cpio" >"$work/initrd"

case $arch in
amd64)
	machine=(-machine q35 -cpu max)
	if [ -n "$cppc" ]; then
		need iasl
		ranked=$("$VM_DIR/cppc.py" "$work/cppc.aml" "$cppc")
		machine=(-machine q35 -cpu EPYC-Milan -acpitable "file=$work/cppc.aml")
		append="$ranked $append"
	fi
	accel=${accel:-tcg,thread=multi}
	append="mitigations=off $append"
	;;
arm64)
	machine=(-machine 'virt,gic-version=3' -cpu cortex-a57)
	accel=${accel:-tcg,thread=single}
	;;
esac
case $accel in kvm*) machine+=(-cpu host) ;; esac
# A busy host delays the emulated timer, and the kernel's test of it then panics.
[ "$arch" != amd64 ] || append="no_timer_check $append"
prefix=()
if [ -n "$seed$icount" ]; then
	accel=tcg,thread=single
	machine+=(-icount 'shift=0,sleep=off' -rtc 'base=2026-01-01,clock=vm')
fi
# QEMU divides the time until the next timer of the guest's time is due by its CPUs, and gives
# those that are busy a turn each. This timer, of a network that has nobody in it, does nothing
# else; CPUs that the guest does not know make turns more and more even: with none the last of
# three busy ones has twice the others' time, with three times as many a fifth more.
if [ -n "$turns" ]; then
	append="nr_cpus=$smp $append"
	smp=$((4 * smp))
	machine+=(-netdev 'hubport,id=n0,hubid=0'
		-object "filter-buffer,id=f0,netdev=n0,interval=$((turns * smp))")
fi
if [ -n "$seed" ]; then
	append="nokaslr $append"
	machine+=(-seed "$seed" -S -qmp "unix:$work/qmp,server=on,wait=off")
	# One of the CPUs that this process may use: taskset chooses among them.
	prefix=(taskset -c "$(taskset -pc $$ | sed 's/.*[ ,-]//')")
fi
if [ -n "$dtb" ]; then
	machine+=(-dtb "$dtb")
	[ -n "$smp" ] || { need fdtget && smp=$(fdtget -l "$dtb" /cpus | grep -c '^cpu@'); }
fi

if [ -n "$out" ]; then
	machine+=(-device virtio-serial-pci -chardev "file,id=out,path=$unfinished"
		-device 'virtserialport,chardev=out,name=alight.out')
fi

# What the script printed: between the markers; the end marker may follow an unfinished line.
printed() {
	sed -un 's/\r//g
		/ALIGHT-VM-BEGIN$/,/ALIGHT-VM-END status=/ {
			/ALIGHT-VM-BEGIN$/d
			/ALIGHT-VM-END status=/ { s/ALIGHT-VM-END.*//; /./p; d }
			p
		}'
}

# A file gets the output of the life that counts alone.
later=
[ ! -f /dev/stdout ] || later=$work/printed
show() { if [ -n "$later" ]; then printed >"$later"; else printed; fi; }

# said MARKER: has the guest printed this?
said() { grep -aq "ALIGHT-VM-$1" "$work/console" 2>/dev/null; }

# The kernel changes its own code while it runs, behind a breakpoint that it takes away last. Under
# emulation with a thread a CPU one of them sometimes meets the breakpoint when the change is over:
# the kernel knows of none then, and panics. Where code changes all the time take thread=single.
patched_late() { ! said 'END status=' && grep -aq 'int3: 0000 \[#' "$work/console"; }

# watch PID PATIENCE: ends QEMU when it should have ended, and $work/hung says so if
# the script has not begun after PATIENCE seconds.
watch() {
	local age=0 over=0
	while [ $over -lt 20 ] && sleep 1 && kill -0 "$1" 2>/dev/null; do
		age=$((age + 1))
		# It sometimes goes on when a guest that has slept powers off.
		! said 'END status=' || over=$((over + 1))
		[ $age != "$2" ] || said BEGIN || { : >"$work/hung" && break; }
	done
	kill "$1" 2>/dev/null
}

# live PATIENCE: one life of the guest, from power on to power off; leaves QEMU's exit
# status in $ended.
live() {
	local reader
	rm -f "$work/serial" "$work/console" "$work/hung"
	mkfifo "$work/serial"
	tee "$work/console" <"$work/serial" | show &
	reader=$!
	timeout --foreground -k 5 "$seconds" ${prefix[@]+"${prefix[@]}"} "$QEMU" -nodefaults -display none -no-reboot -net none \
		-serial stdio -monitor none "${machine[@]}" -accel "$accel" -smp "${smp:-4}" -m "$mem" \
		-kernel "$image/vmlinuz" -initrd "$work/initrd" \
		-append "console=$CONSOLE panic=-1 quiet $append" \
		</dev/null >"$work/serial" 2>"$work/errors" &
	qemu=$!
	watch $qemu "$1" >/dev/null 2>&1 &
	[ -z "$seed" ] || "$VM_DIR/steady.py" "$work/qmp" || exit 1
	ended=0
	wait $qemu || ended=$?
	qemu=
	wait $reader
}

# again WHY
again() {
	say "$kernel: $1; the guest is started again"
	live "$seconds"
}
# Now and then the kernel of a guest hangs while it starts, without a word.
patience=$([ -n "$seed" ] && echo "$seconds" || echo $((seconds / 2)))
live "$patience"
[ ! -e "$work/hung" ] || again "the script has not begun within $patience s"
for _ in 1 2; do
	! patched_late || again 'the kernel met a breakpoint of its own that was gone, as happens under emulation'
done
[ -z "$later" ] || cat "$later"
[ -z "$keep" ] || tr -d '\r' <"$work/console" >"$keep"

[ -z "$out" ] || mv "$unfinished" "$out"
status=$(tr -d '\r' <"$work/console" | sed -n 's/.*ALIGHT-VM-END status=\([0-9]*\) .*/\1/p' | tail -n 1)
[ -z "$status" ] || exit "$status"
cat "$work/errors" >&2
if [ $ended = 124 ] || [ $ended = 137 ]; then
	say "$kernel: no result within $seconds s; the console's last lines:"
	status=124
else
	say "$kernel: the guest ended without a result (QEMU's exit status $ended); the console's last lines:"
	status=125
fi
tr -d '\r' <"$work/console" | tail -n 60 >&2
exit $status
