// SPDX-License-Identifier: GPL-2.0-only
//! The report that a person reads in a terminal: of each result who was better, then the few lines of
//! the mechanism that explain it, then how to see the rest.

use alight_policy::STEPS;

use crate::compare::{Comparison, Variant};
use crate::metrics::Key;
use crate::reasons;
use crate::report::layout::{Columns, labelled};
use crate::report::results::{largest_effect, shown_and_hidden};
use crate::report::table::{head, mean_row, remark};
use crate::report::{answer, number, words};

pub(super) fn render(comparison: &Comparison) -> String {
    let mut text = head(comparison);
    let (shown, hidden) = shown_and_hidden(comparison);
    for key in shown {
        text.push('\n');
        text.push_str(&result(comparison, key));
    }
    if !hidden.is_empty() {
        text.push_str(&format!("\n{}", unsaid(comparison, &hidden)));
    }
    for other in different(comparison) {
        text.push_str(&why(comparison, other));
    }
    text.push_str(&format!("\n{}\n{}\n", words::STAR, rest(comparison)));
    text.push_str(&answer::rows(comparison));
    text
}

/// The schedulers whose runs are not those of one before: of the others the head says whose they are.
fn different(comparison: &Comparison) -> impl Iterator<Item = &Variant> {
    let own = |variant: &&Variant| variant.inert.is_none() && variant.same_as.is_none();
    comparison.others().iter().filter(own)
}

/// A row for each scheduler that differs from those before, ending in what it says; for each, if none
/// does.
fn result(comparison: &Comparison, key: &Key) -> String {
    let base = comparison.base();
    let decimals = words::decimals(comparison, &key.name, number::SIGNIFICANT);
    let mut columns = Columns::new(2, 1).with_remark();
    columns.row(["", "mean", "std", "delta", "95% interval", ""]);
    let rows: Vec<&Variant> = match different(comparison).count() {
        0 => comparison.variants.iter().collect(),
        _ => std::iter::once(base).chain(different(comparison)).collect(),
    };
    for (at, variant) in rows.into_iter().enumerate() {
        let series = variant.series(&key.name);
        let label = words::short_name(&variant.scheduler, &base.scheduler);
        let value = |value: Option<f64>| {
            value.map_or(number::NONE.to_owned(), |value| {
                number::fixed(value, decimals)
            })
        };
        let mut row = vec![
            label.to_owned(),
            value(series.map(|series| series.summary.mean)),
            value(series.and_then(|series| series.summary.std)),
        ];
        if at > 0 {
            let delta = series.and_then(|series| series.delta.as_ref());
            row.push(delta.map_or(String::new(), |d| number::percent(d.delta_percent)));
            row.push(delta.map_or(String::new(), |d| number::interval(d.ci_low.zip(d.ci_high))));
            row.push(words::verdict(key, series));
        }
        columns.row(row);
    }
    let partial = words::partial(comparison, &key.name).map_or(String::new(), remark);
    format!("{}\n{}{partial}", words::title(key), columns.render())
}

/// Results that are not shown: those in which a scheduler differs by what is certain and matters, and
/// the others.
fn unsaid(comparison: &Comparison, hidden: &[&Key]) -> String {
    let differs = |key: &&&Key| largest_effect(comparison, key) > 0.0;
    let (different, same): (Vec<&Key>, Vec<&Key>) = hidden.iter().partition(differs);
    let list = |keys: &[&Key]| {
        let names: Vec<_> = keys
            .iter()
            .map(|key| alight_text::cell(&key.name))
            .collect();
        names.join(", ")
    };
    let mut rows = vec![];
    if !different.is_empty() {
        rows.push(("differ by less", list(&different)));
    }
    if !same.is_empty() {
        rows.push(("no difference", list(&same)));
    }
    labelled(rows)
}

/// The lines of the mechanism that explain how one scheduler differs from the base.
fn why(comparison: &Comparison, other: &Variant) -> String {
    let base = comparison.base();
    let label = words::short_name(&other.scheduler, &base.scheduler);
    let mut columns = Columns::new(2, 1).with_remark();
    columns.row(["", base.scheduler.as_str(), label, "delta", ""]);
    let numbers = reasons::numbers(other);
    let steps = reasons::steps(base, other);
    if numbers.is_empty() && steps.is_empty() {
        return format!(
            "\nwhy {label}: no number of the mechanism has a difference that is certain and large enough to matter\n"
        );
    }
    for series in numbers {
        columns.row(mean_row(&series.key.name, base, other).expect("the other has it"));
    }
    for step in steps {
        let (name, meaning) = STEPS[step.place];
        columns.row([
            format!("step {name}, % of all"),
            number::fixed(step.was, 1),
            number::fixed(step.is, 1),
            String::new(),
            meaning.to_owned(),
        ]);
    }
    format!("\nwhy {label}, means of the runs\n{}", columns.render())
}

/// What is not shown, and how to see it.
pub(super) fn rest(comparison: &Comparison) -> String {
    format!(
        "--full shows all {} numbers with all statistics, and all steps. --metric 'run_delay*' shows numbers by name.",
        comparison.keys().len()
    )
}
