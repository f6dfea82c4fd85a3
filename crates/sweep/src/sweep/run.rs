// SPDX-License-Identifier: GPL-2.0-only
//! Runs of a cell. What a batch gives is independent of where and when it ran: it can be computed
//! on another machine and sent home as JSON.

use std::borrow::Cow;
use std::sync::atomic::AtomicBool;

use alight_compare::metrics::{all_names, named};
use alight_compare::{Runner, Selection};
use alight_machine::{Machine, vary};
use alight_policy::STEPS;
use alight_sim::{AtFault, Fault, Outcome, Scenario, WHOLE};
use serde::{Deserialize, Serialize};

use super::load::figure_setting;
use super::{Cell, Sweep};

/// Some runs of a cell: each of its settings at each of some seeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Number of the cell.
    pub cell: u64,
    /// The first run, from 0: its seed is that of the sweep and so many more.
    pub first_run: u32,
    /// Number of runs of each setting, 1 or more.
    pub runs: u32,
}

/// What became of a batch. It is the same after a while as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Done {
    /// It ran.
    Ran(BatchResult),
    /// Its cell cannot run.
    Refused(Refusal),
}

/// A cell that cannot run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The batch that was tried.
    pub batch: Batch,
    /// Why, without the name of the cell.
    pub why: String,
}

/// What a batch gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BatchResult {
    /// Which.
    pub batch: Batch,
    /// The numbers that its runs have.
    pub metrics: Vec<MetricName>,
    /// Its settings, in the order of the cell.
    pub settings: Vec<SettingResult>,
}

/// The name of a number, with what belongs to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricName {
    /// Its name.
    pub name: String,
    /// `result`, `energy` or `mechanism`.
    pub kind: String,
    /// Its unit; empty for counts.
    pub unit: String,
    /// `lower`, `higher`, or nothing.
    pub better: Option<String>,
}

/// The runs of a setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingResult {
    /// Number of the setting.
    pub setting: u64,
    /// Its runs, in the order of seeds.
    pub runs: Vec<RunResult>,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// Its seed.
    pub seed: u64,
    /// Its identity.
    pub hash: u64,
    /// Its end, ns of simulated time.
    pub end_ns: u64,
    /// Numbers by their places among [`BatchResult::metrics`].
    pub values: Vec<(u32, f64)>,
    /// Decisions by their places among [`STEPS`], but for those that decided nothing.
    pub steps: Vec<(u32, u64)>,
}

/// Why a batch did not run.
#[derive(Debug, thiserror::Error)]
pub enum NotRun {
    /// The machine cannot be with these figures.
    #[error("{0}: {1}")]
    Machine(String, alight_machine::Error),
    /// The simulator refused it, or failed.
    #[error("{cell}, {run}: {error}")]
    Run {
        /// The cell in words.
        cell: String,
        /// Scheduler and seed.
        run: String,
        /// Why.
        error: alight_sim::Error,
    },
    /// The file names a number that the workload does not report.
    #[error("{0}: {1}")]
    NoMetric(String, String),
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

impl AtFault for NotRun {
    fn fault(&self) -> Fault {
        match self {
            NotRun::Machine(_, error) => error.fault(),
            NotRun::Run { error, .. } => error.fault(),
            NotRun::NoMetric(..) => Fault::Input,
            NotRun::Interrupted => Fault::Interrupt,
        }
    }
}

impl NotRun {
    /// Why the cell cannot run, today or later; `None`: that is not the reason.
    pub(crate) fn refusal(&self) -> Option<String> {
        match self {
            NotRun::Machine(_, error) => Some(error.to_string()),
            NotRun::Run { run, error, .. } if error.fault() == Fault::Input => {
                Some(format!("{run}: {error}"))
            }
            NotRun::Run { .. } | NotRun::NoMetric(..) | NotRun::Interrupted => None,
        }
    }
}

impl Sweep {
    /// Runs a batch by `run`, usually [`alight_compare::simulate`]. `tell` hears how much of it is
    /// done, of [`WHOLE`].
    ///
    /// # Errors
    /// A run that failed, a number that it lacks, and ctrl-C.
    pub fn run(
        &self,
        batch: Batch,
        run: &Runner<'_>,
        cancel: &AtomicBool,
        tell: &dyn Fn(u32),
    ) -> Result<Done, NotRun> {
        match self.attempt(batch, run, cancel, tell) {
            Ok(result) => Ok(Done::Ran(result)),
            Err(error) => match error.refusal() {
                Some(why) => Ok(Done::Refused(Refusal { batch, why })),
                None => Err(error),
            },
        }
    }

