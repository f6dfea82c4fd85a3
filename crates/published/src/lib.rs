// SPDX-License-Identifier: GPL-2.0-only
//! Published experiments, run on the model as they were published, and the fit of a machine's costs.
//!
//! A [`Study`] is a file of `studies/`. It names the machine, the schedulers, the loads, and the
//! figures that were published. [`Study::run`] runs it and compares the results with the figures.
//!
//! # What it owns
//!
//! - The reader and the library of studies ([`parse`], [`load`]).
//! - The [`Answer`] and its reports and [`pictures`].
//! - [`calibrate`]: fits the costs of a machine to the figures published for the kernel *before* a
//!   policy, and to no other figure. The effect of the policy is a prediction of the model.
//! - [`Again`]: how far an answer moves with the costs that are left open ([`Open`]), and if a figure
//!   that it rests on moves ([`Sensitivity`]).
//! - [`outcomes()`]: what came out of the built-in studies when they last ran.
//!
//! # Who may use it
//!
//! `alight` (`study`, `calibrate`). It uses `alight-compare` and the crates below it.
//!
//! # Example
//!
//! ```
//! use alight_published::{load, names};
//!
//! assert!(names().contains(&"juno-sysbench"));
//! let study = load("juno-sysbench")?;
//! assert_eq!(study.machine, "juno-r0");
//! assert_eq!(study.runs.get(), 100);
//! // The mean of the base, as published. The machine's costs are fitted to it.
//! let events = &study.rows[0];
//! assert_eq!(events.before.and_then(|before| before.mean), Some(10267.76));
//! assert!(events.calibrates);
//! # Ok::<(), alight_published::StudyError>(())
//! ```

mod again;
mod answer;
mod base;
pub mod calibrate;
mod cut;
mod error;
mod grid;
mod html;
mod json;
mod lead;
mod library;
mod list;
mod markdown;
mod open;
mod outcomes;
mod picture;
mod read;
mod report;
mod sensitivity;
mod shape;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, Ordering};

use alight_compare::compare::{NoComparison, Question, Runner, compare};
use alight_compare::report::Style;
use alight_compare::spread::Spread;
use alight_machine::{Calibration, Governor, IdleGovernor, Trust};
use alight_policy::Scheduler;
use alight_sim::{Change, Scenario};
use alight_workload::Workload;
use serde::{Deserialize, Serialize};

pub use again::{Again, Prediction, Unanswered, Which};
pub use answer::{Answer, CaseAnswer, CheckOutcome, Value};
pub use base::{HAD_WITHIN, Off};
pub use cut::CutRuns;
pub use error::StudyError;
pub use html::page;
pub use json::{list_json, show_json};
pub use library::{load, names};
pub use list::list;
pub use open::Open;
pub use outcomes::{Outcome, Predicted, outcomes};
pub use picture::{Picture, pictures};
pub use read::{SCHEMA, parse};
pub use report::show;
pub use sensitivity::{MOVES, Moved, Sensitivity};

/// Runs of each scheduler for each move of a parameter, where a study does not have fewer: enough
/// to tell which way a prediction goes.
const MOVED_RUNS: NonZeroU32 = NonZeroU32::new(10).expect("not zero");

/// The styles of an answer.
pub const STYLES: [Style; 3] = [Style::Table, Style::Markdown, Style::Json];

/// The answer as text, ending in a newline.
///
/// # Panics
/// The style is none of [`STYLES`].
pub fn render(
    answer: &Answer<'_>,
    trust: &Trust,
    sensitivity: Option<&Sensitivity>,
    style: Style,
) -> String {
    let render = match style {
        Style::Table => report::render,
        Style::Markdown => markdown::render,
        Style::Json => json::render,
        other => other.is_none_of("a study"),
    };
    render(answer, trust, sensitivity)
}

