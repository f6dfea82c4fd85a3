// SPDX-License-Identifier: GPL-2.0-only
//! What stands before the tables of a report: how far the base is from what was published, and what
//! is predicted from it.

use super::outcomes::Predicted;
use super::report::{Block, of_shortened};
use super::{Answer, Length};

/// Predictions that stand here; more than these stand in the tables alone.
const MOST: usize = 8;

/// How far the base is from what was published.
pub(super) fn before(answer: &Answer<'_>) -> String {
    let off = answer.off();
    let off = off.map_or("nothing published".to_owned(), |off| off.in_words());
    format!("before: {off}")
}

/// Nothing of a shortened study, which predicts nothing.
pub(super) fn lead(answer: &Answer<'_>) -> Vec<Block> {
    if answer.length == Length::Short {
        return vec![];
    }
    let mut lines = vec![before(answer)];
    let predicted = answer.predicted();
    if predicted.len() <= MOST {
        let line = |one: &Predicted| format!("{}: {}", one.which.label(), one.in_words());
        lines.extend(predicted.iter().map(line));
    }
    if let Some(open) = &answer.open {
        lines.push(format!(
            "costs: the least and the most over {} ({} points, {} runs each{})",
            open.over,
            open.points,
            open.runs,
            of_shortened(&open.shortened)
        ));
        let without = |one: &&Predicted| one.costs.is_none();
        let why = |one: &Predicted| {
            let label = one.which.label();
            format!(
                "{label} has no interval of costs: with some of them its base is 0 or has no figure"
            )
        };
        lines.extend(predicted.iter().filter(without).map(why));
    }
    vec![
        Block::Title("before, and what is predicted".to_owned()),
        Block::Lines(lines),
    ]
}
