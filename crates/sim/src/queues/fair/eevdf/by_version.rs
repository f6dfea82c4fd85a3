// SPDX-License-Identifier: GPL-2.0-only
//! Tests of EEVDF before 7.2: the same queue at the same event, in one kernel after the other.

use super::tests::{hogs, put, queue};
use super::*;
use crate::dispatch::Sim;
use crate::testbed::{Given, MS, US, begin_on, child, machine, workload};
use alight_workload::program::{Op, Policy};

/// The base slice of 6.6 on one CPU. The others' is 0.7 ms.
const SLICE_6_6: u64 = 750 * US;
const SLICE: u64 = 700 * US;

fn on<T>(base: &str, tasks: &[Given], test: impl FnOnce(&mut Sim) -> T) -> T {
    begin_on(base, &machine(1, 1), &workload(tasks), test)
}

fn told(sim: &Sim) -> bool {
    sim.cpus[0].need_resched || sim.cpus[0].resched_lazy
}

/// entity_lag(): twice the task's own slice and a tick at least; from 6.19 on the longest slice on
/// the queue and a tick.
#[test]
fn lag_is_bounded_by_two_slices_up_to_6_18() {
    for (base, own, other, limit) in [
        ("linux-6.6", 0, 0, 4 * MS),
        ("linux-6.8", 0, 0, 4 * MS),
        ("linux-6.12", 0, 0, 4 * MS),
        ("linux-6.12", 5 * MS, 0, 10 * MS),
        ("linux-6.12", 0, 20 * MS, 4 * MS),
        ("linux-7.2", 0, 20 * MS, 24 * MS),
    ] {
        let mut tasks = hogs(2);
        for (task, slice) in tasks.iter_mut().zip([own, other]) {
            if slice != 0 {
                *task = task.clone().slice(slice);
            }
        }
        on(base, &tasks, |sim| {
            queue(sim, &[(0, 700), (100_000, 100_700)]);
            assert_eq!(sim.lag(0, 0), limit as i64, "{base}, {own} and {other} ns");
        });
    }
}

/// __setparam_fair() came with 6.12.
#[test]
fn nobody_gets_a_slice_of_its_own_before_6_12() {
    for (base, got) in [
        ("linux-6.6", SLICE_6_6),
        ("linux-6.8", SLICE),
        ("linux-6.12", 3 * MS),
    ] {
        on(base, &[hogs(1)[0].clone().slice(3 * MS)], |sim| {
            put(sim, 0, 0);
            let e = sim.entity(0);
            assert_eq!(e.slice, got, "{base}");
            assert_eq!(e.deadline - e.vruntime, got, "{base}");
        });
    }
}

/// wake_up_new_task() of 6.6 and 6.8 places the child anew, without ENQUEUE_INITIAL. Up to 6.18
/// its first wakeup is one like any other.
#[test]
fn a_child_has_half_a_slice_from_6_12_on_and_waits_from_6_19_on() {
    let mut tasks = hogs(2);
    tasks[1] = child(&[Op::Run { ns: MS }]);
    for (base, first, preempts) in [
        ("linux-6.6", SLICE_6_6, true),
        ("linux-6.8", SLICE, true),
        ("linux-6.12", SLICE / 2, true),
        ("linux-7.2", SLICE / 2, false),
    ] {
        on(base, &tasks, |sim| {
            queue(sim, &[(1000, 1800)]);
            sim.wake_new(0, 1);
            let e = *sim.entity(1);
            assert_eq!(e.vruntime, MS, "{base}: at the mean");
            assert_eq!(e.deadline - e.vruntime, first, "{base}");
            assert_eq!(told(sim), preempts, "{base}");
        });
    }
}

/// set_next_entity(), protect_slice(): up to 6.16 protection lasts until the deadline at the
/// switch, whichever tasks wait, and a new deadline ends it.
#[test]
fn protection_is_for_one_deadline_up_to_6_16() {
    let mut tasks = hogs(2);
    tasks[1] = tasks[1].clone().slice(200 * US);
    for (base, until, holds) in [
        ("linux-6.6", SLICE_6_6, false),
        ("linux-6.8", SLICE, false),
        ("linux-6.12", SLICE, false),
        ("linux-7.2", 200 * US, true),
    ] {
        on(base, &tasks, |sim| {
            put(sim, 0, 0);
            put(sim, 1, 0);
            let vruntime = sim.entity(0).vruntime;
            sim.set_next(0, 0);
            assert_eq!(sim.entity(0).protected_until - vruntime, until, "{base}");
            assert!(sim.protected(0), "{base}");
            sim.entity_mut(0).deadline += 1;
            assert_eq!(sim.protected(0), holds, "{base}: another deadline");
            sim.cpus[0].curr = NONE;
            let weight = sim.exact_weight(0);
            sim.eevdf.insert(0, 0, weight);
        });
    }
}

