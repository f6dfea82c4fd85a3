// SPDX-License-Identifier: GPL-2.0-only
//! EEVDF on one CPU: with this queue, at this event, this task runs, because.
//!
//! On one CPU the base slice is unscaled: 0.7 ms. Ticks come every 4 ms.

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

/// `task` wakes on CPU 0 with this lag; nobody looks at the queue yet.
pub(in crate::queues::fair) fn put(sim: &mut Sim, task: u32, lag: i64) {
    let world = sim.world();
    world.cpus[0].timers.remove(&mut world.nodes, task);
    sim.tasks[task as usize].life = Life::Runnable;
    sim.entity_mut(task).lag = lag;
    sim.enqueue_woken(0, task, false);
}

/// CPU 0 takes the first of its queue.
pub(in crate::queues::fair) fn go(sim: &mut Sim) {
    sim.cpus[0].ipi_at = sim.now;
    sim.arm(0);
    sim.until(sim.now);
}

/// Tasks 0, 1 … on the queue of CPU 0, the first of them running. Each stands at
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

/// protect_slice(): who runs goes on up to its mark, as long as it is due.
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

/// set_protect_slice(): for its own slice, or the shortest that waits.
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

/// place_entity(): at the lag from the mean that is left once it has joined.
#[test]
fn a_task_keeps_its_lag_through_a_sleep() {
    for (lag, others, nice, because) in [
        (0, 1, 0, "none"),
        (300, 1, 0, "behind"),
        (-300, 1, 0, "ahead"),
        (-300, 3, 0, "among more"),
        (300, 2, -5, "a heavy one"),
        (-300, 2, 5, "a light one"),
    ] {
        let mut tasks = hogs(5);
        tasks[4] = tasks[4].clone().nice(nice);
        on_one_cpu(&tasks, |sim| {
            queue(sim, &[(1000, 2000), (1100, 1800), (900, 1500)][..others]);
            put(sim, 4, lag * US as i64);
            let found = sim.lag(0, 4);
            assert!(
                (found - lag * US as i64).abs() <= 2,
                "{because}: {found} of {lag} us"
            );
            let e = *sim.entity(4);
            let wanted = sim.virtual_of(4, SLICE);
            assert_eq!(e.deadline - e.vruntime, wanted, "{because}");
        });
    }
    on_one_cpu(&hogs(1), |sim| {
        put(sim, 0, 500 * US as i64);
        assert_eq!(sim.lag(0, 0), 0, "nobody there: nothing to be behind of");
    });
}

/// entity_lag(): at most the longest slice and a tick, in the task's own time.
#[test]
fn lag_is_bounded_by_a_turn_and_a_tick() {
    let mut tasks = hogs(2);
    on_one_cpu(&tasks, |sim| {
        queue(sim, &[(0, 700), (100_000, 100_700)]);
        assert_eq!(sim.lag(0, 0), (SLICE + 4 * MS) as i64);
        assert_eq!(sim.lag(0, 1), -((SLICE + 4 * MS) as i64));
    });
    tasks[1] = tasks[1].clone().slice(20 * MS);
    on_one_cpu(&tasks, |sim| {
        queue(sim, &[(0, 700), (100_000, 100_700)]);
        assert_eq!(sim.lag(0, 0), 24 * MS as i64, "the other's slice counts");
    });
}

/// __setparam_fair(): 0.1 to 100 ms.
#[test]
fn slices_may_be_asked_for_within_limits() {
    for (asked, got) in [
        (1, 100 * US),
        (100 * US, 100 * US),
        (3 * MS, 3 * MS),
        (1000 * MS, 100 * MS),
    ] {
        on_one_cpu(&[hogs(1)[0].clone().slice(asked)], |sim| {
            put(sim, 0, 0);
            assert_eq!(sim.entity(0).slice, got, "{asked} ns");
        });
    }
}

