// SPDX-License-Identifier: GPL-2.0-only
//! CFS on one CPU: with this queue, at this event, this task runs, because.
//!
//! On one CPU the kernel's defaults are unscaled: a latency period of 6 ms, at
//! least 0.75 ms a slice, 1 ms of wakeup granularity, and "many" is 8 tasks.

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

/// `task` wakes on CPU 0 with this virtual time; nobody looks at the queue yet.
fn put(sim: &mut Sim, task: u32, vruntime: u64) {
    let world = sim.world();
    world.cpus[0].timers.remove(&mut world.nodes, task);
    let t = &mut sim.tasks[task as usize];
    t.life = Life::Runnable;
    t.vruntime = vruntime;
    sim.enqueue_woken(0, task, false);
}

/// CPU 0 takes the first of its queue.
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

/// place_entity(), GENTLE_FAIR_SLEEPERS: a sleeper gets credit for half a latency
/// period at most, and keeps what it has beyond the queue's time.
#[test]
fn a_sleeper_is_placed_half_a_period_back_at_most() {
    for (slept_at, min_vruntime, placed, because) in [
        (0, 100 * MS, 97 * MS, "slept for long"),
        (96 * MS, 100 * MS, 97 * MS, "just beyond the bonus"),
        (98 * MS, 100 * MS, 98 * MS, "slept shortly"),
        (105 * MS, 100 * MS, 105 * MS, "it had run ahead"),
        (
            0,
            MS,
            0,
            "virtual time wraps below 0, and 0 lies behind that",
        ),
    ] {
        on_one_cpu(&hogs(1), |sim| {
            sim.cpus[0].fair.min_vruntime = min_vruntime;
            put(sim, 0, slept_at);
            assert_eq!(sim.tasks[0].vruntime, placed, "{because}");
        });
    }
}

/// task_fork_fair(), place_entity() with START_DEBIT: a child begins one slice of
/// its own behind the queue's time, as if it had just had its turn, and no
/// earlier than its parent stands.
#[test]
fn a_child_begins_a_slice_late() {
    for (vruntimes, nice, expected, because) in [
        (&[0.0][..], 0, 3 * MS, "two share 6 ms"),
        (
            &[0.0],
            5,
            4_520_971,
            "6 ms * 335 / 1359, stretched by 1024 / 335",
        ),
        (
            &[0.0],
            -5,
            1_482_268,
            "6 ms * 3121 / 4145, shrunk by 1024 / 3121",
        ),
        (
            &[1.0, 0.0],
            0,
            2 * MS,
            "a third of 6 ms behind the queue, not behind the parent",
        ),
        (
            &[4.0, 0.0],
            0,
            4 * MS,
            "the parent stands further ahead than that",
        ),
    ] {
        let mut tasks = hogs(3);
        tasks[2] = child(&[Op::Run { ns: MS }]).nice(nice);
        on_one_cpu(&tasks, |sim| {
            queue(sim, vruntimes);
            sim.wake_new(0, 2);
            let placed = sim.tasks[2].vruntime;
            assert!(
                placed.abs_diff(expected) <= 3,
                "{because}: {placed}, not {expected}"
            );
        });
    }
}

/// The debit is a slice of the queue that the parent is on, wherever the child
/// goes: task_fork_fair() comes before select_task_rq().
#[test]
fn the_debit_is_by_the_parents_queue() {
    let mut tasks = hogs(2);
    tasks[1] = child(&[Op::Run { ns: MS }]).on(&[1]);
    begin(&machine(2, 2), &workload(&tasks), |sim| {
        sim.cpus[1].fair.min_vruntime = 50 * MS;
        queue(sim, &[0.0]);
        sim.wake_new(0, 1);
        let slice = sim.tunables.latency / 2;
        assert_eq!(sim.tunables.latency, 12 * MS, "doubled on two CPUs");
        let placed = sim.tasks[1].vruntime - 50 * MS;
        assert!(placed.abs_diff(slice) <= 3, "{placed}, not {slice}");
    });
}

