// SPDX-License-Identifier: GPL-2.0-only
//! Caches that consist of clusters: from 6.7 the target's cluster comes first.

use crate::common::machines::{clustered, flat};
use crate::common::world::World;

fn world() -> World {
    World::new(&clustered(8, 4), "linux-7.2")
}

#[test]
fn clusters_are_a_level_from_5_16_and_a_reason_from_6_7() {
    for (base, levels, active) in [
        ("linux-5.5", 1, 0),
        ("linux-6.1", 2, 1),
        ("linux-6.5", 2, 1),
        ("linux-7.2", 2, 1),
    ] {
        let w = World::new(&clustered(8, 4), base);
        assert_eq!(w.core.places[0].nr_domains, levels, "{base}");
        assert_eq!(w.core.topology.cluster, active, "{base}");
    }
    for (base, step) in [("linux-6.1", "llc_scan"), ("linux-7.2", "cluster_scan")] {
        let mut w = World::new(&clustered(8, 4), base);
        w.busy([3]).wakes(3, 3);
        w.expect(if base == "linux-6.1" { 4 } else { 0 }, step);
    }
}

#[test]
fn the_targets_cluster_is_scanned_before_the_rest() {
    let mut w = world();
    w.busy([2]).wakes(2, 2).expect(3, "cluster_scan");
    w.busy([3]).expect(0, "cluster_scan");
    w.busy(0..4).expect(4, "llc_scan");
    w.busy(0..8).expect(2, "target_busy");
}

#[test]
fn both_parts_share_one_budget() {
    let mut w = world();
    w.busy(0..4).wakes(0, 0).worth(5).expect(4, "llc_scan");
    assert_eq!(w.worth(4).ask().cut, 1, "the target's cluster used it up");
    w.expect(0, "target_busy");
    w.worth(3).expect(0, "target_busy");
}

#[test]
fn an_idle_previous_cpu_of_another_cluster_waits() {
    let mut w = world();
    w.busy([0]).sync().wakes(0, 5).expect(1, "cluster_scan");
    w.busy(0..4).expect(4, "llc_scan");
    // Unless the scan may not go that far.
    w.worth(0).expect(5, "prev_far");
    w.wakes(4, 5).busy([4]).sync().expect(5, "prev_idle");
}

#[test]
fn so_does_the_recent_one() {
    let mut w = world();
    w.busy([0, 3])
        .sync()
        .recent(5)
        .wakes(0, 3)
        .expect(1, "cluster_scan");
    // The scan is not allowed to go far: what was found before answers.
    w.busy(0..4).recent(5).worth(0).expect(5, "recent_far");
    w.recent(1).runs(1, 0).expect(1, "recent_idle");
    // Of both the previous CPU comes first.
    let mut w = world();
    w.busy(0..4)
        .worth(0)
        .sync()
        .recent(6)
        .wakes(0, 5)
        .expect(5, "prev_far");
}

#[test]
fn clusters_that_are_the_whole_cache_change_nothing() {
    for machine in [clustered(8, 8), flat(8)] {
        let mut w = World::new(&machine, "linux-7.2");
        w.busy([0]).sync().wakes(0, 5).expect(5, "prev_idle");
        w.busy([5]).expect(1, "llc_scan");
    }
}
