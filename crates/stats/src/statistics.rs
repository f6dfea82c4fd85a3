// SPDX-License-Identifier: GPL-2.0-only
//! The statistics as a document, which the socket serves, and its reader.

use crate::counters::{Counters, DISTANCES, PLAIN};
use alight_policy::{STEPS, Scheduler};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The statistics of a running scheduler. All counts grow from its start on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Base and features, the canonical name.
    pub scheduler: String,
    /// Version of the program.
    pub version: String,
    /// Time since it was started, ns.
    pub uptime_ns: u64,
    /// Number of times it was loaded into the kernel; more than 1 if the kernel asked for it.
    pub loads: u64,
    /// Sums over all CPUs.
    pub totals: Counters,
    /// Counters of each CPU, by CPU number. After [`Statistics::from_json`] they have the plain
    /// counters and the longest run delay only.
    pub cpus: Vec<Counters>,
}

/// Why a document is not one of statistics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    /// What was expected where.
    pub expected: &'static str,
}

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "these are not the statistics of scx_alight: {}",
            self.expected
        )
    }
}

impl std::error::Error for Malformed {}

impl Statistics {
    /// Statistics of these CPUs; `totals` is their sum. `uptime_ns`: time since the start, ns.
    /// `loads`: number of times the scheduler was loaded, from 1.
    pub fn new(scheduler: &Scheduler, uptime_ns: u64, loads: u64, cpus: Vec<Counters>) -> Self {
        Statistics {
            scheduler: scheduler.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            uptime_ns,
            loads,
            totals: cpus.iter().sum(),
            cpus,
        }
    }

    /// The counts since `before`. If the scheduler was started anew in between, all counts.
    pub fn since(&self, before: &Statistics) -> Statistics {
        if self.uptime_ns < before.uptime_ns || self.scheduler != before.scheduler {
            return self.clone();
        }
        let nothing = Counters::ZERO;
        let cpus = self.cpus.iter().enumerate();
        Statistics {
            uptime_ns: self.uptime_ns - before.uptime_ns,
            totals: self.totals.since(&before.totals),
            cpus: cpus
                .map(|(cpu, now)| now.since(before.cpus.get(cpu).unwrap_or(&nothing)))
                .collect(),
            ..self.clone()
        }
    }

    /// Decisions by step, those that occurred, in the order of [`STEPS`].
    pub fn steps(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let counts = STEPS.iter().zip(self.totals.steps);
        counts
            .map(|(&(name, _), count)| (name, count))
            .filter(|(_, count)| *count > 0)
    }

    /// Decisions by the feature whose step answered, of all features that have steps of their own
    /// on this base. Empty for a scheduler that this program does not know.
    pub fn features(&self) -> BTreeMap<&'static str, u64> {
        let Ok(scheduler) = Scheduler::parse(&self.scheduler) else {
            return BTreeMap::new();
        };
        let mut hits = BTreeMap::new();
        for (step, count) in (0..).zip(&self.totals.steps[..STEPS.len()]) {
            if let Some(feature) = scheduler.owner(step) {
                let sum: &mut u64 = hits.entry(feature.name).or_default();
                *sum = sum.saturating_add(*count);
            }
        }
        hits
    }

    /// The JSON document. [`crate::describe`] explains its members.
    pub fn to_json(&self) -> Value {
        let mut document = plain_to_json(&self.totals);
        document.insert("scheduler".to_owned(), json!(self.scheduler));
        document.insert("version".to_owned(), json!(self.version));
        document.insert("uptime_ns".to_owned(), json!(self.uptime_ns));
        document.insert("loads".to_owned(), json!(self.loads));
        document.insert("nr_cpus".to_owned(), json!(self.cpus.len()));
        for (name, per_mille) in [("delay_p50_ns", 500), ("delay_p99_ns", 990)] {
            document.insert(name.to_owned(), json!(self.totals.delay(per_mille)));
        }
        document.insert("scans".to_owned(), json!(self.totals.scans[..]));
        document.insert("delays".to_owned(), json!(self.totals.delays[..]));
        let named = |counts: &mut dyn Iterator<Item = (&str, u64)>, of: &str| {
            let members = counts.map(|(name, count)| (name.to_owned(), json!({ of: count })));
            Value::Object(members.collect())
        };
        let distances = DISTANCES.iter().map(|(name, _)| *name);
        let mut moved = distances.zip(self.totals.moved);
        document.insert("steps".to_owned(), named(&mut self.steps(), "decisions"));
        document.insert(
            "features".to_owned(),
            named(&mut self.features().into_iter(), "decisions"),
        );
        document.insert("moved".to_owned(), named(&mut moved, "runs"));
        let cpus = self.cpus.iter().enumerate();
        let cpus: Map<String, Value> = cpus
            .map(|(cpu, counters)| (cpu.to_string(), Value::Object(plain_to_json(counters))))
            .collect();
        document.insert("cpus".to_owned(), Value::Object(cpus));
        Value::Object(document)
    }

    /// Reads a document back. Missing members count as 0, and unknown members are ignored, because
    /// program and scheduler may be of different versions.
    ///
    /// # Errors
    /// The document is not an object that names a scheduler.
    pub fn from_json(document: &Value) -> Result<Self, Malformed> {
        let malformed = |expected| Malformed { expected };
        let object = document
            .as_object()
            .ok_or(malformed("expected an object"))?;
        let text = |name: &str| Some(object.get(name)?.as_str()?.to_owned());
        let mut totals = plain_from_json(object);
        numbers_into(&mut totals.scans, object.get("scans"));
        numbers_into(&mut totals.delays, object.get("delays"));
        for ((name, _), count) in STEPS.iter().zip(&mut totals.steps) {
            *count = member(object, &["steps", name, "decisions"]);
        }
        for ((name, _), count) in DISTANCES.iter().zip(&mut totals.moved) {
            *count = member(object, &["moved", name, "runs"]);
        }
        let mut cpus = Vec::new();
        if let Some(of_each) = object.get("cpus").and_then(Value::as_object) {
            while let Some(cpu) = of_each.get(&cpus.len().to_string()) {
                cpus.push(cpu.as_object().map(plain_from_json).unwrap_or_default());
            }
        }
        Ok(Statistics {
            scheduler: text("scheduler").ok_or(malformed("expected a scheduler's name"))?,
            version: text("version").unwrap_or_default(),
            uptime_ns: member(object, &["uptime_ns"]),
            loads: member(object, &["loads"]),
            totals,
            cpus,
        })
    }
}

