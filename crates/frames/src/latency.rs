// SPDX-License-Identifier: GPL-2.0-only
//! How long tasks wait: the tables of LISA's `analysis.latency`.

use crate::events::Trace;
use crate::table::Table;
use crate::tasks::{ACTIVE, State, WAKING, states_of};
use crate::{NoTable, TaskId};

fn states(trace: &Trace, task: &TaskId) -> Result<Vec<State>, NoTable> {
    trace.needs("sched_wakeup")?;
    Ok(states_of(trace, Some(task.find(trace)?)))
}

/// `df_latency_wakeup`: for each wakeup of a task `wakeup_latency`, s, until it runs; `cpu` of the
/// waker, and `target_cpu`, which was chosen.
///
/// # Errors
/// No such task, or several; the source tells no wakeups.
pub fn wakeup(trace: &Trace, task: &TaskId) -> Result<Table, NoTable> {
    let mut rows = states(trace, task)?;
    rows.retain(|row| row.state == WAKING && row.next == Some(ACTIVE));
    Ok(Table::timed(rows.iter().map(|row| row.time))
        .seconds("wakeup_latency", rows.iter().map(|row| row.delta))
        .int("cpu", rows.iter().map(|row| row.cpu))
        .maybe_int("target_cpu", rows.iter().map(|row| row.target)))
}

/// `df_latency_preemption`: for each preemption of a task `preempt_latency`, s, until it runs again,
/// and the `cpu` that it lost.
///
/// # Errors
/// As [`wakeup`].
pub fn preemption(trace: &Trace, task: &TaskId) -> Result<Table, NoTable> {
    let mut rows = states(trace, task)?;
    rows.retain(|row| row.is_preempted() && row.next == Some(ACTIVE));
    Ok(Table::timed(rows.iter().map(|row| row.time))
        .seconds("preempt_latency", rows.iter().map(|row| row.delta))
        .int("cpu", rows.iter().map(|row| row.cpu)))
}

/// `df_activations`: for each wakeup of a task `activation_interval`, s since the wakeup before.
///
/// # Errors
/// As [`wakeup`].
pub fn activations(trace: &Trace, task: &TaskId) -> Result<Table, NoTable> {
    let mut rows = states(trace, task)?;
    rows.retain(|row| row.state == WAKING);
    let intervals = rows.windows(2).map(|two| Some(two[1].time - two[0].time));
    let first = rows.first().map(|_| None);
    Ok(Table::timed(rows.iter().map(|row| row.time))
        .seconds("activation_interval", first.into_iter().chain(intervals)))
}

/// `df_runtimes`: for each end of a run of a task its `curr_state` from then on, and `running_time`, s
/// on CPUs since the wakeup before. A wakeup of a task that still runs does not interrupt the run.
///
/// # Errors
/// As [`wakeup`].
pub fn runtimes(trace: &Trace, task: &TaskId) -> Result<Table, NoTable> {
    let (mut ran, mut raced) = (0, false);
    let mut rows = vec![];
    for state in states(trace, task)? {
        match state.state {
            WAKING if raced => {
                ran += state.delta.unwrap_or(0);
                raced = false;
            }
            WAKING => ran = 0,
            ACTIVE => {
                ran += state.delta.unwrap_or(0);
                raced = state.next == Some(WAKING);
            }
            other => rows.push((state.time, other, ran)),
        }
    }
    Ok(Table::timed(rows.iter().map(|row| row.0))
        .int("curr_state", rows.iter().map(|row| row.1))
        .seconds("running_time", rows.iter().map(|row| Some(row.2))))
}

#[cfg(test)]
mod tests;
