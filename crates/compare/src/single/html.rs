// SPDX-License-Identifier: GPL-2.0-only
//! The page of one run: every number, which steps answered, and what happened when and where.

use alight_html::{Page, Table};
use alight_policy::STEPS;
use alight_sim::Outcome;

use super::{Told, chosen, end};
use crate::header::Conditions;
use crate::metrics::{Key, MetricKind};
use crate::observe::Observation;
use crate::report::{number, observed, parts};

/// The whole file.
pub fn page(
    conditions: &Conditions,
    outcome: &Outcome,
    observation: Option<&Observation<'_>>,
    told: &Told<'_>,
) -> String {
    let metrics = chosen(outcome, told.selection);
    let of = |kind: MetricKind| {
        let of_kind = metrics.iter().filter(move |(key, _)| key.kind == kind);
        of_kind.fold(Table::new(["", "unit", "value", ""]), row)
    };
    let mut page = Page::new(&parts::title(conditions))
        .part(
            "Question",
            &parts::asked(conditions, [("end", end(outcome))]),
        )
        .text("How far to trust it", parts::trust(&conditions.rests));
    for (kind, title) in [
        (MetricKind::Result, "Results"),
        (MetricKind::Energy, "Energy"),
    ] {
        let table = of(kind);
        if !table.is_empty() {
            page = page.part(title, &table);
        }
    }
    page = observed(page, observation);
    let steps = steps(outcome);
    if !steps.is_empty() {
        page = page.part("Steps that answered", &steps);
    }
    let mechanism = of(MetricKind::Mechanism);
    if !mechanism.is_empty() {
        page = page.part("The mechanism", &mechanism);
    }
    page.command("Again", &conditions.command).render()
}

fn row(table: Table, (key, value): &(Key, f64)) -> Table {
    let better = key.better_word();
    table.row([
        alight_text::cell(&key.name),
        alight_html::unit(key.unit).to_owned(),
        number::plain(*value),
        better.map_or(String::new(), |better| format!("{better} is better")),
    ])
}

fn steps(outcome: &Outcome) -> Table {
    let all: u64 = outcome.steps.iter().sum();
    let rows = STEPS.iter().zip(outcome.steps).filter(|(_, n)| *n > 0);
    rows.fold(
        Table::new(["step", "decisions", "% of all", "meaning"]),
        |table, ((name, meaning), count)| {
            let share = number::fixed(100.0 * count as f64 / all as f64, 1);
            table.row([*name, &count.to_string(), &share, *meaning])
        },
    )
}
