// SPDX-License-Identifier: GPL-2.0-only
//! The numbers of a finished run under names that are unique within it.

use std::collections::BTreeMap;

use alight_sim::{Metric, Outcome};
use alight_workload::program::Better;
use serde::Serialize;

/// The kind of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricKind {
    /// What the workload reports: the answer.
    Result,
    /// Energy of the run.
    Energy,
    /// Numbers that explain the results.
    Mechanism,
}

impl MetricKind {
    /// The word that reports print.
    pub fn as_str(self) -> &'static str {
        match self {
            MetricKind::Result => "result",
            MetricKind::Energy => "energy",
            MetricKind::Mechanism => "mechanism",
        }
    }
}

/// The identity of a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Its kind.
    pub kind: MetricKind,
    /// lower_snake, unit last; unique within a run.
    pub name: String,
    /// `s`, `ms`, `us`, `j`, `w`, `mw`, `percent`, or empty for counts.
    pub unit: &'static str,
    /// Direction of improvement; `None` for what only explains.
    pub better: Option<Better>,
}

impl Key {
    /// It grows with the length of a run: a count, a time, an energy, and no mean, share or rate.
    pub fn is_sum(&self) -> bool {
        let mean = ["_per_", "cpus_utilized", "runnable_"];
        let is_mean = mean.iter().any(|part| self.name.contains(part));
        matches!(self.unit, "" | "s" | "j") && !is_mean
    }

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
        (MetricKind::Result, &outcome.results),
        (MetricKind::Energy, &outcome.energy),
        (MetricKind::Mechanism, &outcome.mechanism),
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
mod tests;
