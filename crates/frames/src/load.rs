// SPDX-License-Identifier: GPL-2.0-only
//! Load tracking: the tables of LISA's `analysis.load_tracking`. Signals are 0 to 1024 for a task at
//! nice 0; `load` is weighted.

use crate::events::{Trace, What};
use crate::table::Table;
use crate::{NoTable, TaskId};

/// The signals of CPUs.
const OF_CPUS: [&str; 3] = ["util", "load", "capacity"];
/// The signals of tasks.
const OF_TASKS: [&str; 5] = ["util", "load", "enqueued", "ewma", "required_capacity"];

fn known(signal: &str, of: &[&str]) -> Result<(), NoTable> {
    match of.contains(&signal) {
        true => Ok(()),
        false => {
            let of = of.join(", ");
            Err(NoTable(format!("no signal `{signal}`; expected {of}")))
        }
    }
}

/// `df_cpus_signal`: `util` (`util_avg`) or `load` (`load_avg`) of the fair run queues of CPUs, or
/// `capacity`, what the fair class has left of a CPU; of all CPUs or of those that are listed.
///
/// # Errors
/// An unknown signal; the source does not tell it.
pub fn cpus_signal(trace: &Trace, signal: &str, cpus: Option<&[u32]>) -> Result<Table, NoTable> {
    known(signal, &OF_CPUS)?;
    trace.needs(match signal {
        "capacity" => "alight_capacity",
        _ => "sched_pelt_cfs",
    })?;
    let mut rows = trace.rows(|what| match (*what, signal) {
        (What::Queue { util, .. }, "util") => Some(util),
        (What::Queue { load, .. }, "load") => Some(load),
        (What::Capacity { value }, "capacity") => Some(value),
        _ => None,
    });
    rows.retain(|(_, cpu, _)| cpus.is_none_or(|cpus| cpus.contains(cpu)));
    Ok(Table::timed(rows.iter().map(|row| row.0))
        .int("cpu", rows.iter().map(|row| row.1))
        .int(signal, rows.iter().map(|row| row.2)))
}

/// `df_tasks_signal`, `df_task_signal`: of all tasks or of one `util` (`util_avg`), `load`
/// (`load_avg`), `enqueued` and `ewma` (`util_est`), or `required_capacity`, that of the smallest CPU
/// that `util` fits on.
///
/// # Errors
/// An unknown signal; the source does not tell it; no such task, or several.
pub fn tasks_signal(trace: &Trace, signal: &str, task: Option<&TaskId>) -> Result<Table, NoTable> {
    known(signal, &OF_TASKS)?;
    trace.needs(match signal {
        "enqueued" | "ewma" => "sched_util_est_se",
        _ => "sched_pelt_se",
    })?;
    let task = task.map(|task| task.find(trace)).transpose()?;
    let required = |util: u32| {
        let capacities = trace.known.capacities.iter().copied();
        let fitting = capacities.clone().filter(|capacity| util <= *capacity);
        fitting.min().or(capacities.max()).unwrap_or(util)
    };
    let rows = trace.rows(|what| match *what {
        What::Task {
            pid,
            util,
            load,
            enqueued,
            ewma,
        } if task.is_none_or(|task| task == pid) => {
            let value = match signal {
                "util" => util,
                "load" => load,
                "enqueued" => enqueued,
                "ewma" => ewma,
                _ => required(util),
            };
            Some((pid, value))
        }
        _ => None,
    });
    let pids = || rows.iter().map(|(_, _, row)| row.0);
    Ok(Table::timed(rows.iter().map(|row| row.0))
        .text("comm", pids().map(|pid| trace.comm(pid)))
        .int("cpu", rows.iter().map(|row| row.1))
        .int("pid", pids())
        .int(signal, rows.iter().map(|(_, _, row)| row.1)))
}

#[cfg(test)]
mod tests;
