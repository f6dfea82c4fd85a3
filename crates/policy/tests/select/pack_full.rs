// SPDX-License-Identifier: GPL-2.0-only
//! Feature pack, mode full: all tasks stay on the CPUs that take part ("sched:
//! packing small tasks" v4, April 2013, and v5, October 2013).

use crate::common::machines::{caches, clusters, flat, gated, tc2};
use crate::common::world::{MS, World};
use alight_policy::topology::{Description, LevelKind};
use alight_policy::{NONE, Pelt13};

const FULL: &str = "linux-3.9+pack=full";
const V5: &str = "linux-3.9+pack=full:level=80";
const CACHE: LevelKind = LevelKind::Cache;
const PACKAGE: LevelKind = LevelKind::Package;

fn share(sum: u32, period: u32) -> Pelt13 {
    Pelt13 {
        last_runnable_update: MS,
        runnable_avg_sum: sum,
        runnable_avg_period: period,
    }
}

/// All levels gated, a heavy task; all CPUs full, so that the buddy is not taken at once.
fn full(machine: Description, scheduler: &str) -> World {
    let mut w = World::new(&gated(machine, &[CACHE, PACKAGE]), scheduler);
    for cpu in &mut w.core.cpus {
        cpu.pelt13 = share(1000, 1000);
    }
    w.wakee.pelt13 = share(900, 1000);
    w
}

/// These CPUs take part, the others point at the last of them.
fn take_part(w: &mut World, cpus: &[u32]) {
    for (cpu, of) in w.core.cpus.iter_mut().enumerate() {
        let cpu = cpu as u32;
        of.buddy = match cpus.contains(&cpu) {
            true => cpu,
            false => cpus[cpus.len() - 1],
        };
    }
}

// ---- wakeups ----

#[test]
fn any_task_goes_to_the_buddy_until_that_is_full() {
    for (sum, expected) in [(976, (0, "pack_full")), (977, (2, "pack"))] {
        let mut w = full(flat(4), FULL);
        w.core.cpus[0].pelt13 = share(sum, 1000);
        w.runs(0, 3).wakes(2, 2);
        match expected {
            (cpu, "pack_full") => w.expect(cpu, "pack_full"),
            _ => w.expect(0, "target_busy"),
        };
    }
    // A CPU without any history is not full.
    let mut w = full(flat(4), FULL);
    w.core.cpus[0].pelt13 = share(0, 0);
    w.wakes(2, 2).expect(0, "pack_full");
}

#[test]
fn default_packs_no_heavy_task() {
    let mut w = full(flat(4), "linux-3.9+pack");
    w.core.cpus[0].pelt13 = share(0, 1000);
    w.wakes(2, 2).expect(2, "target_idle");
}

#[test]
fn a_previous_cpu_that_takes_no_part_gives_way_to_the_waking_one() {
    let mut w = full(caches(4, 2), FULL);
    take_part(&mut w, &[0, 1]);
    // Loads say: the previous one. It takes no part.
    w.core.cpus[0].weight = 4096;
    w.runs(0, 1).wakes(0, 3).expect(1, "idle_group");
    assert_eq!(w.ask().target, 0);
    // It does: as the loads say.
    take_part(&mut w, &[0, 3]);
    w.wakes(0, 3).expect(3, "target_idle");
}

#[test]
fn a_target_that_takes_no_part_gives_way_to_its_buddy() {
    let mut w = full(flat(4), FULL);
    take_part(&mut w, &[1]);
    w.wakes(2, 3).expect(1, "target_idle");
    // One that is not allowed does not.
    w.allow([2, 3]).wakes(2, 3).expect(2, "target_idle");
}

#[test]
fn the_search_returns_only_cpus_that_take_part() {
    // Target 0 is busy; the previous CPU 2 idles, so do all others.
    for (part, cpu, step) in [
        (&[0][..], 0, "target_busy"),
        (&[0, 3], 3, "idle_group"),
        (&[0, 2], 2, "prev_idle"),
    ] {
        let mut w = full(flat(4), FULL);
        take_part(&mut w, part);
        w.core.cpus[2].weight = 0;
        w.runs(0, 1).wakes(0, 2).expect(cpu, step);
    }
}

