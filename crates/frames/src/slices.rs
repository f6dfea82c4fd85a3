// SPDX-License-Identifier: GPL-2.0-only
//! What ran on each CPU, from when to when.

use crate::events::{Trace, What};
use crate::table::Table;

/// A row for each time that a task was on a CPU: `cpu`, `pid`, `comm`, and `duration`, s, up to the
/// end of the trace. The order is that of the ends.
pub fn slices(trace: &Trace) -> Table {
    let mut running: Vec<Option<(u64, u32)>> = vec![None; trace.cpus()];
    let mut rows: Vec<(u64, usize, u32, u64)> = vec![];
    for event in &trace.events {
        if let What::Switch { next, .. } = event.what {
            let cpu = event.cpu as usize;
            let now = (next != 0).then_some((event.time, next));
            if let Some((begin, pid)) = std::mem::replace(&mut running[cpu], now) {
                rows.push((begin, cpu, pid, event.time - begin));
            }
        }
    }
    for (cpu, running) in running.into_iter().enumerate() {
        let last = running.map(|(begin, pid)| (begin, cpu, pid, trace.window.end - begin));
        rows.extend(last);
    }
    Table::timed(rows.iter().map(|row| row.0))
        .int("cpu", rows.iter().map(|row| row.1 as i64))
        .int("pid", rows.iter().map(|row| row.2))
        .text("comm", rows.iter().map(|row| trace.comm(row.2)))
        .seconds("duration", rows.iter().map(|row| Some(row.3)))
}

#[cfg(test)]
mod tests;