/// migrate_task_rq_fair(), enqueue_entity(): virtual time is taken along as the
/// distance to the queue's time; dequeue_entity() for a queued task likewise.
#[test]
fn a_migrating_task_keeps_its_distance_to_the_queue() {
    begin(&machine(2, 2), &workload(&hogs(2)), |sim| {
        sim.cpus[0].fair.min_vruntime = 1000 * MS;
        sim.cpus[1].fair.min_vruntime = 10 * MS;
        put(sim, 0, 1000 * MS);
        put(sim, 1, 1002 * MS);
        sim.detach_task(0, 1);
        assert_eq!(sim.tasks[1].vruntime, 2 * MS);
        sim.attach_task(1, 1, 1);
        assert_eq!(sim.tasks[1].vruntime, 12 * MS);
    });
    // Task 0 sleeps on CPU 0; task 1 wakes it from CPU 1, where it may only run then.
    begin(&machine(2, 2), &workload(&hogs(2)), |sim| {
        let world = sim.world();
        world.cpus[0].timers.remove(&mut world.nodes, 0);
        sim.tasks[0].life = Life::Asleep;
        sim.tasks[0].vruntime = 1001 * MS;
        sim.cpus[0].fair.min_vruntime = 1000 * MS;
        sim.cpus[1].fair.min_vruntime = 10 * MS;
        sim.masks[0] = [1].into_iter().collect();
        sim.wake(1, 0, false);
        assert_eq!(sim.tasks[0].vruntime, 11 * MS);
    });
}

/// check_preempt_wakeup(), wakeup_preempt_entity(): the wakee must be behind the
/// current task by more than 1 ms of its own virtual time.
#[test]
fn a_wakee_far_enough_behind_preempts() {
    use Policy::{Batch, Idle, Normal};
    // A nice -5 task's 1 ms is 0.328 ms of virtual time, a nice 5 task's 3.056 ms.
    for (current, wakee, behind_us, preempts, because) in [
        ((Normal, 0), (Normal, 0), 999, false, "too little"),
        (
            (Normal, 0),
            (Normal, 0),
            1000,
            false,
            "not more than the granularity",
        ),
        ((Normal, 0), (Normal, 0), 1001, true, "more"),
        ((Normal, 0), (Normal, 0), -500, false, "it is ahead"),
        (
            (Normal, 0),
            (Normal, -5),
            329,
            true,
            "heavy tasks preempt sooner",
        ),
        ((Normal, 0), (Normal, -5), 327, false, "but not at once"),
        ((Normal, 0), (Normal, 5), 3050, false, "light ones later"),
        ((Normal, 0), (Normal, 5), 3060, true, "and then they do"),
        (
            (Normal, 5),
            (Normal, 0),
            1001,
            true,
            "the current task's weight does not count",
        ),
        (
            (Normal, 0),
            (Batch, 0),
            100_000,
            false,
            "SCHED_BATCH does not preempt",
        ),
        (
            (Normal, 0),
            (Idle, 0),
            100_000,
            false,
            "nor does SCHED_IDLE",
        ),
        ((Idle, 0), (Idle, 0), 100_000, false, "not even each other"),
        (
            (Idle, 0),
            (Normal, 0),
            -100_000,
            true,
            "SCHED_IDLE gives way to all others",
        ),
        ((Idle, 0), (Batch, 0), -100_000, true, "to SCHED_BATCH too"),
        (
            (Batch, 0),
            (Normal, 0),
            1001,
            true,
            "SCHED_BATCH is preempted by the rule",
        ),
    ] {
        let mut tasks = hogs(2);
        tasks[0] = tasks[0].clone().policy(current.0).nice(current.1);
        tasks[1] = tasks[1].clone().policy(wakee.0).nice(wakee.1);
        on_one_cpu(&tasks, |sim| {
            queue(sim, &[500.0, 500.0]);
            let at = 500 * MS as i64 - behind_us * US as i64;
            sim.tasks[1].vruntime = at as u64;
            sim.check_preempt(0, 1);
            assert_eq!(sim.cpus[0].need_resched, preempts, "{because}");
        });
    }
}

/// check_preempt_wakeup(): who preempts is next, so that it gets the CPU though
/// others stand further left; who is preempted among eight or more is last, so
/// that it gets it back. SCHED_IDLE tasks are nobody's buddies.
#[test]
fn buddies_are_who_preempts_and_who_was_preempted() {
    for (others, policy, next, last, because) in [
        (2, Policy::Normal, 1, NONE, "few tasks"),
        (7, Policy::Normal, 1, NONE, "seven"),
        (8, Policy::Normal, 1, 0, "eight tasks and more"),
        (
            8,
            Policy::Idle,
            NONE,
            NONE,
            "SCHED_IDLE gives way, and gets nothing for it",
        ),
    ] {
        let mut tasks = hogs(8);
        tasks[0] = tasks[0].clone().policy(policy);
        on_one_cpu(&tasks, |sim| {
            let mut vruntimes = vec![10.0; others];
            vruntimes[1] = 5.0;
            queue(sim, &vruntimes);
            sim.check_preempt(0, 1);
            assert!(sim.cpus[0].need_resched);
            let buddies = (sim.cpus[0].fair.next, sim.cpus[0].fair.last);
            assert_eq!(buddies, (next, last), "{because}");
        });
    }
}

