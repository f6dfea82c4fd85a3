// SPDX-License-Identifier: GPL-2.0-only
//! The report as a page: GitHub's tables.

use crate::compare::Comparison;
use crate::metrics::Key;
use crate::reasons;
use crate::report::answer::answers;
use crate::report::results::shown_and_hidden;
use crate::report::table::{STATISTICS, cells};
use crate::report::{Extent, number, short, words};

pub(super) fn render(comparison: &Comparison, extent: Extent) -> String {
    let mut text = String::new();
    for (label, value) in words::head(comparison) {
        let label = if label.is_empty() { "which is" } else { label };
        text.push_str(&format!("- {label}: {}\n", escape(&value)));
    }
    for answer in answers(comparison) {
        text.push_str(&format!("- answer: {}\n", escape(&answer)));
    }
    let again = escape(&comparison.header.command);
    text.push_str(&format!(
        "- again: {again}\n- program: {}\n\n",
        words::program()
    ));
    let keys = match extent {
        Extent::Short => explaining(comparison),
        Extent::Full | Extent::Chosen => comparison.keys(),
    };
    text.push_str(&table(comparison, &keys));
    text.push_str(&format!("\n{}\n", escape(words::STAR)));
    if extent == Extent::Short {
        text.push_str(&format!("\n{}\n", escape(&short::rest(comparison))));
    }
    text
}

/// The results, and the numbers of the mechanism that explain how some scheduler differs.
fn explaining(comparison: &Comparison) -> Vec<&Key> {
    let (mut keys, _) = shown_and_hidden(comparison);
    for series in comparison.others().iter().flat_map(reasons::numbers) {
        if !keys.iter().any(|key| key.name == series.key.name) {
            keys.push(&series.key);
        }
    }
    keys
}

fn table(comparison: &Comparison, keys: &[&Key]) -> String {
    let mut text = line(
        ["metric", "scheduler"]
            .iter()
            .chain(&STATISTICS)
            .chain(&["delta", "95% interval", "verdict"])
            .map(|cell| (*cell).to_owned()),
    );
    text.push_str("|---|---|");
    text.push_str(&"--:|".repeat(STATISTICS.len() + 2));
    text.push_str("---|\n");
    for key in keys {
        let decimals = words::decimals(comparison, &key.name, number::SIGNIFICANT);
        for (at, variant) in comparison.variants.iter().enumerate() {
            let series = variant.series(&key.name);
            let mut row = vec![words::title(key), variant.scheduler.clone()];
            match series {
                Some(series) => row.extend(cells(&series.summary, decimals)),
                None => row.extend(STATISTICS.map(|_| number::NONE.to_owned())),
            }
            row.extend(match series.and_then(|series| series.delta.as_ref()) {
                None => [String::new(), String::new()],
                Some(delta) => {
                    let star = if delta.significant { " *" } else { "" };
                    [
                        number::percent(delta.delta_percent) + star,
                        number::interval(delta.ci_low.zip(delta.ci_high)),
                    ]
                }
            });
            row.push(match at {
                0 => String::new(),
                _ => words::verdict(key, series),
            });
            text.push_str(&line(row));
        }
    }
    for key in keys {
        if let Some(partial) = words::partial(comparison, &key.name) {
            text.push_str(&format!("\n{}\n", escape(&partial)));
        }
    }
    text
}

/// A row of a table.
pub fn line(cells: impl IntoIterator<Item = String>) -> String {
    let mut text = "|".to_owned();
    for cell in cells {
        text.push_str(&format!(" {} |", escape(&cell)));
    }
    text + "\n"
}

/// Underscores within words are safe in GitHub's dialect; bars and stars are not.
fn escape(text: &str) -> String {
    alight_text::line(text)
        .replace('|', "\\|")
        .replace('*', "\\*")
}
