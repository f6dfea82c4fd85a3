// SPDX-License-Identifier: GPL-2.0-only
//! Where wakeups and new tasks went: from the previous CPU to the one that was chosen.

use alight_html::heat::{Heat, Map};
use alight_html::{Page, Table, Text};
use alight_machine::{Cpu, Machine};
use alight_sim::Distances;

use crate::observe::{Observation, Observed};
use crate::report::number;

/// Adds the section, if the policy placed anything.
pub fn add(page: Page, observation: &Observation<'_>) -> Page {
    let mut counts = observation.runs.iter().flat_map(|run| &run.placements);
    if counts.all(|count| *count == 0) {
        return page;
    }
    let cpus = &observation.machine.cpus;
    let map = |run: &Observed| Map {
        name: run.scheduler.clone(),
        counts: run.placements.clone(),
    };
    let heat = Heat {
        names: super::course::cpu_names(observation.machine),
        from: "previous CPU".to_owned(),
        to: "chosen CPU".to_owned(),
        counted: "placements".to_owned(),
        borders: borders(cpus, |cpu| (cpu.node, cpu.llc, cpu.cluster)),
        strong_borders: borders(cpus, |cpu| cpu.node),
        maps: observation.runs.iter().map(map).collect(),
        short: by_distance(observation),
    };
    let says = "Wakeups and new tasks by the CPU that the task ran on last, or that its parent \
                runs on, and the CPU that was chosen; those of real-time tasks are left out. Lines \
                separate caches and clusters.";
    page.parts("Where wakeups went", &[&Text::new([says]), &heat])
}

/// The CPUs at which something other than before begins.
fn borders<T: PartialEq>(cpus: &[Cpu], of: impl Fn(&Cpu) -> T) -> Vec<usize> {
    let begins = |&at: &usize| of(&cpus[at - 1]) != of(&cpus[at]);
    (1..cpus.len()).filter(begins).collect()
}

/// Percent of all placements of each run by how far they went.
fn by_distance(observation: &Observation<'_>) -> Table {
    let machine: &Machine = observation.machine;
    let distances = Distances::new(machine);
    let cpus = machine.cpus.len();
    let names = observation.runs.iter().map(|run| run.scheduler.as_str());
    let heads = ["% of placements"].into_iter().chain(names);
    let row = |table: Table, name: &str, is_so: &dyn Fn(usize, usize) -> bool| {
        let share = |run: &Observed| {
            let all = run.placements.iter().zip(0..);
            let sum = |(part, of): (u64, u64), (&count, at): (&u32, usize)| {
                let count = u64::from(count);
                let counted = is_so(at / cpus, at % cpus);
                (part + if counted { count } else { 0 }, of + count)
            };
            match all.fold((0, 0), sum) {
                (_, 0) => number::NONE.to_owned(),
                (part, of) => number::fixed(100.0 * part as f64 / of as f64, 1),
            }
        };
        let shares = observation.runs.iter().map(share);
        table.row([name.to_owned()].into_iter().chain(shares))
    };
    let table = row(Table::new(heads), "the same CPU", &|from, to| from == to);
    (distances.known().into_iter()).fold(table, |table, (distance, name)| {
        row(
            table,
            &format!("another CPU, {}", shared(name)),
            &|from, to| from != to && distances.between(from, to) == distance,
        )
    })
}

/// What two CPUs at a distance share.
fn shared(distance: &str) -> &'static str {
    match distance {
        "smt" => "same core",
        "cluster" => "same cluster",
        "llc" => "same last-level cache",
        "node" => "same node",
        _ => "another node",
    }
}

#[cfg(test)]
mod tests;
