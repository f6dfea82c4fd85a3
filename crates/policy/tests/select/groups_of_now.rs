// SPDX-License-Identifier: GPL-2.0-only
//! What 6.1 and later do otherwise than 5.5 at fork and exec.

use crate::common::machines::{caches, clusters, nodes};
use crate::common::world::World;
use alight_policy::Group;

const ALL: [&str; 3] = ["linux-6.1", "linux-6.5", "linux-7.2"];

#[test]
fn of_as_many_idle_cpus_the_less_used_group_wins() {
    for base in ALL {
        let mut w = World::new(&caches(12, 4), base);
        w.busy([0, 4, 8]).used(4..8, 300).used(8..12, 200);
        // The local group has as many too: stay.
        w.forks(0);
        assert!(w.ask().cpu < 4, "{base}");
        w.busy([1]);
        assert!((8..12).contains(&w.ask().cpu), "{base}");
    }
    let mut w = World::new(&caches(12, 4), "linux-5.5");
    w.busy([0, 1, 4, 8])
        .used(4..8, 300)
        .used(8..12, 200)
        .forks(0);
    assert!((4..8).contains(&w.ask().cpu), "5.5: the first");
}

#[test]
fn tasks_that_wait_make_a_group_overloaded() {
    for base in ALL {
        let mut w = World::new(&caches(8, 4), base);
        for cpu in 0..8 {
            w.runs(cpu, 1).load(cpu, 1024);
        }
        w.runs(4, 2);
        w.forks(4);
        // Both are full, neither overloaded, loads equal: stay.
        assert!(w.ask().cpu >= 4, "{base}");
        for cpu in 4..8 {
            w.core.cpus[cpu].cfs.runnable_avg = 1300;
        }
        assert!(w.ask().cpu < 4, "{base}");
    }
}

#[test]
fn a_group_is_a_misfit_only_if_no_cpu_of_it_fits() {
    for base in ALL {
        let mut w = World::new(&clusters(), base);
        w.util(500).wakes(0, 0).kind = alight_policy::Kind::Exec;
        // A big CPU is what the task needs, though as many little ones are idle.
        assert!(w.ask().cpu >= 4, "{base}");
        // One that is squeezed does not make the others too small.
        w.capacity(4, 100).capacity(5, 100).capacity(6, 100);
        assert!(w.ask().cpu >= 4, "{base}");
        w.capacity(7, 100);
        let top = w.core.places[4].group[1] as usize;
        let Group {
            capacity,
            min_capacity,
            ..
        } = w.core.groups[top];
        w.core.set_group_capacity(top, capacity, min_capacity, 100);
        assert!(w.ask().cpu < 4, "{base}");
    }
}

#[test]
fn a_node_fills_up_to_an_eighth_before_tasks_spread() {
    for (running, stays) in [(0, true), (1, true), (2, false)] {
        for base in ALL {
            let mut w = World::new(&nodes(16, 20), base);
            assert_eq!(
                w.core.domains[w.core.places[0].domain[1] as usize].imb_numa_nr,
                2
            );
            w.busy(0..running).forks(0);
            assert_eq!(w.ask().cpu < 16, stays, "{base}: {running} running");
        }
    }
    // 5.5 stays while any CPU of the node is idle.
    let mut w = World::new(&nodes(16, 20), "linux-5.5");
    w.busy(0..15).forks(0);
    assert!(w.ask().cpu < 16);
}

#[test]
fn cpus_outside_the_affinity_count_in_some_releases() {
    // Stable series took over what mainline has from 7.0 on; 6.5, 6.6 and 6.18 as read had not.
    // The other cache is idle but for the CPUs that the task may use.
    for (base, goes) in [
        ("linux-5.10", false),
        ("linux-5.15", false),
        ("linux-6.1", false),
        ("linux-6.5", true),
        ("linux-6.6", true),
        ("linux-6.8", false),
        ("linux-6.12", false),
        ("linux-6.18", true),
        ("linux-7.0", false),
        ("linux-7.1", false),
        ("linux-7.2", false),
        ("linux-7.3", false),
    ] {
        let mut w = World::new(&caches(8, 4), base);
        w.busy([0, 1, 4, 5])
            .busy([2])
            .allow([0, 1, 2, 3, 4, 5])
            .forks(0);
        // Idle: 3 here, 6 and 7 there, which are not allowed.
        assert_eq!(w.ask().cpu >= 4, goes, "{base}");
    }
}

#[test]
fn with_an_energy_model_no_group_is_overloaded_from_7_1_on() {
    for (base, local) in [
        ("linux-7.0", false),
        ("linux-7.1", true),
        ("linux-7.2", true),
    ] {
        let mut w = World::new(&clusters(), base);
        let domain = crate::energy::little(&w.core.params);
        w.core.set_perf(vec![domain]).unwrap();
        // Little CPUs have more than they can do, big ones as much; here the load is less.
        for cpu in 0..4 {
            w.runs(cpu, 2).load(cpu, 10).used([cpu], 446);
        }
        for cpu in 4..8 {
            w.runs(cpu, 1).load(cpu, 100).used([cpu], 900);
        }
        w.util(0).forks(0);
        let answer = w.ask();
        assert_eq!(answer.cpu < 4, local, "{base}: {}", w.explain());
    }
}
