// SPDX-License-Identifier: GPL-2.0-only
//! Energy of each cluster, and what CPUs did with their time: means of the runs, as in all reports.

use alight_html::{Bar, Bars, Page, Segment, Text};

use crate::compare::{Comparison, Series, Variant};
use crate::report::{Extent, number};

/// Parts of a bar: with more figures beside it the table is wider than the page.
const MOST_PARTS: usize = 6;

/// Adds the sections for which the runs have numbers. Where some were chosen, the states may not be
/// all, and the rest is unknown.
pub fn add(page: Page, comparison: &Comparison, extent: Extent) -> Page {
    let clusters = named(comparison, "energy_", "_j");
    let page = match clusters.len() {
        0 => page,
        1..=MOST_PARTS => page.part(ENERGY, &energy(comparison, &clusters, &[])),
        all => {
            let (largest, rest) = split(comparison, clusters);
            let says = format!(
                "The {} of the {all} clusters that take most, and the sum of the others; each is \
                 among all numbers.",
                largest.len()
            );
            let energy = energy(comparison, &largest, &rest);
            page.parts(ENERGY, &[&Text::new([says]), &energy])
        }
    };
    let states = named(comparison, "idle_residency_", "_percent");
    match states.is_empty() {
        true => page,
        false => page.part(
            "Idle states of all CPUs, means of the runs",
            &residency(comparison, &states, extent != Extent::Chosen),
        ),
    }
}

const ENERGY: &str = "Energy of the clusters, means of the runs";

/// A part for each of `clusters`, and one for the `rest` together, if there are some.
fn energy(comparison: &Comparison, clusters: &[Named<'_>], rest: &[Named<'_>]) -> Bars {
    let others = (!rest.is_empty()).then(|| format!("{} others, J", rest.len()));
    let sum = |variant: &Variant| rest.iter().map(|named| mean(variant, named)).sum();
    Bars {
        parts: (clusters.iter().map(|(part, _)| format!("{part}, J")))
            .chain(others)
            .collect(),
        whole: None,
        bars: bars(comparison, clusters, |variant, _| {
            (!rest.is_empty()).then(|| sum(variant))
        }),
    }
}

/// `is_whole`: the states are all that there are, and what is missing to 100 % is told.
fn residency(comparison: &Comparison, states: &[Named<'_>], is_whole: bool) -> Bars {
    Bars {
        parts: (states.iter().map(|(part, _)| format!("{part}, %")))
            .chain(is_whole.then(|| "runs, enters or leaves, %".to_owned()))
            .collect(),
        whole: Some(100.0),
        bars: bars(comparison, states, |_, idle| {
            is_whole.then_some(100.0 - idle)
        }),
    }
}

/// The clusters that take most under any scheduler, and the others, which share the last part; both in
/// their order.
fn split<'a>(
    comparison: &Comparison,
    clusters: Vec<Named<'a>>,
) -> (Vec<Named<'a>>, Vec<Named<'a>>) {
    let most = |named: &Named<'_>| {
        let means = comparison.variants.iter().map(|of| mean(of, named));
        means.fold(0.0, f64::max)
    };
    let mut order: Vec<Named<'a>> = clusters.clone();
    order.sort_by(|a, b| most(b).total_cmp(&most(a)));
    order.truncate(MOST_PARTS - 1);
    clusters
        .into_iter()
        .partition(|named| order.contains(named))
}

/// The part that a number is of, and the number's name.
type Named<'a> = (&'a str, &'a str);

fn mean(variant: &Variant, (_, name): &Named<'_>) -> f64 {
    let series = variant.series(name);
    series.map_or(0.0, |series: &Series| series.summary.mean)
}

/// The numbers whose names begin and end so, with what stands between.
fn named<'a>(comparison: &'a Comparison, begin: &str, end: &str) -> Vec<Named<'a>> {
    let part = |name: &'a str| {
        let part = name.strip_prefix(begin)?.strip_suffix(end)?;
        Some((part, name))
    };
    let keys = comparison.keys().into_iter();
    keys.filter_map(|key| part(&key.name)).collect()
}

/// A bar for each scheduler; `rest`, from the sum of its parts, is one more part.
fn bars(
    comparison: &Comparison,
    parts: &[Named<'_>],
    rest: impl Fn(&Variant, f64) -> Option<f64>,
) -> Vec<Bar> {
    let segment = |value: f64| Segment {
        value,
        text: number::plain(value),
    };
    let bar = |variant: &Variant| {
        let values: Vec<f64> = parts.iter().map(|named| mean(variant, named)).collect();
        let rest = rest(variant, values.iter().sum());
        Bar {
            label: variant.scheduler.clone(),
            segments: values.into_iter().chain(rest).map(segment).collect(),
        }
    };
    comparison.variants.iter().map(bar).collect()
}

#[cfg(test)]
mod tests;
