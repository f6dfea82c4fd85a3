// SPDX-License-Identifier: GPL-2.0-only
//! Behaviour: the same workloads in a guest and in the simulator.

use super::read::{Kernel, Named};
use super::text;
use alight_text::item;
use serde_json::Value;
use std::fmt::Write;

/// Form of the reports.
pub const SCHEMA: &str = "alight.verify-behaviour/1";

/// Lines on the quantities that disagree.
pub fn disagreements(named: &Named) -> String {
    let mut page = String::new();
    for (workload, quantity) in quantities(&named.report) {
        if text(quantity, "verdict") == "disagree" {
            page += &item(&format!(
                "{}, {workload}: {}: the kernel {}, the model {} (agree within {})",
                named.name,
                text(quantity, "name"),
                figure(quantity, "kernel"),
                figure(quantity, "model"),
                text(quantity, "tolerance"),
            ));
        }
    }
    page
}

/// How many quantities of a report have this verdict.
pub fn count(report: &Value, verdict: &str) -> usize {
    let quantities = quantities(report);
    quantities
        .filter(|(_, quantity)| text(quantity, "verdict") == verdict)
        .count()
}

/// The page of all quantities with both figures; what was not measured is not on it.
pub fn page(kernels: &[Kernel]) -> String {
    let mut page = HEAD.to_owned();
    let reports = kernels.iter().flat_map(|kernel| &kernel.behaviour);
    for Named { name, report } in reports {
        line!(
            page,
            "\n## {}\n\n{} {}, held against `{}`.",
            name.trim_end_matches("-behaviour"),
            text(report, "kernel"),
            text(report, "arch"),
            text(report, "base"),
        );
        let mut shown = "";
        for (workload, quantity) in quantities(report) {
            if text(quantity, "verdict") == "not_measured" {
                continue;
            }
            if workload != shown {
                line!(
                    page,
                    "\n### `{workload}`\n\n\
                     | quantity | kernel's | model's | tolerance | verdict |\n|---|---:|---:|---|---|"
                );
                shown = workload;
            }
            line!(
                page,
                "| {} | {} | {} | {} | {} |",
                text(quantity, "name"),
                figure(quantity, "kernel"),
                figure(quantity, "model"),
                text(quantity, "tolerance"),
                text(quantity, "verdict").replace('_', " "),
            );
        }
    }
    page
}

const HEAD: &str = "\
# Behaviour, each quantity

The same workloads run in a guest and in the simulator; the machine's costs were measured in the
guest before. The tolerances were written down before the first comparison. A figure is the median
of the runs of one side (recordings of the kernel, seeds of the model); brackets have the smallest
and the largest. If runs of one side lie among those of the other and their medians are too far
apart, there are too few samples. [behaviour.md](../explanation/behaviour.md) says why figures
disagree, as far as that is known, and [fidelity](fidelity.md) of which version of the model these
are.
";

/// Each quantity with the workload that it is of.
fn quantities(report: &Value) -> impl Iterator<Item = (&str, &Value)> {
    report["workloads"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|workload| {
            let name = text(workload, "workload");
            let quantities = workload["quantities"].as_array().into_iter().flatten();
            quantities.map(move |quantity| (name, quantity))
        })
}

/// The median of one side's runs with its unit, and their ends where these are others; or a dash.
fn figure(quantity: &Value, side: &str) -> String {
    let number = |name: &str| {
        let value = quantity[name].as_f64()?;
        Some((value * 1000.0).round() / 1000.0)
    };
    let Some(median) = number(side) else {
        return "-".to_owned();
    };
    let with_unit = match text(quantity, "unit") {
        "" => median.to_string(),
        unit => format!("{median} {unit}"),
    };
    match [format!("{side}_from"), format!("{side}_to")].map(|end| number(&end)) {
        [Some(from), Some(to)] if from < to => format!("{with_unit} ({from} to {to})"),
        _ => with_unit,
    }
}
