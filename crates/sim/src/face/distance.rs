// SPDX-License-Identifier: GPL-2.0-only
//! The distance of a migration: to another thread of the core, within the cluster, within the
//! last-level cache, within the node, or farther. It follows from the hardware in the machine file.
//! Scheduling domains, which hotplug rebuilds, do not affect it.

use crate::base::count::Count;
use alight_machine::{Cpu, Machine};
use std::collections::BTreeSet;

/// Names of the distances, nearest first: what the two CPUs share. They are the levels SMT, CLS,
/// MC, PKG and NUMA where those follow the hardware.
const NAMES: [&str; LEVELS + 1] = ["smt", "cluster", "llc", "node", "machine"];

/// Levels that CPUs may share, without the machine.
const LEVELS: usize = 4;

/// The numbers of each CPU's core, cluster, last-level cache and node.
#[derive(Debug, Clone, Default)]
pub struct Distances {
    of_cpu: Box<[[u32; LEVELS]]>,
}

impl Distances {
    /// The distances between the CPUs of `machine`.
    pub fn new(machine: &Machine) -> Self {
        let cluster = clusters(machine);
        let divided = divide_caches(machine, &cluster);
        let place = |(number, cpu): (usize, &Cpu)| {
            // A cluster that equals a cache, or spans several, is not a distance of its own.
            let cluster = if divided { cluster[number] } else { cpu.core };
            [cpu.core, cluster, cpu.llc, cpu.node].map(|number| number as u32)
        };
        Distances {
            of_cpu: machine.cpus.iter().enumerate().map(place).collect(),
        }
    }

    /// Index of the distance between two CPUs; nearer pairs have a lower one. It is the narrowest
    /// level that the CPUs share together with all wider levels. A CPU has distance 0 to itself.
    #[inline]
    pub fn between(&self, from: usize, to: usize) -> usize {
        let (from, to) = (&self.of_cpu[from], &self.of_cpu[to]);
        let differ = (0..LEVELS).filter(|&level| from[level] != to[level]);
        differ.fold(0, |_, level| level + 1)
    }

    /// The distances that occur on this machine: index and name.
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

/// The cluster of each CPU: by the kernel's CLS level if the machine has one, else by the machine
/// file.
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

/// Number of migrations by [`Distances::between`].
#[derive(Debug, Clone, Default)]
pub(crate) struct Migrations(pub [Count; LEVELS + 1]);

#[cfg(test)]
impl Migrations {
    /// Number of migrations at any distance.
    pub fn seen(&self) -> u64 {
        self.0.iter().map(|count| count.seen()).sum()
    }
}

#[cfg(test)]
mod tests;
