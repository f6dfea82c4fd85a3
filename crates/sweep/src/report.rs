// SPDX-License-Identifier: GPL-2.0-only
//! The answer of a sweep as text for people and as JSON for programs.

mod effects;
mod table;

use serde::Serialize;

use crate::answer::{Answer, PlaceAnswer};
use crate::effects::Effects;
pub use table::short_name;

/// Name and version of the JSON form.
pub const SCHEMA: &str = "alight.sweep-answer/1";

#[derive(Serialize)]
struct AnswerDocument<'a> {
    schema: &'static str,
    version: &'static str,
    #[serde(flatten)]
    answer: &'a Answer,
}

/// The answer for a terminal, ending in a newline.
pub fn text(answer: &Answer) -> String {
    table::render(answer)
}

/// The answer for programs, ending in a newline.
pub fn json(answer: &Answer) -> String {
    alight_compare::report::pretty(&AnswerDocument {
        schema: SCHEMA,
        version: alight_compare::header::VERSION,
        answer,
    })
}

/// What was asked, and how far the sweep is: labels and texts.
pub fn head(answer: &Answer) -> Vec<(&'static str, String)> {
    table::head(answer)
}

/// What is said of a place, a sentence each.
pub fn words(answer: &Answer, place: &PlaceAnswer) -> Vec<String> {
    table::words(answer, place)
}

/// The table of factors: heads, and rows; `None`: points are missing.
pub fn factors(effects: &Effects) -> Option<(Vec<&'static str>, Vec<Vec<String>>)> {
    effects.found.as_ref().map(effects::rows)
}
