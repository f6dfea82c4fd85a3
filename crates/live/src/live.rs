// SPDX-License-Identifier: GPL-2.0-only
//! Loads the scheduler into the kernel, and runs it until it is to end.

use crate::kernel;
use crate::replay::{Difference, Replay};
use crate::skeleton::{AlightSkel, AlightSkelBuilder, OpenAlightSkel, types};
use crate::sysfs;
use alight_policy::abi::rule;
use alight_policy::topology::{self, LevelKind, build};
use alight_policy::{Core, STEPS, Scheduler};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, MapCore, MapFlags, ProgramInput, RingBufferBuilder};
use std::cell::RefCell;
use std::mem::{MaybeUninit, offset_of};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Bytes of the ring buffer for written decisions; a power of two.
const RING_BYTES: u32 = 16 << 20;
/// How long one wait for decisions takes at most; interrupts are noticed after it.
const POLL: Duration = Duration::from_millis(100);
/// `scx_exit_info.kind` from which on the kernel ended the scheduler for an error.
const EXIT_ERROR: i32 = 1024;
/// Bit of the exit code by which the kernel asks to be loaded anew, for instance after CPU hotplug.
const EXIT_RESTART: i64 = 1 << 48;

/// What to run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Base kernel and features.
    pub scheduler: Scheduler,
    /// Write every decision down and make it again on the host.
    pub verify: bool,
    /// Levels whose groups can be power gated each for itself, for feature pack.
    pub power_gated: Vec<Gated>,
    /// When to end, if not by an interrupt.
    pub duration: Option<Duration>,
    /// Print libbpf's and the verifier's messages.
    pub verbose: bool,
}

/// A level of the topology, by the kernel's name of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Gated {
    /// Threads of a core.
    Smt,
    /// Clusters inside a cache.
    Cls,
    /// CPUs that share the last-level cache.
    Mc,
    /// A package.
    Pkg,
}

impl Gated {
    fn is(self, kind: LevelKind) -> bool {
        let named = match self {
            Gated::Smt => LevelKind::Smt,
            Gated::Cls => LevelKind::Cluster,
            Gated::Mc => LevelKind::Cache,
            Gated::Pkg => LevelKind::Package,
        };
        named == kind
    }
}

