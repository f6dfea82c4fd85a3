// SPDX-License-Identifier: GPL-2.0-only
//! Verdicts for people and for programs.

use std::collections::BTreeMap;

use alight_compare::report::labelled;
use serde_json::{Value, json};

use super::plan::{ClockRule, Load, Phase, Work};
use super::{Bound, Entry, JudgedFigure, Plan, Platform, ScenarioVerdict, TrialRecord};

/// Schema of what there is to run.
const SCENARIOS: &str = "alight.scenarios/1";
/// Width of the names.
const NAME: usize = 26;

/// Every scenario with its thresholds.
pub fn list(entries: &[&Entry]) -> String {
    let mut text = String::new();
    let mut family = None;
    for entry in entries {
        if family.replace(entry.family) != Some(entry.family) {
            text += &format!("{}\n", entry.family.name());
        }
        text += &format!("  {:<NAME$} {}\n", entry.name, entry.about);
        for limit in entry.limits {
            let (test, what, unit) = (limit.test, limit.what, limit.unit);
            let bound = bound(limit.bound, unit);
            text += &format!(
                "  {:<NAME$}   {test}: {what}, {bound}: {}\n",
                "", limit.reason
            );
        }
    }
    text
}

/// One scenario, and its runs on a machine.
pub fn show(entry: &Entry, machine: &str, platform: &Platform) -> String {
    let mut text = format!("{}: {}\n", entry.name, entry.about);
    for limit in entry.limits {
        text += &format!(
            "{:<18} {}, {}\n{:<18} because {}\n",
            limit.test,
            limit.what,
            bound(limit.bound, limit.unit),
            "",
            limit.reason
        );
    }
    text += &format!("\non {machine}\n");
    match (entry.plans)(platform) {
        Err(why) => text += &format!("  UNDECIDED: {why}\n"),
        Ok(plans) => {
            for plan in &plans {
                text += &run(plan);
            }
        }
    }
    text
}

fn run(plan: &Plan) -> String {
    let clock = match plan.clock {
        ClockRule::Userspace { khz } => format!("userspace at {khz} kHz"),
        ClockRule::Schedutil => "schedutil".to_owned(),
        ClockRule::Performance => "performance".to_owned(),
    };
    let idle = if plan.shallow_idle {
        ", first idle state only"
    } else {
        ""
    };
    let label = match plan.label.as_str() {
        "" => "one run",
        label => label,
    };
    let mut text = format!("  {label}: {clock}{idle}\n");
    match &plan.load {
        Load::Tool { command, cpu } => text += &format!("    CPU {cpu}: {command}\n"),
        Load::Tasks(tasks) => {
            for task in tasks {
                text += &format!("    {}\n", task.name);
                for of in &task.phases {
                    text += &format!("      {}\n", phase(of));
                }
            }
        }
    }
    text
}

fn phase(of: &Phase) -> String {
    let ms = |ns: u64| ns as f64 / 1e6;
    let work = match of.work {
        Work::Periodic {
            loops,
            run_ns,
            period_ns,
        } => format!(
            "{loops} x {:.3} ms of work each {} ms (utilization {:.0}, peak {})",
            ms(run_ns),
            ms(period_ns),
            of.work.mean_util(),
            of.work.peak_util()
        ),
        Work::Run { ns } => format!("{} ms of work", ms(ns)),
        Work::Sleep { ns } => format!("sleep {} ms", ms(ns)),
    };
    let cpus = of.cpus.as_ref().map(|cpus| format!(", CPUs {cpus:?}"));
    let clamp = of.clamp.map(|clamp| format!(", clamped to {clamp}"));
    let judged = if of.asserted { "" } else { ", not judged" };
    format!(
        "{:<16} {work}{}{}{judged}",
        of.name,
        cpus.unwrap_or_default(),
        clamp.unwrap_or_default()
    )
}

