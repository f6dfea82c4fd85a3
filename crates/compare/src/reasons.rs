// SPDX-License-Identifier: GPL-2.0-only
//! Which few lines of the mechanism explain a difference, by one rule:
//!
//! - a number counts if its difference is certain and large enough to matter ([`Verdict`]);
//! - the numbers that changed most come first, by their [`effect`]; what changed by less than a twentieth
//!   explains nothing;
//! - a rate a CPU-second is left out: the count that it is a quotient of says why;
//! - of numbers whose names begin with the same two words (`run_delay_mean_us`, `run_delay_p99_us`) only the
//!   first of that order is taken, since the others say the same again;
//! - of the steps of the selection those come first whose share of all decisions moved most.

use alight_policy::STEPS;

use crate::compare::{Series, Variant};
use crate::floors::Floor;
use crate::metrics::MetricKind;
use crate::verdict::Verdict;

/// Numbers that are shown at most.
const NUMBERS: usize = 6;
/// Steps that are shown at most.
const SHOWN_STEPS: usize = 2;
/// A number that changed by less of itself explains nothing.
const LEAST_EFFECT: f64 = 0.05;
/// A step whose share moved by less, in percentage points, explains nothing.
const LEAST_POINTS: f64 = 1.0;

/// The numbers of `other` that explain how it differs from the base, at most six, the largest effect first.
pub fn numbers(other: &Variant) -> Vec<&Series> {
    let of_mechanism = other.series.iter().filter(|series| {
        series.key.kind == MetricKind::Mechanism && !series.key.name.ends_with("_per_cpu_s")
    });
    let mut changed: Vec<(&Series, f64)> = of_mechanism
        .filter_map(|series| Some((series, effect(series)?)))
        .filter(|(_, effect)| *effect >= LEAST_EFFECT)
        .collect();
    changed.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let mut chosen: Vec<&Series> = vec![];
    for (series, _) in changed {
        let known = |other: &&Series| family(&other.key.name) == family(&series.key.name);
        if !chosen.iter().any(known) {
            chosen.push(series);
        }
    }
    chosen.truncate(NUMBERS);
    chosen
}

/// How much of a number changed, 0 to 1: the difference as a share of the larger of the two means, which
/// ten of the least differences that matter are added to, so that 3 that become 0 are less
/// than 3000 that become 30. `None` where the difference is uncertain or too small to matter.
pub fn effect(series: &Series) -> Option<f64> {
    /// Floors that a number must stand out from.
    const FLOORS: f64 = 10.0;
    let delta = series.delta?;
    match Verdict::of(&series.key, Some(&delta)) {
        Verdict::Better | Verdict::Worse | Verdict::Different | Verdict::NoSpread => {}
        _ => return None,
    }
    let (was, is) = delta.means;
    let least = Floor::of(&series.key.name, series.key.unit).least;
    let larger = was.abs().max(is.abs());
    Some(delta.difference.abs() / (larger + FLOORS * least))
}

/// The first two words of a name.
fn family(name: &str) -> &str {
    match name.match_indices('_').nth(1) {
        Some((end, _)) => &name[..end],
        None => name,
    }
}

/// A step, and its share of all decisions under the base and under the other, in percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Its place in [`STEPS`].
    pub place: usize,
    /// Under the base.
    pub was: f64,
    /// Under the other.
    pub is: f64,
}

/// The steps that differ most between the two, at most two.
pub fn steps(base: &Variant, other: &Variant) -> Vec<Step> {
    let step = |place: usize| Step {
        place,
        was: share(base, place),
        is: share(other, place),
    };
    let moved = |step: &Step| (step.is - step.was).abs();
    let all = (0..STEPS.len()).map(step);
    let mut changed: Vec<Step> = all.filter(|step| moved(step) >= LEAST_POINTS).collect();
    changed.sort_by(|a, b| moved(b).total_cmp(&moved(a)));
    changed.truncate(SHOWN_STEPS);
    changed
}

/// Share of a step in all decisions, percent.
pub fn share(variant: &Variant, step: usize) -> f64 {
    let all: f64 = variant.steps.iter().sum();
    match all > 0.0 {
        true => 100.0 * variant.steps[step] / all,
        false => 0.0,
    }
}

#[cfg(test)]
mod tests;
