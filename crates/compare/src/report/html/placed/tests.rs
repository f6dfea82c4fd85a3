// SPDX-License-Identifier: GPL-2.0-only
//! Placements by distance, and the lines between groups of CPUs.

use super::*;
use crate::report::html::tests::{observed, rows};

/// What the page says of the share of each distance.
fn shares(machine: &Machine, runs: Vec<Observed>) -> Vec<Vec<String>> {
    let observation = Observation { machine, runs };
    let html = add(Page::new("placements"), &observation).render();
    rows(&html, "Where wakeups went").split_off(1)
}

/// A run of so many placements, each (from, to, how often).
fn placed(machine: &Machine, name: &str, placements: &[(usize, usize, u32)]) -> Observed {
    let mut run = observed(machine, name);
    for (from, to, count) in placements {
        run.placements[from * machine.cpus.len() + to] += count;
    }
    run
}

/// juno-r0: CPUs 1 and 2 share a cache, the others share another one. epyc-9654-2s: the threads of a
/// core are 192 apart, a last-level cache has 8 cores, a node 96.
#[test]
fn a_placement_is_of_the_nearest_level_that_both_cpus_share() {
    for (name, from, to, expected) in [
        ("juno-r0", 1, 1, "the same CPU"),
        ("juno-r0", 0, 3, "another CPU, same last-level cache"),
        ("juno-r0", 0, 1, "another CPU, same node"),
        ("epyc-9654-2s", 5, 5, "the same CPU"),
        ("epyc-9654-2s", 5, 197, "another CPU, same core"),
        ("epyc-9654-2s", 0, 7, "another CPU, same last-level cache"),
        ("epyc-9654-2s", 0, 8, "another CPU, same node"),
        ("epyc-9654-2s", 0, 96, "another CPU, another node"),
    ] {
        let machine = Machine::load(name).expect("built in");
        let all = shares(&machine, vec![placed(&machine, "one", &[(from, to, 3)])]);
        let counted: Vec<&str> = (all.iter())
            .filter(|row| row[1] != "0.0")
            .map(|row| row[0].as_str())
            .collect();
        assert_eq!(counted, [expected], "{name}: {from} to {to} in {all:?}");
        assert!(all.iter().any(|row| row[1] == "100.0"), "{all:?}");
    }
}

#[test]
fn shares_are_of_the_placements_of_each_run() {
    let machine = Machine::load("juno-r0").expect("built in");
    let near = placed(&machine, "near", &[(1, 1, 1), (1, 2, 3)]);
    let far = placed(&machine, "far", &[(1, 0, 1), (2, 2, 2)]);
    let none = placed(&machine, "none", &[]);
    assert_eq!(
        shares(&machine, vec![near, far, none]),
        [
            ["the same CPU", "25.0", "66.7", "-"],
            ["another CPU, same last-level cache", "75.0", "0.0", "-"],
            ["another CPU, same node", "0.0", "33.3", "-"],
        ]
    );
}

#[test]
fn without_a_placement_there_is_no_section() {
    let machine = Machine::load("juno-r0").expect("built in");
    let runs = vec![observed(&machine, "one"), observed(&machine, "two")];
    let observation = Observation {
        machine: &machine,
        runs,
    };
    let html = add(Page::new("placements"), &observation).render();
    assert!(!html.contains("<h2>"), "{html}");
}

#[test]
fn a_border_is_where_a_group_begins() {
    let mut cpus = Machine::load("juno-r0").expect("built in").cpus;
    for (nodes, expected) in [
        ([0, 0, 0, 0, 0, 0], &[][..]),
        ([0, 0, 1, 1, 1, 1], &[2]),
        ([0, 0, 1, 1, 2, 2], &[2, 4]),
        ([0, 1, 0, 1, 0, 1], &[1, 2, 3, 4, 5]),
    ] {
        for (cpu, node) in cpus.iter_mut().zip(nodes) {
            cpu.node = node;
        }
        assert_eq!(borders(&cpus, |cpu| cpu.node), expected, "{nodes:?}");
    }
    assert!(borders(&[], |cpu| cpu.node).is_empty());
}
