// SPDX-License-Identifier: GPL-2.0-only
//! Pictures of a study: for each case that says which time to show, and each variant, the base above
//! the variant over simulated time: frequencies, utilizations, and who ran on which CPU. One run of
//! each, traced, with the seed of the first.

mod draw;
mod record;

#[cfg(test)]
mod tests;

use std::sync::atomic::AtomicBool;

use alight_compare::report::words::short_name;
use alight_policy::Scheduler;

use super::{Case, Study, StudyQuestion, file_of};
use record::Course;

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Name of its file, without a folder.
    pub file: String,
    /// What it shows, in a line.
    pub title: String,
    /// SVG.
    pub text: String,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum NotDrawn {
    /// The run failed.
    #[error(transparent)]
    Run(#[from] alight_sim::Error),
    /// It could not be drawn.
    #[error("{0}")]
    Drawing(String),
}

/// The pictures of a study, in the order of its cases and variants. `cancel` leaves out those that
/// are not complete.
///
/// # Errors
/// Of the simulator, and of drawing.
pub fn pictures(
    study: &Study,
    ask: &StudyQuestion<'_>,
    cancel: &AtomicBool,
) -> Result<Vec<Picture>, NotDrawn> {
    let mut all = vec![];
    for case in &study.cases {
        let Some(window) = case.picture else {
            continue;
        };
        let mut records = vec![];
        for scheduler in &study.schedulers {
            match record(case, scheduler, ask, window, cancel)? {
                Some(record) => records.push((scheduler.name.as_str(), record)),
                None => return Ok(all),
            }
        }
        let (base, variants) = records.split_first().expect("a study has a base");
        for variant in variants {
            let title = match case.name.as_str() {
                "" => study.title.clone(),
                name => format!("{name}: {}", study.title),
            };
            let below = format!("{}, seed {}", study.machine, ask.scenario.seed);
            let text = draw::draw(&title, &below, ask.scenario.machine, [base, variant])
                .map_err(|error| NotDrawn::Drawing(error.to_string()))?;
            let file = file_name(study, case, variant.0);
            all.push(Picture { file, title, text });
        }
    }
    Ok(all)
}

/// One traced run; nothing if it was cancelled.
fn record(
    case: &Case,
    scheduler: &Scheduler,
    ask: &StudyQuestion<'_>,
    (from_ns, to_ns): (u64, u64),
    cancel: &AtomicBool,
) -> Result<Option<Course>, alight_sim::Error> {
    let scenario = case.first_run(scheduler, ask, Some(to_ns));
    let tasks = alight_sim::task_table(&scenario)?;
    let mut record = Course::new(&scenario, &tasks, from_ns..to_ns);
    let outcome = alight_sim::run(&scenario, Some(&mut record), cancel)?;
    record.end(outcome.end_ns);
    Ok((!outcome.interrupted).then_some(record))
}

/// Study, case if there are several, and variant if there are.
fn file_name(study: &Study, case: &Case, variant: &str) -> String {
    let variant = match study.schedulers.len() > 2 {
        true => short_name(variant, &study.schedulers[0].name),
        false => "",
    };
    file_of([&study.name, &case.name, variant], "svg")
}
