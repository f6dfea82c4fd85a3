// SPDX-License-Identifier: GPL-2.0-only
//! The report for programs: `alight.compare/1`. Members come in a fixed order.

use alight_policy::STEPS;
use serde::Serialize;
use serde::ser::Serializer;

use crate::compare::{Comparison, Series, Variant};
use crate::floors::Floor;
use crate::header::VERSION;
use crate::metrics::MetricKind;
use crate::report::number;
use crate::rests::RestsOn;
use crate::stats::Delta;
use crate::stopped::Stopped;
use crate::verdict::Verdict;

const SCHEMA: &str = "alight.compare/1";

#[derive(Serialize)]
struct ComparisonDocument<'a> {
    schema: &'static str,
    version: &'static str,
    command: &'a str,
    machine: &'a str,
    governor: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    idle_governor: Option<&'static str>,
    workloads: &'a [String],
    runs: usize,
    runs_requested: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<&'a Stopped>,
    interrupted: bool,
    seed: u64,
    seeds: &'a [u64],
    duration_ns: Option<u64>,
    #[serde(flatten)]
    rests: &'a RestsOn,
    variants: Vec<VariantOut<'a>>,
    deltas: Vec<DeltaOut<'a>>,
}

#[derive(Serialize)]
struct VariantOut<'a> {
    scheduler: &'a str,
    same_as: Option<&'a str>,
    hash: String,
    why_identical: Option<&'a str>,
    #[serde(serialize_with = "map")]
    metrics: Vec<(&'a str, ComparedMetricOut<'a>)>,
    #[serde(serialize_with = "map")]
    steps: Vec<(&'static str, f64)>,
}

#[derive(Serialize)]
struct ComparedMetricOut<'a> {
    kind: MetricKind,
    unit: &'static str,
    better: Option<&'static str>,
    mean: f64,
    std: Option<f64>,
    min: f64,
    p50: f64,
    p75: f64,
    p99: f64,
    max: f64,
    samples: &'a [Option<f64>],
}

#[derive(Serialize)]
struct DeltaOut<'a> {
    scheduler: &'a str,
    base: &'a str,
    #[serde(serialize_with = "map")]
    metrics: Vec<(&'a str, Difference)>,
}

#[derive(Serialize)]
struct Difference {
    #[serde(flatten)]
    delta: Delta,
    verdict: &'static str,
    /// The least difference that matters, in the metric's unit.
    floor: f64,
}

pub(super) fn render(comparison: &Comparison) -> String {
    pretty(&document(comparison))
}

/// A comparison as part of another document.
pub fn document(comparison: &Comparison) -> impl Serialize + '_ {
    let header = &comparison.header;
    ComparisonDocument {
        schema: SCHEMA,
        version: VERSION,
        command: &header.command,
        machine: &header.machine,
        governor: &header.governor,
        idle_governor: header.idle_governor,
        workloads: &header.workloads,
        runs: comparison.seeds.len(),
        runs_requested: header.runs,
        until: comparison.stopped.as_ref(),
        interrupted: comparison.interrupted(),
        seed: header.seed,
        seeds: &comparison.seeds,
        duration_ns: header.duration_ns,
        rests: &header.rests,
        variants: comparison.variants.iter().map(variant).collect(),
        deltas: comparison
            .others()
            .iter()
            .map(|other| deltas(comparison.base(), other))
            .collect(),
    }
}

fn variant(variant: &Variant) -> VariantOut<'_> {
    VariantOut {
        scheduler: &variant.scheduler,
        same_as: variant.same_as.as_deref(),
        hash: number::hash(variant.hash),
        why_identical: variant.inert.as_deref(),
        metrics: variant.series.iter().map(metric).collect(),
        steps: STEPS
            .iter()
            .zip(variant.steps)
            .map(|((name, _), mean)| (*name, mean))
            .collect(),
    }
}

fn metric(series: &Series) -> (&str, ComparedMetricOut<'_>) {
    let (key, summary) = (&series.key, &series.summary);
    let out = ComparedMetricOut {
        kind: key.kind,
        unit: key.unit,
        better: key.better_word(),
        mean: summary.mean,
        std: summary.std,
        min: summary.min,
        p50: summary.p50,
        p75: summary.p75,
        p99: summary.p99,
        max: summary.max,
        samples: &series.samples,
    };
    (&key.name, out)
}

fn deltas<'a>(base: &'a Variant, other: &'a Variant) -> DeltaOut<'a> {
    let delta = |series: &'a Series| {
        let (key, delta) = (&series.key, series.delta?);
        let difference = Difference {
            delta,
            verdict: Verdict::of(key, Some(&delta)).as_str(),
            floor: Floor::of(&key.name, key.unit).least,
        };
        Some((key.name.as_str(), difference))
    };
    DeltaOut {
        scheduler: &other.scheduler,
        base: &base.scheduler,
        metrics: other.series.iter().filter_map(delta).collect(),
    }
}

/// Writes pairs as an object whose members keep their order.
///
/// # Errors
/// Those of the serializer.
pub fn map<K: Serialize, V: Serialize, S: Serializer>(
    pairs: &[(K, V)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

/// A document as indented JSON, ending in a newline. Missing numbers are `null`.
pub fn pretty(document: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(document);
    text.expect("keys are text and the writer is memory") + "\n"
}
