// SPDX-License-Identifier: GPL-2.0-only
//! Hotplug torture: pauses, and the CPUs that stay online.

use super::*;
use crate::face::feasible::check_changes;
use alight_machine::Machine;

fn set(cpus: &str) -> CpuSet {
    cpus.parse().expect("a list of CPUs")
}

/// LISA's hotplug tests make 100 operations with pauses of 10 to 100 ms.
#[test]
fn torture_leaves_a_cpu_and_ends_with_all() {
    for seed in 0..20 {
        let changes = hotplug_torture(4, 100, seed);
        let machine = Machine::load("ca9x4").expect("built in");
        check_changes(&changes, &machine, None).expect("4 CPUs, one of which stays");
        let mut online = set("0-3");
        let mut before = 0;
        for change in &changes {
            let pause = change.at_ns - before;
            assert!((10_000_000..=100_000_000).contains(&pause), "{pause}");
            before = change.at_ns;
            let (old, cpus) = (online, change.action.cpus());
            online = match change.action {
                Action::Offline(_) => online.difference(cpus),
                Action::Online(_) => online.union(cpus),
                _ => panic!("no CPU goes or comes"),
            };
            assert_ne!(online, old, "each operation changes something");
        }
        assert_eq!(online, set("0-3"));
        assert!((100..=101).contains(&changes.len()));
    }
    assert_ne!(hotplug_torture(4, 9, 1), hotplug_torture(4, 9, 2));
    assert!(hotplug_torture(1, 9, 1).is_empty(), "the last one stays");
}