/// What a run did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Decisions made.
    pub decisions: u64,
    /// Of them, decisions made again and found equal.
    pub equal: u64,
    /// Of them, decisions that were not written down because the buffer was full.
    pub lost: u64,
    /// Equal decisions by the step that answered, in the order of [`alight_policy::STEPS`].
    pub steps: [u64; STEPS.len()],
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel does not offer what is needed.
    #[error(transparent)]
    Refused(#[from] kernel::Refusal),
    /// The scheduler needs what only the simulator has.
    #[error(
        "'{0}' cannot run in a kernel: full packing follows the load balancer, which is the \
         kernel's here; use pack=default"
    )]
    Unfit(String),
    /// The topology cannot be read.
    #[error(transparent)]
    Sysfs(#[from] sysfs::Error),
    /// No views can be built of the topology.
    #[error("this machine's topology: {0}")]
    Topology(#[from] topology::Error),
    /// libbpf or the kernel refused.
    #[error("{what}: {error}")]
    Bpf {
        /// What was tried.
        what: &'static str,
        /// What libbpf says.
        error: libbpf_rs::Error,
    },
    /// The kernel ended the scheduler.
    #[error("the kernel ended the scheduler: {reason}: {message}")]
    Ended {
        /// Kind of the end.
        reason: String,
        /// Details.
        message: String,
    },
    /// Decisions are missing that were not counted as lost.
    #[error("{missing} decisions were neither replayed nor counted as lost")]
    Missing {
        /// How many.
        missing: u64,
    },
    /// A decision came out differently on the host.
    #[error(transparent)]
    Different(#[from] Difference),
}

trait During<T> {
    fn during(self, what: &'static str) -> Result<T, Error>;
}

impl<T> During<T> for libbpf_rs::Result<T> {
    fn during(self, what: &'static str) -> Result<T, Error> {
        self.map_err(|error| Error::Bpf { what, error })
    }
}

/// How one load of the scheduler ended.
enum End {
    Done,
    /// CPUs came or went: load again with the new topology.
    Restart,
}

/// Runs until the time is up, `stop` is set, or something fails.
///
/// # Errors
/// If the scheduler cannot be loaded, the kernel ends it, or a decision differs.
pub fn run(options: &Options, stop: &AtomicBool) -> Result<Summary, Error> {
    let deadline = options.duration.map(|duration| Instant::now() + duration);
    let mut summary = Summary {
        decisions: 0,
        equal: 0,
        lost: 0,
        steps: [0; STEPS.len()],
    };
    while let End::Restart = run_once(options, deadline, stop, &mut summary)? {
        eprintln!("scx_alight: CPUs came or went; loading again");
    }
    Ok(summary)
}

/// BPF_LOG_STATS: how much the verifier had to look at.
const VERIFIER_STATISTICS: u32 = 4;

fn run_once(
    options: &Options,
    deadline: Option<Instant>,
    stop: &AtomicBool,
    summary: &mut Summary,
) -> Result<End, Error> {
    if options.scheduler.params.pack == rule::PACK_FULL {
        return Err(Error::Unfit(options.scheduler.name.clone()));
    }
    kernel::check()?;
    let hotplug_seq = kernel::hotplug_seq();
    let mut machine = sysfs::read(Path::new("/"))?;
    for level in &mut machine.levels {
        level.gated = options.power_gated.iter().any(|gated| gated.is(level.kind));
    }
    let mut core = build(&machine, &options.scheduler.params)?;
    // As the kernel side has it.
    core.root.uclamp_used = (options.scheduler.params.aggregate != rule::AGGREGATE_MAX).into();

    let mut object = MaybeUninit::uninit();
    let mut builder = AlightSkelBuilder::default();
    builder.object_builder_mut().debug(options.verbose);
    let mut open = builder
        .open(&mut object)
        .during("opening the BPF program")?;
    prepare(&mut open, &core, options, hotplug_seq)?;
    if options.verbose {
        for mut program in open.open_object_mut().progs_mut() {
            program.set_log_level(VERIFIER_STATISTICS);
        }
    }
    let mut skel = open
        .load()
        .during("loading the scheduler into the kernel")?;
    let link = (skel.maps.alight_ops.attach_struct_ops()).during("starting the scheduler")?;
    (skel.progs.find_idle_cpus.test_run(ProgramInput::default()))
        .during("looking for idle CPUs")?;

    let result = observe(&skel, link, core, deadline, stop, summary);
    count(&skel, summary)?;
    result?;
    let accounted = summary.equal + summary.lost;
    if options.verify && accounted != summary.decisions {
        let missing = summary.decisions.abs_diff(accounted);
        return Err(Error::Missing { missing });
    }
    end_of(&skel)
}

/// Hands the views to the kernel side.
fn prepare(
    open: &mut OpenAlightSkel<'_>,
    core: &Core,
    options: &Options,
    hotplug_seq: u64,
) -> Result<(), Error> {
    let nr_cpus = core.topology.nr_cpus;
    let rodata = open
        .maps
        .rodata_data
        .as_deref_mut()
        .expect("the program has constants");
    rodata.verify = options.verify;
    rodata.nr_llcs = core.llcs.len() as u32;
    rodata.mask_bytes = nr_cpus.div_ceil(64) * 8;
    hand_over(&[core.params], std::slice::from_mut(&mut rodata.params));
    hand_over(&[core.topology], std::slice::from_mut(&mut rodata.topology));
    let bss = open
        .maps
        .bss_data
        .as_deref_mut()
        .expect("the program has variables");
    hand_over(&core.domains, &mut bss.domains);
    hand_over(&core.groups, &mut bss.groups);
    hand_over(&core.places, &mut bss.places);
    hand_over(&core.cpus, &mut bss.cpus);
    hand_over(&core.llcs, &mut bss.llcs);
    let idle_task = alight_policy::Task::default();
    hand_over(&vec![idle_task; nr_cpus as usize], &mut bss.idle_tasks);
    open.struct_ops.alight_ops_mut().hotplug_seq = hotplug_seq;
    if options.verify {
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

/// Copies structures of `alight_policy` to the skeleton's twins of them: both
/// are `struct` of policy/model.h.
fn hand_over<From: Copy, To>(from: &[From], to: &mut [To]) {
    assert_eq!(size_of::<From>(), size_of::<To>());
    assert_eq!(align_of::<From>(), align_of::<To>());
    assert!(from.len() <= to.len());
    // SAFETY: same layout, integers only, and the target is long enough.
    unsafe {
        std::ptr::copy_nonoverlapping(from.as_ptr(), to.as_mut_ptr().cast::<From>(), from.len());
    }
}

/// Makes decisions again as they arrive, until the run is over; then drops `link`,
/// which ends the scheduler, and takes what it decided last.
fn observe(
    skel: &AlightSkel<'_>,
    link: Link,
    core: Core,
    deadline: Option<Instant>,
    stop: &AtomicBool,
    summary: &mut Summary,
) -> Result<(), Error> {
    let replay = RefCell::new(Replay::new(core));
    let difference = RefCell::new(None);
    let mut builder = RingBufferBuilder::new();
    builder
        .add(&skel.maps.decisions, |bytes| {
            let mut difference = difference.borrow_mut();
            if difference.is_none() {
                *difference = replay.borrow_mut().check(bytes).err();
            }
            0
        })
        .during("opening the ring buffer")?;
    let ring = builder.build().during("opening the ring buffer")?;
    loop {
        let interrupted = match ring.poll(POLL) {
            Err(error) if error.kind() == libbpf_rs::ErrorKind::Interrupted => true,
            result => {
                result.during("reading the ring buffer")?;
                false
            }
        };
        let over = deadline.is_some_and(|deadline| Instant::now() >= deadline)
            || stop.load(Ordering::Relaxed)
            || exit_kind(skel) != 0
            || difference.borrow().is_some();
        if over && !interrupted {
            break;
        }
    }
    drop(link);
    ring.consume().during("reading the ring buffer")?;
    drop(ring);
    let replay = replay.into_inner();
    summary.equal += replay.equal;
    for (sum, steps) in summary.steps.iter_mut().zip(replay.steps) {
        *sum += steps;
    }
    match difference.into_inner() {
        Some(difference) => Err(difference.into()),
        None => Ok(()),
    }
}

fn exit_kind(skel: &AlightSkel<'_>) -> i32 {
    skel.maps
        .bss_data
        .as_deref()
        .map_or(0, |bss| bss.ended.kind)
}

/// Sums the CPUs' counts.
fn count(skel: &AlightSkel<'_>, summary: &mut Summary) -> Result<(), Error> {
    let values = (skel.maps.works)
        .lookup_percpu(&0u32.to_ne_bytes(), MapFlags::ANY)
        .during("reading the counts")?
        .unwrap_or_default();
    let number = |value: &[u8], at: usize| {
        value
            .get(at..at + 8)
            .map_or(0, |b| u64::from_ne_bytes(b.try_into().unwrap_or_default()))
    };
    for value in &values {
        summary.decisions += number(value, offset_of!(types::work, decisions));
        summary.lost += number(value, offset_of!(types::work, lost));
    }
    Ok(())
}

/// Why the scheduler is no longer there.
fn end_of(skel: &AlightSkel<'_>) -> Result<End, Error> {
    let ended = &skel
        .maps
        .bss_data
        .as_deref()
        .expect("the program has variables")
        .ended;
    if ended.kind >= EXIT_ERROR {
        return Err(Error::Ended {
            reason: text(&ended.reason),
            message: text(&ended.message),
        });
    }
    if ended.code & EXIT_RESTART != 0 {
        return Ok(End::Restart);
    }
    Ok(End::Done)
}

/// A C string.
fn text(chars: &[i8]) -> String {
    let bytes: Vec<u8> = chars
        .iter()
        .map(|c| *c as u8)
        .take_while(|c| *c != 0)
        .collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_needs_the_simulators_balancer_is_refused_before_anything_is_loaded() {
        let options = Options {
            scheduler: Scheduler::parse("linux-6.5+pack=full").expect("a scheduler"),
            verify: false,
            power_gated: vec![Gated::Mc],
            duration: None,
            verbose: false,
        };
        let error = run(&options, &AtomicBool::new(false)).expect_err("refused");
        assert!(error.to_string().contains("use pack=default"), "{error}");
    }

    #[test]
    fn levels_go_by_the_kernels_names() {
        for (gated, kind) in [
            (Gated::Smt, LevelKind::Smt),
            (Gated::Cls, LevelKind::Cluster),
            (Gated::Mc, LevelKind::Cache),
            (Gated::Pkg, LevelKind::Package),
        ] {
            assert!(gated.is(kind));
            assert!(!gated.is(LevelKind::Numa { distance: 20 }));
        }
    }
}
