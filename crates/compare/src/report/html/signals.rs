// SPDX-License-Identifier: GPL-2.0-only
//! Utilization and clocks over time, of the CPUs of each core type.

use alight_html::chart::{Axis, Chart, Line, Scale, Shape};
use alight_html::{Page, Table, Text};
use alight_machine::Machine;

use crate::course::Course;
use crate::observe::{Observation, Observed};
use crate::report::number;

/// Core types of a machine that have lines of their own.
const MOST_TYPES: usize = 4;

/// Adds the section.
pub fn add(page: Page, observation: &Observation<'_>) -> Page {
    let util = chart(
        observation,
        "util_avg of the fair queues, sum of CPUs",
        "",
        Course::util_of,
    );
    let clock = chart(
        observation,
        "frequency, mean of CPUs",
        "MHz",
        Course::mhz_of,
    );
    page.parts(
        "Utilization and clocks",
        &[
            &Text::new(["Means of pieces of equal length."]),
            &util,
            &clock,
        ],
    )
}

/// Of the course of a run, the value of some CPUs in each piece.
type Of = fn(&Course, &[usize]) -> Vec<f64>;

fn chart(observation: &Observation<'_>, label: &str, unit: &str, of: Of) -> Chart {
    let groups = groups(observation.machine);
    let mut lines = vec![];
    let mut short = Table::new(["", "mean", "largest"]);
    for run in &observation.runs {
        for (name, cpus) in &groups {
            let line = line(run, name, &of(&run.course, cpus));
            let values = || line.points.iter().map(|(_, value)| *value);
            let mean = values().sum::<f64>() / line.points.len().max(1) as f64;
            let most = values().fold(0.0, f64::max);
            short = short.row([line.name.clone(), number::short(mean), number::short(most)]);
            lines.push(line);
        }
    }
    let axis = |label: &str, unit: &str| Axis {
        label: label.to_owned(),
        unit: unit.to_owned(),
        scale: Scale::Linear,
    };
    Chart {
        x: axis("time", "ms"),
        y: axis(label, unit),
        shape: Shape::Stepped,
        lines,
        short,
    }
}

fn line(run: &Observed, group: &str, values: &[f64]) -> Line {
    let piece_ms = run.course.piece_ns() as f64 / 1e6;
    let shown = values.iter().enumerate();
    let point = |(at, value): (usize, &f64)| (at as f64 * piece_ms, *value);
    Line {
        name: match group {
            "" => run.scheduler.clone(),
            group => format!("{}, {group}", run.scheduler),
        },
        points: shown.map(point).collect(),
    }
}

/// CPUs of each core type, by its name; of one or of very many types all CPUs.
fn groups(machine: &Machine) -> Vec<(String, Vec<usize>)> {
    let cpus = |of: Option<usize>| {
        let of_type =
            |(_, cpu): &(usize, &alight_machine::Cpu)| of.is_none_or(|of| cpu.core_type == of);
        let members = machine.cpus.iter().enumerate().filter(of_type);
        members.map(|(number, _)| number).collect()
    };
    match machine.core_types.len() {
        2..=MOST_TYPES => (machine.core_types.iter().enumerate())
            .map(|(at, core)| (core.name.clone(), cpus(Some(at))))
            .collect(),
        _ => vec![(String::new(), cpus(None))],
    }
}

#[cfg(test)]
mod tests;
