// SPDX-License-Identifier: GPL-2.0-only
//! The wakeup path of 3.9: load is weight, the search wants idle groups, and
//! nothing is known of utilization.

use crate::common::machines::{caches, clusters, dynamiq, flat, nodes, smt};
use crate::common::world::World;
use alight_policy::abi::task_flag;

fn world(machine: &alight_policy::topology::Description) -> World {
    World::new(machine, "linux-3.9")
}

/// Tasks queued on a CPU, nice 0.
fn weigh(w: &mut World, cpu: u32, tasks: u32) -> &mut World {
    w.runs(cpu, tasks);
    w.core.cpus[cpu as usize].weight = 1024 * tasks;
    w
}

// ---- this CPU or the previous one ----

#[test]
fn the_wakee_is_pulled_if_that_balances_the_loads() {
    // tasks here and there, sync, target
    let table = [
        (0, 0, false, 0, "weight_this"),
        (0, 3, false, 0, "weight_this"),
        (1, 0, false, 4, "weight_prev"),
        (1, 1, false, 4, "weight_prev"),
        (1, 2, false, 0, "weight_this"),
        (1, 0, true, 0, "sync"),
        (2, 1, true, 4, "weight_prev"),
        (2, 2, true, 0, "sync"),
    ];
    for (here, there, sync, target, why) in table {
        let mut w = world(&caches(8, 4));
        weigh(&mut w, 0, here);
        weigh(&mut w, 4, there);
        w.sync = sync;
        w.wakes(0, 4).expect_target(target, why);
    }
}

#[test]
fn an_idle_cpu_has_no_privilege_there() {
    let mut w = world(&caches(8, 4));
    // Both idle, one cache: 4.14 and later keep the previous CPU.
    w.wakes(0, 3).expect_target(0, "weight_this");
    World::new(&caches(8, 4), "linux-5.4")
        .wakes(0, 3)
        .expect_target(3, "prev_idle");
}

#[test]
fn neither_wide_wakers_nor_exiting_ones_are_known() {
    let mut w = world(&flat(8));
    weigh(&mut w, 0, 1);
    weigh(&mut w, 3, 1);
    w.flips(1000, 1000).sync().wakes(0, 3);
    w.waker.flags |= task_flag::EXITING;
    w.expect_target(0, "sync");
    assert_eq!(w.waker.wakee_flips, 1000);
    assert_eq!(w.waker.wakee_flip_decay_ts, 0);
}

// ---- idle groups ----

#[test]
fn target_then_previous_cpu_if_idle() {
    let mut w = world(&flat(8));
    w.wakes(0, 3).expect(0, "target_idle");
    weigh(&mut w, 0, 1);
    w.sync().expect(3, "prev_idle");
    assert_eq!(w.waker.recent_used_cpu, alight_policy::NONE);
}

#[test]
fn the_first_idle_cpu_of_a_flat_cache_after_the_target() {
    let mut w = world(&flat(8));
    w.busy([2, 3]).wakes(2, 2).expect(4, "idle_group");
    w.allow([2, 3, 1]).expect(1, "idle_group");
    w.busy(0..8).expect(2, "target_busy");
}

#[test]
fn a_whole_idle_core_then_a_thread_of_the_targets_core() {
    let mut w = world(&smt(4, 2));
    // Threads c and c + 4. Cores 0 and 1 have a busy thread, 2 is idle.
    w.busy([0, 5]).wakes(0, 0).expect(2, "idle_group");
    // Only single threads are idle: the sibling of the target, in the domain below.
    w.busy([2, 3]).expect(4, "idle_group");
    // Not a thread of any other core.
    w.busy([4]).expect(0, "target_busy");
}

#[test]
fn sched_idle_tasks_make_a_cpu_busy() {
    let mut w = world(&flat(4));
    w.busy(0..4)
        .sched_idle([1, 2])
        .wakes(0, 0)
        .expect(0, "target_busy");
}

#[test]
fn without_a_domain_that_spans_both_the_task_stays() {
    let mut w = world(&nodes(4, 40));
    w.busy([0, 4]).wakes(0, 4).expect(4, "no_search");
    w.wakes(0, 3).allow([2, 3]).busy([3]).expect(3, "no_search");
    World::new(&nodes(4, 40), "linux-5.4")
        .busy([0, 4])
        .wakes(0, 4)
        .expect(5, "llc_scan");
}

// ---- fork ----

#[test]
fn fork_goes_to_the_least_weight_for_the_capacity() {
    let mut w = world(&caches(8, 4));
    for cpu in 0..4 {
        weigh(&mut w, cpu, 2);
    }
    weigh(&mut w, 5, 1);
    // Of idle CPUs the next one: as good is no reason to stay.
    w.forks(0).expect(6, "slow_idle");
    // About as good is not better: 8 tasks against 7.
    for cpu in 4..8 {
        weigh(&mut w, cpu, 2);
    }
    weigh(&mut w, 7, 1);
    weigh(&mut w, 2, 1);
    w.forks(0).expect(2, "slow_least_loaded");
    w.forks(2).expect(2, "slow_local");
}

#[test]
fn big_cpus_take_more() {
    let mut w = world(&clusters());
    for cpu in 0..8 {
        weigh(&mut w, cpu, 1);
    }
    // 4 tasks on 1784 of capacity against 4 on 4096.
    w.forks(0).expect(4, "slow_least_loaded");
    w.forks(5).expect(5, "slow_local");
}

#[test]
fn capacities_are_nobodys_business_at_wakeup() {
    let mut w = world(&dynamiq());
    w.busy([4]).util(1000).wakes(4, 4).expect(5, "idle_group");
    w.busy([5, 6, 7]).expect(0, "idle_group");
}