/// A published experiment.
#[derive(Debug, Clone)]
pub struct Study {
    /// As typed after `alight study run`.
    pub name: String,
    /// Title, one line.
    pub title: String,
    /// The publication: title, authors, date.
    pub publication: String,
    /// Notes for the reader of the answer: substitutes, and their reasons.
    pub notes: Vec<String>,
    /// Name of the machine.
    pub machine: String,
    /// The schedulers. The first is the base, published as "before".
    pub schedulers: Vec<Scheduler>,
    /// Runs of each scheduler in each case, as published.
    pub runs: NonZeroU32,
    /// Runs of each scheduler in each case of a short run ([`Length::Short`]).
    pub short_runs: NonZeroU32,
    /// The loads that were run. Each has a table of its own.
    pub cases: Vec<Case>,
    /// The numbers that were measured.
    pub rows: Vec<Row>,
    /// The claims that the answer is checked against.
    pub checks: Vec<Check>,
}

/// Something that was run.
#[derive(Debug, Clone)]
pub struct Case {
    /// Short, unique in the study; empty in a study of one.
    pub name: String,
    /// As published.
    pub full: CaseLoad,
    /// As tests run it; like the above where the file does not say otherwise.
    pub short: CaseLoad,
    /// As each row of a sensitivity table runs it; likewise.
    pub moved: CaseLoad,
    /// What of it runs while costs are fitted, where the whole would take too long.
    pub part: Option<Part>,
    /// cpufreq governor; `None`: the machine's.
    pub governor: Option<Governor>,
    /// cpuidle governor; `None`: the machine's.
    pub idle_governor: Option<IdleGovernor>,
    /// From when on mechanism and energy count, if not from the start.
    pub changes: Vec<Change>,
    /// The time that a picture of it shows, from and to, ns; `None`: there is none.
    pub picture: Option<(u64, u64)>,
    /// What runs under schedulers that were measured with a load of their own.
    pub instead: Vec<Instead>,
}

/// The load of one scheduler, where the publication changed it with the scheduler.
#[derive(Debug, Clone)]
pub struct Instead {
    /// Whose.
    pub scheduler: String,
    /// As published.
    pub full: CaseLoad,
    /// As tests run it.
    pub short: CaseLoad,
}

impl Instead {
    fn extent(&self, length: Length) -> &CaseLoad {
        match length {
            Length::Full | Length::Moved => &self.full,
            Length::Short => &self.short,
        }
    }
}

/// How much of a study runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// All of it, as published.
    Full,
    /// What shows that it runs.
    Short,
    /// What shows which way a prediction goes, once for each move of each parameter.
    Moved,
}

/// What runs in a case of one length.
#[derive(Debug, Clone)]
pub struct CaseLoad {
    /// As typed after `-w`.
    pub commands: Vec<String>,
    /// The same, read.
    pub workloads: Vec<Workload>,
    /// End of each run, ns; `None`: when the workloads end.
    pub duration_ns: Option<u64>,
}

/// A part of a case that stands for the whole of it: its time, and what is summed up in it, times
/// all messages of the case by those that were written meanwhile; means and rates as they are.
#[derive(Debug, Clone, Copy)]
pub struct Part {
    /// From and to, ns.
    pub window: (u64, u64),
    /// Messages of the whole case.
    pub messages: u64,
    /// Runs of it, of the seeds from 1.
    pub runs: NonZeroU32,
}

/// A number of the publication, or one that it left to be predicted.
#[derive(Debug, Clone)]
pub struct Row {
    /// Its case; empty: each.
    pub case: String,
    /// Name of the metric.
    pub metric: String,
    /// What to call it.
    pub says: Option<String>,
    /// Published for the base.
    pub before: Option<Published>,
    /// Published for others, by scheduler: what predictions are held against, and nothing is fitted to.
    pub after: BTreeMap<String, Published>,
    /// The costs of the machine are fitted to it.
    pub calibrates: bool,
    /// Brings the row to the unit of the publication.
    pub unit: Option<Unit>,
}

impl Row {
    /// How a calibration's line about the row of this study begins: its name, and what was
    /// published of it.
    pub(crate) fn stated(&self, study: &str) -> String {
        let case = match self.case.as_str() {
            "" => String::new(),
            case => format!(" ({case})"),
        };
        let mean = self.before.and_then(|before| before.mean);
        let mean = mean.map_or_else(String::new, |mean| format!(": mean {mean} published,"));
        format!("{study}{case} {}{mean}", self.metric)
    }
}

