// SPDX-License-Identifier: GPL-2.0-only
//! What was found, for people and for programs.

use alight_compare::report::{Columns, number, pretty};
use alight_machine::Machine;
use serde::Serialize;

use super::BehaviourReport;
use super::quantity::{Agreement, Quantity, Runs};

const SCHEMA: &str = "alight.verify-behaviour/1";

/// The costs of the first core type, by key, ns: of each the median of the machines'.
pub fn costs(machines: &[&Machine]) -> Vec<(&'static str, u32)> {
    let of_each: Vec<_> = machines.iter().map(|machine| costs_of(machine)).collect();
    let median = |at: usize, key| {
        let mut values: Vec<u32> = of_each.iter().map(|costs| costs[at].1).collect();
        values.sort_unstable();
        (key, values[values.len() / 2])
    };
    let keys = of_each.first().into_iter().flatten();
    (keys.enumerate().map(|(at, (key, _))| median(at, *key))).collect()
}

fn costs_of(machine: &Machine) -> Vec<(&'static str, u32)> {
    let Some(core) = machine.core_types.first() else {
        return vec![];
    };
    let c = &core.costs;
    vec![
        ("switch_ns", c.switch_ns),
        ("yield_ns", c.yield_ns),
        ("futex_ns", c.futex_ns),
        ("mutex_ns", c.mutex_ns),
        ("pipe_ns", c.pipe_ns),
        ("pipe_read_ns", c.pipe_read_ns),
        ("pipe_held_ns", c.pipe_held_ns),
        ("pipe_read_held_ns", c.pipe_read_held_ns),
        ("socket_ns", c.socket_ns),
        ("socket_read_ns", c.socket_read_ns),
        ("wakeup_ns", c.wakeup_ns),
        ("wakeup_clock_ns", c.wakeup_clock_ns),
        ("select_ns", c.select_ns),
        ("ipi_send_ns", c.ipi_send_ns),
        ("ipi_receive_ns", c.ipi_receive_ns),
        ("tick_ns", c.tick_ns),
        ("timer_ns", c.timer_ns),
        ("idle_exit_ns", c.idle_exit_ns),
        ("fork_ns", c.fork_ns),
        ("fork_mm_ns", c.fork_mm_ns),
        ("block_ns", c.block_ns),
        ("socket_new_ns", c.socket_new_ns),
    ]
}

/// The line of a head that says what a kernel newer than every base means.
pub(crate) fn beyond(bases: Option<&str>) -> String {
    bases.map_or_else(String::new, |said| format!("           {said}\n"))
}

impl BehaviourReport {
    /// The report for the terminal, ending in a newline.
    pub fn text(&self) -> String {
        let seconds = number::fixed((self.window.to - self.window.from) as f64 / 1e9, 3);
        let costs: Vec<String> = (self.costs.iter())
            .map(|(name, ns)| format!("{name} {ns}"))
            .collect();
        let head = format!(
            "kernel     {} ({}), {}\n{}workload   {}\nmodel      {}\n\
             window     {seconds} s in which all {} tasks exist, {} events in {}\n\
             costs      {}\n\n",
            self.kernel,
            self.arch,
            number::cpus(self.cpus),
            beyond(self.beyond_bases.as_deref()),
            self.workload,
            self.scheduler,
            self.window.tasks,
            self.events,
            match self.recordings {
                1 => "all".to_owned(),
                n => format!("{n} recordings"),
            },
            costs.join(", "),
        );
        let mut columns = Columns::new(2, 1);
        columns.row(HEAD);
        for quantity in &self.quantities {
            columns.row(row(quantity));
        }
        let verdict = if self.agrees() {
            "the model agrees with the kernel in all that was measured"
        } else {
            "the model and the kernel DISAGREE"
        };
        format!(
            "{head}{}\n{} agree, {} disagree, {} not measured, {} too few samples: {verdict}\n",
            columns.render(),
            self.count(Agreement::Agree),
            self.count(Agreement::Disagree),
            self.count(Agreement::NotMeasured),
            self.count(Agreement::TooFew),
        )
    }
}

/// Columns of a table of quantities.
pub(crate) const HEAD: [&str; 10] = [
    "quantity",
    "kernel",
    "from",
    "to",
    "model",
    "from",
    "to",
    "samples",
    "tolerance",
    "",
];

