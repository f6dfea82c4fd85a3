// SPDX-License-Identifier: GPL-2.0-only
//! Tests of differences between kernels with CFS: a test for each rule, a table of all bases.

use super::{hogs, put, queue};
use crate::base::timeline::NONE;
use crate::dispatch::Sim;
use crate::testbed::{Given, MS, US, begin_on, machine, workload};
use alight_workload::program::Policy;

const BASES: [&str; 7] = [
    "linux-3.9",
    "linux-5.4",
    "linux-5.5",
    "linux-5.10",
    "linux-5.15",
    "linux-6.1",
    "linux-6.5",
];

/// Runs `test` with each base on a machine of `cpus`.
fn on_each(cpus: usize, tasks: &[Given], test: impl Fn(&str, &mut Sim)) {
    for base in BASES {
        begin_on(base, &machine(cpus, cpus), &workload(tasks), |sim| {
            test(base, sim);
        });
    }
}

/// place_entity(): after 5.15 a SCHED_IDLE task gets less credit for its sleep.
#[test]
fn sleepers_of_sched_idle_get_less_credit() {
    for (policy, base, placed) in [
        (Policy::Normal, "linux-5.5", 97 * MS),
        (Policy::Idle, "linux-3.9", 97 * MS),
        (Policy::Idle, "linux-5.5", 97 * MS),
        (Policy::Idle, "linux-5.15", 97 * MS),
        (Policy::Normal, "linux-6.1", 97 * MS),
        (Policy::Idle, "linux-6.1", 100 * MS - 375 * US),
        (Policy::Idle, "linux-6.5", 100 * MS - 375 * US),
    ] {
        let tasks = [hogs(1)[0].clone().policy(policy)];
        begin_on(base, &machine(1, 1), &workload(&tasks), |sim| {
            sim.cpus[0].fair.min_vruntime = 100 * MS;
            put(sim, 0, 0);
            assert_eq!(sim.tasks[0].vruntime, placed, "{base}, {policy:?}");
        });
    }
}

/// sched_slice() with BASE_SLICE, which 5.10.262 has: a share below min_granularity is
/// no slice; in 6.1 a SCHED_IDLE task among others has a floor that does not scale.
#[test]
fn slices_have_a_floor() {
    for (current, cpus, floor, floor_6_1, because) in [
        (Policy::Normal, 1, 750 * US, 750 * US, "68 us of 6 ms"),
        (Policy::Normal, 2, 1500 * US, 1500 * US, "136 us of 12 ms"),
        (Policy::Idle, 1, 750 * US, 750 * US, "200 ns of 6 ms"),
        (Policy::Idle, 2, 1500 * US, 750 * US, "400 ns of 12 ms"),
    ] {
        let mut tasks = hogs(2);
        tasks[0] = tasks[0].clone().policy(current);
        tasks[1] = tasks[1].clone().nice(-20);
        on_each(cpus, &tasks, |base, sim| {
            queue(sim, &[500.0, 500.0]);
            let slice = sim.slice_of(0, 0, false);
            match base {
                "linux-5.10" | "linux-5.15" => assert_eq!(slice, floor, "{base}: {because}"),
                "linux-6.1" | "linux-6.5" => assert_eq!(slice, floor_6_1, "{base}: {because}"),
                _ => assert!(slice < 140 * US, "{base}: {because}: {slice}"),
            }
        });
    }
}

/// check_preempt_tick(): in 6.5 no task runs for longer than sched_latency.
#[test]
fn a_heavy_tasks_slice_ends_at_the_latency() {
    // 20 tasks make a period of 15 ms, nearly all of which is the heavy one's.
    let mut tasks = vec![hogs(1)[0].clone().nice(19); 20];
    tasks[0] = tasks[0].clone().nice(-20);
    on_each(1, &tasks, |base, sim| {
        queue(sim, &[500.0; 20]);
        for (ran_us, ends_in_6_5) in [(5999, false), (6001, true), (14_000, true)] {
            sim.cpus[0].need_resched = false;
            sim.tasks[0].slice_start = 0;
            sim.tasks[0].sum_exec = ran_us * US;
            sim.tick_fair(0);
            let ends = base == "linux-6.5" && ends_in_6_5;
            assert_eq!(sim.cpus[0].need_resched, ends, "{base}, {ran_us} us");
        }
    });
}

/// clear_buddies() is called in set_next_entity() from 5.15 on, in pick_next_entity()
/// before: from 5.15 on, a task that yields and is picked again is still skipped the next time.
#[test]
fn a_task_that_is_picked_again_stays_a_buddy_from_5_15_on() {
    on_each(1, &hogs(2), |base, sim| {
        queue(sim, &[1.0, 2.1]);
        sim.cpus[0].fair.skip = 0;
        sim.schedule(0);
        assert_eq!(sim.cpus[0].curr, 0, "{base}: the other is too far ahead");
        let kept = matches!(base, "linux-5.15" | "linux-6.1" | "linux-6.5");
        let skip = if kept { 0 } else { NONE };
        assert_eq!(sim.cpus[0].fair.skip, skip, "{base}");
        sim.tasks[0].vruntime = 3 * MS;
        sim.cpus[0].fair.next = 1;
        sim.schedule(0);
        assert_eq!(sim.cpus[0].curr, 1, "{base}");
        assert_eq!(sim.cpus[0].fair.next, NONE, "{base}: switched to");
    });
}

/// __schedule() of 3.9 puts every task back before it picks: a task that is picked
/// again begins another slice.
#[test]
fn a_task_that_is_picked_again_begins_a_slice_in_3_9() {
    on_each(1, &hogs(2), |base, sim| {
        queue(sim, &[1.0, 5.0]);
        sim.tasks[0].slice_start = 0;
        sim.tasks[0].sum_exec = 2 * MS;
        sim.schedule(0);
        assert_eq!(sim.cpus[0].curr, 0, "{base}");
        let start = if base == "linux-3.9" { 2 * MS } else { 0 };
        assert_eq!(sim.tasks[0].slice_start, start, "{base}");
    });
}
