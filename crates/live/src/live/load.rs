// SPDX-License-Identifier: GPL-2.0-only
//! Loads the scheduler into the kernel: the machine's views, the constants, the program.

use super::error::{During, RunFailed};
use super::operations;
use crate::machine::Host;
use crate::rules;
use crate::say::{self, say};
use crate::skeleton::{AlightSkel, AlightSkelBuilder, OpenAlightSkel};
use alight_arguments::Options;
use alight_policy::Core;
use alight_policy::abi::rule;
use libbpf_rs::btf::Btf;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, OpenObject, PrintCallback, PrintLevel, ProgramInput, set_print};
use std::mem::MaybeUninit;
use std::path::Path;

/// Bytes of the ring buffer for recorded decisions; a power of two.
const RING_BYTES: u32 = 16 << 20;
/// BPF_LOG_STATS: statistics of the verifier.
const VERIFIER_STATISTICS: u32 = 4;

/// The views of this machine, for the kernel side.
pub(super) fn views(options: &Options) -> Result<(Host, Core), RunFailed> {
    let told = options.machine.as_deref();
    let host = Host::read(Path::new("/"), told, &options.power_gated)?;
    let (core, energy) = host.core(&options.scheduler.params)?;
    if options.scheduler.params.eas != rule::EAS_NONE {
        say(&energy.to_string());
    }
    Ok((host, core))
}

/// Loads the program with these views; it does not schedule yet.
pub(super) fn load<'a>(
    object: &'a mut MaybeUninit<OpenObject>,
    (host, core): (&Host, &Core),
    options: &Options,
    hotplug_seq: u64,
) -> Result<AlightSkel<'a>, RunFailed> {
    // By itself libbpf-rs prints to standard output, where statistics belong.
    let print: PrintCallback = |_, text| say::pass_on(&text);
    set_print(options.verbose.then_some((PrintLevel::Debug, print)));
    let builder = AlightSkelBuilder::default();
    let mut open = builder.open(object).during("opening the BPF program")?;
    prepare(&mut open, (host, core), options, hotplug_seq)?;
    let btf = Btf::from_vmlinux().during("reading the kernel's type information")?;
    // Recorded decisions are made again on the views of the start, which must not change then.
    operations::trim(&mut open, &btf, !options.writes_decisions());
    operations::keep_last(&mut open, &btf, core);
    if options.verbose {
        for mut program in open.open_object_mut().progs_mut() {
            program.set_log_level(VERIFIER_STATISTICS);
        }
    }
    open.load().during("loading the scheduler into the kernel")
}

/// Starts the scheduler, which runs until the link is dropped.
pub(super) fn attach(skel: &mut AlightSkel<'_>) -> Result<Link, RunFailed> {
    let link = (skel.maps.alight_ops.attach_struct_ops()).during("starting the scheduler")?;
    (skel.progs.find_idle_cpus.test_run(ProgramInput::default()))
        .during("looking for idle CPUs")?;
    Ok(link)
}

/// Says once what happens to frequencies if the kernel cannot be told what CPUs need.
pub(super) fn say_frequency(skel: &AlightSkel<'_>, host: &Host) {
    let bss = skel.maps.bss_data.as_deref();
    if host.schedutil() && bss.is_some_and(|bss| bss.cpuperf_offered == 0) {
        say(
            "this kernel lacks scx_bpf_cpuperf_set: schedutil does not learn what CPUs need and \
             keeps them at their highest frequency",
        );
    }
}

/// The slice of a task that asks for none, ns: 0.7 ms scaled as the kernel scales it
/// (`sysctl_sched_base_slice`, kernel 6.8 and later; `get_update_sysctl_factor`).
pub(super) fn base_slice(host: &Host) -> u64 {
    700_000 * u64::from(1 + host.online.len().clamp(1, 8).ilog2())
}

/// The period of the kernel's tick, ns: the coarse clock advances at each tick.
fn tick() -> u64 {
    let period = rustix::time::clock_getres(rustix::time::ClockId::MonotonicCoarse);
    u64::try_from(period.tv_nsec).unwrap_or(0).max(1)
}

