// SPDX-License-Identifier: GPL-2.0-only
//! `alight simulate`.

use std::sync::Arc;

use alight_compare::header::Conditions;
use alight_compare::metrics::named;
use alight_compare::report::number::hash;
use alight_compare::single::{self, Told};
use alight_compare::{Extent, Selection, observe};
use alight_frames as frames;
use alight_policy::{STEPS, Scheduler};
use alight_sim::Outcome;
use pyo3::prelude::*;

use crate::failure::Failure;
use crate::input::{traced, warn_late};
use crate::table::Table;
use crate::trace::Trace;
use crate::wait::interruptible;

/// A run.
#[pyclass(frozen, module = "alight._alight")]
pub struct Simulation {
    input: Arc<alight_ask::Input>,
    scheduler: Scheduler,
    conditions: Conditions,
    outcome: Outcome,
}

/// Simulates.
pub fn simulate(
    py: Python<'_>,
    input: &Arc<alight_ask::Input>,
    scheduler: Scheduler,
) -> PyResult<Simulation> {
    let scenario = input.scenario(&scheduler);
    let outcome = interruptible(py, |cancel| {
        alight_compare::simulate(&scenario, cancel, &|_| ())
    })?;
    let outcome = outcome.map_err(Failure::from)?;
    warn_late(py, input, outcome.end_ns)?;
    let command = input.command("simulate", &[&scheduler.name], &[]);
    Ok(Simulation {
        conditions: Conditions::of(&scenario, &input.trust, command),
        input: Arc::clone(input),
        scheduler,
        outcome,
    })
}

#[pymethods]
impl Simulation {
    /// The document `alight.simulate/1`, the bytes of `alight simulate --json`.
    fn json(&self) -> String {
        single::json(&self.conditions, &self.outcome)
    }

    /// The report for the terminal, with all numbers.
    fn text(&self) -> String {
        single::table(&self.conditions, &self.outcome)
    }

    /// The report as a page, the bytes of `alight simulate --html`. The run is made once more, for the
    /// timeline.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        let scenario = self.input.scenario(&self.scheduler);
        let told = Told {
            extent: Extent::Short,
            selection: &Selection::default(),
        };
        let page = interruptible(py, |cancel| {
            let observed = observe::of_run(&scenario, self.outcome.end_ns, None, &|_| (), cancel)?;
            let observed = observed.as_ref();
            Ok(single::page(
                &self.conditions,
                &self.outcome,
                observed,
                &told,
            ))
        })?;
        page.map_err(|error: alight_sim::Error| Failure::from(error).into())
    }

    /// The hash of the run.
    fn hash(&self) -> String {
        hash(self.outcome.hash)
    }

    /// The label of the scheduler.
    fn scheduler(&self) -> &str {
        &self.scheduler.name
    }

    /// The name of the machine.
    fn machine(&self) -> &str {
        &self.conditions.machine
    }

    /// The workloads, as typed.
    fn workloads(&self) -> Vec<String> {
        self.conditions.workloads.clone()
    }

    /// The seed.
    fn seed(&self) -> u64 {
        self.conditions.seed
    }

    /// The end of the run, ns of simulated time.
    fn end_ns(&self) -> u64 {
        self.outcome.end_ns
    }

    /// The command that makes this run again.
    fn command(&self) -> &str {
        &self.conditions.command
    }

    /// The numbers of the run by name.
    fn metrics(&self) -> Vec<(String, f64)> {
        let all = named(&self.outcome).into_iter();
        all.map(|(key, value)| (key.name, value)).collect()
    }

    /// Decisions by the step that answered.
    fn steps(&self) -> Vec<(&'static str, u64)> {
        let names = STEPS.iter().map(|(name, _)| *name);
        names.zip(self.outcome.steps).collect()
    }

    /// A row for each number.
    fn table(&self) -> Table {
        let rows = named(&self.outcome);
        let keys = || rows.iter().map(|(key, _)| key);
        let better = keys().map(|key| key.better_word().unwrap_or_default());
        Table::of(
            frames::Table::new()
                .text("kind", keys().map(|key| key.kind.as_str()))
                .text("metric", keys().map(|key| &key.name))
                .text("unit", keys().map(|key| key.unit))
                .text("better", better)
                .float("value", rows.iter().map(|(_, value)| *value)),
        )
    }

    /// The trace of the run.
    fn trace(&self, py: Python<'_>) -> PyResult<Trace> {
        traced(py, &self.input, &self.scheduler, self.conditions.seed)
    }
}