    /// As [`Sweep::run`], where a refusal is an error.
    pub(crate) fn attempt(
        &self,
        batch: Batch,
        run: &Runner<'_>,
        cancel: &AtomicBool,
        tell: &dyn Fn(u32),
    ) -> Result<BatchResult, NotRun> {
        let cell = self.cell(batch.cell);
        let machine = self.machine(&cell)?;
        let wanted = Selection::of(self.spec.metrics())
            .map_err(|why| NotRun::NoMetric(self.describe(&cell), why))?;
        let place = &self.places[cell.place];
        let all = cell.settings.len() as u32 * batch.runs;
        let mut result = BatchResult {
            batch,
            metrics: vec![],
            settings: vec![],
        };
        for (at, setting) in cell.settings.iter().enumerate() {
            let mut runs = vec![];
            for index in 0..batch.runs {
                let done = at as u32 * batch.runs + index;
                let part = |parts: u32| {
                    let parts = u64::from(done) * u64::from(WHOLE) + u64::from(parts);
                    tell((parts / u64::from(all)) as u32);
                };
                let seed = self.spec.seed + u64::from(batch.first_run + index);
                let scenario = Scenario {
                    machine: &machine,
                    seed,
                    ..place.input.scenario(&setting.scheduler)
                };
                let outcome = run(&scenario, cancel, &part)
                    .map_err(|error| self.failed(&cell, &scenario, error))?;
                if outcome.interrupted {
                    return Err(NotRun::Interrupted);
                }
                if done == 0 {
                    wanted
                        .check_names(&all_names(&outcome))
                        .map_err(|unknown| {
                            NotRun::NoMetric(self.describe(&cell), unknown.words())
                        })?;
                }
                runs.push(result.of(seed, &outcome));
            }
            result.settings.push(SettingResult {
                setting: setting.number,
                runs,
            });
        }
        Ok(result)
    }

    /// Runs the first setting of a cell at a seed, and gives the number of that setting and the
    /// identity of the run.
    ///
    /// # Errors
    /// As [`Sweep::run`].
    pub(crate) fn run_first(
        &self,
        cell: u64,
        seed: u64,
        run: &Runner<'_>,
        cancel: &AtomicBool,
    ) -> Result<(u64, u64), NotRun> {
        let cell = self.cell(cell);
        let machine = self.machine(&cell)?;
        let setting = &cell.settings[0];
        let scenario = Scenario {
            machine: &machine,
            seed,
            ..self.places[cell.place].input.scenario(&setting.scheduler)
        };
        let outcome = run(&scenario, cancel, &|_| ())
            .map_err(|error| self.failed(&cell, &scenario, error))?;
        match outcome.interrupted {
            true => Err(NotRun::Interrupted),
            false => Ok((setting.number, outcome.hash)),
        }
    }

    fn failed(&self, cell: &Cell, run: &Scenario<'_>, error: alight_sim::Error) -> NotRun {
        NotRun::Run {
            cell: self.describe(cell),
            run: format!("{} at seed {}", run.scheduler.name, run.seed),
            error,
        }
    }

    /// The machine of a cell, with its figures.
    fn machine(&self, cell: &Cell) -> Result<Cow<'_, Machine>, NotRun> {
        let place = &self.places[cell.place];
        if cell.figures.is_empty() {
            return Ok(Cow::Borrowed(&place.input.machine));
        }
        let figures = self.spec.figures.iter().zip(&cell.figures);
        let settings: Vec<_> = figures
            .map(|(figure, level)| figure_setting(figure, *level))
            .collect();
        let sheet = vary(&place.machine, &place.input.machine_text, &settings)
            .map_err(|error| NotRun::Machine(self.describe(cell), error))?;
        Ok(Cow::Owned(sheet.machine))
    }

    /// A cell in words.
    pub fn describe(&self, cell: &Cell) -> String {
        let (machine, workload) = self.place(cell);
        let mut text = format!("{machine}, '{workload}'");
        for (figure, level) in self.spec.figures.iter().zip(&cell.figures) {
            let times = if figure.times { " times" } else { "" };
            text += &format!(", {}{times} {}", figure.path, figure.levels.text(*level));
        }
        text
    }
}

impl BatchResult {
    /// The batch, complete or not, gets the names of a run's numbers.
    fn of(&mut self, seed: u64, outcome: &Outcome) -> RunResult {
        let mut values = vec![];
        for (key, value) in named(outcome) {
            let known = self.metrics.iter().position(|other| other.name == key.name);
            let place = known.unwrap_or_else(|| {
                self.metrics.push(MetricName {
                    better: key.better_word().map(str::to_owned),
                    kind: key.kind.as_str().to_owned(),
                    unit: key.unit.to_owned(),
                    name: key.name,
                });
                self.metrics.len() - 1
            });
            values.push((place as u32, value));
        }
        let steps = outcome.steps.iter().enumerate();
        RunResult {
            seed,
            hash: outcome.hash,
            end_ns: outcome.end_ns,
            values,
            steps: steps
                .filter(|(_, decisions)| **decisions > 0)
                .map(|(step, decisions)| (step as u32, *decisions))
                .collect(),
        }
    }

    /// The name of a step; `None`: there is none at this place.
    pub fn step_name(place: u32) -> Option<&'static str> {
        STEPS.get(place as usize).map(|(name, _)| *name)
    }
}
