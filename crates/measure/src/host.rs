// SPDX-License-Identifier: GPL-2.0-only
//! The machine to be measured: its core types with CPUs to measure on, pairs of CPUs by distance,
//! sizes of caches.

use crate::rounds::Distance;
use alight_machine::{Cpu, CpuSet, DataSheet, Machine};
use std::fs;
use std::path::Path;

/// The machine, CPUs by the kernel's numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Host {
    /// The core types of which a CPU may be used.
    pub cores: Vec<Core>,
    /// A writer and a reader of cache lines at each distance that there is.
    pub pairs: Vec<(Distance, usize, usize)>,
    /// CPUs that may be used.
    pub usable: Vec<usize>,
    /// Core types of which none may be used, by name.
    pub unusable: Vec<String>,
    /// Last-level cache of the first CPU, bytes; `None`: not known.
    pub cache: Option<usize>,
}

/// A core type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Core {
    /// Its name in the machine file.
    pub name: String,
    /// Its CPUs, numbered as in the machine file.
    pub ours: CpuSet,
    /// The CPU to measure on, and behind it those to wake, the most alike and nearest first.
    pub cpus: Vec<usize>,
    /// A sibling of the first CPU, if it has one.
    pub sibling: Option<Sibling>,
    /// Frequencies of its CPUs in the machine file, kHz, rising.
    pub khz: Vec<u64>,
    /// L2 of a core, bytes.
    pub l2: usize,
}

/// A thread of the same core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sibling {
    /// It may be used.
    Usable(usize),
    /// It may not.
    Unusable,
}

impl Host {
    /// Of the captured `sheet`, whose CPUs have the kernel's numbers `online` in order; `usable`: those
    /// that may be used, in order.
    pub fn new(root: &Path, sheet: &DataSheet, online: &[usize], usable: &[usize]) -> Self {
        let machine = &sheet.machine;
        let known: Vec<(usize, &Cpu)> = (online.iter().copied())
            .zip(&machine.cpus)
            .filter(|(number, _)| usable.contains(number))
            .collect();
        let (mut cores, mut unusable) = (Vec::new(), Vec::new());
        for number in 0..machine.core_types.len() {
            match core(machine, number, &known) {
                Some(core) => cores.push(core),
                None => unusable.push(machine.core_types[number].name.clone()),
            }
        }
        Self {
            cache: cores.first().and_then(|core| cache(root, core.cpus[0])),
            cores,
            pairs: pairs(&known),
            usable: known.iter().map(|(number, _)| *number).collect(),
            unusable,
        }
    }

    /// Is there a pair at this distance?
    pub fn pair(&self, distance: Distance) -> bool {
        self.pairs.iter().any(|(known, ..)| *known == distance)
    }
}

/// The core type `number`; `None`: none of its CPUs may be used.
fn core(machine: &Machine, number: usize, known: &[(usize, &Cpu)]) -> Option<Core> {
    let (first, cpu) = *known.iter().find(|(_, cpu)| cpu.core_type == number)?;
    let mut others: Vec<&(usize, &Cpu)> =
        known.iter().filter(|(other, _)| *other != first).collect();
    others.sort_by_key(|(other, of)| {
        let far = (of.node != cpu.node, of.llc != cpu.llc);
        (of.core == cpu.core, of.core_type != number, far, *other)
    });
    let of_type = |(_, of): &(usize, &Cpu)| of.core_type == number;
    let ours = machine.cpus.iter().enumerate().filter(|of| of_type(of));
    let threads = machine.cpus.iter().filter(|of| of.core == cpu.core).count();
    let sibling = others.iter().find(|(_, of)| of.core == cpu.core);
    let opps = &machine.freq_domains[cpu.freq_domain].opps;
    Some(Core {
        name: machine.core_types[number].name.clone(),
        ours: ours.map(|(number, _)| number).collect(),
        sibling: match sibling {
            Some((other, _)) => Some(Sibling::Usable(*other)),
            None if threads > 1 => Some(Sibling::Unusable),
            None => None,
        },
        cpus: std::iter::once(first)
            .chain(others.iter().map(|(other, _)| *other))
            .collect(),
        khz: opps.iter().map(|opp| u64::from(opp.khz)).collect(),
        l2: usize::try_from(machine.core_types[number].l2_bytes).unwrap_or(usize::MAX),
    })
}

/// How far two CPUs are apart.
fn distance(a: &Cpu, b: &Cpu) -> Distance {
    if a.core == b.core {
        Distance::Core
    } else if a.llc == b.llc {
        Distance::Cache
    } else if a.node == b.node {
        Distance::Node
    } else {
        Distance::Machine
    }
}

/// The first pair at each distance.
fn pairs(known: &[(usize, &Cpu)]) -> Vec<(Distance, usize, usize)> {
    let pair = |wanted: Distance| {
        known.iter().enumerate().find_map(|(at, (reader, a))| {
            let mut others = known[at + 1..].iter();
            let (writer, _) = others.find(|(_, b)| distance(a, b) == wanted)?;
            Some((wanted, *writer, *reader))
        })
    };
    Distance::ALL.into_iter().filter_map(pair).collect()
}

/// Size of the cache of the highest level of `cpu`, bytes.
fn cache(root: &Path, cpu: usize) -> Option<usize> {
    let folder = root.join(format!("sys/devices/system/cpu/cpu{cpu}/cache"));
    let size = |index: usize| {
        let text = |name: &str| {
            let file = folder.join(format!("index{index}/{name}"));
            fs::read_to_string(file).ok()
        };
        let level: u32 = text("level")?.trim().parse().ok()?;
        let size = text("size")?;
        let (kib, unit) = size
            .trim()
            .split_at_checked(size.trim().len().checked_sub(1)?)?;
        let unit = match unit {
            "K" => 1 << 10,
            "M" => 1 << 20,
            _ => return None,
        };
        Some((level, kib.parse::<usize>().ok()?.checked_mul(unit)?))
    };
    (0..).map_while(size).max().map(|(_, bytes)| bytes)
}

#[cfg(test)]
mod tests;
