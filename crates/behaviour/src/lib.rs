// SPDX-License-Identifier: GPL-2.0-only
//! Whole runs of the model compared with recordings of a kernel.
//!
//! A recording holds the switches and wakeups of a workload on a kernel. The model runs the same
//! workload on the same machine. The same figures are made of both: wakeups per second, latencies,
//! shares of CPUs.
//!
//! # What it owns
//!
//! | module | holds |
//! |---|---|
//! | [`recording`] | reads a recording: machine, workload, events |
//! | [`measures`] | makes figures of events |
//! | [`replayed`] | recordings of a workload held against replays of them; verdicts |
//! | [`predictions`] | differences between recordings, and what replays predicted of them |
//! | [`quantity`] | the tolerance of each figure, and the verdict |
//! | [`report`] | renders a [`BehaviourReport`] |
//!
//! # Who may use it
//!
//! `alight verify behaviour`. It uses `alight-compare`, the crates below it, and `alight-recording`.
//!
//! # Example
//!
//! The recording is of a stock kernel 6.1: three tasks of nice -5, 0 and 5 that always want the one
//! CPU.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use alight_behaviour::{KernelRun, compare};
//! use alight_recording::Reader;
//!
//! let mut reader = Reader::open("tests/recordings/nice-6.1.alight".as_ref())?;
//! let run = KernelRun::read(&mut reader)?;
//! assert_eq!(run.own_base()?.name, "linux-6.1");
//!
//! // `None`: the base whose rules the recorded kernel has.
//! let report = compare(&[run], None, &AtomicBool::new(false))?;
//! assert!(report.agrees());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod measures;
pub mod predictions;
pub mod quantity;
pub mod recording;
pub mod replayed;
pub mod report;

use std::collections::BTreeSet;
use std::io::BufRead;
use std::sync::atomic::AtomicBool;

use alight_machine::Machine;
use alight_policy::Scheduler;
use alight_policy::scheduler::{Base, Release};
use alight_recording::{Header, KernelVersion, Reader};
use alight_sim::Scenario;
use alight_workload::Workload;

use measures::{Gathered, Measurements, Nothing, Window, key};
use quantity::{Agreement, Quantity, RULES};
use recording::{Recorded, RecordingError};

/// Seeds of the model's runs: an odd number, for there is a median.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// Why nothing can be compared.
#[derive(Debug, thiserror::Error)]
pub enum NotComparable {
    /// The recording.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// A kernel of which no base is known.
    #[error("is of the kernel {0}; no base models its fair class: name a base with --scheduler")]
    Kernel(String),
    /// The kernel's run has no figures.
    #[error("the kernel's run cannot be judged: {0}")]
    Kernels(Nothing),
    /// The model's run has no figures.
    #[error("the model's run cannot be judged: {0}")]
    Models(Nothing),
    /// The simulation did not begin, or broke off.
    #[error("the workload cannot be simulated: {0}")]
    Simulation(#[from] alight_sim::Error),
}

/// The result of a comparison of a kernel with the model.
#[derive(Debug, Clone, PartialEq)]
pub struct BehaviourReport {
    /// `uname -r` of the kernel.
    pub kernel: String,
    /// It is newer than every base: what that means.
    pub beyond_bases: Option<String>,
    /// Its architecture.
    pub arch: String,
    /// The command that was recorded.
    pub workload: String,
    /// CPUs of the machine.
    pub cpus: usize,
    /// Name of the scheduler that was simulated.
    pub scheduler: String,
    /// Number of recordings.
    pub recordings: usize,
    /// What the kernel's figures are of; the first recording's.
    pub window: Window,
    /// Events of all recordings.
    pub events: u64,
    /// Costs of kernel paths that were measured, by key, ns: the medians over the recordings.
    pub costs: Vec<(&'static str, u32)>,
    /// The figures that were compared.
    pub quantities: Vec<Quantity>,
}

impl BehaviourReport {
    /// Number of quantities with this verdict.
    pub fn count(&self, verdict: Agreement) -> usize {
        (self.quantities.iter())
            .filter(|quantity| quantity.verdict == verdict)
            .count()
    }

    /// True if at least one quantity agrees and none disagrees.
    pub fn agrees(&self) -> bool {
        self.count(Agreement::Agree) > 0 && self.count(Agreement::Disagree) == 0
    }
}

/// The base whose rules are the nearest to a kernel's: the last that is not newer. `release`
/// (`uname -r`) is for the message.
///
/// # Errors
/// [`NotComparable::Kernel`]: no base models this kernel (below 3.9).
pub fn base_of(
    version: Option<KernelVersion>,
    release: &str,
) -> Result<&'static str, NotComparable> {
    let of = |version: KernelVersion| Base::nearest(Release::new(version.major, version.minor));
    match version.and_then(of) {
        Some(base) => Ok(base.name),
        None => Err(NotComparable::Kernel(release.to_owned())),
    }
}

/// What a report says of a recorded kernel that is newer than every base; `None`: it is not.
fn beyond_bases(header: &Header) -> Option<String> {
    let kernel = header.kernel_version()?;
    Release::new(kernel.major, kernel.minor).beyond_bases()
}

/// One run of a workload on a kernel.
#[derive(Debug)]
pub struct KernelRun {
    header: Header,
    machine: Machine,
    workload: Workload,
    wakee_flips: u32,
    window: Window,
    events: u64,
    figures: Measurements,
}

impl KernelRun {
    /// The run of a recording.
    ///
    /// # Errors
    /// [`NotComparable::Kernels`]: the recording is too short for figures.
    pub fn of(recorded: Recorded) -> Result<Self, NotComparable> {
        let nr_cpus = recorded.machine.cpus.len();
        let (window, figures) = (recorded.gathered)
            .measure(Some(recorded.root), nr_cpus)
            .map_err(NotComparable::Kernels)?;
        Ok(KernelRun {
            header: recorded.header,
            machine: recorded.machine,
            workload: recorded.workload,
            wakee_flips: recorded.wakee_flips,
            window,
            events: recorded.events,
            figures,
        })
    }

