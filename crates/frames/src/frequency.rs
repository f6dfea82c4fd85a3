// SPDX-License-Identifier: GPL-2.0-only
//! Clocks of CPUs: the tables of LISA's `analysis.frequency`. Frequencies are in kHz.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::NoTable;
use crate::events::{Trace, What};
use crate::idle::{NOT_IDLE, spans};
use crate::table::Table;

fn changes(trace: &Trace, cpu: Option<u32>) -> Result<Vec<(u64, u32, u32)>, NoTable> {
    trace.needs("cpu_frequency")?;
    let mut rows = trace.rows(|what| match *what {
        What::Frequency { khz } => Some(khz),
        _ => None,
    });
    rows.retain(|row| cpu.is_none_or(|cpu| cpu == row.1));
    Ok(rows)
}

/// `df_cpus_frequency`, `df_cpu_frequency`: when which CPU, of all or one, got which `frequency`.
///
/// # Errors
/// The source tells no frequencies.
pub fn cpus_frequency(trace: &Trace, cpu: Option<u32>) -> Result<Table, NoTable> {
    let rows = changes(trace, cpu)?;
    Ok(Table::timed(rows.iter().map(|row| row.0))
        .int("cpu", rows.iter().map(|row| row.1))
        .int("frequency", rows.iter().map(|row| row.2)))
}

/// `df_cpu_frequency_residency`: by `frequency` how long a CPU had it, s: `total_time`, and
/// `active_time`, not idle.
///
/// # Errors
/// The source tells no frequencies or no idle states.
pub fn cpu_frequency_residency(trace: &Trace, cpu: u32) -> Result<Table, NoTable> {
    let rows = changes(trace, Some(cpu))?;
    let mut active = spans(trace, cpu)?;
    active.retain(|(_, state)| *state == NOT_IDLE);
    let ends = rows.iter().skip(1).map(|row| row.0);
    let ends = ends.chain([trace.window.end]);
    let mut sums: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let mut first = 0;
    for (row, end) in rows.iter().zip(ends) {
        let span = row.0..end.max(row.0);
        // Both lists are in the order of time: what ended before is looked at no more.
        while active.get(first).is_some_and(|(a, _)| a.end <= span.start) {
            first += 1;
        }
        let here = active[first..]
            .iter()
            .take_while(|(a, _)| a.start < span.end);
        let (total, awake) = sums.entry(row.2).or_default();
        *total += span.end - span.start;
        *awake += here.map(|(a, _)| overlap(a, &span)).sum::<u64>();
    }
    Ok(Table::new()
        .int("frequency", sums.keys().copied())
        .indexed()
        .seconds("total_time", sums.values().map(|sums| Some(sums.0)))
        .seconds("active_time", sums.values().map(|sums| Some(sums.1))))
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> u64 {
    a.end.min(b.end).saturating_sub(a.start.max(b.start))
}

/// `df_cpu_frequency_transitions`: by `frequency` how often a CPU changed to it.
///
/// # Errors
/// The source tells no frequencies.
pub fn cpu_frequency_transitions(trace: &Trace, cpu: u32) -> Result<Table, NoTable> {
    let mut counts: BTreeMap<u32, i64> = BTreeMap::new();
    let mut before = None;
    for (_, _, khz) in changes(trace, Some(cpu))? {
        if before.replace(khz) != Some(khz) {
            *counts.entry(khz).or_default() += 1;
        }
    }
    Ok(Table::new()
        .int("frequency", counts.keys().copied())
        .indexed()
        .int("transitions", counts.values().copied()))
}

#[cfg(test)]
mod tests;
