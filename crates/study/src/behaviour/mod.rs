// SPDX-License-Identifier: GPL-2.0-only
//! Behaviour: what a kernel did with a workload, and what the model does with
//! the same one on the same machine, by the same figures.
//!
//! [`recording`] reads what the kernel did, [`measures`] makes figures of
//! events, [`quantity`] says how near the two must be, [`report`] tells it.

pub mod measures;
pub mod quantity;
pub mod recording;
pub mod report;

use std::collections::BTreeSet;
use std::io::BufRead;
use std::sync::atomic::AtomicBool;

use alight_policy::Scheduler;
use alight_recording::{KernelVersion, Reader};
use alight_sim::Scenario;

use measures::{Figures, Gathered, Nothing, Window, key};
use quantity::{Quantity, RULES, Verdict};
use recording::Recorded;

/// Seeds of the model's runs: an odd number, for there is a median.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// Of a kernel between two bases, the earlier one's fair class is nearer; below the first there is none.
const BASES: [((u32, u32), &str); 6] = [
    ((3, 9), "linux-3.9"),
    ((5, 4), "linux-5.4"),
    ((5, 5), "linux-5.5"),
    ((6, 1), "linux-6.1"),
    ((6, 5), "linux-6.5"),
    ((7, 2), "linux-7.2"),
];
/// EEVDF begins here: 6.6 to 7.1 have it, and no base of their own.
const EEVDF: KernelVersion = KernelVersion { major: 6, minor: 6 };

/// Why nothing can be compared.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The recording.
    #[error(transparent)]
    Recording(#[from] recording::Error),
    /// A kernel of which no base is known.
    #[error("is of the kernel {0}, whose fair class no base models: name one by --scheduler")]
    Kernel(String),
    /// The kernel's run has no figures.
    #[error("of the kernel's run nothing can be said: {0}")]
    Kernels(Nothing),
    /// The model's run has no figures.
    #[error("of the model's run nothing can be said: {0}")]
    Models(Nothing),
    /// The simulation did not begin, or broke off.
    #[error("the workload cannot be simulated: {0}")]
    Simulation(#[from] alight_sim::Error),
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// `uname -r` of the kernel.
    pub kernel: String,
    /// Its architecture.
    pub arch: String,
    /// What ran.
    pub workload: String,
    /// CPUs of the machine.
    pub cpus: usize,
    /// What was simulated.
    pub scheduler: String,
    /// What the kernel's figures are of.
    pub window: Window,
    /// Events of the recording.
    pub events: u64,
    /// Costs that were measured, by key, ns.
    pub costs: Vec<(&'static str, u32)>,
    /// What was compared.
    pub quantities: Vec<Quantity>,
}

impl Report {
    /// How many quantities became what.
    pub fn count(&self, verdict: Verdict) -> usize {
        (self.quantities.iter())
            .filter(|quantity| quantity.verdict == verdict)
            .count()
    }

    /// Something was compared, and nothing disagrees.
    pub fn agrees(&self) -> bool {
        self.count(Verdict::Agree) > 0 && self.count(Verdict::Disagree) == 0
    }
}

/// The base whose rules a kernel has.
///
/// # Errors
/// None has.
pub fn base_of(version: Option<KernelVersion>, release: &str) -> Result<&'static str, Error> {
    let unknown = || Error::Kernel(release.to_owned());
    let version = version.ok_or_else(unknown)?;
    let of = |&((major, minor), name): &((u32, u32), &'static str)| {
        (KernelVersion { major, minor } <= version).then_some((major, name))
    };
    let (major, name) = BASES.iter().rev().find_map(of).ok_or_else(unknown)?;
    if major < 7 && version >= EEVDF {
        return Err(unknown());
    }
    Ok(name)
}

/// Holds the model against a recording, by the rules of its kernel or those of `scheduler`.
///
/// # Errors
/// The recording is not whole or cannot be simulated.
pub fn verify<R: BufRead>(
    reader: &mut Reader<R>,
    scheduler: Option<&Scheduler>,
    cancel: &AtomicBool,
) -> Result<Report, Error> {
    let recorded = recording::read(reader)?;
    let own;
    let scheduler = match scheduler {
        Some(scheduler) => scheduler,
        None => {
            let header = &recorded.header;
            let base = base_of(header.kernel_version(), &header.kernel)?;
            own = Scheduler::parse(base).expect("the bases are those of the core");
            &own
        }
    };
    compare(recorded, scheduler, cancel)
}

/// Holds the model against what was recorded.
///
/// # Errors
/// The workload cannot be simulated; one side has nothing to compare.
pub fn compare(
    recorded: Recorded,
    scheduler: &Scheduler,
    cancel: &AtomicBool,
) -> Result<Report, Error> {
    let Recorded {
        header,
        machine,
        workload,
        root,
        gathered,
        events,
    } = recorded;
    let nr_cpus = machine.cpus.len();
    let (window, kernel) = gathered
        .measure(Some(root), nr_cpus)
        .map_err(Error::Kernels)?;
    let workloads = [workload];
    let mut runs = Vec::new();
    for seed in SEEDS {
        let scenario = Scenario {
            machine: &machine,
            workloads: &workloads,
            scheduler,
            governor: None,
            idle_governor: None,
            seed,
            duration_ns: None,
            groups: &[],
            clamps: Default::default(),
            changes: &[],
            check: false,
        };
        let mut gathered = Gathered::default();
        alight_sim::run(&scenario, Some(&mut gathered), cancel)?;
        let (_, figures) = gathered.measure(None, nr_cpus).map_err(Error::Models)?;
        runs.push(figures);
    }
    Ok(Report {
        kernel: header.kernel,
        arch: header.arch,
        workload: header.command,
        cpus: nr_cpus,
        scheduler: scheduler.name.clone(),
        window,
        events,
        costs: report::costs(&machine),
        quantities: quantities(&kernel, &runs),
    })
}

fn quantities(kernel: &Figures, runs: &[Figures]) -> Vec<Quantity> {
    let sides = || std::iter::once(kernel).chain(runs);
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
            let figure = |figures: &Figures| figures.get(&(at, of)).copied();
            let of_runs: Vec<_> = runs.iter().map(figure).collect();
            quantities.push(Quantity::judge(rule, of, figure(kernel), &of_runs));
        }
    }
    quantities
}
