// SPDX-License-Identifier: GPL-2.0-only
//! A study run again with something of its machine moved: fewer runs, and a shorter load if a run
//! takes minutes.

use std::sync::atomic::AtomicBool;

use alight_compare::compare::{NoComparison, Runner};
use alight_compare::spread::Spread;
use alight_compare::stats::Delta;
use alight_machine::{Draft, Machine};
use alight_sim::{AtFault, Fault, Scenario};
use serde::{Deserialize, Serialize};

use super::{Answer, Case, Length, Study, StudyQuestion, open, sensitivity};

/// What is predicted: a scheduler's difference from the base in a metric of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Which {
    /// The case; empty in a study of one.
    pub case: String,
    /// The metric.
    pub metric: String,
    /// The scheduler.
    pub scheduler: String,
}

impl Which {
    /// In words.
    pub fn label(&self) -> String {
        let words = [&*self.case, &self.metric, &self.scheduler];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        words.join(", ")
    }
}

/// What is predicted, and the difference.
pub type Prediction = (Which, Option<Delta>);

impl Answer<'_> {
    /// All its predictions.
    pub fn predictions(&self) -> Vec<Prediction> {
        let mut all = vec![];
        for case in &self.cases {
            for row in self.study.rows.iter().filter(|row| case.is(&row.case)) {
                for other in case.comparison().others() {
                    let which = Which {
                        case: case.case.name.clone(),
                        metric: row.metric.clone(),
                        scheduler: other.scheduler.clone(),
                    };
                    let series = other.series(&row.metric);
                    all.push((which, series.and_then(|series| series.delta)));
                }
            }
        }
        all
    }
}

/// A study that was asked, to be asked again of other machines.
pub struct Again<'a> {
    study: &'a Study,
    ask: &'a StudyQuestion<'a>,
    draft: &'a dyn Fn() -> Result<Draft, alight_machine::Error>,
    run: &'a Runner<'a>,
    how: Spread<'a>,
    cancel: &'a AtomicBool,
    /// The predictions of as much with nothing moved.
    pub(super) unmoved: Vec<Prediction>,
}

impl<'a> Again<'a> {
    /// Runs as much as each move will with nothing moved. `draft` opens the machine.
    ///
    /// # Errors
    /// Those of the study.
    pub fn of(
        study: &'a Study,
        ask: &'a StudyQuestion<'a>,
        draft: &'a dyn Fn() -> Result<Draft, alight_machine::Error>,
        run: &'a Runner<'a>,
        how: Spread<'a>,
        cancel: &'a AtomicBool,
    ) -> Result<Self, Unanswered> {
        let mut again = Again {
            study,
            ask,
            draft,
            run,
            how,
            cancel,
            unmoved: vec![],
        };
        again.unmoved = again.predicted(ask.scenario.machine, ask.scenario.wakee_flips)?;
        Ok(again)
    }

    /// Simulations that it takes, with those of a sensitivity table if one is wanted; 0: there is
    /// nothing to ask again. A shortened study predicts nothing that costs could leave open.
    pub fn jobs(study: &Study, ask: &StudyQuestion<'_>, sensitivity: bool) -> usize {
        let mut machines = 0;
        if ask.length != Length::Short {
            machines += 1 + open::moves(ask.trust);
        }
        if sensitivity {
            machines = machines.max(1) + sensitivity::moves(ask.scenario.machine);
        }
        study.jobs(&shortened(ask, ask.scenario)) * machines
    }

    /// The machine as it can be moved.
    pub(super) fn draft(&self) -> Result<Draft, alight_machine::Error> {
        (self.draft)()
    }

    /// What was asked.
    pub(super) fn ask(&self) -> &StudyQuestion<'a> {
        self.ask
    }

    /// Runs of each scheduler.
    pub(super) fn runs(&self) -> u32 {
        let ask = shortened(self.ask, self.ask.scenario);
        self.study.runs(&ask).get()
    }

    /// What runs, case by case, where that is less than is published.
    pub(super) fn shortened(&self) -> Vec<String> {
        match self.ask.length {
            Length::Short => vec![],
            Length::Full | Length::Moved => self
                .study
                .cases
                .iter()
                .filter_map(Case::shortened)
                .collect(),
        }
    }

    /// The predictions on another machine.
    pub(super) fn predicted(
        &self,
        machine: &Machine,
        wakee_flips: Option<u32>,
    ) -> Result<Vec<Prediction>, Unanswered> {
        let scenario = Scenario {
            machine,
            wakee_flips,
            ..self.ask.scenario
        };
        let ask = shortened(self.ask, scenario);
        let answer = self.study.run(&ask, self.run, self.how, self.cancel)?;
        if answer.interrupted() {
            return Err(NoComparison::Interrupted.into());
        }
        Ok(answer.predictions())
    }
}

/// What is asked for each move.
fn shortened<'a>(ask: &StudyQuestion<'a>, scenario: Scenario<'a>) -> StudyQuestion<'a> {
    StudyQuestion {
        scenario,
        trust: ask.trust,
        length: match ask.length {
            Length::Full => Length::Moved,
            other => other,
        },
        runs: ask.runs,
        command: String::new(),
    }
}

/// Why the study did not run again.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// The study did not run.
    #[error(transparent)]
    Run(#[from] NoComparison),
    /// The machine with other costs cannot be.
    #[error(transparent)]
    Machine(#[from] alight_machine::Error),
}

impl AtFault for Unanswered {
    fn fault(&self) -> Fault {
        match self {
            Unanswered::Run(error) => error.fault(),
            Unanswered::Machine(error) => error.fault(),
        }
    }
}
