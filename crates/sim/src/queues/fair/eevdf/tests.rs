// SPDX-License-Identifier: GPL-2.0-only
//! Tests of EEVDF on one CPU: given a queue and an event, which task runs.
//!
//! On one CPU the base slice is unscaled: 0.7 ms. Ticks come every 4 ms.

mod placement;
mod preemption;
mod sleepers;

use super::*;
use crate::dispatch::Sim;
use crate::dispatch::exec::TIMER_SLACK;
use crate::testbed::{
    Given, MS, Record, US, begin_on, begin_under, child, machine, task, workload,
};
use alight_machine::Governor;
use alight_workload::program::{Op, Policy};

const BASE: &str = "linux-7.2";
pub(super) const SLICE: u64 = 700 * US;

/// Tasks that compute for ever, once a test puts them on the queue.
pub(in crate::queues::fair) fn hogs(n: usize) -> Vec<Given> {
    const NEVER_BY_ITSELF: u64 = 3000 * 1000 * MS;
    vec![task(NEVER_BY_ITSELF, &[Op::Run { ns: u64::MAX }]); n]
}

pub(super) fn on_one_cpu(tasks: &[Given], test: impl FnOnce(&mut Sim)) {
    begin_on(BASE, &machine(1, 1), &workload(tasks), test);
}

/// `task` wakes on CPU 0 with this lag; no task is picked yet.
pub(in crate::queues::fair) fn put(sim: &mut Sim, task: u32, lag: i64) {
    let world = sim.world();
    world.cpus[0].timers.remove(&mut world.nodes, task);
    sim.tasks[task as usize].life = Life::Runnable;
    sim.entity_mut(task).lag = lag;
    sim.enqueue_woken(0, task, false);
}

/// CPU 0 picks and runs a task of its queue.
pub(in crate::queues::fair) fn go(sim: &mut Sim) {
    sim.cpus[0].ipi_at = sim.now;
    sim.arm(0);
    sim.until(sim.now);
}

/// Puts tasks 0, 1 … on the queue of CPU 0 and runs the first. Each has this
/// `(vruntime, deadline)` in us; the current one is not protected.
pub(super) fn queue(sim: &mut Sim, stands: &[(u64, u64)]) {
    put(sim, 0, 0);
    go(sim);
    for task in 1..stands.len() as u32 {
        put(sim, task, 0);
        sim.eevdf.remove(0, task);
    }
    sim.eevdf.queues[0] = Tree::default();
    for (task, &(vruntime, deadline)) in (0..).zip(stands) {
        let e = sim.entity_mut(task);
        (e.vruntime, e.deadline) = (vruntime * US, deadline * US);
        if task == 0 {
            e.protected_until = e.vruntime;
        } else {
            let weight = sim.exact_weight(task);
            sim.eevdf.insert(0, task, weight);
        }
    }
    let c = &mut sim.cpus[0];
    assert_eq!(c.curr, 0);
    (c.need_resched, c.resched_lazy) = (false, false);
}

/// avg_vruntime(): the mean by weight, rounded down, the current task included.
#[test]
fn the_mean_is_weighted_and_rounded_down() {
    for (stands, nice, mean, because) in [
        (&[(10, 20)][..], 0, 10 * US, "alone"),
        (&[(10, 20), (20, 30)], 0, 15 * US, "half way"),
        (
            &[(10, 20), (20, 30), (21, 30)],
            0,
            17 * US,
            "a third of 51 us",
        ),
        (
            &[(0, 20), (1, 30), (1, 40)],
            0,
            666,
            "two thirds of a us, rounded down",
        ),
        (
            &[(10, 20), (20, 30)],
            -5,
            17_529,
            "10 us more for 3121 of 4145 parts",
        ),
    ] {
        let mut tasks = hogs(3);
        tasks[1] = tasks[1].clone().nice(nice);
        on_one_cpu(&tasks, |sim| {
            queue(sim, stands);
            assert_eq!(sim.mean_vruntime(0), mean, "{because}");
            assert_eq!(sim.mean_vruntime(0), mean, "{because}: and again");
        });
    }
}