/// A quantity as a row of a table.
pub(crate) fn row(quantity: &Quantity) -> [String; 10] {
    let values = |side: Option<Runs>| match side {
        Some(runs) => [runs.median.value, runs.from, runs.to].map(|value| number::fixed(value, 2)),
        None => ["-"; 3].map(str::to_owned),
    };
    let samples = quantity.kernel.map(|runs| runs.median.samples.to_string());
    let ([k, kf, kt], [m, mf, mt]) = (values(quantity.kernel), values(quantity.model));
    [
        quantity.name(),
        k,
        kf,
        kt,
        m,
        mf,
        mt,
        samples.unwrap_or("-".to_owned()),
        tolerance(quantity),
        quantity.verdict.as_str().to_owned(),
    ]
}

/// Reports that do not belong together.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("recordings of {0} and of {1} in one report: give those of one kernel and machine")]
pub struct Mixed(String, String);

/// The report for programs, of recordings of one kernel and machine: `alight.verify-behaviour/1`.
///
/// # Errors
/// They are of several.
pub fn json(reports: &[BehaviourReport]) -> Result<String, Mixed> {
    let of = |report: &BehaviourReport| {
        let BehaviourReport { kernel, cpus, .. } = report;
        format!("{kernel} on {}", number::cpus(*cpus))
    };
    let Some(first) = reports.first() else {
        return Ok(String::new());
    };
    if let Some(other) = reports.iter().find(|other| of(other) != of(first)) {
        return Err(Mixed(of(first), of(other)));
    }
    Ok(pretty(&BehaviourDocument {
        schema: SCHEMA,
        kernel: &first.kernel,
        arch: &first.arch,
        base: &first.scheduler,
        machine: number::cpus(first.cpus),
        agrees: reports.iter().all(BehaviourReport::agrees),
        workloads: reports.iter().map(workload).collect(),
    }))
}

fn workload(report: &BehaviourReport) -> WorkloadOut<'_> {
    WorkloadOut {
        workload: &report.workload,
        recordings: report.recordings,
        window_s: (report.window.to - report.window.from) as f64 / 1e9,
        tasks: report.window.tasks,
        events: report.events,
        costs_ns: report.costs.iter().copied().collect(),
        quantities: report.quantities.iter().map(out).collect(),
    }
}

/// As people read it.
pub fn tolerance(quantity: &Quantity) -> String {
    let tolerance = quantity.rule.tolerance;
    let absolute = match quantity.rule.unit {
        "percent" => format!("{} points", tolerance.absolute),
        unit => format!("{} {unit}", tolerance.absolute)
            .trim_end()
            .to_owned(),
    };
    match (tolerance.percent > 0.0, tolerance.absolute > 0.0) {
        (true, true) => format!("{} % or {absolute}", tolerance.percent),
        (true, false) => format!("{} %", tolerance.percent),
        _ => absolute,
    }
}

#[derive(Serialize)]
struct BehaviourDocument<'a> {
    schema: &'static str,
    kernel: &'a str,
    arch: &'a str,
    base: &'a str,
    machine: String,
    agrees: bool,
    workloads: Vec<WorkloadOut<'a>>,
}

#[derive(Serialize)]
struct WorkloadOut<'a> {
    workload: &'a str,
    recordings: usize,
    window_s: f64,
    tasks: usize,
    events: u64,
    costs_ns: std::collections::BTreeMap<&'static str, u32>,
    quantities: Vec<QuantityOut>,
}

/// A quantity for programs.
#[derive(Serialize)]
pub(crate) struct QuantityOut {
    name: String,
    unit: &'static str,
    kernel: Option<f64>,
    kernel_from: Option<f64>,
    kernel_to: Option<f64>,
    model: Option<f64>,
    model_from: Option<f64>,
    model_to: Option<f64>,
    samples: u64,
    tolerance: String,
    verdict: &'static str,
}

/// A quantity for programs.
pub(crate) fn out(quantity: &Quantity) -> QuantityOut {
    let Quantity { kernel, model, .. } = quantity;
    QuantityOut {
        name: quantity.name(),
        unit: quantity.rule.unit,
        kernel: kernel.map(|runs| runs.median.value),
        kernel_from: kernel.map(|runs| runs.from),
        kernel_to: kernel.map(|runs| runs.to),
        model: model.map(|runs| runs.median.value),
        model_from: model.map(|runs| runs.from),
        model_to: model.map(|runs| runs.to),
        samples: kernel.map_or(0, |runs| runs.median.samples),
        tolerance: tolerance(quantity),
        verdict: quantity.verdict.as_str(),
    }
}

#[cfg(test)]
mod tests;
