// SPDX-License-Identifier: GPL-2.0-only
//! How far a task went that changed its CPU: to another thread of its core, within its cluster,
//! within its last-level cache, within its node, or farther. It is told by the hardware that the
//! machine file describes; scheduling domains, which hotplug builds anew, have no part in it.

use crate::stats::Count;
use alight_machine::{Cpu, Machine};
use std::collections::BTreeSet;

/// Names of the distances, from the nearest on: what the two CPUs share, and their SMT, CLS, MC, PKG
/// and NUMA levels if those are as the hardware is.
const NAMES: [&str; LEVELS + 1] = ["smt", "cluster", "llc", "node", "machine"];

/// Levels that CPUs may share, but for the machine.
const LEVELS: usize = 4;

/// Where each CPU is: numbers of its core, cluster, last-level cache and node.
#[derive(Debug, Clone, Default)]
pub(crate) struct Distances {
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

    /// Index of [`NAMES`] of the way between two CPUs: the narrowest level that they share with all
    /// wider ones.
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
mod tests {
    use super::*;
    use crate::cpuidle::tests::at_boot;
    use alight_machine::Governor;

    /// What is reported of each machine, and how far some CPUs of it are apart.
    #[test]
    fn distances_are_those_of_the_hardware() {
        type Case<'a> = (&'a str, &'a [&'a str], &'a [(usize, usize, &'a str)]);
        let cases: [Case; 6] = [
            // One cache, one cluster.
            ("ca9x4", &["llc"], &[(0, 3, "llc")]),
            // Two clusters, each with its own L2: those are the last-level caches.
            (
                "juno-r0",
                &["llc", "node"],
                &[(1, 2, "llc"), (0, 1, "node")],
            ),
            // Three clusters under one L3.
            (
                "gs101",
                &["cluster", "llc"],
                &[(0, 3, "cluster"), (3, 4, "llc")],
            ),
            // Threads of cores, chiplets with their L3, two sockets.
            (
                "epyc-9654-2s",
                &["smt", "llc", "node", "machine"],
                &[
                    (0, 192, "smt"),
                    (0, 7, "llc"),
                    (0, 8, "node"),
                    (0, 96, "machine"),
                ],
            ),
            // One cluster under one L3.
            ("sdm845", &["llc"], &[(3, 4, "llc")]),
            (
                "hikey620",
                &["llc", "node"],
                &[(0, 3, "llc"), (0, 4, "node")],
            ),
        ];
        for (name, expected, pairs) in cases {
            let machine = Machine::load(name).expect("built in");
            let distances = Distances::new(&machine);
            let known: Vec<&str> = distances.known().iter().map(|(_, name)| *name).collect();
            assert_eq!(known, expected, "{name}");
            for &(a, b, expected) in pairs {
                let found = [distances.between(a, b), distances.between(b, a)];
                assert_eq!(found.map(|at| NAMES[at]), [expected; 2], "{name}: {a}, {b}");
            }
        }
    }

    /// A task that goes round: each step counts by its own length, and together they are the migrations.
    #[test]
    fn migrations_are_counted_by_how_far_they_went() {
        at_boot("epyc-9654-2s", Governor::Performance, |sim| {
            for (cpu, times) in [(192, 1), (1, 2), (8, 3), (96, 4), (96, 4)] {
                for _ in 0..times {
                    sim.views[0].prev_cpu = 0;
                    sim.trace_migrate(0, 0, cpu);
                }
            }
            let all = sim.mechanism();
            let value = |name: &str| all.iter().find(|m| m.name == name).map(|m| m.value);
            for (name, expected) in [
                ("cpu_migrations", Some(14.0)),
                ("migrations_smt", Some(1.0)),
                ("migrations_cluster", None),
                ("migrations_llc", Some(2.0)),
                ("migrations_node", Some(3.0)),
                ("migrations_machine", Some(8.0)),
            ] {
                assert_eq!(value(name), expected, "{name}");
            }
        });
    }
}