/// The unit of a publication that states its figures relative to one of them.
#[derive(Debug, Clone)]
pub struct Unit {
    /// The metrics whose largest mean under the base has the value.
    pub of: Vec<String>,
    /// Of which case; empty: of the row's own.
    pub case: String,
    /// The value.
    pub is: f64,
}

/// What a publication states of a number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub std: Option<f64>,
    /// The least.
    pub min: Option<f64>,
    /// Median.
    pub p50: Option<f64>,
    /// Three quarters are not above it.
    pub p75: Option<f64>,
    /// 99 of a hundred are not above it.
    pub p99: Option<f64>,
    /// The most.
    pub max: Option<f64>,
}

impl Published {
    /// In the order of [`Summary::statistics`](alight_compare::stats::Summary::statistics).
    pub fn statistics(&self) -> [Option<f64>; 7] {
        let Published {
            mean,
            std,
            min,
            p50,
            p75,
            p99,
            max,
        } = *self;
        [mean, std, min, p50, p75, p99, max]
    }
}

/// A claim about the answer. It holds or fails.
#[derive(Debug, Clone)]
pub struct Check {
    /// The claim, one sentence.
    pub says: String,
    /// Its case; empty in a study of one.
    pub case: String,
    /// The metric whose mean over the runs is checked.
    pub metric: String,
    /// The scheduler whose mean is checked.
    pub scheduler: String,
    /// If given, the mean is taken relative to the mean of this scheduler, in percent.
    pub relative_to: Option<String>,
    /// The least value that passes; `None`: no limit.
    pub at_least: Option<f64>,
    /// The largest value that passes; `None`: no limit.
    pub at_most: Option<f64>,
    /// True if a short run is checked, too.
    pub in_short: bool,
}

/// How a study is run.
pub struct StudyQuestion<'a> {
    /// The settings that the study leaves open: the machine (with its own or other costs), the first
    /// seed, `wakee_flips`. The study's own settings replace the others.
    pub scenario: Scenario<'a>,
    /// How far the machine's figures can be trusted.
    pub trust: &'a Trust,
    /// How much of it.
    pub length: Length,
    /// Runs of each scheduler; `None`: what the length asks for.
    pub runs: Option<NonZeroU32>,
    /// The command that asks this again.
    pub command: String,
}

impl Study {
    /// Runs of each scheduler in each case.
    pub fn runs(&self, ask: &StudyQuestion<'_>) -> NonZeroU32 {
        // What takes too long to run more often than it was published is shortened where it moves.
        let shortened = self.cases.iter().any(|case| case.shortened().is_some());
        ask.runs.unwrap_or(match ask.length {
            Length::Full => self.runs,
            Length::Short => self.short_runs,
            Length::Moved if shortened => MOVED_RUNS,
            Length::Moved => self.runs.min(MOVED_RUNS),
        })
    }

    /// The rows that calibrate and are not among those that the machine's costs were fitted to.
    pub fn unfitted(&self, calibration: Option<&Calibration>) -> Vec<&Row> {
        let fitted = calibration.map_or(&[][..], |calibration| &calibration.rows);
        let waits = |row: &&Row| {
            let stated = row.stated(&self.name);
            row.calibrates && !fitted.iter().any(|line| line.starts_with(&stated))
        };
        self.rows.iter().filter(waits).collect()
    }

    /// Number of simulations: runs times schedulers times cases.
    pub fn jobs(&self, ask: &StudyQuestion<'_>) -> usize {
        self.runs(ask).get() as usize * self.schedulers.len() * self.cases.len()
    }

