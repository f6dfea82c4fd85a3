// SPDX-License-Identifier: GPL-2.0-only
//! A measurement for people.

use super::{Measurement, Row};
use alight_text::{Align, item, pad, row, widths};

/// Figures as a table, those without a place in the file, what could not be measured.
pub(super) fn of(measurement: &Measurement) -> String {
    let mut text = figures(measurement);
    if !measurement.extras.is_empty() {
        text +=
            "\nMeasured too; machine files have no place for it and no simulation reads it:\n\n";
        text += &extras(measurement);
    }
    if !measurement.unmeasured.is_empty() {
        text += "\nNot measured; the file has what was assumed or read:\n\n";
        for missing in &measurement.unmeasured {
            text += &item(&format!("{}: {}", missing.what, missing.why));
        }
    }
    if let Some(busy) = &measurement.busy {
        text += &format!("\nThis machine was busy: {busy}. Measure again when it is idle.\n");
    }
    text
}

fn figures(measurement: &Measurement) -> String {
    let mut rows = vec![["figure", "measured", "rounds", "before", ""].map(str::to_owned)];
    let costs = |row: &&Row| row.path.starts_with("core_type.") && row.path.contains(".costs.");
    let (costs, others): (Vec<&Row>, Vec<&Row>) = measurement.rows.iter().partition(costs);
    for figure in costs.into_iter().chain(others) {
        let (value, confidence) = figure.captured.clone().unwrap_or_default();
        rows.push([
            name(&figure.path, measurement),
            figure.value.clone(),
            figure.spread.clone(),
            value,
            confidence,
        ]);
    }
    let rounds = super::rounds(measurement.rounds);
    let head = format!("Measured in {rounds}: median, least to largest round\n\n");
    head + &table(
        &rows,
        &[
            Align::Left,
            Align::Right,
            Align::Left,
            Align::Right,
            Align::Left,
        ],
    )
}

/// The path without what all paths have in common.
fn name(path: &str, measurement: &Measurement) -> String {
    let type_of = |path: &str| path.strip_prefix("core_type.").map(str::to_owned);
    let Some(rest) = type_of(path) else {
        return path.to_owned();
    };
    let of_type = |rest: &str| rest.split_once(".costs.").map(|(name, _)| name.to_owned());
    let paths = measurement.rows.iter().filter_map(|row| type_of(&row.path));
    let mut names: Vec<String> = paths.filter_map(|rest| of_type(&rest)).collect();
    names.dedup();
    let short = match names.as_slice() {
        [one] => rest
            .strip_prefix(one.as_str())
            .and_then(|rest| rest.strip_prefix('.')),
        _ => None,
    };
    short
        .unwrap_or(&rest)
        .replace("costs.", "")
        .replace("idle_state.", "")
}

fn extras(measurement: &Measurement) -> String {
    let rows: Vec<[String; 3]> = (measurement.extras.iter())
        .map(|extra| {
            let [least, largest] = extra.spread;
            let spread = format!("{least} to {largest}");
            [extra.what.clone(), extra.value.to_string(), spread]
        })
        .collect();
    table(&rows, &[Align::Left, Align::Right, Align::Left])
}

fn table<const N: usize>(cells: &[[String; N]], align: &[Align; N]) -> String {
    let rows: Vec<Vec<String>> = cells
        .iter()
        .map(|cells| row(cells, |at| align[at]))
        .collect();
    let widths = widths(&rows);
    let mut text = String::new();
    for cells in &rows {
        let mut line = String::new();
        for (at, cell) in cells.iter().enumerate() {
            line.push_str(if at == 0 { "  " } else { "   " });
            pad(&mut line, cell, widths[at], align[at]);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests;