/// May a program that was loaded with `then` go on with the domains of `now`? The verifier removed
/// the code for threads, clusters and unequal capacities if there were none. If there are none any
/// more, because CPUs are offline, no domain leads to that code.
pub(super) fn still_holds(then: &Core, now: &Core) -> bool {
    let (a, b) = (&then.topology, &now.topology);
    a.nr_cpus == b.nr_cpus
        && a.max_capacity >= b.max_capacity
        && a.asym >= b.asym
        && a.smt >= b.smt
        && a.cluster >= b.cluster
        && then.perf == now.perf
}

/// Hands the views to the kernel side.
fn prepare(
    open: &mut OpenAlightSkel<'_>,
    (host, core): (&Host, &Core),
    options: &Options,
    hotplug_seq: u64,
) -> Result<(), RunFailed> {
    let nr_cpus = core.topology.nr_cpus;
    let rodata = open
        .maps
        .rodata_data
        .as_deref_mut()
        .expect("the program has constants");
    rodata.verify = options.writes_decisions();
    rodata.capacities_told = options.machine.is_some();
    rodata.energy_model = !core.perf.is_empty();
    rodata.exit_dump_bytes = options.exit_dump_len;
    rodata.nr_llcs = core.llcs.len() as u32;
    rodata.mask_bytes = nr_cpus.div_ceil(64) * 8;
    rodata.tick_ns = tick();
    rules::hand_over(&options.rules, rodata);
    // SAFETY: both are the same structures of policy/abi.h, of integers only.
    unsafe {
        hand_over(&[core.params], std::slice::from_mut(&mut rodata.params));
        hand_over(&[core.topology], std::slice::from_mut(&mut rodata.topology));
    }
    let bss = open
        .maps
        .bss_data
        .as_deref_mut()
        .expect("the program has variables");
    bss.rules_generation = 1;
    bss.base_slice = base_slice(host);
    let idle_tasks = vec![alight_policy::Task::default(); nr_cpus as usize];
    // SAFETY: as above.
    unsafe {
        hand_over(&core.domains, &mut bss.domains);
        hand_over(&core.groups, &mut bss.groups);
        hand_over(&core.places, &mut bss.places);
        hand_over(&core.cpus, &mut bss.cpus);
        hand_over(&core.llcs, &mut bss.llcs);
        hand_over(&core.perf, &mut bss.perf);
        hand_over(&idle_tasks, &mut bss.idle_tasks);
    }
    bss.nr_perf = core.perf.len() as u32;
    let dump_bytes = options.exit_dump_len;
    let ops = open.struct_ops.alight_ops_mut();
    ops.hotplug_seq = hotplug_seq;
    ops.exit_dump_len = dump_bytes;
    ops.timeout_ms = options.timeout_ms.unwrap_or(0);
    open.maps
        .exit_dump
        .set_value_size(dump_bytes)
        .during("sizing the dump")?;
    rules::size(&options.rules, &mut open.maps.cgroup_rules).during("sizing the rules")?;
    if options.writes_decisions() {
        open.maps
            .snapshots
            .set_max_entries(nr_cpus)
            .during("sizing the snapshots")?;
        open.maps
            .decisions
            .set_max_entries(RING_BYTES)
            .during("sizing the ring buffer")?;
    }
    Ok(())
}

/// Copies structures of `alight_policy` to the skeleton's twins of them.
///
/// # Safety
/// `From` and `To` are the same structure of policy/abi.h, of integers only.
unsafe fn hand_over<From: Copy, To>(from: &[From], to: &mut [To]) {
    const {
        assert!(size_of::<From>() == size_of::<To>());
        assert!(align_of::<From>() == align_of::<To>());
    }
    assert!(from.len() <= to.len());
    // SAFETY: the same layout, as the caller promises; the target is long enough.
    unsafe {
        std::ptr::copy_nonoverlapping(from.as_ptr(), to.as_mut_ptr().cast::<From>(), from.len());
    }
}
