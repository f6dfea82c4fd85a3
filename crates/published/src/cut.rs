// SPDX-License-Identifier: GPL-2.0-only
//! What is left of a study that was interrupted before any case of it was complete.

use std::sync::Mutex;

use alight_compare::header::Conditions;
use alight_compare::report::Style;
use alight_compare::single;
use alight_sim::{Outcome, Scenario};

use super::StudyQuestion;

/// Runs that were cut by hand, for when nothing else is had.
#[derive(Default)]
pub struct CutRuns(Mutex<Vec<CutRun>>);

/// One of them, in words.
struct CutRun {
    table: String,
    json: String,
}

impl CutRuns {
    /// Keeps the run if it was cut.
    pub fn keep(&self, scenario: &Scenario<'_>, ask: &StudyQuestion<'_>, outcome: &Outcome) {
        if !outcome.interrupted {
            return;
        }
        let conditions = Conditions::of(scenario, ask.trust, ask.command.clone());
        let run = CutRun {
            table: single::table(&conditions, outcome),
            json: single::json(&conditions, outcome),
        };
        self.0.lock().expect("nobody panics with it").push(run);
    }

    /// All of them in this style.
    ///
    /// # Panics
    /// The style is none of [`STYLES`](super::STYLES).
    pub fn render(self, style: Style) -> String {
        let runs = self.0.into_inner().expect("nobody panics with it");
        let texts = runs.into_iter().map(|run| match style {
            Style::Json => run.json,
            Style::Table => run.table,
            Style::Markdown => format!("```\n{}```\n", run.table),
            other => other.is_none_of("a study"),
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}
