// SPDX-License-Identifier: GPL-2.0-only
//! A card for programs: `alight.card/1`. Members come in a fixed order.

use alight_machine::Trust;
use serde::Serialize;

use super::{Card, Cell, FALSE_DISCOVERIES, Fate, LEAST_PERCENT, Line, LineVerdict};
use crate::floors::Floor;
use crate::metrics::better_word;
use crate::report::{map, pretty};
use crate::stats::NoInterval;

const SCHEMA: &str = "alight.card/1";

#[derive(Serialize)]
struct CardDocument<'a> {
    schema: &'static str,
    version: &'static str,
    command: &'a str,
    scheduler: &'a str,
    base: &'a str,
    runs: u32,
    seed: u64,
    interrupted: bool,
    cells_requested: usize,
    tests: usize,
    correction: &'static str,
    false_discovery_rate: f64,
    least_percent: f64,
    harms: usize,
    helps: usize,
    shifts: usize,
    cannot_act: Vec<AbsentOut<'a>>,
    machines: Vec<MachineOut<'a>>,
    cells: Vec<CellOut<'a>>,
}

#[derive(Serialize)]
struct AbsentOut<'a> {
    machine: &'a str,
    needs: &'static str,
}

#[derive(Serialize)]
struct MachineOut<'a> {
    machine: &'a str,
    rests_on: &'a Trust,
}

#[derive(Serialize)]
struct CellOut<'a> {
    machine: &'a str,
    workload: &'a str,
    command: &'a str,
    identical: bool,
    why_identical: Option<&'a str>,
    refused: Option<&'a str>,
    left_out: &'a [String],
    #[serde(serialize_with = "map")]
    metrics: Vec<(&'a str, LineOut)>,
}

#[derive(Serialize)]
struct LineOut {
    better: Option<&'static str>,
    base_mean: f64,
    mean: f64,
    delta_percent: Option<f64>,
    ci_low: Option<f64>,
    ci_high: Option<f64>,
    p: Option<f64>,
    p_adjusted: Option<f64>,
    verdict: &'static str,
    unit: &'static str,
    difference: f64,
    /// The least difference that matters, in the metric's unit.
    floor: f64,
    no_interval: Option<NoInterval>,
}

pub(super) fn render(card: &Card) -> String {
    let absent = (card.cannot_act.iter()).map(|(machine, needs)| AbsentOut { machine, needs });
    pretty(&CardDocument {
        schema: SCHEMA,
        version: card.version,
        command: &card.command,
        scheduler: &card.variant,
        base: &card.base,
        runs: card.runs,
        seed: card.seed,
        interrupted: card.interrupted(),
        cells_requested: card.asked,
        tests: card.tests(),
        correction: "benjamini-hochberg",
        false_discovery_rate: FALSE_DISCOVERIES,
        least_percent: LEAST_PERCENT,
        harms: card.of(LineVerdict::Harm).len(),
        helps: card.of(LineVerdict::Help).len(),
        shifts: card.of(LineVerdict::Shift).len(),
        cannot_act: absent.collect(),
        machines: (card.trust.iter())
            .map(|(machine, rests_on)| MachineOut { machine, rests_on })
            .collect(),
        cells: card.cells.iter().map(cell).collect(),
    })
}

fn cell(cell: &Cell) -> CellOut<'_> {
    let (refused, lines) = match &cell.fate {
        Fate::Identical(_) => (None, &[][..]),
        Fate::Refused(why) => (Some(why.as_str()), &[][..]),
        Fate::Differs(lines) => (None, lines.as_slice()),
    };
    let why_identical = match &cell.fate {
        Fate::Identical(why) => Some(why.as_str()),
        _ => None,
    };
    CellOut {
        machine: &cell.machine,
        workload: cell.workload,
        command: &cell.command,
        identical: why_identical.is_some(),
        why_identical,
        refused,
        left_out: &cell.left_out,
        metrics: (lines.iter().filter(|line| line.told))
            .map(|one| (one.metric.as_str(), line(one)))
            .collect(),
    }
}

fn line(line: &Line) -> LineOut {
    LineOut {
        better: line.better.map(better_word),
        base_mean: line.base,
        mean: line.mean,
        delta_percent: line.delta.delta_percent,
        ci_low: line.delta.ci_low,
        ci_high: line.delta.ci_high,
        p: line.p,
        p_adjusted: line.p_adjusted,
        verdict: line.verdict.as_str(),
        unit: line.unit,
        difference: line.delta.difference,
        floor: Floor::of(&line.metric, line.unit).least,
        no_interval: line.delta.no_interval,
    }
}
