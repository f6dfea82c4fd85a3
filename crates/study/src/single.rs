// SPDX-License-Identifier: GPL-2.0-only
//! The report of one run.

use alight_policy::STEPS;
use alight_sim::Outcome;
use alight_workload::Workload;
use serde::Serialize;

use crate::header::{Conditions, VERSION};
use crate::metrics::{Key, Kind, named};
use crate::report::{Columns, head_of, map, number, pretty};
use crate::tool;

const SCHEMA: &str = "alight.simulate/1";

/// The form of the report of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// For the terminal.
    Table,
    /// `alight.simulate/1`.
    Json,
    /// What the simulated tools themselves print.
    Tool,
}

impl Style {
    /// All styles by the name that users type.
    pub const ALL: [(&'static str, Style); 3] = [
        ("table", Style::Table),
        ("json", Style::Json),
        ("tool", Style::Tool),
    ];
}

/// The report of a run, ending in a newline.
///
/// # Errors
/// In the tools' own words there may be nothing to say ([`tool::Error`]).
pub fn render(
    conditions: &Conditions,
    workloads: &[Workload],
    outcome: &Outcome,
    style: Style,
) -> Result<String, tool::Error> {
    match style {
        Style::Table => Ok(table(conditions, outcome)),
        Style::Json => Ok(json(conditions, outcome)),
        Style::Tool => tool::render(workloads, outcome),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    #[serde(flatten)]
    conditions: &'a Conditions,
    hash: String,
    end_ns: u64,
    events_processed: u64,
    interrupted: bool,
    #[serde(serialize_with = "map")]
    metrics: Vec<(String, MetricOut)>,
    #[serde(serialize_with = "map")]
    steps: Vec<(&'static str, u64)>,
}

#[derive(Serialize)]
struct MetricOut {
    kind: Kind,
    unit: &'static str,
    better: Option<&'static str>,
    value: f64,
}

/// The report for programs: `alight.simulate/1`.
pub fn json(conditions: &Conditions, outcome: &Outcome) -> String {
    let out = |(key, value): (Key, f64)| {
        let metric = MetricOut {
            kind: key.kind,
            unit: key.unit,
            better: key.better_word(),
            value,
        };
        (key.name, metric)
    };
    let names = STEPS.iter().map(|(name, _)| *name);
    pretty(&Document {
        schema: SCHEMA,
        version: VERSION,
        conditions,
        hash: number::hash(outcome.hash),
        end_ns: outcome.end_ns,
        events_processed: outcome.events,
        interrupted: outcome.interrupted,
        metrics: named(outcome).into_iter().map(out).collect(),
        steps: names.zip(outcome.steps).collect(),
    })
}

/// The report for the terminal.
pub fn table(conditions: &Conditions, outcome: &Outcome) -> String {
    let mut rows = conditions.rows();
    rows.push(("end", end(outcome)));
    let head = head_of(rows, &conditions.command);
    let mut text = format!("alight {VERSION}: simulate\n{head}");
    let metrics = named(outcome);
    for (kind, title) in [
        (Kind::Result, "results"),
        (Kind::Energy, "energy"),
        (Kind::Mechanism, "the mechanism"),
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
    text + &steps(outcome)
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

fn steps(outcome: &Outcome) -> String {
    let all: u64 = outcome.steps.iter().sum();
    if all == 0 {
        return "\nno wakeup asked for a CPU\n".to_owned();
    }
    let mut columns = Columns::new(2, 1).with_remark();
    for ((name, meaning), count) in STEPS.iter().zip(outcome.steps) {
        if count > 0 {
            let share = number::fixed(100.0 * count as f64 / all as f64, 1);
            columns.row([*name, &count.to_string(), &format!("{share}%"), *meaning]);
        }
    }
    format!("\nthe selection steps that answered\n{}", columns.render())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake;

    #[test]
    fn the_table_says_what_was_asked_and_what_came_out() {
        let mut outcome = fake::outcome(7);
        outcome.interrupted = true;
        let table = table(&fake::conditions(), &outcome);
        for expected in [
            "scheduler  linux-5.5\n",
            "seed       1\n",
            "at 5.000000000 s of simulated time, INTERRUPTED, 100 events (hash 0000000000000007)",
            "  events  1070  (higher is better)\n",
            "  cpu_migrations",
            "  slow_idle          3  5.3%  slow path: the idle CPU",
        ] {
            assert!(table.contains(expected), "no '{expected}' in\n{table}");
        }
    }

    #[test]
    fn a_run_without_wakeups_says_so() {
        let mut outcome = fake::outcome(1);
        outcome.steps.fill(0);
        let table = table(&fake::conditions(), &outcome);
        assert!(table.ends_with("no wakeup asked for a CPU\n"), "{table}");
    }

    #[test]
    fn the_json_holds_every_number() {
        let json = json(&fake::conditions(), &fake::outcome(7));
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["schema"], "alight.simulate/1");
        assert_eq!(value["scheduler"], "linux-5.5");
        assert_eq!(value["hash"], "0000000000000007");
        assert_eq!(value["metrics"]["events"]["value"], 1070.0);
        assert_eq!(value["metrics"]["events"]["better"], "higher");
        assert_eq!(value["metrics"]["cpu_migrations"]["kind"], "mechanism");
        assert_eq!(value["steps"]["slow_idle"], 3);
    }
}
