// SPDX-License-Identifier: GPL-2.0-only
//! A machine, workloads and options, loaded once for all that is asked of them.

use std::sync::Arc;

use alight_ask::{Options, Texts, scheduler};
use alight_compare::trace;
use alight_frames::{Gather, Known};
use alight_policy::Scheduler;
use alight_sim::Scenario;
use pyo3::prelude::*;

use crate::comparison::{self, Comparison};
use crate::explanation::{self, Explanation};
use crate::failure::{Failure, Remarks};
use crate::simulation::{self, Simulation};
use crate::trace::Trace;
use crate::wait::interruptible;

/// A word of the command line, and the text that stands for the file of this name, if one does.
pub type Named = (String, Option<String>);

/// A machine, workloads and options.
#[pyclass(frozen, module = "alight._alight")]
pub struct Input(Arc<alight_ask::Input>);

#[pymethods]
impl Input {
    #[new]
    fn new(
        py: Python<'_>,
        machine: Option<Named>,
        workloads: Vec<Named>,
        options: Vec<(String, String)>,
    ) -> PyResult<Self> {
        let mut asked = Options::default();
        let mut texts = Texts::new();
        let mut word = |(word, text): Named| {
            if let Some(text) = text {
                texts.insert(word.clone(), text);
            }
            word
        };
        asked.machine = machine.map(&mut word);
        asked.workloads = workloads.into_iter().map(word).collect();
        for (name, text) in options {
            asked.set(&name, &text).map_err(Failure::from)?;
        }
        if asked.workloads.is_empty() {
            return Err(Failure::bad_input("no workload; expected one or more").into());
        }
        let remarks = Remarks::default();
        let input = alight_ask::Input::load_with(asked, &texts, &|remark| remarks.hear(remark));
        let input = input.map_err(Failure::from)?;
        // The package's `load`, its function, the user.
        remarks.warn(py, 3)?;
        Ok(Input(Arc::new(input)))
    }

    /// Compares schedulers, the first of which is the base, over runs with the seeds from `seed` on.
    fn compare(
        &self,
        py: Python<'_>,
        schedulers: Vec<String>,
        runs: Option<i64>,
        until: Option<String>,
        jobs: Option<i64>,
    ) -> PyResult<Comparison> {
        let asked = comparison::asked(&schedulers, runs, until.as_deref())?;
        let threads = jobs.map(comparison::jobs_of).transpose()?;
        comparison::compare(py, &self.0, asked, threads)
    }

    /// One run.
    fn simulate(&self, py: Python<'_>, scheduler: Option<String>) -> PyResult<Simulation> {
        simulation::simulate(py, &self.0, chosen(scheduler)?)
    }

    /// Why tasks went where they did.
    fn explain(
        &self,
        py: Python<'_>,
        scheduler: Option<String>,
        task: Option<String>,
        at: Option<String>,
        limit: Option<i64>,
        histogram: bool,
    ) -> PyResult<Explanation> {
        let asked = explanation::asked(chosen(scheduler)?, task, at, limit, histogram)?;
        explanation::explain(py, &self.0, &asked)
    }
}

fn chosen(name: Option<String>) -> Result<Scheduler, Failure> {
    let name = name.as_deref();
    Ok(match name {
        Some(name) => scheduler(name)?,
        None => alight_ask::scheduler_over(None, None)?,
    })
}

/// Simulates once more and keeps the events. The run is the same: events change nothing.
pub fn traced(
    py: Python<'_>,
    input: &alight_ask::Input,
    scheduler: &Scheduler,
    seed: u64,
) -> PyResult<Trace> {
    let scenario = Scenario {
        seed,
        ..input.scenario(scheduler)
    };
    let trace = interruptible(py, |cancel| {
        let tasks = alight_sim::task_table(&scenario)?;
        let header = trace::header(&scenario, "", &tasks);
        let known = Known {
            comms: tasks
                .into_iter()
                .map(|(pid, comm, _)| (pid, comm))
                .collect(),
            capacities: header.cpus.iter().map(|cpu| cpu.capacity).collect(),
        };
        let mut gather = Gather::new(known);
        let outcome = alight_sim::run(&scenario, Some(&mut gather), cancel)?;
        Ok::<_, Failure>(gather.finish(outcome.end_ns))
    })?;
    Ok(Trace::of(trace?))
}

/// Warns of changes that came too late for a run that ended at `end_ns`.
pub fn warn_late(py: Python<'_>, input: &alight_ask::Input, end_ns: u64) -> PyResult<()> {
    let remarks = Remarks::default();
    input.tell_late(end_ns, &|remark| remarks.hear(remark));
    remarks.warn(py, 2)
}
