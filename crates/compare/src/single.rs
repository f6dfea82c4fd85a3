// SPDX-License-Identifier: GPL-2.0-only
//! The report of one run.

use alight_policy::STEPS;
use alight_sim::Outcome;
use alight_workload::Workload;
use serde::Serialize;

use crate::header::{Conditions, VERSION};
use crate::metrics::{Key, MetricKind, named};
use crate::report::{Columns, Extent, Style, head_of, map, number, pretty};
use crate::selection::Selection;
use crate::tool::{self, NothingToPrint};

mod html;

pub use html::page;

const SCHEMA: &str = "alight.simulate/1";

/// Results that a short report has at most.
const SHOWN_RESULTS: usize = 12;
/// Steps of the selection that it has, but for ties.
const SHOWN_STEPS: usize = 3;
/// What it has of the mechanism: how much was scheduled and moved, what searches found, how long tasks
/// waited, and whether energy decided.
const OF_MECHANISM: [&str; 8] = [
    "cpu_migrations",
    "context_switches",
    "wakeups",
    "found_idle_percent",
    "looked_at_per_wakeup",
    "run_delay_mean_us",
    "run_delay_p99_us",
    "overutilized_percent",
];

/// What is told of a run.
#[derive(Debug)]
pub struct Told<'a> {
    /// Extent of the report, in [`Style::Table`].
    pub extent: Extent,
    /// The numbers that are shown, in every style except [`Style::Tool`].
    pub selection: &'a Selection,
}

/// The styles of the report of a run.
pub const STYLES: [Style; 3] = [Style::Table, Style::Json, Style::Tool];

/// The report of a run, ending in a newline.
///
/// # Errors
/// In the tools' own words there may be nothing to say ([`NothingToPrint`]).
///
/// # Panics
/// The style is none of [`STYLES`].
pub fn render(
    conditions: &Conditions,
    workloads: &[Workload],
    outcome: &Outcome,
    style: Style,
    told: &Told<'_>,
) -> Result<String, NothingToPrint> {
    match style {
        Style::Table => Ok(report(conditions, outcome, told)),
        Style::Json => Ok(document(conditions, outcome, told.selection)),
        Style::Tool => tool::render(workloads, outcome),
        other => other.is_none_of("a run"),
    }
}

#[derive(Serialize)]
struct RunDocument<'a> {
    schema: &'static str,
    version: &'static str,
    #[serde(flatten)]
    conditions: &'a Conditions,
    hash: String,
    end_ns: u64,
    events_processed: u64,
    interrupted: bool,
    #[serde(serialize_with = "map")]
    metrics: Vec<(String, RunMetricOut)>,
    #[serde(serialize_with = "map")]
    steps: Vec<(&'static str, u64)>,
}

#[derive(Serialize)]
struct RunMetricOut {
    kind: MetricKind,
    unit: &'static str,
    better: Option<&'static str>,
    value: f64,
}

/// The report for programs with all numbers: `alight.simulate/1`.
pub fn json(conditions: &Conditions, outcome: &Outcome) -> String {
    document(conditions, outcome, &Selection::default())
}

fn document(conditions: &Conditions, outcome: &Outcome, selection: &Selection) -> String {
    let out = |(key, value): (Key, f64)| {
        let metric = RunMetricOut {
            kind: key.kind,
            unit: key.unit,
            better: key.better_word(),
            value,
        };
        (key.name, metric)
    };
    let names = STEPS.iter().map(|(name, _)| *name);
    pretty(&RunDocument {
        schema: SCHEMA,
        version: VERSION,
        conditions,
        hash: number::hash(outcome.hash),
        end_ns: outcome.end_ns,
        events_processed: outcome.events,
        interrupted: outcome.interrupted,
        metrics: chosen(outcome, selection).into_iter().map(out).collect(),
        steps: names.zip(outcome.steps).collect(),
    })
}

fn chosen(outcome: &Outcome, selection: &Selection) -> Vec<(Key, f64)> {
    let all = named(outcome).into_iter();
    all.filter(|(key, _)| selection.has(&key.name)).collect()
}

/// The report for the terminal, with all numbers.
pub fn table(conditions: &Conditions, outcome: &Outcome) -> String {
    let told = Told {
        extent: Extent::Full,
        selection: &Selection::default(),
    };
    report(conditions, outcome, &told)
}

fn report(conditions: &Conditions, outcome: &Outcome, told: &Told<'_>) -> String {
    let mut rows = conditions.rows();
    rows.push(("end", end(outcome)));
    let head = head_of(rows, &conditions.command);
    let mut text = format!("alight {VERSION}: simulate\n{head}");
    let all = chosen(outcome, told.selection);
    let (of, metrics) = (all.len(), shown(all, told.extent));
    for (kind, title) in [
        (MetricKind::Result, "results"),
        (MetricKind::Energy, "energy"),
        (MetricKind::Mechanism, "the mechanism"),
    ] {
        let mut columns = Columns::new(2, 1).with_remark();
        for (key, value) in metrics.iter().filter(|(key, _)| key.kind == kind) {
            let better = key.better_word();
            columns.row([
                key.name.clone(),
                number::plain(*value),
                better.map_or(String::new(), |better| format!("({better} is better)")),
            ]);
        }
        if !columns.is_empty() {
            text.push_str(&format!("\n{title}\n{}", columns.render()));
        }
    }
    match told.extent {
        Extent::Full => text + &steps(outcome, usize::MAX),
        Extent::Chosen => text,
        Extent::Short => format!(
            "{text}{}\n--full shows all {of} numbers and all steps. --metric 'run_delay*' shows numbers by name.\n",
            steps(outcome, SHOWN_STEPS)
        ),
    }
}

/// Of a short report all results, the first of them where they are many; the energy; and those numbers
/// of the mechanism that say most of any run.
fn shown(all: Vec<(Key, f64)>, extent: Extent) -> Vec<(Key, f64)> {
    if extent != Extent::Short {
        return all;
    }
    let mut results = 0;
    let mut wanted = |key: &Key| match key.kind {
        MetricKind::Result => {
            results += 1;
            results <= SHOWN_RESULTS
        }
        MetricKind::Energy => key.name == "energy_j",
        MetricKind::Mechanism => OF_MECHANISM.contains(&key.name.as_str()),
    };
    all.into_iter().filter(|(key, _)| wanted(key)).collect()
}

fn end(outcome: &Outcome) -> String {
    format!(
        "at {} s of simulated time{}, {} events (hash {})",
        number::seconds(outcome.end_ns),
        if outcome.interrupted {
            ", INTERRUPTED"
        } else {
            ""
        },
        outcome.events,
        number::hash(outcome.hash),
    )
}

/// The steps that answered most, `most` of them, in the order of the selection.
fn steps(outcome: &Outcome, most: usize) -> String {
    let all: u64 = outcome.steps.iter().sum();
    if all == 0 {
        return "\nno wakeup asked for a CPU\n".to_owned();
    }
    let mut counts = outcome.steps;
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let least = counts.get(most.saturating_sub(1)).copied().unwrap_or(0);
    let mut columns = Columns::new(2, 1).with_remark();
    for ((name, meaning), count) in STEPS.iter().zip(outcome.steps) {
        if count > 0 && count >= least {
            let share = number::fixed(100.0 * count as f64 / all as f64, 1);
            columns.row([*name, &count.to_string(), &format!("{share}%"), *meaning]);
        }
    }
    format!("\nthe selection steps that answered\n{}", columns.render())
}

#[cfg(test)]
mod tests;
