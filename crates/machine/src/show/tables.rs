// SPDX-License-Identifier: GPL-2.0-only
//! Tables of a machine in aligned columns.

use std::collections::BTreeSet;
use std::fmt::Write;

use alight_text::{Align, pad};

use super::tree::{alike, siblings};
use crate::cpuset::CpuSet;
use crate::model::{Cluster, CoreType, FreqDomain, IdleScope, IdleState, Itmt, Machine};

/// Cells that are printed in columns as wide as their widest cell.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table under `head`; nothing at all without titles.
    pub fn new(head: &[&str]) -> Self {
        let head: Vec<String> = head.iter().map(|title| (*title).to_owned()).collect();
        let rows = if head.is_empty() {
            Vec::new()
        } else {
            vec![head]
        };
        Self { rows }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// The table with numbers at the right, the columns in `left` at the left.
    pub fn left_aligned(&self, left: &[usize]) -> String {
        let align = |column: usize| match left.contains(&column) {
            true => Align::Left,
            false => Align::Right,
        };
        let rows: Vec<Vec<String>> = (self.rows.iter())
            .map(|row| alight_text::row(row, align))
            .collect();
        let widths = alight_text::widths(&rows);
        let mut text = String::new();
        for row in &rows {
            let mut line = String::from(" ");
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                line.push(' ');
                pad(&mut line, cell, *width, align(column));
                line.push(' ');
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// Thousandths as a decimal number without trailing zeros: uW as mW, ns as us,
/// kHz as MHz.
pub(super) fn thousandths(value: u64) -> String {
    let (whole, rest) = (value / 1000, value % 1000);
    if rest == 0 {
        return whole.to_string();
    }
    let rest = format!("{rest:03}");
    format!("{whole}.{}", rest.trim_end_matches('0'))
}

/// One table for each kind of clock.
pub(super) fn operating_points(machine: &Machine) -> String {
    let mut text = String::new();
    let mut seen: Vec<&FreqDomain> = Vec::new();
    for domain in &machine.freq_domains {
        let alike = |other: &FreqDomain| {
            FreqDomain {
                cpus: domain.cpus,
                ..other.clone()
            } == *domain
        };
        if seen.iter().any(|known| alike(known)) {
            continue;
        }
        seen.push(domain);
        let same: Vec<&FreqDomain> = machine.freq_domains.iter().filter(|d| alike(d)).collect();
        let others = match same.len() - 1 {
            0 => String::new(),
            others => format!(" and {others} more like them"),
        };
        let fast = if domain.fast_switch {
            ", fast switch"
        } else {
            ""
        };
        let _ = writeln!(
            text,
            "  CPUs {}{others}, a change takes {} us{fast}",
            domain.cpus,
            thousandths(domain.switch_ns)
        );
        let mut table = Table::new(&["MHz", "capacity", "core mW", "cluster mW"]);
        for opp in &domain.opps {
            table.row(vec![
                thousandths(u64::from(opp.khz)),
                opp.capacity.to_string(),
                thousandths(opp.core_power_uw),
                thousandths(opp.cluster_power_uw),
            ]);
        }
        text.push_str(&table.left_aligned(&[]));
    }
    text
}

/// One line for each core type: how many, with how many threads, how big, and how fast where that is
/// another figure.
pub(super) fn core_types(machine: &Machine) -> String {
    let apart = machine.cpus.iter().any(|cpu| cpu.stated_speed.is_some());
    let mut columns = vec!["type", "CPUs", "cores", "threads a core", "capacity"];
    columns.extend(apart.then_some("speed"));
    columns.extend(["L2 KiB", "speed beside another thread"]);
    let mut table = Table::new(&columns);
    for (index, core_type) in machine.core_types.iter().enumerate() {
        let of_type = |cpu: &usize| machine.cpus[*cpu].core_type == index;
        let cpus: CpuSet = (0..machine.cpus.len()).filter(of_type).collect();
        let cores: BTreeSet<CpuSet> = cpus.iter().map(|cpu| siblings(machine, cpu)).collect();
        let threads = cores.iter().map(CpuSet::len).collect();
        let capacities = cpus
            .iter()
            .map(|cpu| machine.cpus[cpu].capacity_orig as usize);
        let speeds = (cpus.iter()).map(|cpu| machine.cpus[cpu].speed() as usize);
        let alone = cores.iter().all(|core| core.len() == 1);
        let mut row = vec![
            core_type.name.clone(),
            cpus.to_string(),
            cores.len().to_string(),
            different(threads),
            different(capacities.collect()),
        ];
        row.extend(apart.then(|| different(speeds.collect())));
        row.push((core_type.l2_bytes / 1024).to_string());
        row.push(match alone {
            true => String::new(),
            false => format!("{} %", core_type.smt_percent),
        });
        table.row(row);
    }
    table.left_aligned(&[0, 1])
}

/// For instance `1 or 2`.
fn different(numbers: BTreeSet<usize>) -> String {
    let words: Vec<String> = numbers.iter().map(usize::to_string).collect();
    words.join(" or ")
}

/// The CPUs of each priority, those first that balancing fills first.
pub(super) fn priorities(itmt: &Itmt) -> String {
    let ranks: BTreeSet<u32> = itmt.priority.iter().copied().collect();
    let mut table = Table::new(&["priority", "CPUs"]);
    for rank in ranks.into_iter().rev() {
        let cpus = itmt.priority.iter().enumerate();
        let cpus: CpuSet = (cpus.filter(|(_, of)| **of == rank).map(|(cpu, _)| cpu)).collect();
        table.row(vec![rank.to_string(), cpus.to_string()]);
    }
    format!("  by {}\n{}", itmt.driver.name(), table.left_aligned(&[1]))
}

/// One table for each core type, or for those that have the same one.
pub(super) fn idle_states(machine: &Machine) -> String {
    let mut text = String::new();
    let types: Vec<&CoreType> = machine.core_types.iter().collect();
    for same in alike(&types, |core_type| &core_type.idle_states) {
        let names: Vec<&str> = same
            .iter()
            .map(|core_type| core_type.name.as_str())
            .collect();
        let _ = writeln!(text, "  {}", names.join(", "));
        text.push_str(&idle_table(same[0]));
    }
    text
}

fn idle_table(core_type: &CoreType) -> String {
    let mut table = Table::new(&[
        "state",
        "entry us",
        "exit us",
        "cpuidle us",
        "residency us",
        "mW",
        "",
    ]);
    for state in &core_type.idle_states {
        table.row(vec![
            state.name.clone(),
            thousandths(state.entry_ns),
            thousandths(state.exit_ns),
            thousandths(state.wakeup_ns),
            thousandths(state.residency_ns),
            thousandths(state.power_uw),
            idle_properties(state),
        ]);
    }
    table.left_aligned(&[0, 6])
}

fn idle_properties(state: &IdleState) -> String {
    let properties = [
        (state.scope == IdleScope::Cluster, "whole cluster"),
        (
            state.scope == IdleScope::Domain,
            "whole cluster, by its last CPU",
        ),
        (state.polling, "polls"),
        (state.timer_stops, "timer stops"),
    ];
    let set = properties.iter().filter(|(set, _)| *set);
    let names: Vec<&str> = set.map(|(_, name)| *name).collect();
    names.join(", ")
}

/// The cluster power domains. Of those that are alike the first is shown.
pub(super) fn clusters(machine: &Machine) -> String {
    let mut table = Table::new(&["cluster", "CPUs", "idle mW", "off mW"]);
    let kind = |cluster: &&Cluster| {
        let types = cluster.cpus.iter().map(|cpu| machine.cpus[cpu].core_type);
        let types: Vec<usize> = types.collect();
        (types, cluster.idle_power_uw, cluster.off_power_uw)
    };
    let clusters: Vec<&Cluster> = machine.clusters.iter().collect();
    for same in alike(&clusters, kind) {
        let [first, others @ ..] = &same[..] else {
            continue;
        };
        let mut row = |name: String, cpus: CpuSet| {
            table.row(vec![
                name,
                cpus.to_string(),
                thousandths(first.idle_power_uw),
                thousandths(first.off_power_uw),
            ]);
        };
        row(first.name.clone(), first.cpus);
        if !others.is_empty() {
            let cpus = others.iter().map(|other| other.cpus);
            let cpus = cpus.fold(CpuSet::new(), |all, cpus| all.union(&cpus));
            row(format!("… and {} more like it", others.len()), cpus);
        }
    }
    table.left_aligned(&[0, 1])
}
