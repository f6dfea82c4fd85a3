// SPDX-License-Identifier: GPL-2.0-only
//! A comparison: schedulers on one machine under one load. Each scheduler runs once at each seed.
//! Runs at one seed share their noise, so the difference of a pair shows the scheduler.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};

use alight_machine::Trust;
use alight_policy::{STEPS, Scheduler};
use alight_sim::{AtFault, Fault, Outcome, Scenario};

use crate::header::ComparisonHeader;
use crate::inert;
use crate::metrics::{Key, named};
use crate::selection::Selection;
use crate::spread::{NoResults, Spread, spread};
use crate::stats::{CONFIDENCE, Delta, Summary, mean};
use crate::stopped::Stopped;

/// A comparison to make.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// The first run of the base. All other runs differ from it in scheduler and seed alone.
    pub scenario: Scenario<'a>,
    /// How far the machine's figures can be trusted.
    pub trust: &'a Trust,
    /// The schedulers, two or more. The first is the base of all differences.
    pub schedulers: &'a [Scheduler],
    /// Runs of each scheduler. Run `i` has the seed `scenario.seed + i`, from `i` = 0.
    pub runs: NonZeroU32,
    /// The command line that repeats this comparison, for reports.
    pub command: String,
}

impl<'a> Question<'a> {
    /// Number of runs in all: schedulers times runs of each.
    pub fn jobs(&self) -> usize {
        self.runs.get() as usize * self.schedulers.len()
    }

    /// Whether there are `least` schedulers, and a seed for each run.
    pub(crate) fn check(&self, least: usize) -> Result<(), NoComparison> {
        if self.schedulers.len() < least {
            return Err(NoComparison::TooFew(self.schedulers.len()));
        }
        let (seed, runs) = (self.scenario.seed, self.runs.get());
        match seed.checked_add(u64::from(runs) - 1) {
            None => Err(NoComparison::Seeds { seed, runs }),
            Some(_) => Ok(()),
        }
    }

    /// The run number `job`, 0 to [`Question::jobs`] - 1. The order is seed by seed, so that an
    /// interruption leaves whole pairs.
    pub fn run(&self, job: usize) -> Scenario<'a> {
        Scenario {
            scheduler: &self.schedulers[job % self.schedulers.len()],
            seed: self.scenario.seed + (job / self.schedulers.len()) as u64,
            ..self.scenario
        }
    }
}

/// Simulates one scenario, and tells how much of it is done: [`simulate`], or what a test puts in its
/// place.
pub type Runner<'a> = dyn Fn(&Scenario<'_>, &AtomicBool, &dyn Fn(u32)) -> Result<Outcome, alight_sim::Error>
    + Sync
    + 'a;

/// Simulates one scenario without a trace: the usual [`Runner`].
///
/// # Errors
/// As [`alight_sim::run()`].
pub fn simulate(
    scenario: &Scenario<'_>,
    cancel: &AtomicBool,
    tell: &dyn Fn(u32),
) -> Result<Outcome, alight_sim::Error> {
    alight_sim::run_telling(scenario, None, cancel, tell)
}

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum NoComparison {
    /// Fewer than two schedulers.
    #[error("a comparison needs two schedulers or more, found {0}")]
    TooFew(usize),
    /// The last seed would not be a 64-bit number.
    #[error(
        "seed {seed} with {runs} runs: the last seed exceeds {}; use a smaller seed",
        u64::MAX
    )]
    Seeds {
        /// Seed of the first run.
        seed: u64,
        /// Runs.
        runs: u32,
    },
    /// The number that is to be known is reported by no run.
    #[error("--until {0}: no run has this number")]
    NoMetric(String),
    /// Interrupted too early.
    #[error("interrupted before every scheduler had finished a run: nothing to compare")]
    Interrupted,
    /// A run failed, or its thread did not start.
    #[error(transparent)]
    Run(#[from] NoResults<alight_sim::Error>),
}

impl AtFault for NoComparison {
    fn fault(&self) -> Fault {
        match self {
            NoComparison::TooFew(_) | NoComparison::Seeds { .. } | NoComparison::NoMetric(_) => {
                Fault::Input
            }
            NoComparison::Interrupted => Fault::Interrupt,
            NoComparison::Run(error) => error.fault(),
        }
    }
}