/// check_preempt_wakeup_fair(), do_preempt_short().
#[test]
fn what_ends_protection_at_a_wakeup() {
    struct Case {
        base: &'static str,
        current: Policy,
        /// Its deadline, us; it stands at 10 ms.
        deadline: u64,
        slice: u64,
        lag_us: i64,
        preempts: bool,
        still: bool,
        because: &'static str,
    }
    let usual = Case {
        base: "linux-6.12",
        current: Policy::Normal,
        deadline: 11_000,
        slice: 200 * US,
        lag_us: 0,
        preempts: true,
        still: false,
        because: "6.12: a shorter slice with an earlier deadline",
    };
    for case in [
        Case { ..usual },
        Case {
            slice: 0,
            preempts: false,
            still: true,
            because: "6.12: an earlier deadline, but as long a slice",
            ..usual
        },
        Case {
            deadline: 10_100,
            preempts: false,
            still: true,
            because: "6.12: the current one has the earlier deadline, and is due",
            ..usual
        },
        Case {
            lag_us: -1000,
            preempts: false,
            still: true,
            because: "6.12: a shorter slice that is not due",
            ..usual
        },
        Case {
            base: "linux-7.2",
            deadline: 10_100,
            preempts: false,
            still: true,
            because: "7.2: passed over for the pick, which is the current one",
            ..usual
        },
        Case {
            base: "linux-6.8",
            preempts: false,
            still: true,
            because: "6.8: nobody has a shorter slice",
            ..usual
        },
        Case {
            base: "linux-6.6",
            preempts: false,
            still: true,
            because: "6.6: nor here",
            ..usual
        },
        Case {
            base: "linux-6.6",
            current: Policy::Idle,
            still: true,
            because: "6.6: SCHED_IDLE gives way, and would go on if it stayed",
            ..usual
        },
        Case {
            current: Policy::Idle,
            because: "6.12: SCHED_IDLE gives way, and has no protection",
            ..usual
        },
    ] {
        let mut tasks = hogs(2);
        tasks[0] = tasks[0].clone().policy(case.current);
        if case.slice != 0 {
            tasks[1] = tasks[1].clone().slice(case.slice);
        }
        on(case.base, &tasks, |sim| {
            queue(sim, &[(10_000, 10_700)]);
            let e = sim.entity_mut(0);
            e.deadline = case.deadline * US;
            e.protected_until = e.deadline;
            put(sim, 1, case.lag_us * US as i64);
            sim.check_preempt(0, 1);
            assert_eq!(told(sim), case.preempts, "{}", case.because);
            assert_eq!(sim.protected(0), case.still, "{}", case.because);
        });
    }
}

/// check_preempt_wakeup_fair() of 6.12 picks the next task, but a sleeper that it picks stays
/// queued.
#[test]
fn a_wakeup_of_6_12_finishes_no_sleeper() {
    for (base, stays, preempts) in [("linux-6.12", true, false), ("linux-7.2", false, true)] {
        on(base, &hogs(3), |sim| {
            queue(sim, &[(1100, 1200), (1000, 1700)]);
            sim.sleep_current(0);
            sim.schedule(0);
            assert!(sim.is_delayed(0), "{base}");
            // The others have gone on: the sleeper has the earliest deadline and is eligible.
            let e = sim.entity_mut(1);
            (e.vruntime, e.deadline) = (2 * MS, 2700 * US);
            e.protected_until = e.vruntime;
            put(sim, 2, 0);
            sim.check_preempt(0, 2);
            assert_eq!(sim.is_delayed(0), stays, "{base}");
            assert_eq!(told(sim), preempts, "{base}");
        });
    }
}

/// update_curr(): reasons for the current task to give way before its deadline.
#[test]
fn who_gives_way_without_a_wakeup() {
    for (base, stands, protected, gives_way, because) in [
        ("linux-6.6", 1200, false, false, "6.6: only at the deadline"),
        ("linux-6.12", 1200, true, false, "6.12: it is protected"),
        (
            "linux-6.12",
            1200,
            false,
            true,
            "6.12: not due, not protected",
        ),
        ("linux-6.12", 900, false, false, "6.12: it is due"),
        ("linux-7.2", 900, false, true, "7.2: not protected"),
    ] {
        on(base, &hogs(2), |sim| {
            queue(sim, &[(stands, 1900), (1000, 1700)]);
            if protected {
                sim.entity_mut(0).protected_until = 1900 * US;
            }
            sim.now += 10 * US;
            sim.clock(0);
            sim.update_curr(0);
            assert_eq!(told(sim), gives_way, "{because}");
        });
    }
}

