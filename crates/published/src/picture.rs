// SPDX-License-Identifier: GPL-2.0-only
//! Pictures of a study: for each case that says which time to show, and each variant, the base above
//! the variant over simulated time: frequencies, utilizations, and who ran on which CPU. One run of
//! each, traced, with the seed of the first.

#[cfg(test)]
mod tests;

use std::sync::atomic::AtomicBool;

use alight_compare::picture::{Undrawn, picture};
use alight_compare::report::words::short_name;

use super::{Case, Study, StudyQuestion, file_of};

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

/// The pictures of a study, in the order of its cases and variants. `cancel` leaves out those that
/// are not complete.
///
/// # Errors
/// Of the simulator, and of drawing.
pub fn pictures(
    study: &Study,
    ask: &StudyQuestion<'_>,
    cancel: &AtomicBool,
) -> Result<Vec<Picture>, Undrawn> {
    let mut all = vec![];
    let below = [format!("{}, seed {}", study.machine, ask.scenario.seed)];
    let (base, variants) = study.schedulers.split_first().expect("a study has a base");
    for case in &study.cases {
        let Some((from_ns, to_ns)) = case.picture else {
            continue;
        };
        for variant in variants {
            let title = match case.name.as_str() {
                "" => study.title.clone(),
                name => format!("{name}: {}", study.title),
            };
            let runs = [base, variant].map(|scheduler| case.first_run(scheduler, ask, Some(to_ns)));
            let Some(text) = picture(&title, &below, &runs, from_ns..to_ns, cancel)? else {
                return Ok(all);
            };
            let file = file_name(study, case, &variant.name);
            all.push(Picture { file, title, text });
        }
    }
    Ok(all)
}

/// Study, case if there are several, and variant if there are.
fn file_name(study: &Study, case: &Case, variant: &str) -> String {
    let variant = match study.schedulers.len() > 2 {
        true => short_name(variant, &study.schedulers[0].name),
        false => "",
    };
    file_of([&study.name, &case.name, variant], "svg")
}
