// SPDX-License-Identifier: GPL-2.0-only
//! How much an answer hangs on what was fitted: the difference that a study predicts when each
//! parameter is a fifth larger or smaller.

use std::sync::atomic::AtomicBool;

use alight_machine::Draft;

use super::{Answer, Ask, Study};
use crate::calibrate::PARAMETERS;
use crate::compare::{self, Runner};
use crate::spread::Spread;
use crate::stats::Delta;

/// What is moved, in thousandths of what it is.
pub const MOVES: [u64; 2] = [800, 1200];

/// One parameter, moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// Its name.
    pub name: &'static str,
    /// What it is, in words.
    pub meaning: &'static str,
    /// Row by row of the study, and case by case: the difference from the base of each other
    /// scheduler, at each of [`MOVES`].
    pub deltas: Vec<(String, [Option<Delta>; MOVES.len()])>,
}

/// All parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// Runs of each scheduler.
    pub runs: u32,
    /// The parameters.
    pub parameters: Vec<Moved>,
}

/// Simulations that it takes.
pub fn jobs(study: &Study, ask: &Ask<'_>) -> usize {
    study.jobs(ask) * PARAMETERS.len() * MOVES.len()
}

/// Runs the study with each parameter moved. `draft` opens its machine.
///
/// # Errors
/// Those of the study; machines that cannot be.
pub fn sensitivity(
    study: &Study,
    ask: &Ask<'_>,
    draft: &dyn Fn() -> Result<Draft, alight_machine::Error>,
    run: &Runner<'_>,
    how: Spread<'_>,
    cancel: &AtomicBool,
) -> Result<Sensitivity, Error> {
    let mut parameters = vec![];
    let mut before = 0;
    for parameter in &PARAMETERS {
        let mut moved = Moved {
            name: parameter.name,
            meaning: parameter.meaning,
            deltas: vec![],
        };
        for (index, permille) in MOVES.into_iter().enumerate() {
            let mut draft = draft()?;
            draft.scale_costs(|key| match parameter.keys.contains(&key) {
                true => permille,
                false => 1000,
            });
            let machine = draft.resolve()?.machine;
            let ask = Ask {
                machine: &machine,
                command: String::new(),
                ..*ask
            };
            let so_far = |done: usize| (how.progress)(before + done);
            let spread = Spread {
                progress: &so_far,
                ..how
            };
            let answer = study.run(&ask, run, spread, cancel)?;
            if answer.interrupted() {
                return Err(compare::Error::Interrupted.into());
            }
            before += study.jobs(&ask);
            for (label, delta) in deltas(&answer) {
                match moved.deltas.iter_mut().find(|known| known.0 == label) {
                    Some(known) => known.1[index] = delta,
                    None => {
                        let mut both = [None; MOVES.len()];
                        both[index] = delta;
                        moved.deltas.push((label, both));
                    }
                }
            }
        }
        parameters.push(moved);
    }
    Ok(Sensitivity {
        runs: study.runs(ask).get(),
        parameters,
    })
}

/// Why there is no sensitivity.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The study did not run.
    #[error(transparent)]
    Run(#[from] compare::Error),
    /// The machine with other costs cannot be.
    #[error(transparent)]
    Machine(#[from] alight_machine::Error),
}

/// The predictions of an answer: case, metric and scheduler, with the difference.
pub(super) fn deltas(answer: &Answer<'_>) -> Vec<(String, Option<Delta>)> {
    let mut all = vec![];
    for case in &answer.cases {
        for row in answer.study.rows.iter().filter(|row| case.is(&row.case)) {
            for other in case.comparison().others() {
                let label = [case.case.name.as_str(), &row.metric, &other.scheduler];
                let label: Vec<&str> = label.into_iter().filter(|word| !word.is_empty()).collect();
                let delta = other.series(&row.metric).and_then(|series| series.delta);
                all.push((label.join(", "), delta));
            }
        }
    }
    all
}
