// SPDX-License-Identifier: GPL-2.0-only
//! A machine for people: topology tree, operating points, idle states, and
//! every figure with its confidence and source.

mod figures;
mod tables;
mod tree;

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use serde_json::{Value, json};

use crate::check::Finding;
use crate::error::Error;
use crate::library::{load, names};
use crate::model::Machine;
use crate::resolve::DataSheet;
use crate::schema::SCHEMA;

/// Findings by one rule that are shown before the rest is counted.
const FINDINGS_SHOWN: usize = 6;

/// One line of the list of machines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Name as typed after `-m`.
    pub name: String,
    /// Number of logical CPUs.
    pub cpus: usize,
    /// CPUs of each core type with their capacity.
    pub classes: String,
    /// What the machine is.
    pub description: String,
}

/// The built-in machines, one row each.
///
/// # Errors
/// As [`load`]; the built-in machines are tested to load.
pub fn rows() -> Result<Vec<Row>, Error> {
    names()
        .into_iter()
        .map(|name| load(name).map(|sheet| row(&sheet.machine)))
        .collect()
}

fn row(machine: &Machine) -> Row {
    Row {
        name: machine.name.clone(),
        cpus: machine.cpus.len(),
        classes: classes(machine),
        description: machine.description.clone(),
    }
}

/// For instance `4 Cortex-A53 (446), 2 Cortex-A57 (1024)`.
fn classes(machine: &Machine) -> String {
    let class = |(index, core_type): (usize, &crate::model::CoreType)| {
        let cpus = machine.cpus.iter().filter(|cpu| cpu.core_type == index);
        let mut capacities: Vec<u32> = cpus.clone().map(|cpu| cpu.capacity_orig).collect();
        capacities.sort_unstable();
        capacities.dedup();
        let capacities: Vec<String> = capacities.iter().map(u32::to_string).collect();
        format!(
            "{} {} ({})",
            cpus.count(),
            core_type.name,
            capacities.join(", ")
        )
    };
    let classes: Vec<String> = machine.core_types.iter().enumerate().map(class).collect();
    classes.join(", ")
}

/// The list of built-in machines as a table.
///
/// # Errors
/// As [`rows`].
pub fn list() -> Result<String, Error> {
    let rows = rows()?;
    let mut table = tables::Table::new(&["name", "cpus", "classes", "description"]);
    for row in rows {
        table.row(vec![
            row.name,
            row.cpus.to_string(),
            row.classes,
            row.description,
        ]);
    }
    Ok(table.left_aligned(&[0, 2, 3]))
}

/// The list of built-in machines: `schema`, `machines`.
///
/// # Errors
/// As [`rows`].
pub fn list_json() -> Result<Value, Error> {
    Ok(json!({ "schema": "alight.machines/1", "machines": rows()? }))
}

/// A machine with all its figures, as text.
pub fn show(sheet: &DataSheet) -> String {
    let machine = &sheet.machine;
    let mut text = String::new();
    let mut section = |title: &str, body: String| {
        if !body.is_empty() {
            let _ = write!(text, "\n{title}\n{body}");
        }
    };
    section("What answers rest on", rests_on(sheet));
    section("Topology", tree::tree(machine));
    section("Core types", tables::core_types(machine));
    section("Operating points", tables::operating_points(machine));
    section("Idle states", tables::idle_states(machine));
    section("Clusters", tables::clusters(machine));
    if let Some(itmt) = &machine.itmt {
        section("Priorities (ITMT)", tables::priorities(itmt));
    }
    section(
        "Figures, their confidence and the number of their source",
        figures::figures(sheet),
    );
    section("Sources", figures::sources(sheet));
    section(
        "Warnings",
        lines(sheet.warnings.iter().map(ToString::to_string)),
    );
    section("Notes", lines(sheet.notes.iter().cloned()));
    format!(
        "{}: {}\n{} CPUs: {}\nhash {:016x}, tick {} Hz, governor {}{}{}\n{text}",
        machine.name,
        machine.description,
        machine.cpus.len(),
        classes(machine),
        machine.hash(),
        machine.hz,
        machine.governor.name(),
        machine
            .idle_governor
            .map_or(String::new(), |governor| format!(
                ", idle governor {}",
                governor.name()
            )),
        match machine.one_processor {
            true => ", one processor for all CPUs",
            false => "",
        },
    )
}

fn rests_on(sheet: &DataSheet) -> String {
    let trust = sheet.trust();
    format!(
        "  costs       {}\n  capacities  {}\n  speeds      {}\n",
        trust.costs, trust.capacities, trust.speeds
    )
}

/// Findings for people, one a line. Of many by one rule the first are shown.
pub fn findings(findings: &[Finding]) -> String {
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    let mut text = String::new();
    for finding in findings {
        let count = shown.entry(finding.rule).or_default();
        *count += 1;
        if *count <= FINDINGS_SHOWN {
            let _ = writeln!(text, "{finding}");
        }
    }
    for (rule, count) in shown {
        if count > FINDINGS_SHOWN {
            let more = count - FINDINGS_SHOWN;
            let _ = writeln!(
                text,
                "… and {more} more by the rule [{rule}]; --json lists all"
            );
        }
    }
    text
}

/// What was found in the machine that was named so, or that nothing was.
pub fn findings_of(name: &str, found: &[Finding]) -> String {
    match found {
        [] => format!("{name}: nothing found\n"),
        _ => findings(found),
    }
}

/// The same: `schema`, `machine`, `findings`.
pub fn findings_json(name: &str, findings: &[Finding]) -> Value {
    json!({
        "schema": "alight.machine-check/1",
        "machine": name,
        "findings": findings,
    })
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| format!("  {line}\n")).collect()
}

/// A machine with all its figures: `schema`, `hash` (hexadecimal), `machine`
/// (the resolved form), `trust`, `figures`, `warnings`, `notes`.
pub fn to_json(sheet: &DataSheet) -> Value {
    json!({
        "schema": SCHEMA,
        "hash": format!("{:016x}", sheet.machine.hash()),
        "machine": sheet.machine,
        "trust": sheet.trust(),
        "figures": sheet.figures,
        "warnings": sheet.warnings,
        "notes": sheet.notes,
    })
}
