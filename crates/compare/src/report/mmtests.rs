// SPDX-License-Identifier: GPL-2.0-only
//! The report as `compare-kernels.sh` of mmtests prints it: a row a statistic, a
//! column a kernel, and in brackets by how many percent it is better (a positive
//! number is a gain, whichever direction is better), between stars when significant.

use alight_workload::program::Better;

use crate::compare::{Comparison, Series};
use crate::metrics::{Key, MetricKind};
use crate::report::layout::Columns;
use crate::report::{number, words};
use crate::stats::{mean, std};

pub(super) fn render(comparison: &Comparison) -> String {
    let mut text = String::new();
    for (label, value) in words::head(comparison) {
        let label = if label.is_empty() { "which is" } else { label };
        let value = alight_text::line(&value);
        text.push_str(&format!("# {label}: {value}\n"));
    }
    let again = alight_text::line(&comparison.header.command);
    text.push_str(&format!(
        "# again: {again}\n# program: {}\n",
        words::program()
    ));
    text.push_str(
        "# percent: positive is better, none where neither direction is; between stars the difference of the \
         means is significant\n",
    );
    let keys = comparison.keys();
    for key in &keys {
        for remark in words::remarks(comparison, &key.name) {
            text.push_str(&format!("# {remark}\n"));
        }
    }
    for key in keys {
        if key.kind != MetricKind::Mechanism {
            text.push('\n');
            text.push_str(&statistics(comparison, key));
        }
    }
    text.push('\n');
    text + &operations(comparison)
}

/// A number from values that are sorted best first.
type Of = fn(&[f64]) -> Option<f64>;

/// A row of mmtests.
type Statistic = (String, Of, Gain);

/// Whether a row has a percentage, and of what kind.
#[derive(Clone, Copy, PartialEq)]
enum Gain {
    /// Of the metric itself; the mean is the one that is tested.
    Value,
    Tested,
    /// Of a deviation: less is better.
    Spread,
}

fn rows(better: Better) -> Vec<Statistic> {
    let mean_name = match better {
        Better::Lower => "Amean",
        Better::Higher => "Hmean",
    };
    let tested: Of = match better {
        Better::Lower => mean,
        Better::Higher => harmonic,
    };
    let best: [(u32, Of); 3] = match better {
        Better::Lower => [
            (50, |v| mean(best_of(v, 50))),
            (95, |v| mean(best_of(v, 95))),
            (99, |v| mean(best_of(v, 99))),
        ],
        Better::Higher => [
            (50, |v| harmonic(best_of(v, 50))),
            (95, |v| harmonic(best_of(v, 95))),
            (99, |v| harmonic(best_of(v, 99))),
        ],
    };
    let mut rows: Vec<Statistic> = vec![
        (
            "Min".to_owned(),
            |v| v.iter().copied().reduce(f64::min),
            Gain::Value,
        ),
        (mean_name.to_owned(), tested, Gain::Tested),
        ("Stddev".to_owned(), std, Gain::Spread),
        ("CoeffVar".to_owned(), variation, Gain::Spread),
        (
            "Max".to_owned(),
            |v| v.iter().copied().reduce(f64::max),
            Gain::Value,
        ),
    ];
    rows.extend(best.map(|(percent, of)| (format!("B{mean_name}-{percent}"), of, Gain::Value)));
    rows
}

/// The best `percent` of values that are sorted best first; at least one.
fn best_of(values: &[f64], percent: usize) -> &[f64] {
    &values[..(values.len() * percent / 100).clamp(1, values.len())]
}

fn harmonic(values: &[f64]) -> Option<f64> {
    let inverse: Vec<f64> = values.iter().map(|value| value.recip()).collect();
    mean(&inverse).map(f64::recip)
}

/// None of values around 0.
fn variation(values: &[f64]) -> Option<f64> {
    let (std, mean) = (std(values)?, mean(values)?);
    (mean != 0.0).then(|| 100.0 * std / mean)
}

fn statistics(comparison: &Comparison, key: &Key) -> String {
    let better = key.better.unwrap_or(Better::Lower);
    let mut columns = Columns::new(0, 1);
    columns.row(
        std::iter::once(key.name.as_str())
            .chain(comparison.variants.iter().map(|v| v.scheduler.as_str())),
    );
    for (name, of, gain) in rows(better) {
        let value = |series: &Series| of(&best_first(series, better));
        let base = comparison.base().series(&key.name).and_then(value);
        let cells = comparison.variants.iter().map(|variant| {
            let series = variant.series(&key.name);
            let found = series.and_then(value);
            let star = gain == Gain::Tested
                && series.is_some_and(|s| s.delta.is_some_and(|d| d.significant));
            let rises = match gain {
                Gain::Spread => Some(Better::Lower),
                _ => key.better,
            };
            cell(base, found, rises, star)
        });
        columns.row(std::iter::once(name).chain(cells));
    }
    columns.render()
}

fn best_first(series: &Series, better: Better) -> Vec<f64> {
    let mut values: Vec<f64> = series.samples.iter().flatten().copied().collect();
    values.sort_by(f64::total_cmp);
    if better == Better::Higher {
        values.reverse();
    }
    values
}

/// A value, and by how many percent it is better than the base's, if either direction is.
fn cell(base: Option<f64>, found: Option<f64>, better: Option<Better>, star: bool) -> String {
    let Some(found) = found else {
        return number::NONE.to_owned();
    };
    let gain = match (base, better) {
        (Some(base), Some(_)) if found == base => number::fixed(0.0, 2),
        (Some(base), Some(better)) if base != 0.0 => {
            let sign = match better {
                Better::Higher => 1.0,
                Better::Lower => -1.0,
            };
            number::fixed(sign * 100.0 * (found - base) / base.abs(), 2)
        }
        _ => number::NONE.to_owned(),
    };
    let mark = if star { "*" } else { " " };
    let value = number::fixed(found, 4);
    format!("{value} ({mark}{gain:>8}%{mark})")
}

/// The mechanism as mmtests prints what `mpstat` and `vmstat` counted.
fn operations(comparison: &Comparison) -> String {
    let mut columns = Columns::new(0, 1);
    columns
        .row(std::iter::once("").chain(comparison.variants.iter().map(|v| v.scheduler.as_str())));
    for key in comparison.keys() {
        if key.kind == MetricKind::Mechanism {
            let mean = |series: Option<&Series>| {
                series.map_or(number::NONE.to_owned(), |s| number::short(s.summary.mean))
            };
            let cells = comparison
                .variants
                .iter()
                .map(|v| mean(v.series(&key.name)));
            columns.row(std::iter::once(format!("Ops {}", key.name)).chain(cells));
        }
    }
    columns.render()
}
