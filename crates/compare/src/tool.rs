// SPDX-License-Identifier: GPL-2.0-only
//! Results as the real tools print them, so that what reads their output reads ours.
//!
//! Each tool's file says whose source its format follows. What a tool prints while it runs is left
//! out: this is what stands there at its end. Tools that print to standard error print here.

mod adrestia;
mod cyclictest;
mod frames;
mod messaging;
mod pipe;
mod schbench;
mod sysbench;

#[cfg(test)]
mod tests;

use alight_sim::{AtFault, Fault, Figures, Outcome};
use alight_workload::Workload;
use alight_workload::report::{Report, Span};

/// Why there is nothing to print.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NothingToPrint {
    /// The workload is none of a tool's.
    #[error(
        "workload '{0}' has no tool that would print a result (rt-app writes logs); \
         leave --style tool out"
    )]
    NoTool(String),
    /// The run ended before the tool did.
    #[error(
        "the run ended before '{0}' did, which prints its result at its end; \
         give the run a longer --duration, or none"
    )]
    Unfinished(String),
}

impl AtFault for NothingToPrint {
    fn fault(&self) -> Fault {
        Fault::Input
    }
}

/// Refuses workloads that no tool reports, before they are simulated.
///
/// # Errors
/// [`NothingToPrint::NoTool`] with the first such workload.
pub fn check(workloads: &[Workload]) -> Result<(), NothingToPrint> {
    match workloads.iter().find(|w| w.report.is_none()) {
        Some(workload) => Err(NothingToPrint::NoTool(workload.name.clone())),
        None => Ok(()),
    }
}

/// What the tools print at the end of a run, in the order of the workloads.
///
/// # Errors
/// If a workload is no tool's, or did not come to its end.
pub fn render(workloads: &[Workload], outcome: &Outcome) -> Result<String, NothingToPrint> {
    let mut text = String::new();
    for (workload, figures) in workloads.iter().zip(&outcome.figures) {
        let report = workload.report.as_ref();
        let report = report.ok_or_else(|| NothingToPrint::NoTool(workload.name.clone()))?;
        let printed = print(report, figures);
        text += &printed.ok_or_else(|| NothingToPrint::Unfinished(workload.name.clone()))?;
    }
    Ok(text)
}

/// `None`: the tool did not get to where it prints.
fn print(report: &Report, figures: &Figures) -> Option<String> {
    match report {
        Report::Hackbench(messaging) => messaging::hackbench(messaging, figures),
        Report::PerfMessaging(messaging, format) => messaging::perf(messaging, *format, figures),
        Report::PerfPipe(pipe, format) => pipe::perf(pipe, *format, figures),
        Report::Sysbench(sysbench) => sysbench::print(sysbench, figures),
        // Interrupted, cyclictest prints what it has.
        Report::Cyclictest(cyclictest) => Some(cyclictest::print(cyclictest, figures)),
        Report::Schbench(schbench) => schbench::print(schbench, figures),
        Report::Adrestia(tests) => adrestia::print(tests, figures),
        Report::Frames(frames) => frames::print(frames, figures),
    }
}

/// Microseconds of `gettimeofday` from the first passage of one mark to the last of the other.
fn elapsed_us(span: Span, figures: &Figures) -> Option<u64> {
    let (from, _) = figures.marks[span.from as usize]?;
    let (_, to) = figures.marks[span.to as usize]?;
    Some((to / 1000).saturating_sub(from / 1000))
}

/// `%lu.%03lu` of a timeval: seconds and whole milliseconds.
fn seconds_and_ms(us: u64) -> String {
    format!("{}.{:03}", us / 1_000_000, us % 1_000_000 / 1000)
}