/// place_entity(), PLACE_DEADLINE_INITIAL; wakeup_preempt_fair() with WF_FORK: a
/// child has half a slice to its deadline, and does not preempt its parent.
#[test]
fn a_child_waits_for_its_turn_which_comes_soon() {
    let mut tasks = hogs(2);
    tasks[1] = child(&[Op::Run { ns: MS }]);
    on_one_cpu(&tasks, |sim| {
        queue(sim, &[(1000, 1700)]);
        sim.wake_new(0, 1);
        let e = *sim.entity(1);
        assert_eq!(e.vruntime, MS, "at the mean");
        assert_eq!(e.deadline - e.vruntime, SLICE / 2);
        let c = &sim.cpus[0];
        assert!(!c.need_resched && !c.resched_lazy);
        assert_eq!(sim.pick_fair(0, true), 1, "yet it is first");
    });
}

/// wakeup_preempt_fair().
#[test]
fn a_wakee_preempts_if_it_is_what_is_picked() {
    use Policy::{Batch, Idle, Normal};
    struct Case {
        current: Policy,
        wakee: Policy,
        lag_us: i64,
        slice: u64,
        protected: bool,
        preempts: bool,
        because: &'static str,
    }
    let usual = Case {
        current: Normal,
        wakee: Normal,
        lag_us: 0,
        slice: 0,
        protected: false,
        preempts: true,
        because: "at the mean, with an earlier deadline",
    };
    for case in [
        Case { ..usual },
        Case {
            lag_us: -1000,
            preempts: false,
            because: "not due",
            ..usual
        },
        Case {
            protected: true,
            preempts: false,
            because: "the current one is protected",
            ..usual
        },
        Case {
            protected: true,
            slice: 200 * US,
            because: "a shorter slice breaks the protection",
            ..usual
        },
        Case {
            lag_us: -1000,
            slice: 200 * US,
            preempts: false,
            because: "a shorter slice, but not due",
            ..usual
        },
        Case {
            wakee: Batch,
            preempts: false,
            because: "SCHED_BATCH does not preempt",
            ..usual
        },
        Case {
            wakee: Idle,
            preempts: false,
            because: "nor does SCHED_IDLE",
            ..usual
        },
        Case {
            current: Idle,
            protected: true,
            lag_us: -1000,
            because: "SCHED_IDLE gives way at once",
            ..usual
        },
        Case {
            current: Idle,
            wakee: Batch,
            because: "to SCHED_BATCH too",
            ..usual
        },
    ] {
        let mut tasks = hogs(2);
        tasks[0] = tasks[0].clone().policy(case.current);
        tasks[1] = tasks[1].clone().policy(case.wakee);
        if case.slice != 0 {
            tasks[1] = tasks[1].clone().slice(case.slice);
        }
        on_one_cpu(&tasks, |sim| {
            queue(sim, &[(10_000, 10_700)]);
            sim.entity_mut(0).deadline = 11 * MS;
            if case.protected {
                sim.entity_mut(0).protected_until = 11 * MS;
            }
            put(sim, 1, case.lag_us * US as i64);
            sim.check_preempt(0, 1);
            let c = &sim.cpus[0];
            assert!(!c.need_resched, "{}: never at once", case.because);
            assert_eq!(c.resched_lazy, case.preempts, "{}", case.because);
        });
    }
}

