// SPDX-License-Identifier: GPL-2.0-only
//! Which few lines of the mechanism explain a difference, by one rule:
//!
//! - a number counts if its difference is certain and large enough to matter ([`Verdict`]);
//! - the numbers that changed most come first, by their [`effect`]; what changed by less than a twentieth
//!   explains nothing;
//! - of numbers whose names begin with the same two words (`run_delay_mean_us`, `run_delay_p99_us`) only the
//!   first of that order is taken, since the others say the same again;
//! - of the steps of the selection those come first whose share of all decisions moved most.

use alight_policy::STEPS;

use crate::compare::{Series, Variant};
use crate::floors::Floor;
use crate::metrics::Kind;
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
    let of_mechanism = other
        .series
        .iter()
        .filter(|s| s.key.kind == Kind::Mechanism);
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
mod tests {
    use super::*;
    use crate::fake;
    use crate::metrics::Key;
    use crate::stats::{Delta, Summary};

    fn series(name: &str, unit: &'static str, was: &[f64], is: &[f64]) -> Series {
        let pairs: Vec<(f64, f64)> = was.iter().copied().zip(is.iter().copied()).collect();
        Series {
            key: Key {
                kind: Kind::Mechanism,
                name: name.to_owned(),
                unit,
                better: None,
            },
            samples: is.iter().copied().map(Some).collect(),
            summary: Summary::of(is).expect("some"),
            delta: Delta::of(&pairs),
        }
    }

    fn chosen(series: Vec<Series>) -> Vec<String> {
        let comparison = fake::comparison(fake::better_outcome);
        let variant = Variant {
            series,
            ..comparison.variants[1].clone()
        };
        let names = numbers(&variant).into_iter();
        names.map(|series| series.key.name.clone()).collect()
    }

    #[test]
    fn the_largest_changes_explain_and_each_is_said_once() {
        let found = chosen(vec![
            // A third less.
            series("context_switches", "", &[900.0, 910.0], &[600.0, 610.0]),
            // Of the same kind: the larger change is enough.
            series("run_delay_mean_us", "us", &[10.0, 10.1], &[15.0, 15.2]),
            series("run_delay_p99_us", "us", &[10.0, 10.1], &[800.0, 810.0]),
            // Nothing is left of many.
            series("slow_path_selections", "", &[5000.0, 5010.0], &[0.0, 0.0]),
            // Nothing is left of a handful: less than the first.
            series("active_balances", "", &[3.0, 3.5], &[0.0, 0.0]),
            // Certain, and next to nothing.
            series("wakeups", "", &[1000.0, 1001.0], &[1020.0, 1021.5]),
            // Within noise.
            series("preemptions", "", &[10.0, 900.0], &[900.0, 20.0]),
            // Too little to matter.
            series("to_this_percent", "percent", &[0.001, 0.002], &[0.05, 0.06]),
            // No difference at all.
            series("ipis", "", &[7.0, 8.0], &[7.0, 8.0]),
        ]);
        let expected = [
            "slow_path_selections",
            "run_delay_p99_us",
            "context_switches",
            "active_balances",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn no_more_are_shown_than_a_person_reads() {
        let many = (0..30).map(|i| {
            let (was, is) = ([1e3, 1.1e3], [2e3 + f64::from(i), 2.2e3 + f64::from(i)]);
            series(&format!("{i}_{i}_{i}"), "", &was, &is)
        });
        assert_eq!(chosen(many.collect()).len(), NUMBERS);
    }

    #[test]
    fn the_steps_that_moved_most_explain() {
        let comparison = fake::comparison(fake::better_outcome);
        let [base, other] = [&comparison.variants[0], &comparison.variants[1]];
        // `slow_idle` has 3 of 57 decisions under the base and none under the other.
        let found = steps(base, other);
        let names: Vec<&str> = found.iter().map(|step| STEPS[step.place].0).collect();
        assert_eq!(names, ["asym_fits", "slow_idle"]);
        assert_eq!((found[1].was, found[1].is), (100.0 * 3.0 / 57.0, 0.0));
        assert_eq!(steps(base, base), []);
    }
}
