// SPDX-License-Identifier: GPL-2.0-only
//! The acceptance suite: the tests that Arm LISA runs on Linux, run on the model.
//!
//! Names and thresholds are those of LISA. An [`Entry`] is one of its scenarios.
//!
//! # What it owns
//!
//! 1. [`Entry::plans`] makes [`Plan`]s for a machine ([`Platform`]).
//! 2. [`record_all`] runs the plans and keeps what happened ([`TrialRecord`]).
//! 3. [`judge`] compares a record with the thresholds, at once or later: pass, fail or undecided.
//!
//! [`report`] renders verdicts.
//!
//! # Who may use it
//!
//! `alight suite`. It uses `alight-compare` and the crates below it.
//!
//! # Example
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use alight_compare::Spread;
//! use alight_policy::Scheduler;
//! use alight_suite::{cases, judge, named, record_all};
//!
//! let sheet = alight_machine::load("juno-r0")?;
//! let machines = [(sheet.machine.clone(), sheet.trust())];
//! let bases = [Scheduler::parse("linux-7.2")?];
//! let entry = named("SmallTaskPacking")?;
//!
//! let cases = cases(&[entry], &machines, &bases, 1);
//! let records = record_all(&cases, Spread::QUIET, &AtomicBool::new(false))?;
//! assert_eq!(records.len(), 1);
//! assert_eq!(judge(&records[0]).word(), "PASS");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod absent;
mod clocks;
pub mod eas;
pub mod energy;
mod hotplug;
mod load_tracking;
mod migration;
mod misfit;
pub mod observe;
mod packing;
pub mod pelt;
pub mod plan;
pub mod platform;
pub mod record;
pub mod report;
mod util_est;

use alight_machine::{Machine, Trust};
use alight_policy::Scheduler;
use alight_sim::Scenario;
use serde::{Deserialize, Serialize};

pub use observe::Seen;
pub use plan::Plan;
pub use platform::Platform;
pub use record::{Trial, TrialRecord, record_all};

/// A scenario, by LISA's name.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// LISA's name.
    pub name: &'static str,
    /// The family that it belongs to.
    pub family: Family,
    /// The question that it asks, one line.
    pub about: &'static str,
    /// What must hold, in the order in which it is printed.
    pub limits: &'static [Limit],
    /// The runs on a machine; the error is the reason why there are none.
    pub plans: fn(&Platform) -> Result<Vec<Plan>, String>,
    /// The figures of the runs, by [`Limit::test`]; the error is the reason why there are none.
    pub judge: fn(&Platform, &[Observed]) -> Result<Vec<TestFigure>, String>,
}

/// A family of scenarios.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Energy-aware placement.
    EnergyAware,
    /// Load tracking.
    LoadTracking,
    /// Misfit tasks, packing, migration.
    Migration,
    /// Clamps, frequencies, capacities.
    Clocks,
    /// CPU hotplug.
    Hotplug,
}

impl Family {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Family::EnergyAware => "energy-aware placement",
            Family::LoadTracking => "load tracking",
            Family::Migration => "misfit, packing, migration",
            Family::Clocks => "clamps and clocks",
            Family::Hotplug => "hotplug",
        }
    }
}

/// A threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// LISA's test method, without `test_`.
    pub test: &'static str,
    /// The quantity that is measured.
    pub what: &'static str,
    /// Unit, empty for counts.
    pub unit: &'static str,
    /// The threshold, in thousandths of the unit.
    pub bound: Bound,
    /// The reason for this threshold.
    pub reason: &'static str,
}

/// In which direction a threshold limits, thousandths of the unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// No more.
    AtMost(i64),
    /// No less.
    AtLeast(i64),
}

impl Bound {
    fn holds(self, milli: i64) -> bool {
        match self {
            Bound::AtMost(most) => milli <= most,
            Bound::AtLeast(least) => milli >= least,
        }
    }
}

/// A run and what was planned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// The plan.
    pub plan: Plan,
    /// The events that were observed.
    pub seen: Seen,
}

/// The figure of one test: the worst of its items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestFigure {
    /// [`Limit::test`].
    pub test: &'static str,
    /// The item: a task or a CPU; may be empty.
    pub of: String,
    /// Thousandths of the limit's unit.
    pub milli: i64,
}

/// A figure that a verdict rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JudgedFigure {
    /// Test, quantity, threshold and its reason.
    #[serde(flatten)]
    pub limit: Limit,
    /// The task or CPU; may be empty.
    pub of: String,
    /// The figure, thousandths of the unit.
    pub milli: i64,
    /// It is within the threshold.
    pub holds: bool,
}

/// The answer to a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "verdict", rename_all = "UPPERCASE")]
pub enum ScenarioVerdict {
    /// All held.
    Pass {
        /// Every figure.
        figures: Vec<JudgedFigure>,
    },
    /// Something did not.
    Fail {
        /// Every figure.
        figures: Vec<JudgedFigure>,
    },
    /// It cannot be said.
    Undecided {
        /// Why.
        why: String,
    },
}