/// wakeup_preempt_fair(), update_protect_slice(): who does not preempt at least
/// shortens the current task's protection to one slice from now.
#[test]
fn a_wakee_that_waits_shortens_the_protection() {
    let mut tasks = hogs(2);
    tasks[0] = tasks[0].clone().slice(10 * MS);
    tasks[1] = tasks[1].clone().slice(20 * MS);
    on_one_cpu(&tasks, |sim| {
        queue(sim, &[(5000, 15_000)]);
        sim.entity_mut(0).protected_until = 50 * MS;
        put(sim, 1, 0);
        sim.check_preempt(0, 1);
        assert!(!sim.cpus[0].resched_lazy);
        assert_eq!(sim.entity(0).protected_until, 15 * MS);
    });
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

/// dequeue_entity(), DELAY_DEQUEUE: a sleeper ahead of the mean stays queued, with
/// its weight, but is not runnable; one behind it leaves with its lag.
#[test]
fn a_sleeper_in_debt_stays_queued() {
    for (stands, delayed, lag_us, because) in [
        (&[(1100, 1700), (1000, 1700)][..], true, -50, "ahead"),
        (&[(1000, 1700), (1100, 1700)], false, 50, "behind"),
        (&[(1000, 1700), (1000, 1700)], false, 0, "at the mean"),
        (&[(1000, 1700)], false, 0, "alone"),
    ] {
        on_one_cpu(&hogs(2), |sim| {
            queue(sim, stands);
            sim.sleep_current(0);
            assert_eq!(sim.is_delayed(0), delayed, "{because}");
            assert_eq!(sim.entity(0).lag, lag_us * US as i64, "{because}");
            let others = stands.len() as u32 - 1;
            let still = u32::from(delayed);
            let view = &sim.core.cpus[0];
            assert_eq!(view.nr_running, others + still, "{because}");
            assert_eq!(view.h_nr_running, others + still, "{because}");
            assert_eq!(u32::from(view.h_nr_delayed), still, "{because}");
            assert_eq!(view.weight, (others + still) * 1024, "{because}");
            sim.schedule(0);
            let next = if others == 0 { NONE } else { 1 };
            assert_eq!(sim.cpus[0].curr, next, "{because}");
            assert_eq!(sim.fair_queued(0), still, "{because}");
        });
    }
}

/// __pick_next_entity(): its debt is paid when it would be picked: then it leaves,
/// with nothing gained (DELAY_ZERO).
#[test]
fn a_sleeper_that_is_picked_leaves() {
    on_one_cpu(&hogs(2), |sim| {
        queue(sim, &[(1100, 1700), (1000, 1700)]);
        sim.sleep_current(0);
        sim.schedule(0);
        sim.entity_mut(1).vruntime = 1090 * US;
        assert_eq!(sim.pick_fair(0, true), 1, "the mean is 1095: not due");
        assert!(sim.is_delayed(0));
        sim.entity_mut(1).vruntime = 2000 * US;
        assert_eq!(sim.pick_fair(0, true), 1, "due and first: not any more");
        assert!(!sim.is_delayed(0));
        assert_eq!(sim.entity(0).lag, 0);
        assert_eq!(sim.core.cpus[0].nr_running, 1);
        assert_eq!(sim.core.cpus[0].h_nr_delayed, 0);
        assert_eq!(sim.fair_queued(0), 0);
    });
}

/// requeue_delayed_entity(): a sleeper woken in debt goes on where it stands; one
/// that the others have overtaken starts again at the mean.
#[test]
fn a_sleeper_woken_in_debt_was_never_away() {
    for (own, other_at, vruntime, moved, because) in [
        (1100, 1020, 1100, false, "it still owes"),
        (1100, 1300, 1300, true, "it would have 100 us of credit"),
        (
            21_000,
            1000,
            10_400,
            true,
            "it owes 10 ms, more than a turn and a tick, which is stretched to 9.4 ms",
        ),
    ] {
        on_one_cpu(&hogs(2), |sim| {
            queue(sim, &[(own, 1700), (1000, 1700)]);
            sim.sleep_current(0);
            sim.schedule(0);
            sim.entity_mut(1).vruntime = other_at * US;
            let now = sim.now;
            sim.wake(0, 0, false);
            assert_eq!(sim.tasks[0].life, Life::Runnable, "{because}");
            assert!(!sim.is_delayed(0), "{because}");
            assert_eq!(sim.core.cpus[0].h_nr_delayed, 0, "{because}");
            assert_eq!(sim.entity(0).vruntime, vruntime * US, "{because}");
            let deadline = if moved {
                vruntime * US + SLICE
            } else {
                1700 * US
            };
            assert_eq!(sim.entity(0).deadline, deadline, "{because}");
            let selections: u64 = sim.counted_steps().iter().sum();
            assert_eq!(
                (sim.now, selections),
                (now, 0),
                "{because}: no CPU is chosen"
            );
        });
    }
}

/// dequeue_entity() without sleep, PLACE_REL_DEADLINE: a task that moves takes its
/// lag and the rest of its turn along.
#[test]
fn a_migrating_task_goes_on_with_its_turn() {
    begin_on(BASE, &machine(2, 2), &workload(&hogs(2)), |sim| {
        queue(sim, &[(1000, 1700), (1200, 1500)]);
        sim.eevdf.queues[1].zero = 77 * MS;
        let lag = sim.lag(0, 1);
        assert_eq!(lag, -100 * US as i64);
        sim.detach_task(0, 1);
        assert_eq!(sim.entity(1).lag, lag);
        sim.attach_task(1, 1, 1);
        let e = *sim.entity(1);
        assert_eq!(e.vruntime, 77 * MS, "nobody there: at the queue's time");
        assert_eq!(e.deadline - e.vruntime, 300 * US);
    });
}

/// reweight_entity(): a task that changes its weight owes the queue, or is owed, as
/// much as before, so that the mean stays; so does its part of the turn.
#[test]
fn a_new_weight_leaves_the_mean_where_it_is() {
    on_one_cpu(&hogs(2), |sim| {
        queue(sim, &[(1000, 1700), (1200, 1900)]);
        let last = sim.pretend_attributes(crate::world::asked::Attributes {
            nice: Some(5),
            ..Default::default()
        });
        sim.set_attributes(0, 0, last);
        assert_eq!(sim.views[0].weight, 335);
        assert!(sim.mean_vruntime(0).abs_diff(1100 * US) <= 1);
        let e = *sim.entity(0);
        let (lag, rest) = (100 * US * 1024 / 335, 700 * US * 1024 / 335);
        assert!((1100 * US - e.vruntime).abs_diff(lag) <= 2, "{e:?}");
        assert_eq!(e.deadline - e.vruntime, rest, "{e:?}");
    });
}

/// __resched_curr() with PREEMPT_LAZY: who computes is interrupted by nothing but
/// its next tick; a wakeup on its own CPU is an interrupt.
#[test]
fn a_wakeup_elsewhere_preempts_at_the_next_tick() {
    // On CPU 1, which is task 0's, task 1 sleeps until 2.5 ms; task 2 wakes it there
    // or, by a semaphore, from CPU 0.
    let hog = task(100 * US, &[Op::Run { ns: u64::MAX }]).on(&[1]);
    let by_timer = task(0, &[Op::Sleep { ns: 2500 * US }, Op::Run { ns: MS }]).on(&[1]);
    let waits = task(0, &[Op::SemWait { semaphore: 0 }, Op::Run { ns: MS }]).on(&[1]);
    let posts = task(
        0,
        &[Op::Sleep { ns: 2500 * US }, Op::SemPost { semaphore: 0 }],
    )
    .on(&[0]);
    for (tasks, ipis, because) in [
        (vec![hog.clone(), by_timer], false, "an interrupt here"),
        (vec![hog, waits, posts], true, "no interrupt is sent"),
    ] {
        let mut record = Record::default();
        let (woken, tick) = begin_under(
            (BASE, Governor::Performance),
            &machine(2, 2),
            &workload(&tasks),
            &mut record,
            |sim| {
                sim.until(2400 * US);
                let tick = sim.next_tick();
                sim.until(20 * MS);
                (2500 * US + TIMER_SLACK, tick)
            },
        );
        let ran = record
            .runs_of(1)
            .iter()
            .map(|r| r.0)
            .find(|&at| at >= woken);
        let expected = if ipis { tick } else { woken };
        let at = ran.expect("it runs");
        assert!(
            at.abs_diff(expected) < 10 * US,
            "{because}: {at}, not {expected}"
        );
    }
}
