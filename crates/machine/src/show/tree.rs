// SPDX-License-Identifier: GPL-2.0-only
//! The scheduling levels as a tree, the CPUs at its leaves. Of branches that are alike
//! the first is shown, and the others are counted.

use std::fmt::Write;

use crate::cpuset::CpuSet;
use crate::model::{Cpu, Machine, MachineLevel};

pub(super) fn tree(machine: &Machine) -> String {
    let mut text = String::new();
    let all = CpuSet::first_n(machine.cpus.len());
    branch(machine, &machine.levels, &all, 1, &mut text);
    text
}

/// Prints what of the topmost of `levels` is within `span`.
fn branch(
    machine: &Machine,
    levels: &[MachineLevel],
    span: &CpuSet,
    depth: usize,
    text: &mut String,
) {
    let indent = "  ".repeat(depth);
    let Some((top, below)) = above_threads(levels) else {
        for alike in alike(&leaves(machine, span), Leaf::kind) {
            let cpus: Vec<CpuSet> = alike.iter().map(|leaf| leaf.cpus).collect();
            let words = alike[0].words(machine);
            let _ = writeln!(text, "{indent}CPU {}: {words}", cpus[0]);
            others(&cpus, &indent, text);
        }
        return;
    };
    let within: Vec<CpuSet> = (top.spans.iter().copied())
        .filter(|s| s.is_subset(span))
        .collect();
    for alike in alike(&within, |span| shape(machine, below, span)) {
        let _ = writeln!(text, "{indent}{} {}", top.name, alike[0]);
        branch(machine, below, &alike[0], depth + 1, text);
        others(&alike, &indent, text);
    }
}

/// Counts the spans behind the first, which was shown.
fn others(alike: &[CpuSet], indent: &str, text: &mut String) {
    let others = alike.iter().skip(1);
    let more = others.len();
    if more > 0 {
        let cpus = others.fold(CpuSet::new(), |all, span| all.union(span));
        let _ = writeln!(text, "{indent}… and {more} more like it: CPUs {cpus}");
    }
}

/// The topmost level and those below it; threads of a core are told with its CPUs.
fn above_threads(levels: &[MachineLevel]) -> Option<(&MachineLevel, &[MachineLevel])> {
    let (top, below) = levels.split_last()?;
    let threads = below.is_empty() && top.name == "SMT";
    (!threads).then_some((top, below))
}

/// `items` in groups of those with the same `kind`, in the order of the first ones.
pub(super) fn alike<T: Clone, K: PartialEq>(items: &[T], kind: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for item in items {
        let kind = kind(item);
        match groups.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, group)) => group.push(item.clone()),
            None => groups.push((kind, vec![item.clone()])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// What a branch consists of, its CPUs and clusters without their names.
fn shape(machine: &Machine, levels: &[MachineLevel], span: &CpuSet) -> String {
    let Some((top, below)) = above_threads(levels) else {
        let leaves = leaves(machine, span);
        let leaves = leaves.iter();
        return leaves
            .map(|leaf| format!("{} {:?};", leaf.cpus.len(), leaf.kind()))
            .collect();
    };
    let within = top.spans.iter().filter(|s| s.is_subset(span));
    within
        .map(|span| format!("{}({})", top.name, shape(machine, below, span)))
        .collect()
}

/// CPUs of one type, capacity and cluster, with as many threads a core.
#[derive(Clone)]
struct Leaf {
    cpus: CpuSet,
    core_type: usize,
    capacity: u32,
    cluster: usize,
    threads: usize,
    cores: usize,
}

impl Leaf {
    /// What it is, but for which CPUs and whose cluster.
    fn kind(&self) -> (usize, u32, usize, usize) {
        (self.core_type, self.capacity, self.threads, self.cores)
    }

    fn holds(&self, facts: &Cpu, threads: usize) -> bool {
        (self.core_type, self.capacity) == (facts.core_type, facts.capacity_orig)
            && (self.cluster, self.threads) == (facts.cluster, threads)
    }

    fn words(&self, machine: &Machine) -> String {
        let threads = match self.threads {
            1 => String::new(),
            threads => {
                let word = if self.cores == 1 { "core" } else { "cores" };
                format!(", {} {word} of {threads} threads (SMT)", self.cores)
            }
        };
        format!(
            "{}{threads}, capacity {}, cluster {}",
            machine.core_types[self.core_type].name,
            self.capacity,
            machine.clusters[self.cluster].name
        )
    }
}

fn leaves(machine: &Machine, span: &CpuSet) -> Vec<Leaf> {
    let mut leaves: Vec<Leaf> = Vec::new();
    for cpu in span {
        let Some(facts) = machine.cpus.get(cpu) else {
            continue;
        };
        let siblings = siblings(machine, cpu);
        let first = siblings.first() == Some(cpu);
        let same = |leaf: &&mut Leaf| leaf.holds(facts, siblings.len());
        match leaves.iter_mut().find(same) {
            Some(leaf) => {
                leaf.cpus.insert(cpu);
                leaf.cores += usize::from(first);
            }
            None => leaves.push(Leaf {
                cpus: CpuSet::single(cpu),
                core_type: facts.core_type,
                capacity: facts.capacity_orig,
                cluster: facts.cluster,
                threads: siblings.len(),
                cores: usize::from(first),
            }),
        }
    }
    leaves
}

/// The threads of the core of `cpu`, itself among them.
pub(super) fn siblings(machine: &Machine, cpu: usize) -> CpuSet {
    let smt = machine.levels.first().filter(|level| level.name == "SMT");
    let own = smt.and_then(|level| level.spans.iter().find(|span| span.contains(cpu)));
    own.copied().unwrap_or(CpuSet::single(cpu))
}
