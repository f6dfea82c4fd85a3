// SPDX-License-Identifier: GPL-2.0-only
//! The report as one row a number and scheduler, for spreadsheets and data frames.
//! Numbers are written with all their digits; a missing one is an empty cell.

use crate::compare::{Comparison, Series, Variant};
use crate::report::number::hash;
use crate::stats::NoInterval;
use crate::verdict::Verdict;

const HEAD: [&str; 30] = [
    "machine",
    "governor",
    "workloads",
    "scheduler",
    "kind",
    "metric",
    "unit",
    "better",
    "first_seed",
    "runs",
    "mean",
    "std",
    "min",
    "p50",
    "p75",
    "p99",
    "max",
    "base",
    "delta_percent",
    "ci_low",
    "ci_high",
    "significant",
    "left_out",
    "command",
    "difference",
    "verdict",
    "no_interval",
    "why_identical",
    "machine_hash",
    "rests_on",
];

pub(super) fn render(comparison: &Comparison) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let rows = comparison.variants.iter().flat_map(|variant| {
        let row = |series| row(comparison, variant, series);
        variant.series.iter().map(row)
    });
    for row in std::iter::once(HEAD.map(str::to_owned)).chain(rows) {
        writer.write_record(row).expect("a vector takes every row");
    }
    let bytes = writer.into_inner().expect("a vector takes every row");
    String::from_utf8(bytes).expect("every cell is text")
}

fn row(comparison: &Comparison, variant: &Variant, series: &Series) -> [String; 30] {
    let header = &comparison.header;
    let (key, summary, delta) = (&series.key, &series.summary, &series.delta);
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let verdict = match variant.scheduler == comparison.base().scheduler {
        true => String::new(),
        false => Verdict::of(key, delta.as_ref()).as_str().to_owned(),
    };
    let samples = series.samples.iter().flatten().count();
    [
        header.machine.clone(),
        header.governor.clone(),
        header.workloads.join(" & "),
        variant.scheduler.clone(),
        key.kind.as_str().to_owned(),
        key.name.clone(),
        key.unit.to_owned(),
        key.better_word().unwrap_or_default().to_owned(),
        header.seed.to_string(),
        samples.to_string(),
        summary.mean.to_string(),
        number(summary.std),
        summary.min.to_string(),
        summary.p50.to_string(),
        summary.p75.to_string(),
        summary.p99.to_string(),
        summary.max.to_string(),
        delta.map_or(String::new(), |_| comparison.base().scheduler.clone()),
        number(delta.and_then(|d| d.delta_percent)),
        number(delta.and_then(|d| d.ci_low)),
        number(delta.and_then(|d| d.ci_high)),
        delta.map_or(String::new(), |d| d.significant.to_string()),
        header.rests.left_out.join("; "),
        header.command.clone(),
        number(delta.map(|d| d.difference)),
        verdict,
        delta
            .and_then(|d| d.no_interval)
            .map_or("", NoInterval::as_code)
            .to_owned(),
        variant.inert.clone().unwrap_or_default(),
        hash(header.rests.trust.hash),
        header.rests.line(),
    ]
}
