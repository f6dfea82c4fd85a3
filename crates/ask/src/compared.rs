// SPDX-License-Identifier: GPL-2.0-only
//! A comparison as a user asks for it: which schedulers, how many runs, how well the difference is to
//! be known.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use alight_compare::compare::{Comparison, NoComparison};
use alight_compare::until::Target;
use alight_compare::{Question, Selection, Spread, compare, compare_until, simulate};
use alight_policy::Scheduler;
use alight_sim::{Error, Scenario};

use crate::{BadInput, Input, schedulers_to_compare};

/// Runs of each scheduler, unless the user says how many.
const RUNS: NonZeroU32 = NonZeroU32::new(10).expect("not zero");
/// The same where they end as soon as the difference is known: at most.
const RUNS_UNTIL: NonZeroU32 = NonZeroU32::new(80).expect("not zero");

/// What is compared.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The schedulers. The first is the base.
    pub schedulers: Vec<Scheduler>,
    /// Runs of each; with [`Compared::until`] at most.
    pub runs: NonZeroU32,
    /// How well the difference is to be known; `None`: all runs are made.
    pub until: Option<Target>,
}

/// What came out.
#[derive(Debug)]
pub struct Found {
    /// The comparison, of all numbers.
    pub comparison: Comparison,
    /// End of the shortest run, ns: for [`Input::tell_late`].
    pub earliest_end_ns: u64,
}

impl Compared {
    /// Schedulers by name; names without a base are over the first. `runs`: 10 by default, with
    /// `until` 80.
    ///
    /// # Errors
    /// Unknown names, and fewer than two.
    pub fn new<'a>(
        names: impl IntoIterator<Item = &'a str>,
        runs: Option<NonZeroU32>,
        until: Option<Target>,
    ) -> Result<Self, BadInput> {
        let default = if until.is_some() { RUNS_UNTIL } else { RUNS };
        Ok(Compared {
            schedulers: schedulers_to_compare(names)?,
            runs: runs.unwrap_or(default),
            until,
        })
    }

    /// The question about this machine and load.
    pub fn question<'a>(&'a self, input: &'a Input) -> Question<'a> {
        let names: Vec<&str> = self.schedulers.iter().map(|s| s.name.as_str()).collect();
        let runs = self.runs.to_string();
        let until = self.until.as_ref().map(ToString::to_string);
        let mut options = vec!["--runs", &runs];
        if let Some(until) = &until {
            options.extend(["--until", until]);
        }
        Question {
            scenario: input.scenario(&self.schedulers[0]),
            trust: &input.trust,
            schedulers: &self.schedulers,
            runs: self.runs,
            command: input.command("compare", &names, &options),
        }
    }

    /// Makes the runs. Numbers of `selection` that no run can have are refused by the first run.
    ///
    /// # Errors
    /// As [`compare()`](alight_compare::compare()), and unknown numbers.
    pub fn run(
        &self,
        question: &Question<'_>,
        selection: &Selection,
        how: Spread<'_>,
        cancel: &AtomicBool,
    ) -> Result<Found, NoComparison> {
        let earliest = AtomicU64::new(u64::MAX);
        let first = &question.scenario;
        let run = |scenario: &Scenario<'_>, cancel: &AtomicBool, tell: &dyn Fn(u32)| {
            let outcome = simulate(scenario, cancel, tell)?;
            if scenario.seed == first.seed && scenario.scheduler == first.scheduler {
                let known = selection.check(&outcome);
                known.map_err(|unknown| Error::Refused(unknown.to_string()))?;
                if let Some(target) = &self.until {
                    target.check(&outcome).map_err(Error::Refused)?;
                }
            }
            earliest.fetch_min(outcome.end_ns, Ordering::Relaxed);
            Ok(outcome)
        };
        let comparison = match &self.until {
            None => compare(question, &run, how, cancel),
            Some(target) => compare_until(question, target, &run, how, cancel),
        };
        Ok(Found {
            comparison: comparison?,
            earliest_end_ns: earliest.into_inner(),
        })
    }
}
