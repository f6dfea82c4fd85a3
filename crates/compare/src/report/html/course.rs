// SPDX-License-Identifier: GPL-2.0-only
//! What happened in the first run of each scheduler: timelines side by side.

use alight_html::timeline::{Run, Timeline};
use alight_html::{Page, Text};
use alight_machine::Machine;

use crate::observe::{Observation, Observed, columns};

/// Adds the section.
pub fn add(page: Page, observation: &Observation<'_>) -> Page {
    page.parts(
        "What happened",
        &[&extent(observation), &timeline(observation)],
    )
}

/// Of which part of which runs the timelines tell.
fn extent(observation: &Observation<'_>) -> Text {
    let which = match observation.runs.as_slice() {
        [_] => "",
        _ => "The first run of each scheduler. ",
    };
    let mut text = vec![format!(
        "{which}A wakeup that is clicked says why its CPU was chosen, and what the same kernel \
         without features would have chosen in the same state. Idle states are those that the \
         governor asked for."
    )];
    for run in observation.runs.iter().filter(|run| run.unasked > 0) {
        text.push(format!(
            "{}: {} wakeups have no mark, for the policy was not asked: real-time tasks, and tasks \
             that were still queued.",
            run.scheduler, run.unasked
        ));
    }
    if let Some(cut) = observation.runs.iter().find(|run| run.is_cut) {
        text.push(format!(
            "The timelines show the time from {} to {}: more would make the page slow. \
             `--html-time FROM:TO` of compare and simulate shows another part.",
            alight_sim::about(cut.shown.start),
            alight_sim::about(cut.shown.end)
        ));
    }
    Text::new(text)
}

fn timeline(observation: &Observation<'_>) -> Timeline {
    let first = observation.runs.first();
    let bases: Vec<String> = (observation.runs.iter())
        .map(|run| run.base.clone())
        .collect();
    let names = |of: fn(&Observed) -> &Vec<String>| first.map(of).cloned().unwrap_or_default();
    Timeline {
        cpus: cpu_names(observation.machine),
        tasks: names(|run| &run.tasks),
        idle_states: names(|run| &run.idle_states),
        columns: columns(&bases),
        start_ns: first.map_or(0, |run| run.shown.start),
        runs: (observation.runs.iter())
            .map(|run| Run {
                name: run.scheduler.clone(),
                end_ns: run.shown.end,
                cpus: run.lanes.clone(),
                marks: run.marks.clone(),
            })
            .collect(),
    }
}

/// Names of CPUs, with those of their clusters where there are several.
pub fn cpu_names(machine: &Machine) -> Vec<String> {
    let name = |(number, cpu): (usize, &alight_machine::Cpu)| match machine.clusters.as_slice() {
        [_] => format!("CPU {number}"),
        clusters => format!("CPU {number} {}", clusters[cpu.cluster].name),
    };
    machine.cpus.iter().enumerate().map(name).collect()
}