/// The answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The conditions of the comparison.
    pub header: ComparisonHeader,
    /// The seeds whose runs are complete for every scheduler, rising.
    pub seeds: Vec<u64>,
    /// The schedulers' results. The first is the base.
    pub variants: Vec<Variant>,
    /// How the runs ended, if they were to end when a number is known.
    pub stopped: Option<Stopped>,
}

/// One scheduler's runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// The label of the scheduler.
    pub scheduler: String,
    /// The first before it that follows the same rules under another label, or under this one: their
    /// runs are the same.
    pub same_as: Option<String>,
    /// Hash over the identities of its runs, in the order of seeds.
    pub hash: u64,
    /// End of its first run, ns of simulated time.
    pub end_ns: u64,
    /// Why its runs are the base's, event for event; `None`: they are not, or it is the base.
    pub inert: Option<String>,
    /// Its numbers: results, energy, mechanism.
    pub series: Vec<Series>,
    /// Decisions per run by step, in the order of [`STEPS`], means.
    pub steps: [f64; STEPS.len()],
}

/// One number over the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name, unit and direction of the number.
    pub key: Key,
    /// Its value in each run, in the order of seeds; `None` where a run has none.
    pub samples: Vec<Option<f64>>,
    /// Summary of the samples.
    pub summary: Summary,
    /// The difference from the base; `None`: this is the base, or no run of both has the number.
    pub delta: Option<Delta>,
}

impl Comparison {
    /// The base, to which all differences refer.
    pub fn base(&self) -> &Variant {
        &self.variants[0]
    }

    /// The schedulers that were compared with the base.
    pub fn others(&self) -> &[Variant] {
        &self.variants[1..]
    }

    /// Every number that some scheduler has, by kind: those of the base first.
    pub fn keys(&self) -> Vec<&Key> {
        let mut keys: Vec<&Key> = Vec::new();
        for series in self.variants.iter().flat_map(|variant| &variant.series) {
            if !keys.iter().any(|known| known.name == series.key.name) {
                keys.push(&series.key);
            }
        }
        keys.sort_by_key(|key| key.kind);
        keys
    }

    /// Keeps the numbers that `selection` names, and drops the others.
    pub fn only(mut self, selection: &Selection) -> Self {
        for variant in &mut self.variants {
            (variant.series).retain(|series| selection.has(&series.key.name));
        }
        self
    }

    /// True if fewer runs are complete than were asked for.
    pub fn interrupted(&self) -> bool {
        self.seeds.len() < self.header.runs as usize
    }
}

impl Series {
    /// Number of runs that have this number.
    pub fn present(&self) -> usize {
        self.samples.iter().flatten().count()
    }
}

impl Variant {
    /// The number of this name, such as `events`; `None`: no run has it.
    pub fn series(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.key.name == name)
    }
}

/// Runs every scheduler at every seed, and compares the others with the first.
///
/// If `cancel` becomes true no further run begins, and the seeds that are complete for every
/// scheduler are compared.
///
/// # Errors
/// - [`NoComparison::TooFew`]: fewer than two schedulers;
/// - [`NoComparison::Seeds`]: the last seed is no 64-bit number;
/// - [`NoComparison::Interrupted`]: `cancel` came before the first seed was complete;
/// - [`NoComparison::Run`]: a run failed.
pub fn compare(
    question: &Question<'_>,
    run: &Runner<'_>,
    how: Spread<'_>,
    cancel: &AtomicBool,
) -> Result<Comparison, NoComparison> {
    question.check(2)?;
    measure(question, run, how, cancel)
}

/// As [`compare`], and also for a single scheduler, which then has no differences.
///
/// # Errors
/// As [`compare`], without [`NoComparison::TooFew`].
pub fn measure(
    question: &Question<'_>,
    run: &Runner<'_>,
    how: Spread<'_>,
    cancel: &AtomicBool,
) -> Result<Comparison, NoComparison> {
    question.check(1)?;
    let outcomes = spread(question.jobs(), how, |job, tell| {
        if cancel.load(Ordering::Relaxed) {
            return Ok(None);
        }
        let outcome = run(&question.run(job), cancel, tell)?;
        Ok((!outcome.interrupted).then_some(outcome))
    })?;
    assemble(question, outcomes)
}

/// From the outcomes, seed by seed, to the comparison of those seeds that all schedulers finished.
pub(crate) fn assemble(
    question: &Question<'_>,
    outcomes: Vec<Option<Outcome>>,
) -> Result<Comparison, NoComparison> {
    assemble_at(1.0 - CONFIDENCE, question, &outcomes)
}

