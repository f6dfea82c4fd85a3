// SPDX-License-Identifier: GPL-2.0-only
//! The report to look at: the question and the answer in words, how far to trust it, every difference
//! with its interval, what happened in the first runs, what explains the differences, all numbers,
//! and the command that makes it again.

mod course;
pub mod parts;
mod placed;
mod power;
mod signals;
mod waits;

use alight_html::{Forest, Mark, Page, Row, Table};
use alight_policy::STEPS;

use crate::compare::{Comparison, Series, Variant};
use crate::metrics::Key;
use crate::observe::Observation;
use crate::reasons;
use crate::report::answer::answers;
use crate::report::results::shown_and_hidden;
use crate::report::{Extent, number, words};
use crate::verdict::Verdict;

/// The whole file. Differences are those of the results, or of all numbers where the user chose some.
pub fn page(
    comparison: &Comparison,
    observation: Option<&Observation<'_>>,
    extent: Extent,
) -> String {
    let keys = match extent {
        Extent::Chosen => comparison.keys(),
        Extent::Short | Extent::Full => {
            let (shown, hidden) = shown_and_hidden(comparison);
            shown.into_iter().chain(hidden).collect()
        }
    };
    let mut page = Page::new(&title(comparison))
        .part("Question", &question(comparison))
        .text("Answer", answers(comparison))
        .text(
            "How far to trust it",
            parts::trust(&comparison.header.rests),
        );
    let base = &comparison.base().scheduler;
    let others = comparison.others().iter().filter(|other| is_own(other));
    let others: Vec<(&str, &Variant)> = others
        .map(|other| (words::short_name(&other.scheduler, base), other))
        .collect();
    let rows = others.iter().map(|(_, other)| differences(&keys, other));
    let forests = Forest::on_one_scale(rows.collect());
    for ((label, _), forest) in others.iter().zip(&forests) {
        page = page.part(&format!("Differences: {label}"), forest);
    }
    page = match observation {
        None => power::add(page, comparison, extent),
        Some(observation) => {
            let page = waits::add(course::add(page, observation), observation);
            let page = signals::add(power::add(page, comparison, extent), observation);
            placed::add(page, observation)
        }
    };
    let steps = steps(comparison);
    if !steps.is_empty() {
        page = page.part("Steps that answered, % of all decisions", &steps);
    }
    for (label, other) in &others {
        let why = mechanism(comparison, other);
        if !why.is_empty() {
            page = page.part(&format!("Why: {label}"), &why);
        }
    }
    page.part("All numbers, means of the runs", &numbers(comparison))
        .command("Again", &comparison.header.command)
        .render()
}

/// Its runs are not those of one before.
fn is_own(variant: &Variant) -> bool {
    variant.inert.is_none() && variant.same_as.is_none()
}

fn title(comparison: &Comparison) -> String {
    let base = &comparison.base().scheduler;
    let others: Vec<&str> = (comparison.others().iter())
        .map(|other| words::short_name(&other.scheduler, base))
        .collect();
    let workloads = comparison.header.workloads.join(" and ");
    format!(
        "{workloads} on {}: {base} and {}",
        comparison.header.machine,
        others.join(", ")
    )
}

/// What was compared.
fn question(comparison: &Comparison) -> Table {
    let trust = comparison.header.rests.rows();
    let rows = words::head(comparison).into_iter();
    parts::labelled(rows.filter(|row| !trust.contains(row)))
}

/// How far the numbers of a scheduler are from the base's, a row each.
pub fn differences(keys: &[&Key], other: &Variant) -> Vec<Row> {
    let row = |key: &&Key| {
        let series = other.series(&key.name);
        let delta = series.and_then(|series| series.delta.as_ref());
        let interval = delta.and_then(|delta| delta.ci_low.zip(delta.ci_high));
        let figures = [
            number::percent(delta.and_then(|delta| delta.delta_percent)),
            number::interval(interval),
            words::verdict(key, series),
        ];
        let figures: Vec<String> = figures
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect();
        Row {
            label: words::title(key),
            delta: delta.and_then(|delta| delta.delta_percent),
            interval,
            mark: mark(Verdict::of(key, delta)),
            words: figures.join(" "),
        }
    };
    keys.iter().map(row).collect()
}

fn mark(verdict: Verdict) -> Mark {
    match verdict {
        Verdict::Better => Mark::Better,
        Verdict::Worse => Mark::Worse,
        Verdict::Different | Verdict::NoSpread => Mark::Different,
        _ => Mark::None,
    }
}

/// The numbers and steps that explain how one scheduler differs from the base.
fn mechanism(comparison: &Comparison, other: &Variant) -> Table {
    let base = comparison.base();
    let label = words::short_name(&other.scheduler, &base.scheduler);
    let mut table = Table::new(["", &base.scheduler, label, "delta", ""]);
    for series in reasons::numbers(other) {
        let (was, is) = series.delta.map_or((0.0, 0.0), |delta| delta.means);
        let delta = series.delta.and_then(|delta| delta.delta_percent);
        table = table.row([
            alight_text::cell(&series.key.name),
            number::short(was),
            number::short(is),
            number::percent(delta),
            String::new(),
        ]);
    }
    for step in reasons::steps(base, other) {
        let (name, meaning) = STEPS[step.place];
        table = table.row([
            format!("step {name}, % of all"),
            number::fixed(step.was, 1),
            number::fixed(step.is, 1),
            String::new(),
            meaning.to_owned(),
        ]);
    }
    table
}

/// How often each step answered under every scheduler.
fn steps(comparison: &Comparison) -> Table {
    let names = comparison
        .variants
        .iter()
        .map(|variant| variant.scheduler.as_str());
    let heads = ["step"].into_iter().chain(names).chain(["meaning"]);
    let answered = |place: &usize| comparison.variants.iter().any(|v| v.steps[*place] > 0.0);
    (0..STEPS.len())
        .filter(answered)
        .fold(Table::new(heads), |table, place| {
            let share = |variant: &Variant| {
                let all: f64 = variant.steps.iter().sum();
                match all > 0.0 {
                    true => number::fixed(100.0 * variant.steps[place] / all, 1),
                    false => number::NONE.to_owned(),
                }
            };
            let (name, meaning) = STEPS[place];
            let shares = comparison.variants.iter().map(share);
            table.row(
                [name.to_owned()]
                    .into_iter()
                    .chain(shares)
                    .chain([meaning.to_owned()]),
            )
        })
}

/// What happened in observed runs: timelines, waits, signals, placements.
pub fn observed(page: Page, observation: Option<&Observation<'_>>) -> Page {
    let Some(observation) = observation else {
        return page;
    };
    let page = waits::add(course::add(page, observation), observation);
    placed::add(signals::add(page, observation), observation)
}

/// The mean of every number under every scheduler.
fn numbers(comparison: &Comparison) -> Table {
    let names = comparison
        .variants
        .iter()
        .map(|variant| variant.scheduler.as_str());
    let heads = ["", "unit"].into_iter().chain(names);
    comparison
        .keys()
        .into_iter()
        .fold(Table::new(heads), |table, key| {
            let mean = |series: &Series| number::plain(series.summary.mean);
            let means = (comparison.variants.iter()).map(|variant| {
                let series = variant.series(&key.name);
                series.map_or(number::NONE.to_owned(), mean)
            });
            let first = [
                alight_text::cell(&key.name),
                alight_html::unit(key.unit).to_owned(),
            ];
            table.row(first.into_iter().chain(means))
        })
}

#[cfg(test)]
mod tests;
