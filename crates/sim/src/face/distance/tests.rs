// SPDX-License-Identifier: GPL-2.0-only
//! Distances of CPUs and of migrations.

use super::*;
use crate::power::cpuidle::tests::at_boot;
use alight_machine::Governor;

/// The distances of each machine, and the distance of some of its CPUs.
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

/// A task visits several CPUs: each step counts at its own distance, and the counts sum up to the
/// migrations.
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
