// SPDX-License-Identifier: GPL-2.0-only
//! A picture of runs over simulated time, one above the other: of each the frequencies, the
//! utilizations, and the tasks that ran on each CPU. SVG; the same runs give the same bytes.

mod draw;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use alight_sim::{AtFault, Fault, Scenario, about, time};

use crate::compare::{Comparison, Question};
use crate::course::Course;
use crate::report::answer::answers;

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum Undrawn {
    /// A run failed.
    #[error(transparent)]
    Run(#[from] alight_sim::Error),
    /// It could not be drawn.
    #[error("the picture cannot be drawn: {0}")]
    Drawing(String),
    /// The time to be shown begins after a run has ended.
    #[error(
        "the picture is to begin at {}, but the longest run ends at {}; begin earlier",
        time(*from_ns),
        about(*end_ns)
    )]
    Late {
        /// Begin of the time that was asked for, ns.
        from_ns: u64,
        /// End of the longest run, ns.
        end_ns: u64,
    },
}

impl AtFault for Undrawn {
    fn fault(&self) -> Fault {
        match self {
            Undrawn::Run(error) => error.fault(),
            Undrawn::Late { .. } => Fault::Input,
            // A fault of this program, not of its input.
            Undrawn::Drawing(_) => Fault::Host,
        }
    }
}

/// Draws the part `time` (ns) of one run of each scenario, each by the name of its scheduler. Lines of
/// `below` stand below the title. `None`: a run was cancelled.
///
/// All scenarios are of one machine.
///
/// # Errors
/// Of the simulator, and of drawing.
pub fn picture(
    title: &str,
    below: &[String],
    scenarios: &[Scenario<'_>],
    time: Range<u64>,
    cancel: &AtomicBool,
) -> Result<Option<String>, Undrawn> {
    let Some(first) = scenarios.first() else {
        return Ok(None);
    };
    let mut runs = vec![];
    for scenario in scenarios {
        match recorded(scenario, &time, cancel)? {
            Some(course) => runs.push((scenario.scheduler.name.as_str(), course)),
            None => return Ok(None),
        }
    }
    draw::draw(title, below, first.machine, &runs)
        .map(Some)
        .map_err(|error| Undrawn::Drawing(error.to_string()))
}

/// Draws the first run of each scheduler of a comparison, under the answer in words. `time` (ns) is
/// the part of the runs that is shown, all by default.
///
/// # Errors
/// As [`picture`], and a time after the runs' end.
pub fn of_comparison(
    question: &Question<'_>,
    comparison: &Comparison,
    time: Option<Range<u64>>,
    cancel: &AtomicBool,
) -> Result<Option<String>, Undrawn> {
    let ends = comparison.variants.iter().map(|variant| variant.end_ns);
    let end_ns = ends.max().unwrap_or(0);
    let time = time.unwrap_or(0..end_ns);
    if time.start >= end_ns {
        let from_ns = time.start;
        return Err(Undrawn::Late { from_ns, end_ns });
    }
    let first_runs = (0..question.schedulers.len()).map(|job| question.run(job));
    let scenarios: Vec<Scenario<'_>> = first_runs.collect();
    let header = &comparison.header;
    let mut below = vec![format!(
        "{}, seed {}; the answer is of {} runs of each",
        header.machine,
        question.scenario.seed,
        comparison.seeds.len()
    )];
    below.extend(answers(comparison));
    picture(
        &header.workloads.join(" and "),
        &below,
        &scenarios,
        time,
        cancel,
    )
}

/// One run; nothing if it was cancelled.
fn recorded(
    scenario: &Scenario<'_>,
    time: &Range<u64>,
    cancel: &AtomicBool,
) -> Result<Option<Course>, alight_sim::Error> {
    let end = Some(time.end);
    let scenario = Scenario {
        duration_ns: scenario.duration_ns.min(end).or(end),
        ..*scenario
    };
    let tasks = alight_sim::task_table(&scenario)?;
    let mut course = Course::new(&scenario, &tasks, time.clone());
    let outcome = alight_sim::run(&scenario, Some(&mut course), cancel)?;
    course.end(outcome.end_ns);
    Ok((!outcome.interrupted).then_some(course))
}
