// SPDX-License-Identifier: GPL-2.0-only
//! What an answer rests on: how far the machine's figures can be trusted, and what the run needs that
//! the model leaves out. Computed here for every report, said in each of their styles, and one
//! structure in all JSON.

use alight_machine::Trust;
use alight_policy::Scheduler;
use alight_sim::{Scenario, caveats};
use serde::Serialize;

use crate::report::number;

/// What an answer rests on. In JSON two members: `rests_on` and `left_out`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestsOn {
    /// The machine's figures.
    #[serde(rename = "rests_on")]
    pub trust: Trust,
    /// What the model leaves out that these runs need, a sentence each.
    pub left_out: Vec<String>,
}

impl RestsOn {
    /// Of runs of this scenario, each of `schedulers` in runs of its own; `trust` is of its machine.
    pub fn of(trust: &Trust, scenario: &Scenario<'_>, schedulers: &[Scheduler]) -> Self {
        RestsOn {
            trust: trust.clone(),
            left_out: caveats(scenario, schedulers),
        }
    }

    /// The machine's part in a line.
    pub fn line(&self) -> String {
        line(&self.trust)
    }

    /// Pairs of a label and a text, for the head of a report.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = vec![(RESTS_ON, self.line())];
        let left_out = self.left_out.iter();
        rows.extend(left_out.map(|sentence| (LEFT_OUT, sentence.clone())));
        rows
    }
}

/// Labels of the rows.
const RESTS_ON: &str = "rests on";
const LEFT_OUT: &str = "left out";

/// `machine hash 0123456789abcdef; costs ASSUMED: ...; speeds ASSUMED EQUAL: ...; ASSUMED too: ...`.
pub fn line(trust: &Trust) -> String {
    let mut parts = vec![
        format!("machine hash {}", number::hash(trust.hash)),
        trust.costs.in_short(),
    ];
    if !trust.speeds.are_known() {
        parts.push(format!("speeds {}", trust.speeds));
    }
    if !trust.assumed.is_empty() {
        let words: Vec<String> = trust.assumed.iter().map(ToString::to_string).collect();
        parts.push(format!("ASSUMED too: {}", words.join(", ")));
    }
    // That a capture assumed a figure stands there already.
    let others = (trust.notes.iter()).filter(|note| !note.to_lowercase().contains("assumed"));
    parts.extend(others.map(|note| format!("note: {note}")));
    parts.join("; ")
}

#[cfg(test)]
mod tests;