/// What the records rest on: of each machine a line, and what the model leaves out of their runs.
fn grounds(judged: &[(TrialRecord, ScenarioVerdict)]) -> String {
    let mut rows: Vec<(&str, String)> = vec![];
    for (record, _) in judged {
        let line = match &record.grounds {
            Some(grounds) => grounds.line.as_str(),
            None => "unknown: recorded by a version that does not write it",
        };
        let row = ("rests on", format!("{}: {line}", record.machine));
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    for (record, _) in judged {
        let left_out = record.grounds.iter().flat_map(|grounds| &grounds.left_out);
        for sentence in left_out {
            let row = ("left out", format!("{}: {sentence}", record.scenario));
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    labelled(rows)
}

/// What the verdicts rest on; every verdict with its figures; for more than one machine or base a
/// table behind.
pub fn table(judged: &[(TrialRecord, ScenarioVerdict)]) -> String {
    let mut text = grounds(judged) + "\n";
    for (record, verdict) in judged {
        text += &row(record, verdict);
    }
    let mut columns: Vec<(&str, &str)> = vec![];
    for (record, _) in judged {
        let column = (record.machine.as_str(), record.scheduler.as_str());
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    if columns.len() > 1 {
        text += &matrix(judged, &columns);
    }
    text
}

fn row(record: &TrialRecord, verdict: &ScenarioVerdict) -> String {
    let what = match verdict {
        ScenarioVerdict::Undecided { why } => why.clone(),
        _ => {
            let figures: Vec<String> = verdict.figures().iter().map(figure).collect();
            figures.join("; ")
        }
    };
    format!(
        "{:<9} {:<NAME$} {:<12} {:<9} {what}\n",
        verdict.word(),
        record.scenario,
        record.machine,
        record.scheduler
    )
}

fn figure(figure: &JudgedFigure) -> String {
    let limit = &figure.limit;
    let of = match figure.of.as_str() {
        "" => String::new(),
        of => format!(" ({of})"),
    };
    let fails = if figure.holds { "" } else { " FAILS" };
    format!(
        "{} {}{of}, {}{fails}",
        limit.test,
        number(figure.milli, limit.unit),
        bound(limit.bound, limit.unit)
    )
}

fn bound(bound: Bound, unit: &str) -> String {
    match bound {
        Bound::AtMost(milli) => format!("at most {}", number(milli, unit)),
        Bound::AtLeast(milli) => format!("at least {}", number(milli, unit)),
    }
}

/// Thousandths of a unit, with as many decimals as there are.
fn number(milli: i64, unit: &str) -> String {
    let sign = if milli < 0 { "-" } else { "" };
    let (whole, rest) = (milli.unsigned_abs() / 1000, milli.unsigned_abs() % 1000);
    let decimals = format!("{rest:03}");
    let decimals = decimals.trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    let unit = if unit.is_empty() {
        String::new()
    } else {
        format!(" {unit}")
    };
    format!("{sign}{whole}{point}{decimals}{unit}")
}

/// Scenarios by machines and bases.
fn matrix(judged: &[(TrialRecord, ScenarioVerdict)], columns: &[(&str, &str)]) -> String {
    let mut cells: BTreeMap<(&str, (&str, &str)), &str> = BTreeMap::new();
    let mut names: Vec<&str> = vec![];
    for (record, verdict) in judged {
        let column = (record.machine.as_str(), record.scheduler.as_str());
        cells.insert((&record.scenario, column), verdict.word());
        if !names.contains(&record.scenario.as_str()) {
            names.push(&record.scenario);
        }
    }
    let width = |column: &(&str, &str)| column.0.len().max(column.1.len()).max(9);
    let line = |head: &str, cell: &dyn Fn(&(&str, &str)) -> String| {
        let cells: String = (columns.iter())
            .map(|column| format!(" {:<1$}", cell(column), width(column)))
            .collect();
        format!("{head:<NAME$}{cells}").trim_end().to_owned() + "\n"
    };
    let mut text = "\n".to_owned() + &line("", &|column| column.0.to_owned());
    text += &line("", &|column| column.1.to_owned());
    for name in names {
        text += &line(name, &|&column| {
            let word = cells.get(&(name, column)).copied();
            match word.unwrap_or("") {
                "UNDECIDED" => "-",
                word => word,
            }
            .to_owned()
        });
    }
    text + "-: undecided\n"
}

/// What [`list`] says as JSON, `alight.scenarios/1`.
pub fn list_document(entries: &[&Entry]) -> Value {
    let scenarios: Vec<Value> = entries.iter().map(|entry| scenario(entry)).collect();
    json!({"schema": SCENARIOS, "scenarios": scenarios})
}

/// What [`show`] says as JSON, `alight.scenarios/1` with the `machine`, and the `runs` there or why
/// there are none.
pub fn show_document(entry: &Entry, machine: &str, platform: &Platform) -> Value {
    let mut of_it = scenario(entry);
    match (entry.plans)(platform) {
        Ok(plans) => of_it["runs"] = json!(plans),
        Err(why) => of_it["undecided"] = json!(why),
    }
    json!({"schema": SCENARIOS, "machine": machine, "scenarios": [of_it]})
}

fn scenario(entry: &Entry) -> Value {
    json!({
        "name": entry.name,
        "family": entry.family,
        "about": entry.about,
        "limits": entry.limits,
    })
}

/// What [`table`] says as JSON, `alight.suite/2`.
pub fn document(judged: &[(TrialRecord, ScenarioVerdict)]) -> Value {
    let mut machines: Vec<Value> = vec![];
    for (record, _) in judged {
        let rests_on = record.grounds.as_ref().map(|grounds| &grounds.rests_on);
        let machine = json!({"machine": record.machine, "rests_on": rests_on});
        if !machines.contains(&machine) {
            machines.push(machine);
        }
    }
    let scenario = |(record, verdict): &(TrialRecord, ScenarioVerdict)| {
        json!({
            "name": record.scenario,
            "machine": record.machine,
            "scheduler": record.scheduler,
            "seed": record.seed,
            "left_out": record.grounds.as_ref().map(|grounds| &grounds.left_out),
            "result": verdict,
        })
    };
    let scenarios: Vec<Value> = judged.iter().map(scenario).collect();
    json!({"schema": "alight.suite/2", "machines": machines, "scenarios": scenarios})
}
