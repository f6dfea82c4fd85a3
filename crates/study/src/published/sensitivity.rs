// SPDX-License-Identifier: GPL-2.0-only
//! How much an answer hangs on what was fitted: the difference that a study predicts when each
//! parameter is a fifth larger or smaller.

use std::sync::atomic::AtomicBool;

use alight_machine::{Draft, Machine};

use super::{Answer, Ask, Case, Length, Study};
use crate::calibrate::PARAMETERS;
use crate::compare::{self, Runner};
use crate::spread::Spread;
use crate::stats::Delta;

/// What is moved, in thousandths of what it is.
pub const MOVES: [u64; 2] = [800, 1200];

/// A case, a metric and a scheduler in words, and the scheduler's difference from the base.
pub type Prediction = (String, Option<Delta>);

/// One parameter, moved.
#[derive(Debug, Clone, PartialEq)]
pub struct Moved {
    /// Its name.
    pub name: &'static str,
    /// What it is, in words.
    pub meaning: &'static str,
    /// The predictions at each of [`MOVES`].
    pub deltas: Vec<(String, [Option<Delta>; MOVES.len()])>,
}

/// All parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// Runs of each scheduler.
    pub runs: u32,
    /// What ran, case by case, where that was less than is published.
    pub shortened: Vec<String>,
    /// The predictions of as much with nothing moved.
    pub fitted: Vec<Prediction>,
    /// The parameters.
    pub parameters: Vec<Moved>,
}

/// Simulations that it takes.
pub fn jobs(study: &Study, ask: &Ask<'_>) -> usize {
    study.jobs(&moved(ask, ask.machine)) * (1 + PARAMETERS.len() * MOVES.len())
}

/// Runs the study with no parameter moved and with each. `draft` opens its machine.
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
    let mut done = 0;
    let mut predicted = |machine: &Machine| {
        let so_far = |more: usize| (how.progress)(done + more);
        let spread = Spread {
            progress: &so_far,
            ..how
        };
        let ask = moved(ask, machine);
        let answer = study.run(&ask, run, spread, cancel)?;
        if answer.interrupted() {
            return Err(Error::from(compare::Error::Interrupted));
        }
        done += study.jobs(&ask);
        Ok(predictions(&answer))
    };
    let fitted = predicted(ask.machine)?;
    let mut parameters = vec![];
    for parameter in &PARAMETERS {
        let mut moves = vec![];
        for permille in MOVES {
            let mut draft = draft()?;
            draft.scale_costs(|key| match parameter.keys.contains(&key) {
                true => permille,
                false => 1000,
            });
            moves.push(predicted(&draft.resolve()?.machine)?);
        }
        let labels = fitted.iter().map(|(label, _)| label);
        let deltas = labels.map(|label| (label.clone(), of(label, &moves)));
        parameters.push(Moved {
            name: parameter.name,
            meaning: parameter.meaning,
            deltas: deltas.collect(),
        });
    }
    let shortened = match ask.length {
        Length::Short => vec![],
        Length::Full | Length::Moved => study.cases.iter().filter_map(Case::shortened).collect(),
    };
    Ok(Sensitivity {
        runs: study.runs(&moved(ask, ask.machine)).get(),
        shortened,
        fitted,
        parameters,
    })
}

/// What is asked for each move.
fn moved<'a>(ask: &Ask<'_>, machine: &'a Machine) -> Ask<'a> {
    Ask {
        machine,
        length: match ask.length {
            Length::Full => Length::Moved,
            other => other,
        },
        runs: ask.runs,
        seed: ask.seed,
        command: String::new(),
    }
}

/// The same prediction at each of the moves.
fn of(label: &str, moves: &[Vec<Prediction>]) -> [Option<Delta>; MOVES.len()] {
    std::array::from_fn(|index| {
        let found = moves[index].iter().find(|(known, _)| known == label);
        found.and_then(|(_, delta)| *delta)
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

fn predictions(answer: &Answer<'_>) -> Vec<Prediction> {
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