/// yield_task_fair().
#[test]
fn a_yield_moves_the_deadline_or_the_task() {
    for (base, stands, after, because) in [
        ("linux-6.6", 1000, (1000, 2450), "6.6: the deadline"),
        ("linux-6.6", 1200, (1200, 2450), "6.6: due or not"),
        ("linux-6.8", 1000, (1700, 2400), "Ubuntu's 6.8: the task"),
        ("linux-6.12", 1000, (1700, 2400), "6.12: the task"),
        ("linux-6.12", 1200, (1200, 1700), "6.12: if it is due"),
    ] {
        on(base, &hogs(2), |sim| {
            queue(sim, &[(stands, 1700), (1000, 1700)]);
            sim.yield_fair(0);
            let e = sim.entity(0);
            let found = (e.vruntime / US, e.deadline / US);
            assert_eq!(found, after, "{because}");
        });
    }
}

/// dequeue_entity(): before 6.12 a task that sleeps is dequeued, whatever its lag.
#[test]
fn a_sleeper_leaves_at_once_before_6_12() {
    for (base, delayed) in [
        ("linux-6.6", false),
        ("linux-6.8", false),
        ("linux-6.12", true),
    ] {
        on(base, &hogs(2), |sim| {
            queue(sim, &[(1100, 1700), (1000, 1700)]);
            sim.sleep_current(0);
            assert_eq!(sim.is_delayed(0), delayed, "{base}");
            assert_eq!(sim.entity(0).lag, -50 * US as i64, "{base}");
            let still = u32::from(delayed);
            assert_eq!(sim.core.cpus[0].h_nr_running, 1 + still, "{base}");
        });
    }
}

/// requeue_delayed_entity(): up to 7.0 a sleeper only loses a positive lag.
#[test]
fn a_sleeper_woken_with_credit_starts_at_the_mean() {
    for (base, own, other, vruntime, because) in [
        ("linux-6.12", 1100, 1020, 1100, "it still owes"),
        (
            "linux-6.12",
            1100,
            1300,
            1300,
            "it would have 100 us of credit",
        ),
        (
            "linux-6.12",
            21_000,
            1000,
            21_000,
            "it owes 10 ms, and goes on owing",
        ),
        (
            "linux-7.2",
            21_000,
            1000,
            10_400,
            "7.2: no more than a turn and a tick",
        ),
    ] {
        on(base, &hogs(2), |sim| {
            queue(sim, &[(own, 1700), (1000, 1700)]);
            sim.sleep_current(0);
            sim.schedule(0);
            sim.entity_mut(1).vruntime = other * US;
            sim.wake(0, 0, false);
            assert_eq!(sim.entity(0).vruntime, vruntime * US, "{because}");
        });
    }
}

/// place_entity(): PLACE_REL_DEADLINE came with 6.12.
#[test]
fn a_migrating_task_begins_another_turn_before_6_12() {
    for (base, rest) in [
        ("linux-6.6", SLICE_6_6),
        ("linux-6.8", SLICE),
        ("linux-6.12", 300 * US),
    ] {
        // Two CPUs: the base slice is twice as long.
        let rest = if rest == 300 * US { rest } else { 2 * rest };
        begin_on(base, &machine(2, 2), &workload(&hogs(2)), |sim| {
            queue(sim, &[(1000, 1700), (1200, 1500)]);
            sim.detach_task(0, 1);
            sim.attach_task(1, 1, 1);
            let e = sim.entity(1);
            assert_eq!(e.deadline - e.vruntime, rest, "{base}");
        });
    }
}

/// reweight_entity() of a task that is off its queue for it: the rest of a turn is not rescaled
/// in 6.12, and there is none before.
#[test]
fn a_new_weight_and_the_rest_of_a_turn() {
    let scaled = |ns: u64| ns * 1024 / 335;
    for (base, rest, protected) in [
        ("linux-6.6", scaled(SLICE_6_6), true),
        ("linux-6.12", 700 * US, true),
        ("linux-7.2", scaled(700 * US), false),
    ] {
        on(base, &hogs(2), |sim| {
            queue(sim, &[(1000, 1700), (1200, 1900)]);
            sim.entity_mut(0).protected_until = 0;
            sim.reweight_current(0, 5);
            let e = *sim.entity(0);
            let found = e.deadline - e.vruntime;
            assert!(found.abs_diff(rest) <= 2, "{base}: {found}, not {rest}");
            assert_eq!(sim.protected(0), protected, "{base}");
            let lag = scaled(100 * US);
            assert!((1100 * US - e.vruntime).abs_diff(lag) <= 2, "{base}: {e:?}");
        });
    }
}
