// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::fake;
use crate::metrics::Key;
use crate::stats::{Delta, Summary};

fn series(name: &str, unit: &'static str, was: &[f64], is: &[f64]) -> Series {
    let pairs: Vec<(f64, f64)> = was.iter().copied().zip(is.iter().copied()).collect();
    Series {
        key: Key {
            kind: MetricKind::Mechanism,
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
