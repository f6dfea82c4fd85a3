// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::fake;

#[test]
fn a_name_is_used_once_in_a_run_with_the_unit_still_last() {
    let metric = |name: &str, unit| fake::metric(name, unit, Some(Better::Lower), 1.0);
    let outcome = Outcome {
        results: vec![
            metric("elapsed_s", "s"),
            metric("events", ""),
            metric("elapsed_s", "s"),
        ],
        energy: vec![],
        mechanism: vec![metric("events", ""), metric("elapsed_s", "s")],
        ..fake::outcome(0)
    };
    let names: Vec<_> = named(&outcome)
        .into_iter()
        .map(|(key, _)| key.name)
        .collect();
    assert_eq!(
        names,
        [
            "elapsed_s",
            "events",
            "elapsed_2_s",
            "events_2",
            "elapsed_3_s"
        ]
    );
}

/// The second workload's number keeps its name where the first one has none.
#[test]
fn a_name_is_that_of_the_same_workload_in_every_run() {
    let cut = fake::metric("elapsed_s", "s", Some(Better::Lower), f64::NAN);
    let done = fake::metric("elapsed_s", "s", Some(Better::Lower), 1.0);
    let outcome = Outcome {
        results: vec![cut, done],
        ..fake::outcome(0)
    };
    let numbers = named(&outcome);
    let elapsed = numbers
        .iter()
        .find(|(key, _)| key.name.starts_with("elapsed"));
    assert_eq!(
        elapsed.map(|(key, _)| key.name.as_str()),
        Some("elapsed_2_s")
    );
}

#[test]
fn a_number_that_does_not_exist_is_left_out() {
    let outcome = Outcome {
        results: vec![fake::metric("wakeup_latency_us", "us", None, f64::NAN)],
        energy: vec![],
        mechanism: vec![fake::metric("cpu_migrations", "", None, 0.0)],
        ..fake::outcome(0)
    };
    let names: Vec<_> = named(&outcome)
        .into_iter()
        .map(|(key, _)| key.name)
        .collect();
    assert_eq!(names, ["cpu_migrations"]);
}

#[test]
fn sums_are_told_from_means_and_rates() {
    for (name, unit, is_sum) in [
        ("cpu_migrations", "", true),
        ("task_clock_s", "s", true),
        ("energy_j", "j", true),
        ("cpus_utilized", "", false),
        ("context_switches_per_cpu_s", "", false),
        ("messages_per_switch", "", false),
        ("runnable_most_big", "tasks", false),
        ("runnable_per_cpu_big", "", false),
        ("run_delay_mean_us", "us", false),
        ("found_idle_percent", "percent", false),
        ("power_big_mw", "mw", false),
    ] {
        let key = Key {
            kind: MetricKind::Mechanism,
            name: name.to_owned(),
            unit,
            better: None,
        };
        assert_eq!(key.is_sum(), is_sum, "{name}");
    }
}