/// The same with intervals that miss with probability `error`.
pub(crate) fn assemble_at(
    error: f64,
    question: &Question<'_>,
    outcomes: &[Option<Outcome>],
) -> Result<Comparison, NoComparison> {
    let schedulers = question.schedulers;
    let mut seeds = Vec::new();
    let mut by_scheduler: Vec<Vec<&Outcome>> = vec![Vec::new(); schedulers.len()];
    for (run, outcomes) in outcomes.chunks(schedulers.len()).enumerate() {
        let complete: Option<Vec<&Outcome>> = outcomes.iter().map(Option::as_ref).collect();
        if let Some(complete) = complete {
            seeds.push(question.scenario.seed + run as u64);
            for (list, outcome) in by_scheduler.iter_mut().zip(complete) {
                list.push(outcome);
            }
        }
    }
    if seeds.is_empty() {
        return Err(NoComparison::Interrupted);
    }
    let mut variants: Vec<Variant> = schedulers
        .iter()
        .zip(&by_scheduler)
        .enumerate()
        .map(|(place, (scheduler, outcomes))| {
            let same = (schedulers[..place].iter()).find(|other| other.is_same_run(scheduler));
            Variant {
                same_as: same.map(|other| other.name.clone()),
                ..describe(scheduler, outcomes)
            }
        })
        .collect();
    let (base, others) = variants.split_at_mut(1);
    for series in (others.iter_mut()).flat_map(|other| &mut other.series) {
        series.delta = base[0]
            .series(&series.key.name)
            .and_then(|base| Delta::at(error, &pairs(base, series)));
    }
    for (scheduler, other) in schedulers[1..].iter().zip(others) {
        if other.hash == base[0].hash {
            let why = inert::why(&schedulers[0], scheduler, &question.scenario);
            other.inert = Some(why.unwrap_or_else(|| CHANCE.to_owned()));
        }
    }
    Ok(Comparison {
        header: ComparisonHeader::of(question),
        seeds,
        variants,
        stopped: None,
    })
}

/// Of two bases that did the same in every run.
const CHANCE: &str = "the two bases did the same here";

fn describe(scheduler: &Scheduler, outcomes: &[&Outcome]) -> Variant {
    let runs: Vec<Vec<(Key, f64)>> = outcomes.iter().map(|outcome| named(outcome)).collect();
    let mut keys: Vec<&Key> = Vec::new();
    for (key, _) in runs.iter().flatten() {
        if !keys.iter().any(|known| known.name == key.name) {
            keys.push(key);
        }
    }
    keys.sort_by_key(|key| key.kind);
    let series = keys.iter().filter_map(|key| {
        let samples: Vec<Option<f64>> = runs.iter().map(|run| value(run, &key.name)).collect();
        let present: Vec<f64> = samples.iter().flatten().copied().collect();
        Some(Series {
            key: (*key).clone(),
            summary: Summary::of(&present)?,
            samples,
            delta: None,
        })
    });
    let per_run = |step: usize| -> Vec<f64> {
        let counts = outcomes.iter().map(|outcome| outcome.steps[step] as f64);
        counts.collect()
    };
    Variant {
        scheduler: scheduler.name.clone(),
        same_as: None,
        inert: None,
        hash: combine(outcomes.iter().map(|outcome| outcome.hash)),
        end_ns: outcomes.first().map_or(0, |outcome| outcome.end_ns),
        series: series.collect(),
        steps: std::array::from_fn(|step| mean(&per_run(step)).unwrap_or(0.0)),
    }
}

fn value(run: &[(Key, f64)], name: &str) -> Option<f64> {
    run.iter()
        .find(|(key, _)| key.name == name)
        .map(|(_, value)| *value)
}

/// The values of the runs that both have, (base, other), in the order of seeds.
pub(crate) fn pairs(base: &Series, other: &Series) -> Vec<(f64, f64)> {
    let samples = base.samples.iter().zip(&other.samples);
    samples
        .filter_map(|(base, other)| base.zip(*other))
        .collect()
}

/// FNV-1a over the bytes of the hashes, lowest first.
fn combine(hashes: impl Iterator<Item = u64>) -> u64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    hashes.flat_map(u64::to_le_bytes).fold(BASIS, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    })
}

#[cfg(test)]
mod tests;