/// __pick_eevdf(): the earliest deadline among those not ahead of the mean.
#[test]
fn the_earliest_deadline_of_those_that_are_due() {
    for (stands, pick, because) in [
        (&[(0, 700), (10, 600)][..], 0, "1 is ahead of the mean of 5"),
        (&[(10, 600), (0, 700)], 1, "0 is"),
        (&[(5, 700), (5, 700)], 1, "a queued one at equal deadlines"),
        (&[(5, 600), (5, 700)], 0, "both are due, 0 is first"),
        (&[(5, 700), (5, 600)], 1, "both are due, 1 is first"),
        (
            &[(30, 700), (0, 900), (10, 800)],
            2,
            "of the mean of 13.3, 1 and 2 are due",
        ),
        (
            &[(30, 700), (0, 900), (14, 800)],
            2,
            "at 14 it is due by the mean of 14.7",
        ),
        (
            &[(30, 700), (0, 900), (16, 800)],
            1,
            "at 16 it is ahead of the mean of 15.3",
        ),
    ] {
        on_one_cpu(&hogs(3), |sim| {
            queue(sim, stands);
            assert_eq!(sim.pick_fair(0, true), pick, "{because}");
        });
    }
}

/// protect_slice(): the current task goes on up to the end of its protection, while it is eligible.
#[test]
fn who_runs_is_left_alone_while_it_is_due() {
    for (stands, protected_us, pick, because) in [
        (&[(5, 700), (5, 600)][..], 6, 0, "protected"),
        (&[(5, 700), (5, 600)], 5, 1, "the mark is reached"),
        (&[(6, 700), (4, 600)], 10, 1, "protected, but not due"),
    ] {
        on_one_cpu(&hogs(2), |sim| {
            queue(sim, stands);
            sim.entity_mut(0).protected_until = protected_us * US;
            assert_eq!(sim.pick_fair(0, true), pick, "{because}");
            let other = sim.pick_eevdf(0, false);
            assert_eq!(other, 1, "{because}: without protection");
        });
    }
}

/// set_protect_slice(): protection lasts for the task's own slice, or the shortest queued one.
#[test]
fn protection_lasts_for_the_shortest_slice() {
    for (own, other, until, because) in [
        (0, 0, SLICE, "equal slices: to the deadline"),
        (0, 300 * US, 300 * US, "the other's is shorter"),
        (300 * US, 0, 300 * US, "its own is: to the deadline"),
        (
            5 * MS,
            0,
            SLICE,
            "it has more, but somebody waits with less",
        ),
    ] {
        let mut tasks = hogs(2);
        for (task, slice) in tasks.iter_mut().zip([own, other]) {
            if slice != 0 {
                *task = task.clone().slice(slice);
            }
        }
        on_one_cpu(&tasks, |sim| {
            put(sim, 0, 0);
            put(sim, 1, 0);
            let vruntime = sim.entity(0).vruntime;
            sim.set_next(0, 0);
            let protected = sim.entity(0).protected_until - vruntime;
            assert_eq!(protected, until, "{because}");
            sim.cpus[0].curr = NONE;
            let weight = sim.exact_weight(0);
            sim.eevdf.insert(0, 0, weight);
        });
    }
}

/// update_curr(), update_deadline(): at the deadline another slice begins.
#[test]
fn a_deadline_that_passes_ends_the_turn() {
    for (others, ran, deadline, resched, because) in [
        (1, 699 * US, 1700, false, "not yet"),
        (1, 700 * US, 2400, true, "reached: another slice from there"),
        (1, 900 * US, 2600, true, "passed: from where it stands"),
        (0, 900 * US, 2600, false, "nobody waits"),
    ] {
        on_one_cpu(&hogs(2), |sim| {
            queue(sim, &[(1000, 1700), (1000, 1700)][..1 + others]);
            sim.entity_mut(0).protected_until = 1700 * US;
            sim.now += ran;
            sim.clock(0);
            sim.update_curr(0);
            assert_eq!(sim.entity(0).vruntime, MS + ran, "{because}");
            assert_eq!(sim.entity(0).deadline, deadline * US, "{because}");
            assert_eq!(sim.cpus[0].resched_lazy, resched, "{because}");
        });
    }
}

/// yield_task_fair().
#[test]
fn a_yield_gives_up_the_turn() {
    on_one_cpu(&hogs(2), |sim| {
        queue(sim, &[(1000, 1700), (1000, 1700)]);
        sim.yield_fair(0);
        let e = *sim.entity(0);
        assert_eq!((e.vruntime, e.deadline), (1700 * US, 2400 * US));
        assert_eq!(sim.pick_fair(0, true), 1);
        sim.yield_fair(0);
        let again = *sim.entity(0);
        assert_eq!(
            (again.vruntime, again.deadline),
            (e.vruntime, e.deadline),
            "it is ahead already"
        );
    });
}