impl ScenarioVerdict {
    /// `PASS`, `FAIL` or `UNDECIDED`.
    pub fn word(&self) -> &'static str {
        match self {
            ScenarioVerdict::Pass { .. } => "PASS",
            ScenarioVerdict::Fail { .. } => "FAIL",
            ScenarioVerdict::Undecided { .. } => "UNDECIDED",
        }
    }

    /// The figures that it rests on.
    pub fn figures(&self) -> &[JudgedFigure] {
        match self {
            ScenarioVerdict::Pass { figures } | ScenarioVerdict::Fail { figures } => figures,
            ScenarioVerdict::Undecided { .. } => &[],
        }
    }
}

/// All scenarios, by family.
pub fn entries() -> Vec<&'static Entry> {
    let groups: [&[Entry]; 9] = [
        &eas::ENTRIES,
        &load_tracking::ENTRIES,
        &util_est::ENTRIES,
        &migration::ENTRIES,
        &misfit::ENTRIES,
        &packing::ENTRIES,
        &clocks::ENTRIES,
        &hotplug::ENTRIES,
        &absent::ENTRIES,
    ];
    groups.into_iter().flatten().collect()
}

/// Where all scenarios are asked: asymmetric machines, and one with NUMA nodes.
pub const MACHINES: [&str; 6] = [
    "juno-r0",
    "juno-r2",
    "sdm845",
    "rk3588",
    "gs101",
    "epyc-9654-2s",
];
/// The bases that all scenarios are asked of.
pub const BASES: [&str; 2] = ["linux-6.5", "linux-7.2"];

/// Each of these scenarios on each machine under each base, in this order, at one seed.
pub fn cases<'a>(
    entries: &[&'a Entry],
    machines: &'a [(Machine, Trust)],
    bases: &'a [Scheduler],
    seed: u64,
) -> Vec<Trial<'a>> {
    let mut cases = vec![];
    for &entry in entries {
        for (machine, trust) in machines {
            let of = |scheduler| Trial {
                entry,
                scenario: Scenario {
                    seed,
                    ..Scenario::new(machine, &[], scheduler)
                },
                trust,
            };
            cases.extend(bases.iter().map(of));
        }
    }
    cases
}

/// The scenario that a user names.
///
/// # Errors
/// No scenario has this name. The message lists the nearest names.
pub fn named(name: &str) -> Result<&'static Entry, String> {
    find(name).ok_or_else(|| {
        let likeness = |entry: &Entry| strsim::jaro_winkler(name, entry.name);
        let mut nearest = entries();
        nearest.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
        let nearest: Vec<&str> = nearest.iter().take(3).map(|entry| entry.name).collect();
        format!(
            "no scenario '{name}'; the nearest: {}; `alight suite list` shows all",
            nearest.join(", ")
        )
    })
}

/// The scenario of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    entries().into_iter().find(|entry| entry.name == name)
}

/// The verdict on a record, by the thresholds of this program, which may be newer than the record.
pub fn judge(record: &TrialRecord) -> ScenarioVerdict {
    let undecided = |why: String| ScenarioVerdict::Undecided { why };
    let Some(entry) = find(&record.scenario) else {
        return undecided(format!("no scenario is named '{}'", record.scenario));
    };
    let runs = match (&record.runs, &record.why) {
        (runs, None) => runs,
        (_, Some(why)) => return undecided(why.clone()),
    };
    match (entry.judge)(&record.platform, runs) {
        Err(why) => undecided(why),
        Ok(measured) => verdict(entry, measured),
    }
}

/// The verdicts on these records.
pub fn judge_all(records: Vec<TrialRecord>) -> Vec<(TrialRecord, ScenarioVerdict)> {
    let judged = records.into_iter().map(|record| {
        let verdict = judge(&record);
        (record, verdict)
    });
    judged.collect()
}

/// The number of failed scenarios.
pub fn failed(judged: &[(TrialRecord, ScenarioVerdict)]) -> usize {
    let fails = |(_, verdict): &&(TrialRecord, ScenarioVerdict)| {
        matches!(verdict, ScenarioVerdict::Fail { .. })
    };
    judged.iter().filter(fails).count()
}

/// Of each limit the worst figure; without one nothing can be said.
fn verdict(entry: &Entry, measured: Vec<TestFigure>) -> ScenarioVerdict {
    let mut figures = vec![];
    for &limit in entry.limits {
        let of_test = measured.iter().filter(|one| one.test == limit.test);
        let worst = match limit.bound {
            Bound::AtMost(_) => of_test.max_by_key(|one| one.milli),
            Bound::AtLeast(_) => of_test.min_by_key(|one| one.milli),
        };
        let Some(worst) = worst else {
            return ScenarioVerdict::Undecided {
                why: format!("nothing was measured for {}", limit.test),
            };
        };
        figures.push(JudgedFigure {
            limit,
            of: worst.of.clone(),
            milli: worst.milli,
            holds: limit.bound.holds(worst.milli),
        });
    }
    match figures.iter().all(|figure| figure.holds) {
        true => ScenarioVerdict::Pass { figures },
        false => ScenarioVerdict::Fail { figures },
    }
}

#[cfg(test)]
mod tests;