    /// Runs the cases, one after another.
    ///
    /// If `cancel` becomes true the answer has the complete cases, and the complete seeds of the case
    /// that was running.
    ///
    /// # Errors
    /// Those of [`compare`](alight_compare::compare()).
    pub fn run(
        &self,
        ask: &StudyQuestion<'_>,
        run: &Runner<'_>,
        how: Spread<'_>,
        cancel: &AtomicBool,
    ) -> Result<Answer<'_>, NoComparison> {
        let mut cases = vec![];
        for case in &self.cases {
            let question = case.question(self, &self.schedulers, ask);
            let run = |scenario: &Scenario<'_>, cancel: &AtomicBool, tell: &dyn Fn(u32)| {
                run(&case.as_measured(scenario, ask.length), cancel, tell)
            };
            match compare(&question, &run, how, cancel) {
                Ok(comparison) => cases.push(CaseAnswer { case, comparison }),
                Err(NoComparison::Interrupted) if !cases.is_empty() => break,
                Err(error) => return Err(error),
            }
            if cancel.load(Ordering::Relaxed) {
                break;
            }
        }
        Ok(Answer::of(self, ask, cases))
    }

    /// The first run of each scheduler in each case, and the name of the file for its trace.
    pub fn traces<'a>(
        &'a self,
        ask: &'a StudyQuestion<'a>,
    ) -> impl Iterator<Item = (String, Scenario<'a>)> {
        let of_case = move |case: &'a Case| {
            self.schedulers.iter().map(move |scheduler| {
                let file = file_of([&self.name, &case.name, &scheduler.name], "pftrace");
                let duration_ns = case.extent(ask.length).duration_ns;
                (file, case.first_run(scheduler, ask, duration_ns))
            })
        };
        self.cases.iter().flat_map(of_case)
    }

    /// The case of this name; every case has the name that is empty.
    pub fn case(&self, name: &str) -> Option<&Case> {
        self.cases
            .iter()
            .find(|case| name.is_empty() || case.name == name)
    }
}

/// The name of a file that belongs to parts of a study: those that have a name, in plain letters.
fn file_of(parts: [&str; 3], ending: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
        _ => '-',
    };
    let parts = parts.map(|part| part.trim_start_matches('+'));
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    let parts: Vec<String> = parts
        .map(|part| part.chars().map(plain).collect())
        .collect();
    format!("{}.{ending}", parts.join("-"))
}

impl Case {
    /// The run of `scheduler` with the first seed, as it is measured; it may be cut at `duration_ns`.
    fn first_run<'a>(
        &'a self,
        scheduler: &'a Scheduler,
        ask: &StudyQuestion<'a>,
        duration_ns: Option<u64>,
    ) -> Scenario<'a> {
        let scenario = Scenario {
            scheduler,
            duration_ns,
            // Of a run that is looked at, not counted.
            changes: &[],
            ..self.scenario(ask)
        };
        self.as_measured(&scenario, ask.length)
    }

    /// The case as it is asked.
    fn scenario<'a>(&'a self, ask: &StudyQuestion<'a>) -> Scenario<'a> {
        let extent = self.extent(ask.length);
        Scenario {
            workloads: &extent.workloads,
            governor: self.governor,
            idle_governor: self.idle_governor,
            duration_ns: extent.duration_ns,
            changes: &self.changes,
            ..ask.scenario
        }
    }

    fn extent(&self, length: Length) -> &CaseLoad {
        match length {
            Length::Full => &self.full,
            Length::Short => &self.short,
            Length::Moved => &self.moved,
        }
    }

    /// The scenario with the load that its scheduler was measured with.
    fn as_measured<'a>(&'a self, scenario: &Scenario<'a>, length: Length) -> Scenario<'a> {
        let name = &scenario.scheduler.name;
        let own = (self.instead.iter()).find(|one| one.scheduler == *name);
        let workloads = own.map_or(scenario.workloads, |own| &own.extent(length).workloads);
        Scenario {
            workloads,
            ..*scenario
        }
    }

    /// What ran for each move of a parameter, if that was not what is published.
    fn shortened(&self) -> Option<String> {
        (self.moved.commands != self.full.commands).then(|| self.moved.commands.join("; "))
    }

    pub(crate) fn question<'q>(
        &'q self,
        study: &Study,
        schedulers: &'q [Scheduler],
        ask: &StudyQuestion<'q>,
    ) -> Question<'q> {
        Question {
            scenario: Scenario {
                scheduler: &schedulers[0],
                ..self.scenario(ask)
            },
            trust: ask.trust,
            schedulers,
            runs: study.runs(ask),
            command: ask.command.clone(),
        }
    }
}
