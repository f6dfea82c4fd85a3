// SPDX-License-Identifier: GPL-2.0-only
//! A run that leaves a trace.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use alight_behaviour::replayed::model;
use alight_compare::trace;
use alight_sim::{Outcome, Scenario};
use alight_trace::TraceFile;

use crate::failure::Failure;
use crate::output;

/// Simulates and writes the trace. Only a run that came to its end leaves a file. `machine`: the
/// text of the machine's file, for a trace that can be replayed.
///
/// # Errors
/// Of the simulator; a file that cannot be written, or whose ending names no format.
pub fn run(
    scenario: &Scenario<'_>,
    machine: Option<&str>,
    path: &Path,
    command: &str,
    cancel: &AtomicBool,
    tell: &dyn Fn(u32),
) -> Result<Outcome, Failure> {
    if path.extension().is_some_and(|ending| ending == "alight") {
        return Ok(model::record(scenario, machine, path, cancel, tell)?);
    }
    let tasks = alight_sim::task_table(scenario)?;
    let mut file = TraceFile::create(path, &trace::header(scenario, command, &tasks))?;
    let outcome = alight_sim::run_telling(scenario, Some(&mut file), cancel, tell)?;
    if outcome.interrupted {
        output::remark("the trace is incomplete and is not kept");
    } else {
        file.finish().map_err(Failure::host)?;
    }
    Ok(outcome)
}
