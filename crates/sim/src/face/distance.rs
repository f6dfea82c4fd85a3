// SPDX-License-Identifier: GPL-2.0-only
//! How far a task went that changed its CPU: to another thread of its core, within its cluster,
//! within its last-level cache, within its node, or farther. It is told by the hardware that the
//! machine file describes; scheduling domains, which hotplug builds anew, have no part in it.

use crate::base::count::Count;
use alight_machine::{Cpu, Machine};
use std::collections::BTreeSet;

/// Names of the distances, from the nearest on: what the two CPUs share, and their SMT, CLS, MC, PKG
/// and NUMA levels if those are as the hardware is.
const NAMES: [&str; LEVELS + 1] = ["smt", "cluster", "llc", "node", "machine"];

/// Levels that CPUs may share, but for the machine.
const LEVELS: usize = 4;

/// Where each CPU is: numbers of its core, cluster, last-level cache and node.
#[derive(Debug, Clone, Default)]
pub struct Distances {
    of_cpu: Box<[[u32; LEVELS]]>,
}

impl Distances {
    /// Of the CPUs of `machine`.
    pub fn new(machine: &Machine) -> Self {
        let cluster = clusters(machine);
        let divided = divide_caches(machine, &cluster);
        let place = |(number, cpu): (usize, &Cpu)| {
            // A cluster that is a cache, or holds several, is no distance of its own.
            let cluster = if divided { cluster[number] } else { cpu.core };
            [cpu.core, cluster, cpu.llc, cpu.node].map(|number| number as u32)
        };
        Distances {
            of_cpu: machine.cpus.iter().enumerate().map(place).collect(),
        }
    }

    /// Index of the distance between two CPUs, which rises from the nearest on: the narrowest level
    /// that they share with all wider ones. A CPU has the least distance to itself.
    #[inline]
    pub fn between(&self, from: usize, to: usize) -> usize {
        let (from, to) = (&self.of_cpu[from], &self.of_cpu[to]);
        let differ = (0..LEVELS).filter(|&level| from[level] != to[level]);
        differ.fold(0, |_, level| level + 1)
    }

    /// The distances that there are on this machine: index and name.
    pub fn known(&self) -> Vec<(usize, &'static str)> {
        let parts = |level: usize| {
            let parts: BTreeSet<&[u32]> = self.of_cpu.iter().map(|at| &at[level..]).collect();
            parts.len()
        };
        let mut narrower = self.of_cpu.len();
        let mut known = vec![];
        for (level, name) in NAMES.into_iter().enumerate() {
            let here = parts(level);
            if here < narrower {
                known.push((level, name));
            }
            narrower = here;
        }
        known
    }
}

/// The cluster of each CPU: as the kernel's level for them has it where there is one, else that of
/// the machine file.
fn clusters(machine: &Machine) -> Vec<usize> {
    let level = machine.levels.iter().find(|level| level.name == "CLS");
    let number = |(number, cpu): (usize, &Cpu)| {
        let of_level = level.and_then(|level| {
            let mut spans = level.spans.iter();
            spans.position(|span| span.contains(number))
        });
        of_level.unwrap_or(cpu.cluster)
    };
    machine.cpus.iter().enumerate().map(number).collect()
}

/// Is each cluster inside one last-level cache, and are there more clusters than caches?
fn divide_caches(machine: &Machine, clusters: &[usize]) -> bool {
    let places = clusters.iter().zip(&machine.cpus);
    let pairs: BTreeSet<_> = places.map(|(cluster, cpu)| (cluster, cpu.llc)).collect();
    let clusters: BTreeSet<_> = pairs.iter().map(|(cluster, _)| cluster).collect();
    let caches: BTreeSet<_> = pairs.iter().map(|(_, llc)| llc).collect();
    clusters.len() == pairs.len() && clusters.len() > caches.len()
}

/// Counts of migrations by [`Distances::between`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Migrations(pub [Count; LEVELS + 1]);

#[cfg(test)]
impl Migrations {
    /// However far.
    pub fn seen(&self) -> u64 {
        self.0.iter().map(|count| count.seen()).sum()
    }
}

#[cfg(test)]
mod tests;