/// pick_next_entity(): the leftmost; the second if the first has just yielded;
/// then the last and the next buddy, each if it is not unfair by more than 1 ms.
#[test]
fn picking_goes_by_virtual_time_then_by_buddies() {
    struct Buddies {
        skip: u32,
        last: u32,
        next: u32,
    }
    let none = Buddies {
        skip: NONE,
        last: NONE,
        next: NONE,
    };
    for (vruntimes, buddies, pick, because) in [
        (
            &[1.0, 2.0, 3.0][..],
            Buddies { ..none },
            0,
            "the current task is leftmost",
        ),
        (&[2.0, 1.0, 3.0], Buddies { ..none }, 1, "a queued one is"),
        (
            &[2.0, 2.0],
            Buddies { ..none },
            1,
            "at equal times the queued one",
        ),
        (
            &[1.0, 1.9, 3.0],
            Buddies { skip: 0, ..none },
            1,
            "the second",
        ),
        (
            &[1.0, 2.1, 3.0],
            Buddies { skip: 0, ..none },
            0,
            "the second is too far ahead",
        ),
        (
            &[1.5, 1.0, 1.2],
            Buddies { skip: 1, ..none },
            2,
            "the second of the queue",
        ),
        (
            &[1.1, 1.0, 1.2],
            Buddies { skip: 1, ..none },
            0,
            "the second is the current task",
        ),
        (
            &[1.1, 1.0],
            Buddies { skip: 1, ..none },
            0,
            "nobody else is queued",
        ),
        (
            &[1.5, 1.0, 1.2],
            Buddies { skip: 0, ..none },
            1,
            "who is not first is not skipped",
        ),
        (
            &[3.0, 1.0, 1.9],
            Buddies { last: 2, ..none },
            2,
            "last, within reach",
        ),
        (
            &[3.0, 1.0, 2.1],
            Buddies { last: 2, ..none },
            1,
            "last, too far ahead",
        ),
        (
            &[3.0, 1.0, 1.9],
            Buddies { next: 2, ..none },
            2,
            "next, within reach",
        ),
        (
            &[3.0, 1.0, 2.1],
            Buddies { next: 2, ..none },
            1,
            "next, too far ahead",
        ),
        (
            &[3.0, 1.0, 1.5, 1.6],
            Buddies {
                last: 2,
                next: 3,
                ..none
            },
            3,
            "next before last",
        ),
        (
            &[3.0, 1.0, 1.5, 2.6],
            Buddies {
                last: 2,
                next: 3,
                ..none
            },
            2,
            "unless it is too far",
        ),
        (
            &[1.0, 1.2, 1.9],
            Buddies {
                skip: 0,
                next: 2,
                ..none
            },
            2,
            "a buddy before the second",
        ),
    ] {
        on_one_cpu(&hogs(4), |sim| {
            queue(sim, vruntimes);
            sim.cpus[0].fair.skip = buddies.skip;
            sim.cpus[0].fair.last = buddies.last;
            sim.cpus[0].fair.next = buddies.next;
            assert_eq!(sim.pick_fair(0, true), pick, "{because}");
            let c = &sim.cpus[0].fair;
            assert!(
                ![c.skip, c.last, c.next].contains(&pick),
                "{because}: it is a buddy still"
            );
        });
    }
}

/// clear_buddies() at each pick: who runs is nobody's buddy, alone too.
#[test]
fn a_task_alone_does_not_stay_its_own_buddy() {
    on_one_cpu(&hogs(1), |sim| {
        queue(sim, &[1.0]);
        sim.cpus[0].fair.last = 0;
        assert_eq!(sim.pick_fair(0, true), 0);
        assert_eq!(sim.cpus[0].fair.last, NONE);
    });
}

/// check_preempt_tick(): a slice is the task's share of 6 ms, or of 0.75 ms a
/// task if there are more than eight; before 0.75 ms nobody is preempted.
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

mod versions;
