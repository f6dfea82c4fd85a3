// SPDX-License-Identifier: GPL-2.0-only
//! The value of each number in each run, one row a scheduler, number and seed, for data frames. Numbers
//! are written with all their digits; what a run has not has no row.

use crate::compare::{Comparison, Variant};
use crate::report::number::hash;

const HEAD: [&str; 15] = [
    "machine",
    "governor",
    "workloads",
    "scheduler",
    "hash",
    "kind",
    "metric",
    "unit",
    "better",
    "seed",
    "value",
    "left_out",
    "command",
    "machine_hash",
    "rests_on",
];

pub(super) fn render(comparison: &Comparison) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let rows = (comparison.variants.iter()).flat_map(|variant| rows(comparison, variant));
    for row in std::iter::once(HEAD.map(str::to_owned)).chain(rows) {
        writer.write_record(row).expect("a vector takes every row");
    }
    let bytes = writer.into_inner().expect("a vector takes every row");
    String::from_utf8(bytes).expect("every cell is text")
}

fn rows(comparison: &Comparison, variant: &Variant) -> Vec<[String; 15]> {
    let header = &comparison.header;
    let mut rows = vec![];
    for series in &variant.series {
        let key = &series.key;
        for (seed, value) in comparison.seeds.iter().zip(&series.samples) {
            let Some(value) = value else { continue };
            rows.push([
                header.machine.clone(),
                header.governor.clone(),
                header.workloads.join(" & "),
                variant.scheduler.clone(),
                hash(variant.hash),
                key.kind.as_str().to_owned(),
                key.name.clone(),
                key.unit.to_owned(),
                key.better_word().unwrap_or_default().to_owned(),
                seed.to_string(),
                value.to_string(),
                header.rests.left_out.join("; "),
                header.command.clone(),
                hash(header.rests.trust.hash),
                header.rests.line(),
            ]);
        }
    }
    rows
}
