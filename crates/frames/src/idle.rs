// SPDX-License-Identifier: GPL-2.0-only
//! Idle states of CPUs: the tables of LISA's `analysis.idle`.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::NoTable;
use crate::events::{Trace, What};
use crate::table::Table;

/// The state of a CPU that is not idle.
pub const NOT_IDLE: i64 = -1;

impl Trace {
    /// Number of CPUs: those that are known, and those of the events.
    pub fn cpus(&self) -> usize {
        let last = self.events.iter().map(|event| event.cpu as usize + 1).max();
        self.known.capacities.len().max(last.unwrap_or(0))
    }
}

fn changes(trace: &Trace, cpus: Option<&[u32]>) -> Result<Vec<(u64, u32, i64)>, NoTable> {
    trace.needs("cpu_idle")?;
    let mut rows = trace.rows(|what| match *what {
        What::Idle { state } => Some(state.map_or(NOT_IDLE, i64::from)),
        _ => None,
    });
    rows.retain(|(_, cpu, _)| cpus.is_none_or(|cpus| cpus.contains(cpu)));
    Ok(rows)
}

/// For how long a CPU was in which state, from its first event to the end of the trace.
pub(crate) fn spans(trace: &Trace, cpu: u32) -> Result<Vec<(Range<u64>, i64)>, NoTable> {
    let rows = changes(trace, Some(&[cpu]))?;
    let ends = rows.iter().skip(1).map(|row| row.0);
    let ends = ends.chain([trace.window.end]);
    Ok((rows.iter().zip(ends))
        .map(|(row, end)| (row.0..end.max(row.0), row.2))
        .collect())
}

/// `df_cpus_idle`, `df_cpu_idle`: the idle state of CPUs, of all or of those that are listed; -1 is
/// not idle.
///
/// # Errors
/// The source tells no idle states.
pub fn cpus_idle(trace: &Trace, cpus: Option<&[u32]>) -> Result<Table, NoTable> {
    let rows = changes(trace, cpus)?;
    Ok(Table::timed(rows.iter().map(|row| row.0))
        .int("cpu", rows.iter().map(|row| row.1))
        .int("state", rows.iter().map(|row| row.2)))
}

/// `df_cpus_wakeups`: when which CPU left idle.
///
/// # Errors
/// The source tells no idle states.
pub fn cpus_wakeups(trace: &Trace) -> Result<Table, NoTable> {
    let mut rows = changes(trace, None)?;
    rows.retain(|row| row.2 == NOT_IDLE);
    Ok(Table::timed(rows.iter().map(|row| row.0)).int("cpu", rows.iter().map(|row| row.1)))
}

/// `df_cpu_idle_state_residency`: by idle state the `time`, s, that a CPU was in it, from its first
/// event on: what it did before is not known. -1 is not idle.
///
/// # Errors
/// The source tells no idle states.
pub fn cpu_idle_state_residency(trace: &Trace, cpu: u32) -> Result<Table, NoTable> {
    let mut sums: BTreeMap<i64, u64> = BTreeMap::new();
    for (span, state) in spans(trace, cpu)? {
        *sums.entry(state).or_default() += span.end - span.start;
    }
    Ok(Table::new()
        .int("idle_state", sums.keys().copied())
        .indexed()
        .seconds("time", sums.values().map(|ns| Some(*ns))))
}

#[cfg(test)]
mod tests;
