// SPDX-License-Identifier: GPL-2.0-only
//! A timeline in short, as tables: for browsers without scripts.

use maud::{Markup, html};

use super::{Lane, Run, Timeline};
use crate::time::time;
use crate::{Part, Table};

/// How many tasks the table of tasks has.
const TASKS: usize = 12;

/// Each run in a row; then the tasks that run longest, each in a row.
pub(super) fn table(timeline: &Timeline) -> Markup {
    let heads = ["", "end", "slices", "wakeups", "CPUs busy, %"];
    let runs = timeline.runs.iter().fold(Table::new(heads), |table, run| {
        let slices: usize = run.cpus.iter().map(|lane| lane.slices.len()).sum();
        table.row([
            run.name.clone(),
            time(run.end_ns),
            slices.to_string(),
            run.marks.len().to_string(),
            busy(run, timeline),
        ])
    });
    let names = timeline.runs.iter().map(|run| run.name.as_str());
    let heads = ["CPU time of"].into_iter().chain(names);
    let tasks = longest(timeline)
        .into_iter()
        .fold(Table::new(heads), |table, (task, times)| {
            let name = timeline
                .tasks
                .get(task)
                .map_or("?", String::as_str)
                .to_owned();
            table.row([name].into_iter().chain(times.into_iter().map(time)))
        });
    html! {
        p { "The timeline is drawn by a script, and scripts are off. In short:" }
        (runs.markup())
        (tasks.markup())
    }
}

/// Tenths of a percent of the CPUs' time.
fn busy(run: &Run, timeline: &Timeline) -> String {
    let cpus = timeline.cpus.len();
    let shown = run.end_ns.saturating_sub(timeline.start_ns);
    let whole = u128::from(shown) * cpus as u128;
    let used: u128 = run.cpus.iter().take(cpus).map(used).sum();
    match whole {
        0 => "-".to_owned(),
        _ => format!("{}.{}", used * 100 / whole, used * 1000 / whole % 10),
    }
}

fn used(lane: &Lane) -> u128 {
    let lengths = lane
        .slices
        .iter()
        .map(|slice| slice.end_ns.saturating_sub(slice.start_ns));
    lengths.map(u128::from).sum()
}

/// The tasks that run longest in all runs together, and how long in each, ns.
fn longest(timeline: &Timeline) -> Vec<(usize, Vec<u64>)> {
    let mut tasks = vec![vec![0_u64; timeline.runs.len()]; timeline.tasks.len()];
    for (at, run) in timeline.runs.iter().enumerate() {
        for slice in run
            .cpus
            .iter()
            .take(timeline.cpus.len())
            .flat_map(|lane| &lane.slices)
        {
            if let Some(times) = tasks.get_mut(slice.task as usize) {
                times[at] += slice.end_ns.saturating_sub(slice.start_ns);
            }
        }
    }
    let mut tasks: Vec<_> = tasks.into_iter().enumerate().collect();
    tasks.sort_by_key(|(_, times)| std::cmp::Reverse(times.iter().sum::<u64>()));
    tasks.truncate(TASKS);
    tasks
}
