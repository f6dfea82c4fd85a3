// SPDX-License-Identifier: GPL-2.0-only
//! Tests of CFS on one CPU: given a queue and an event, which task runs.
//!
//! On one CPU the kernel's defaults are unscaled: a latency period of 6 ms, at
//! least 0.75 ms a slice, 1 ms of wakeup granularity, and "many" is 8 tasks.

mod buddies;
mod placement;
mod versions;

use super::*;
use crate::dispatch::Sim;
use crate::testbed::{Given, MS, US, begin, child, machine, task, workload};
use crate::world::state::Life;
use alight_workload::program::{Op, Policy};

/// Tasks that compute for ever, once a test puts them on the queue.
fn hogs(n: usize) -> Vec<Given> {
    const NEVER_BY_ITSELF: u64 = 3000 * 1000 * MS;
    vec![task(NEVER_BY_ITSELF, &[Op::Run { ns: u64::MAX }]); n]
}

/// Runs `test` on one CPU with these tasks, none of which is queued.
fn on_one_cpu(tasks: &[Given], test: impl FnOnce(&mut Sim)) {
    begin(&machine(1, 1), &workload(tasks), test);
}

/// `task` wakes on CPU 0 with this virtual time; no task is picked yet.
fn put(sim: &mut Sim, task: u32, vruntime: u64) {
    let world = sim.world();
    world.cpus[0].timers.remove(&mut world.nodes, task);
    let t = &mut sim.tasks[task as usize];
    t.life = Life::Runnable;
    t.vruntime = vruntime;
    sim.enqueue_woken(0, task, false);
}

/// CPU 0 picks and runs a task of its queue.
fn go(sim: &mut Sim) {
    sim.cpus[0].ipi_at = sim.now;
    sim.arm(0);
    sim.until(sim.now);
}

/// Puts tasks 0, 1 … on the queue, runs the first of them, and sets their
/// virtual times as given, in ms.
fn queue(sim: &mut Sim, vruntimes: &[f64]) {
    for task in 0..vruntimes.len() as u32 {
        put(sim, task, u64::from(task));
    }
    go(sim);
    assert_eq!(sim.cpus[0].curr, 0);
    for task in 1..vruntimes.len() as u32 {
        let world = sim.world();
        world.cpus[0].fair.tree.remove(&mut world.nodes, task);
    }
    for (task, &ms) in vruntimes.iter().enumerate() {
        let vruntime = (ms * MS as f64) as u64;
        sim.tasks[task].vruntime = vruntime;
        if task != 0 {
            let world = sim.world();
            world.cpus[0]
                .fair
                .tree
                .insert(&mut world.nodes, task as u32, vruntime);
        }
    }
}

/// check_preempt_tick(): a slice is the task's share of 6 ms, or of 0.75 ms a
/// task if there are more than eight; no task is preempted before 0.75 ms.
#[test]
fn the_tick_ends_slices() {
    for (others, ran_us, ahead_us, preempts, because) in [
        (0, 1_000_000, 0, false, "alone"),
        (1, 2999, 0, false, "within half of 6 ms"),
        (1, 3001, 0, true, "half of 6 ms is over"),
        (3, 1499, 0, false, "within a quarter"),
        (3, 1501, 0, true, "a quarter is over"),
        (15, 749, 0, false, "16 tasks: 0.75 ms each"),
        (15, 751, 0, true, "which are over"),
        (
            1,
            2000,
            3001,
            true,
            "a slice ahead of the first in virtual time",
        ),
        (1, 2000, 2998, false, "less than that"),
        (1, 740, 3001, false, "but it has hardly begun"),
    ] {
        on_one_cpu(&hogs(16), |sim| {
            queue(sim, &vec![500.0; others + 1]);
            sim.tasks[0].vruntime += ahead_us * US;
            sim.tasks[0].slice_start = 0;
            sim.tasks[0].sum_exec = ran_us * US;
            sim.tick_fair(0);
            assert_eq!(sim.cpus[0].need_resched, preempts, "{because}");
        });
    }
}

/// sched_slice(): by weight; __calc_delta() loses a few ns, as in the kernel.
#[test]
fn heavy_tasks_have_longer_slices() {
    for (nice, expected) in [(0, 2_999_998), (-5, 4_517_730), (5, 1_479_028)] {
        let mut tasks = hogs(2);
        tasks[0] = tasks[0].clone().nice(nice);
        on_one_cpu(&tasks, |sim| {
            queue(sim, &[0.0, 0.0]);
            let slice = sim.slice_of(0, 0, false);
            assert_eq!(slice, expected, "nice {nice}");
        });
    }
}

/// yield_task_fair(): virtual time stays; the yielding task is passed over for as
/// long as the other is not ahead of it by more than 1 ms.
#[test]
fn who_yields_is_passed_over_while_the_other_is_near() {
    for (other, expected, because) in [
        (10.9, 1, "the other is within reach"),
        (11.1, 0, "the other is too far ahead: it goes on at once"),
    ] {
        on_one_cpu(&hogs(2), |sim| {
            queue(sim, &[10.0, other]);
            sim.yield_fair(0);
            assert_eq!(sim.tasks[0].vruntime, 10 * MS);
            sim.schedule(0);
            assert_eq!(sim.cpus[0].curr, expected, "{because}");
            sim.tasks[1].vruntime = 10 * MS + 1001 * US;
            sim.schedule(0);
            assert_eq!(sim.cpus[0].curr, 0, "it still stands leftmost");
            assert_eq!(sim.cpus[0].fair.skip, NONE);
        });
    }
}

/// A task alone on its CPU that yields comes straight back: no switch.
#[test]
fn yielding_alone_changes_nothing() {
    let spin = task(0, &[Op::Yield, Op::Yield, Op::Yield, Op::Run { ns: MS }]);
    on_one_cpu(&[spin], |sim| {
        sim.until(MS / 2);
        assert_eq!((sim.stats.yields.seen(), sim.stats.switches.seen()), (3, 1));
        assert_eq!(sim.cpus[0].fair.skip, NONE);
    });
}

/// Two tasks that compute share a CPU by weight, whatever the tick does to
/// single slices (`sched_prio_to_weight`).
#[test]
fn a_second_is_shared_by_weight() {
    for (a, b) in [(0, 0), (0, 5), (0, -5), (-5, 5), (19, 19), (-20, 0)] {
        let hog = task(0, &[Op::Run { ns: u64::MAX }]);
        on_one_cpu(&[hog.clone().nice(a), hog.nice(b)], |sim| {
            sim.until(1000 * MS);
            let (wa, wb) = (sim.views[0].weight as f64, sim.views[1].weight as f64);
            let share = sim.ran(0) as f64 / (1000.0 * MS as f64);
            let due = wa / (wa + wb);
            assert!(
                (share - due).abs() < 0.01,
                "nice {a} and {b}: {share:.4}, not {due:.4}"
            );
        });
    }
}

/// A SCHED_IDLE task gets 3 of 1027 parts, not nothing.
#[test]
fn sched_idle_gets_what_its_weight_is_worth() {
    let hog = task(0, &[Op::Run { ns: u64::MAX }]);
    on_one_cpu(&[hog.clone(), hog.policy(Policy::Idle)], |sim| {
        sim.until(10_000 * MS);
        let share = sim.ran(1) as f64 / (10_000.0 * MS as f64);
        assert!((0.001..0.006).contains(&share), "{share}");
    });
}
