// SPDX-License-Identifier: GPL-2.0-only
//! The whole report for the terminal: the answer first, then why.

use alight_policy::STEPS;

use crate::compare::{Comparison, Variant};
use crate::metrics::{Key, MetricKind};
use crate::reasons;
use crate::report::layout::{Columns, head_of};
use crate::report::{answer, number, words};
use crate::stats::Summary;

/// Heads of the columns of [`cells`].
pub const STATISTICS: [&str; 7] = ["mean", "std", "min", "50%", "75%", "99%", "max"];

/// Characters in a line that a terminal is trusted with.
const WIDTH: usize = 100;

pub(super) fn render(comparison: &Comparison) -> String {
    let mut text = head(comparison);
    for key in comparison.keys() {
        if key.kind == MetricKind::Result {
            text.push('\n');
            text.push_str(&number_with_statistics(comparison, key));
        }
    }
    for other in comparison.others() {
        text.push_str(&reasons(comparison, other));
    }
    text.push('\n');
    text.push_str(words::STAR);
    text.push('\n');
    text.push_str(&answer::rows(comparison));
    text
}

/// The numbers that were asked for by name, each with all its statistics.
pub(super) fn chosen(comparison: &Comparison) -> String {
    let mut text = head(comparison);
    for key in comparison.keys() {
        text.push('\n');
        text.push_str(&number_with_statistics(comparison, key));
    }
    text
}

pub(super) fn head(comparison: &Comparison) -> String {
    let rows = words::head(comparison);
    let head = head_of(rows, &comparison.header.command);
    format!("{}: compare\n{head}", words::program())
}

/// The statistics of one series; all with the decimals that its base's mean needs.
pub fn cells(summary: &Summary, decimals: usize) -> [String; 7] {
    let fixed = |value| number::fixed(value, decimals);
    let cell = |value: Option<f64>| value.map_or(number::NONE.to_owned(), fixed);
    summary.statistics().map(cell)
}

/// One number with all its statistics, with as many digits as a terminal's line holds.
fn number_with_statistics(comparison: &Comparison, key: &Key) -> String {
    /// Fewer digits would hide what differs.
    const FEWEST: i32 = 3;
    let fits = |text: &String| text.lines().all(|line| line.chars().count() <= WIDTH);
    (FEWEST + 1..=number::SIGNIFICANT)
        .rev()
        .map(|digits| block(comparison, key, digits))
        .find(fits)
        .unwrap_or_else(|| block(comparison, key, FEWEST))
        + &words::partial(comparison, &key.name).map_or(String::new(), remark)
}

pub(super) fn remark(text: String) -> String {
    format!("  {text}\n")
}

/// A row for each scheduler, and what their differences mean.
fn block(comparison: &Comparison, key: &Key, digits: i32) -> String {
    let base = comparison.base();
    let decimals = words::decimals(comparison, &key.name, digits);
    let mut columns = Columns::new(2, 1).narrow();
    let heads = [""].into_iter().chain(STATISTICS);
    columns.row(heads.chain(["delta", "95% interval"]));
    let mut verdicts = Columns::new(2, 1);
    for (at, variant) in comparison.variants.iter().enumerate() {
        let series = variant.series(&key.name);
        let label = words::short_name(&variant.scheduler, &base.scheduler);
        let mut row = vec![label.to_owned()];
        match series {
            Some(series) => row.extend(cells(&series.summary, decimals)),
            None => row.extend(STATISTICS.map(|_| number::NONE.to_owned())),
        }
        if let Some(delta) = series.and_then(|series| series.delta.as_ref()) {
            row.push(number::percent(delta.delta_percent));
            row.push(number::interval(delta.ci_low.zip(delta.ci_high)));
        }
        if at > 0 {
            let verdict = words::verdict(key, series);
            verdicts.row([format!("{label}: {verdict}")]);
        }
        columns.row(row);
    }
    let title = words::title(key);
    format!("{title}\n{}{}", columns.render(), verdicts.render())
}

/// Why one scheduler differs from the base.
fn reasons(comparison: &Comparison, other: &Variant) -> String {
    let base = comparison.base();
    let label = words::short_name(&other.scheduler, &base.scheduler);
    let heads = ["", &base.scheduler, label, "delta", ""];
    let mut text = String::new();
    for (kind, title) in [
        (
            MetricKind::Energy,
            "energy, means of the runs, lower is better",
        ),
        (MetricKind::Mechanism, "the mechanism, means of the runs"),
    ] {
        let mut columns = Columns::new(2, 1).with_remark();
        columns.row(heads);
        let of_kind = || (comparison.keys().into_iter()).filter(|key| key.kind == kind);
        let rows: Vec<_> = of_kind()
            .filter_map(|key| mean_row(&key.name, base, other))
            .collect();
        if !rows.is_empty() {
            rows.into_iter().for_each(|row| columns.row(row));
            text.push_str(&format!("\n{title}\n{}", columns.render()));
            let partly = of_kind().filter_map(|key| words::partial(comparison, &key.name));
            text.extend(partly.map(remark));
        }
    }
    text + &steps(base, other, heads)
}

/// `None` if neither has the number.
pub(super) fn mean_row(name: &str, base: &Variant, other: &Variant) -> Option<[String; 5]> {
    let both = [base, other].map(|variant| variant.series(name));
    if both.iter().all(Option::is_none) {
        return None;
    }
    let [was, is] = both.map(|series| {
        series.map_or(number::NONE.to_owned(), |series| {
            number::short(series.summary.mean)
        })
    });
    let delta = both[1].and_then(|series| series.delta);
    Some([
        name.to_owned(),
        was,
        is,
        delta.map_or(number::NONE.to_owned(), |delta| {
            number::percent(delta.delta_percent)
        }),
        match delta {
            Some(delta) if delta.significant => "*",
            _ => "",
        }
        .to_owned(),
    ])
}

/// Steps whose share of all decisions differs by as little as the table shows.
fn steps(base: &Variant, other: &Variant, heads: [&str; 5]) -> String {
    let mut columns = Columns::new(2, 1);
    columns.row(heads[..3].iter().copied());
    let mut meanings = Columns::new(2, 2);
    for (step, (name, meaning)) in STEPS.iter().enumerate() {
        let [was, is] = [base, other].map(|variant| share(variant, step));
        if was != is {
            columns.row([*name, was.as_str(), is.as_str()]);
            meanings.row([*name, *meaning]);
        }
    }
    if meanings.is_empty() {
        return "\nthe selection steps have the same shares\n".to_owned();
    }
    let (columns, meanings) = (columns.render(), meanings.render());
    format!(
        "\nthe selection steps that differ, % of all decisions\n{columns}their meanings\n{meanings}"
    )
}

fn share(variant: &Variant, step: usize) -> String {
    number::fixed(reasons::share(variant, step), 1)
}
