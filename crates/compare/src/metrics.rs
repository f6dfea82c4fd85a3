// SPDX-License-Identifier: GPL-2.0-only
//! The numbers of a finished run under names that are unique within it.

use std::collections::BTreeMap;

use alight_sim::{Metric, Outcome};
use alight_workload::program::Better;
use serde::Serialize;

/// What a number is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// What the workload reports: the answer.
    Result,
    /// What it cost.
    Energy,
    /// Why.
    Mechanism,
}

impl Kind {
    /// The word that reports print.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Result => "result",
            Kind::Energy => "energy",
            Kind::Mechanism => "mechanism",
        }
    }
}

/// Which number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// What it is about.
    pub kind: Kind,
    /// lower_snake, unit last; unique within a run.
    pub name: String,
    /// `s`, `ms`, `us`, `j`, `w`, `mw`, `percent`, or empty for counts.
    pub unit: &'static str,
    /// Direction of improvement; `None` for what only explains.
    pub better: Option<Better>,
}

impl Key {
    /// `lower`, `higher`, or nothing.
    pub fn better_word(&self) -> Option<&'static str> {
        self.better.map(better_word)
    }
}

/// `lower` or `higher`.
pub fn better_word(better: Better) -> &'static str {
    match better {
        Better::Lower => "lower",
        Better::Higher => "higher",
    }
}

/// All numbers of a run: results, energy, mechanism, each in the simulator's
/// order. A number that does not exist (the mean of no sample) is left out.
///
/// Two workloads that report the same name are told apart: the second
/// `elapsed_s` becomes `elapsed_2_s`.
pub fn named(outcome: &Outcome) -> Vec<(Key, f64)> {
    let all = keyed(outcome).into_iter();
    all.filter(|(_, value)| value.is_finite()).collect()
}

/// The names of all numbers, those that do not exist this time too.
pub fn all_names(outcome: &Outcome) -> Vec<String> {
    let all = keyed(outcome).into_iter();
    all.map(|(key, _)| key.name).collect()
}

fn keyed(outcome: &Outcome) -> Vec<(Key, f64)> {
    let groups = [
        (Kind::Result, &outcome.results),
        (Kind::Energy, &outcome.energy),
        (Kind::Mechanism, &outcome.mechanism),
    ];
    let mut seen: BTreeMap<&str, u32> = BTreeMap::new();
    let mut list = Vec::new();
    for (kind, metric) in groups
        .iter()
        .flat_map(|(kind, metrics)| metrics.iter().map(move |metric| (*kind, metric)))
    {
        let nth = seen.entry(&metric.name).or_insert(0);
        *nth += 1;
        let key = Key {
            kind,
            name: nth_name(metric, *nth),
            unit: metric.unit,
            better: metric.better,
        };
        list.push((key, metric.value));
    }
    list
}

fn nth_name(metric: &Metric, nth: u32) -> String {
    let suffix = format!("_{}", metric.unit);
    match metric.name.strip_suffix(&suffix) {
        _ if nth == 1 => metric.name.clone(),
        Some(stem) if !metric.unit.is_empty() => format!("{stem}_{nth}{suffix}"),
        _ => format!("{}_{nth}", metric.name),
    }
}

#[cfg(test)]
mod tests {
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
}