    /// Reads a recording to its end, then as [`KernelRun::of`].
    ///
    /// # Errors
    /// The recording is not whole; or as [`KernelRun::of`].
    pub fn read<R: BufRead>(reader: &mut Reader<R>) -> Result<Self, NotComparable> {
        Self::of(recording::read(reader)?)
    }

    /// True if both are runs of one workload on one kernel with the same number of CPUs.
    pub fn repeats(&self, other: &Self) -> bool {
        let (one, two) = (&self.header, &other.header);
        (&one.kernel, &one.arch, &one.command) == (&two.kernel, &two.arch, &two.command)
            && self.machine.cpus.len() == other.machine.cpus.len()
            && self.workload == other.workload
    }

    /// The base whose rules its kernel has.
    ///
    /// # Errors
    /// As [`base_of`].
    pub fn own_base(&self) -> Result<Scheduler, NotComparable> {
        let base = base_of(self.header.kernel_version(), &self.header.kernel)?;
        Ok(Scheduler::parse(base).expect("the bases are those of the core"))
    }
}

/// Puts a run beside those that it [repeats](KernelRun::repeats); the first of them says where they
/// are `from`.
pub fn add<T>(repeated: &mut Vec<(T, Vec<KernelRun>)>, from: T, run: KernelRun) {
    match repeated.iter_mut().find(|(_, runs)| runs[0].repeats(&run)) {
        Some((_, runs)) => runs.push(run),
        None => repeated.push((from, vec![run])),
    }
}

/// Compares the model with runs that [repeat](KernelRun::repeats) each other. The model follows
/// `scheduler`; `None`: the base of the recorded kernel. Each of its runs has the machine and the
/// `wakee_flips` of one recorded run.
///
/// # Errors
/// No base models the kernel; the workload cannot be simulated; the model's run has no figures.
///
/// # Panics
/// `runs` is empty.
pub fn compare(
    runs: &[KernelRun],
    scheduler: Option<&Scheduler>,
    cancel: &AtomicBool,
) -> Result<BehaviourReport, NotComparable> {
    let KernelRun { header, window, .. } = &runs[0];
    let machines: Vec<&Machine> = runs.iter().map(|run| &run.machine).collect();
    let scheduler = match scheduler {
        Some(scheduler) => scheduler,
        None => &runs[0].own_base()?,
    };
    let kernel: Vec<&Measurements> = runs.iter().map(|run| &run.figures).collect();
    let model = simulate(runs, scheduler, cancel)?;
    Ok(BehaviourReport {
        kernel: header.kernel.clone(),
        beyond_bases: beyond_bases(header),
        arch: header.arch.clone(),
        workload: header.command.clone(),
        cpus: machines[0].cpus.len(),
        scheduler: scheduler.name.clone(),
        recordings: runs.len(),
        window: *window,
        events: runs.iter().map(|run| run.events).sum(),
        costs: report::costs(&machines),
        quantities: quantities(&kernel, &model.iter().collect::<Vec<_>>()),
    })
}

/// The model's runs, one a seed, with what was measured before the kernel's, in turn: a kernel path
/// does not take the same time twice, and how a benchmark goes on can hang on a hundredth of it. Of
/// costs that never vary the model would have one such course for all of its seeds.
fn simulate(
    kernel: &[KernelRun],
    scheduler: &Scheduler,
    cancel: &AtomicBool,
) -> Result<Vec<Measurements>, NotComparable> {
    let mut runs = Vec::new();
    for (seed, of) in SEEDS.zip(kernel.iter().cycle()) {
        let scenario = Scenario {
            seed,
            wakee_flips: Some(of.wakee_flips),
            ..Scenario::new(&of.machine, std::slice::from_ref(&of.workload), scheduler)
        };
        let mut gathered = Gathered::default();
        alight_sim::run(&scenario, Some(&mut gathered), cancel)?;
        let (_, figures) = gathered
            .measure(None, of.machine.cpus.len())
            .map_err(NotComparable::Models)?;
        runs.push(figures);
    }
    Ok(runs)
}

pub(crate) fn quantities(kernel: &[&Measurements], model: &[&Measurements]) -> Vec<Quantity> {
    let sides = || kernel.iter().chain(model);
    let mut quantities = Vec::new();
    for rule in &RULES {
        let at = key(rule, None).0;
        let which: BTreeSet<Option<i32>> = sides()
            .flat_map(|figures| figures.keys())
            .filter(|(rule, _)| *rule == at)
            .map(|(_, of)| *of)
            .collect();
        // What neither side has is still said to be not measured.
        let which = if which.is_empty() {
            [None].into()
        } else {
            which
        };
        for of in which {
            let figure = |figures: &&Measurements| figures.get(&(at, of)).copied();
            let [kernel, model] =
                [kernel, model].map(|runs| runs.iter().map(figure).collect::<Vec<_>>());
            quantities.push(Quantity::judge(rule, of, &kernel, &model));
        }
    }
    quantities
}