#[test]
fn later_searches_keep_to_them_as_well() {
    for base in [
        "linux-5.4",
        "linux-5.5",
        "linux-6.1",
        "linux-6.5",
        "linux-7.2",
    ] {
        for machine in [flat(8), clusters(), caches(8, 4)] {
            for features in ["", "+asym-capacity+sched-idle+bias-prev"] {
                let scheduler = format!("{base}+pack=full{features}");
                let mut w = World::new(&gated(machine.clone(), &[CACHE, PACKAGE]), &scheduler);
                take_part(&mut w, &[0, 1]);
                w.used([0, 1], 1024).busy([0]).util(300);
                w.wakee.pelt.runnable_avg = 1000;
                for (this, prev) in [(0, 3), (5, 5), (6, 0), (2, 7)] {
                    w.recent(6).wakes(this, prev);
                    let cpu = w.ask().cpu;
                    assert!(cpu <= 1, "{scheduler}: CPU {cpu}\n{}", w.explain());
                }
            }
        }
    }
}

#[test]
fn if_none_that_takes_part_is_allowed_the_ordinary_way_is_left() {
    let mut w = full(flat(4), FULL);
    take_part(&mut w, &[0]);
    w.busy([2])
        .allow([2, 3])
        .wakes(2, 2)
        .expect(3, "idle_group");
}

// ---- new tasks ----

#[test]
fn a_new_task_gets_an_idle_cpu_near_the_buddy() {
    let mut w = full(tc2(), FULL);
    w.forks(0).expect(2, "pack_near");
    w.busy([2]).forks(0).expect(3, "pack_near");
    w.busy([3, 4]).forks(0).expect(0, "pack_near");
    // Nobody idles: to those that take part.
    w.busy([0, 1]).forks(1);
    let answer = w.ask();
    assert_eq!((answer.cpu, answer.slow), (2, 1));
}

#[test]
fn with_a_level_groups_without_a_cpu_that_takes_part_are_passed_over() {
    let mut w = full(tc2(), V5);
    take_part(&mut w, &[2, 3]);
    for (cpu, weight) in [(2, 2048), (3, 1024)] {
        w.core.cpus[cpu as usize].weight = weight;
        w.runs(cpu, weight / 1024);
    }
    // The A15s and CPU 4 idle, and the forking CPU is one of them.
    for this in [0, 4, 2] {
        w.forks(this).expect(3, "slow_least_loaded");
    }
}

#[test]
fn on_later_bases_new_tasks_do_the_same() {
    for base in [
        "linux-5.4",
        "linux-5.5",
        "linux-6.1",
        "linux-6.5",
        "linux-7.2",
    ] {
        let scheduler = format!("{base}+pack=full:level=50");
        let mut w = World::new(&gated(caches(8, 4), &[CACHE, PACKAGE]), &scheduler);
        take_part(&mut w, &[0, 1]);
        w.busy([0]).load(0, 1024).used([0], 1000);
        for this in [5, 0, 2] {
            w.forks(this);
            assert_eq!(w.ask().cpu, 1, "{scheduler}\n{}", w.explain());
        }
        let mut w = World::new(
            &gated(caches(8, 4), &[CACHE, PACKAGE]),
            &format!("{base}+pack=full"),
        );
        w.busy([0, 1]).forks(5).expect(4, "pack_near");
    }
}

/// A wakeup by the slow path (a big task on an asymmetric machine, 4.7 to 5.6): one
/// task makes a group that takes no part look fuller than a loaded one that does.
#[test]
fn a_cpu_that_takes_no_part_has_next_to_no_capacity_in_the_slow_path_of_a_wakeup() {
    let mut w = World::new(&gated(clusters(), &[CACHE, PACKAGE]), "linux-5.4+pack=full");
    take_part(&mut w, &[0, 4]);
    for cpu in [0, 4] {
        w.core.cpus[cpu].cfs.util_avg = 1024;
    }
    w.wakee.util_est_ewma = 800;
    w.wakee.pelt.runnable_avg = 1000;
    w.busy([0, 4, 5]).wakes(0, 0);
    let answer = w.ask();
    assert_eq!(answer.slow, 1, "{}", w.explain());
    assert!([0, 4].contains(&answer.cpu));
}

#[test]
fn without_buddies_full_is_the_base() {
    let mut w = full(flat(4), FULL);
    for cpu in &mut w.core.cpus {
        cpu.buddy = NONE;
    }
    w.wakes(2, 2).expect(2, "target_idle");
}
