// SPDX-License-Identifier: GPL-2.0-only
//! A card as one row a number, for spreadsheets and data frames. A cell without numbers has one row
//! that says why. Numbers are written with all their digits; a missing one is an empty cell.

use super::{Card, Cell, Fate, Line};
use crate::metrics::better_word;
use crate::report::number::hash;
use crate::rests;
use crate::stats::NoInterval;

const HEAD: [&str; 21] = [
    "machine",
    "workload",
    "scheduler",
    "base",
    "metric",
    "better",
    "base_mean",
    "mean",
    "delta_percent",
    "ci_low",
    "ci_high",
    "p",
    "p_adjusted",
    "verdict",
    "command",
    "unit",
    "difference",
    "no_interval",
    "machine_hash",
    "rests_on",
    "left_out",
];

pub(super) fn render(card: &Card) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let rows = card.cells.iter().flat_map(|cell| rows(card, cell));
    for row in std::iter::once(HEAD.map(str::to_owned)).chain(rows) {
        writer.write_record(row).expect("a vector takes every row");
    }
    let bytes = writer.into_inner().expect("a vector takes every row");
    String::from_utf8(bytes).expect("every cell is text")
}

fn rows(card: &Card, cell: &Cell) -> Vec<[String; 21]> {
    match &cell.fate {
        Fate::Identical(_) => vec![row(card, cell, None, "identical")],
        Fate::Refused(_) => vec![row(card, cell, None, "refused")],
        Fate::Differs(lines) => (lines.iter().filter(|line| line.told))
            .map(|line| row(card, cell, Some(line), line.verdict.as_str()))
            .collect(),
    }
}

fn row(card: &Card, cell: &Cell, line: Option<&Line>, verdict: &str) -> [String; 21] {
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let known = card.trust.iter().find(|(name, _)| *name == cell.machine);
    let trust = known.map(|(_, trust)| trust);
    let delta = line.map(|line| &line.delta);
    [
        cell.machine.clone(),
        cell.workload.to_owned(),
        card.variant.clone(),
        card.base.clone(),
        line.map_or(String::new(), |line| line.metric.clone()),
        line.and_then(|line| line.better)
            .map_or("", better_word)
            .to_owned(),
        number(line.map(|line| line.base)),
        number(line.map(|line| line.mean)),
        number(delta.and_then(|delta| delta.delta_percent)),
        number(delta.and_then(|delta| delta.ci_low)),
        number(delta.and_then(|delta| delta.ci_high)),
        number(line.and_then(|line| line.p)),
        number(line.and_then(|line| line.p_adjusted)),
        verdict.to_owned(),
        cell.command.clone(),
        line.map_or("", |line| line.unit).to_owned(),
        number(delta.map(|delta| delta.difference)),
        delta
            .and_then(|delta| delta.no_interval)
            .map_or("", NoInterval::as_code)
            .to_owned(),
        trust.map_or(String::new(), |trust| hash(trust.hash)),
        trust.map_or(String::new(), rests::line),
        cell.left_out.join("; "),
    ]
}