fn plain_to_json(counters: &Counters) -> Map<String, Value> {
    let plain = PLAIN.iter().zip(counters.plain());
    let mut object: Map<String, Value> = plain
        .map(|((name, _), count)| ((*name).to_owned(), json!(count)))
        .collect();
    object.insert("delay_max_ns".to_owned(), json!(counters.delay_max_ns));
    object
}

fn plain_from_json(object: &Map<String, Value>) -> Counters {
    let mut counters = Counters::ZERO;
    for ((name, _), count) in PLAIN.iter().zip(counters.plain_mut()) {
        *count = member(object, &[name]);
    }
    counters.delay_max_ns = member(object, &["delay_max_ns"]);
    counters
}

/// The number at the end of this path of names, or zero.
fn member(object: &Map<String, Value>, path: &[&str]) -> u64 {
    let Some((first, rest)) = path.split_first() else {
        return 0;
    };
    let value = rest.iter().fold(object.get(*first), |value, name| {
        value.and_then(|value| value.get(*name))
    });
    value.and_then(Value::as_u64).unwrap_or(0)
}

fn numbers_into(buckets: &mut [u64], array: Option<&Value>) {
    let numbers = array.and_then(Value::as_array).into_iter().flatten();
    for (bucket, number) in buckets.iter_mut().zip(numbers) {
        *bucket = number.as_u64().unwrap_or(0);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{metrics, text};
    use proptest::prelude::*;

    /// A scheduler that has run for a while on two CPUs.
    pub(crate) fn example() -> Statistics {
        let scheduler = Scheduler::parse("linux-5.5+bias-prev").expect("a scheduler");
        let mut cpus = vec![Counters::ZERO; 2];
        let step = |name| STEPS.iter().position(|(step, _)| *step == name).unwrap();
        for (cpu, of) in cpus.iter_mut().zip(1..) {
            cpu.decisions = 100 * of;
            cpu.found_idle = 80 * of;
            cpu.scanned = 250 * of;
            cpu.steps[step("bias_prev")] = 60 * of;
            cpu.steps[step("target_idle")] = 40 * of;
            cpu.scans[1] = 100 * of;
            cpu.runs = 500 * of;
            cpu.delay_ns = 500 * of * 20_000;
            cpu.delay_max_ns = 1_500_000 * of;
            cpu.delays[14] = 490 * of;
            cpu.delays[20] = 10 * of;
            cpu.moved = [0, 30 * of, 0, 0];
            cpu.yields = of;
        }
        Statistics::new(&scheduler, 2_000_000_000, 1, cpus)
    }

    #[test]
    fn what_is_written_is_read() {
        let statistics = example();
        let read = Statistics::from_json(&statistics.to_json()).unwrap();
        assert_eq!(read.totals, statistics.totals);
        assert_eq!(read.scheduler, statistics.scheduler);
        assert_eq!(read.cpus[1].runs, 1000);
        assert_eq!(read.to_json(), statistics.to_json());
    }

    #[test]
    fn features_are_credited_with_their_steps() {
        let statistics = example();
        assert_eq!(statistics.features(), BTreeMap::from([("bias-prev", 180)]));
        let steps: Vec<_> = statistics.steps().collect();
        assert_eq!(steps, [("target_idle", 120), ("bias_prev", 180)]);
    }

    #[test]
    fn a_scheduler_that_was_started_anew_counts_from_zero() {
        let before = example();
        let mut anew = example();
        anew.uptime_ns = 5;
        assert_eq!(anew.since(&before).totals, anew.totals);
        let mut later = before.clone();
        later.uptime_ns += 500;
        later.totals.decisions += 7;
        let between = later.since(&before);
        assert_eq!((between.totals.decisions, between.uptime_ns), (7, 500));
    }

    /// Any JSON document.
    fn documents() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".*".prop_map(Value::from),
        ];
        let names = prop_oneof![
            Just("scheduler".to_owned()),
            Just("steps".to_owned()),
            Just("cpus".to_owned()),
            Just("0".to_owned()),
            Just("delays".to_owned()),
            ".*",
        ];
        leaf.prop_recursive(4, 64, 8, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..50).prop_map(Value::from),
                prop::collection::btree_map(names.clone(), inner, 0..8)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_document_is_too_strange(document in documents()) {
            if let Ok(statistics) = Statistics::from_json(&document) {
                statistics.since(&example()).to_json();
                let interval = example().since(&statistics);
                interval.features();
                text::block(&statistics, 1);
                metrics::render(&statistics);
            }
        }
    }
}
