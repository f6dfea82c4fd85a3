// SPDX-License-Identifier: GPL-2.0-only
//! util_est: what a task needed when it ran last, and the sum of that over the
//! runnable tasks of a queue. The pair of 4.17 to 6.7 with fast ramp-up (5.5), and the
//! one value of later kernels.

mod common;

use alight_policy::abi::task_flag;
use alight_policy::{Cpu, Params, Scheduler, Task, rq};
use common::duo::{Duo, linux_5_5};

const PERIOD: u64 = 1 << 20;

/// Lets a task with this history fall asleep at `util`; its pair afterwards.
fn sleep_at(k: &Params, capacity_orig: u32, pair: (u32, u32), util: u32) -> (u32, u32) {
    let mut cpu = Cpu {
        capacity_orig,
        weight: 1024,
        nr_running: 1,
        h_nr_running: 1,
        ..Cpu::default()
    };
    let mut task = Task {
        util_est_enqueued: pair.0,
        util_est_ewma: pair.1,
        ..Task::default()
    };
    // In the middle of a period: the averages stay as they are.
    rq::clock(&mut cpu, PERIOD);
    (task.pelt.last_update_time, cpu.cfs.last_update_time) = (PERIOD, PERIOD);
    task.pelt.util_avg = util;
    rq::dequeue(k, &mut cpu, &mut task, true, true, true);
    (task.util_est_enqueued, task.util_est_ewma)
}

#[test]
fn the_average_rises_at_once_and_falls_by_quarters() {
    // capacity, (enqueued, ewma) before, utilization at sleep, pair after
    let table = [
        ("first sleep", 1024, (0, 0), 300, (301, 301)),
        ("rises at once", 1024, (201, 201), 600, (601, 601)),
        ("within the margin below", 1024, (401, 401), 393, (401, 401)),
        ("9 below is within", 1024, (401, 401), 392, (401, 401)),
        ("10 below is not", 1024, (401, 401), 390, (391, 398)),
        ("falls by a quarter", 1024, (401, 401), 0, (1, 301)),
        ("falls again", 1024, (1, 301), 0, (1, 226)),
        ("more than the CPU can do", 383, (801, 801), 500, (801, 801)),
        ("just what the CPU can do", 500, (801, 801), 500, (501, 726)),
        (
            "rises even above the capacity",
            383,
            (101, 101),
            500,
            (501, 501),
        ),
        ("equal", 1024, (401, 401), 401, (401, 401)),
    ];
    for (name, capacity, before, util, after) in table {
        assert_eq!(
            sleep_at(&linux_5_5(), capacity, before, util),
            after,
            "{name}"
        );
    }
}

#[test]
fn without_the_low_bit_the_same_rules_hold() {
    let k = Params::default();
    for (before, util, after) in [
        ((0, 0), 300, (300, 300)),
        ((400, 400), 391, (400, 400)),
        ((400, 400), 390, (390, 397)),
        ((400, 400), 0, (0, 300)),
    ] {
        assert_eq!(
            sleep_at(&k, 1024, before, util),
            after,
            "{before:?} at {util}"
        );
    }
}

#[test]
fn the_estimate_is_the_larger_of_signal_average_and_last() {
    let task = |util, util_est_enqueued, util_est_ewma| {
        let mut task = Task {
            util_est_enqueued,
            util_est_ewma,
            ..Task::default()
        };
        task.pelt.util_avg = util;
        task
    };
    for (util, enqueued, ewma, with_bit, without) in [
        (0, 0, 0, 1, 0),
        (500, 100, 200, 500, 500),
        (50, 100, 200, 201, 200),
        (50, 300, 200, 301, 300),
        (200, 200, 100, 201, 200),
    ] {
        let t = task(util, enqueued, ewma);
        assert_eq!(rq::util_est(&linux_5_5(), &t), with_bit);
        assert_eq!(rq::util_est(&Params::default(), &t), without);
    }
}

#[test]
fn a_queue_sums_the_estimates_of_its_runnable_tasks() {
    let k = linux_5_5();
    let mut cpu = Cpu::default();
    let mut tasks = [100, 250].map(|est| Task {
        util_est_enqueued: est,
        util_est_ewma: est,
        ..Task::default()
    });
    for task in &mut tasks {
        rq::enqueue(&k, &mut cpu, task, false);
    }
    assert_eq!(cpu.util_est_enqueued, 101 + 251);
    rq::dequeue(&k, &mut cpu, &mut tasks[0], false, false, false);
    assert_eq!(cpu.util_est_enqueued, 251);
    cpu.util_est_enqueued = 7;
    rq::dequeue(&k, &mut cpu, &mut tasks[1], false, false, false);
    assert_eq!(cpu.util_est_enqueued, 0, "never below zero");
}

#[test]
fn only_a_sleep_updates_the_estimate() {
    let k = linux_5_5();
    let mut duo = Duo::new(Cpu::default());
    duo.wake();
    duo.wait(32 * PERIOD);
    rq::dequeue(&k, &mut duo.cpu, &mut duo.task, true, true, false);
    assert_eq!(
        (duo.task.util_est_enqueued, duo.task.util_est_ewma),
        (0, 0),
        "it moved"
    );
}

#[test]
fn an_activation_shorter_than_a_period_leaves_the_estimate() {
    let mut duo = Duo::new(Cpu::default());
    duo.wait(PERIOD);
    duo.run_for(100 * PERIOD);
    let est = duo.task.util_est_ewma;
    assert_eq!(est, duo.task.pelt.util_avg | 1);
    assert_ne!(duo.task.flags & task_flag::EST_UNCHANGED, 0);

    // No period ends between two sleeps: nothing was averaged.
    duo.task.util_est_ewma = est + 100;
    duo.run_for(PERIOD / 4);
    assert_eq!(duo.task.util_est_ewma, est + 100);

    duo.wait(2 * PERIOD);
    duo.run_for(PERIOD / 4);
    assert!(duo.task.util_est_ewma < est + 100, "a period ended");
}

#[test]
fn to_look_at_a_sleeper_does_not_make_its_estimate_stale() {
    let mut duo = Duo::new(Cpu::default());
    duo.wait(PERIOD);
    duo.run_for(100 * PERIOD);
    duo.wait(10 * PERIOD);
    rq::refresh(&duo.k, &mut duo.cpu, false);
    let before = duo.task.pelt.util_avg;
    rq::remove(&duo.k, &mut duo.cpu, &mut duo.task);
    assert!(duo.task.pelt.util_avg < before, "it was decayed");
    assert_ne!(duo.task.flags & task_flag::EST_UNCHANGED, 0);
}

/// util_est_update() of one value: up to 6.16 it does not fall while the task needs more than its
/// CPU has. The pair of before had that rule, too.
#[test]
fn above_the_capacity_an_estimate_of_one_value_is_held_up_to_6_16() {
    for (base, capacity, util, after) in [
        ("linux-6.8", 383, 500, 800),
        ("linux-6.12", 383, 500, 800),
        ("linux-6.18", 383, 500, 725),
        ("linux-7.2", 383, 500, 725),
        ("linux-6.12", 500, 500, 725),
        ("linux-6.12", 383, 900, 900),
    ] {
        let k = Scheduler::parse(base).expect("a base").params;
        let (_, found) = sleep_at(&k, capacity, (0, 800), util);
        assert_eq!(found, after, "{base}, capacity {capacity}");
    }
}

/// dequeue_task_fair(): from 6.12 to 6.19 the estimate is made of the average as it was when the
/// task or its queue was last updated, whether the task leaves or stays queued.
#[test]
fn an_estimate_of_6_12_does_not_know_of_the_last_run() {
    for (base, knows) in [
        ("linux-6.8", true),
        ("linux-6.12", false),
        ("linux-6.18", false),
        ("linux-7.0", true),
        ("linux-7.1", true),
        ("linux-7.2", true),
        ("linux-7.3", true),
    ] {
        let k = Scheduler::parse(base).expect("a base").params;
        for delays in [false, true] {
            let mut cpu = Cpu {
                weight: 1024,
                nr_running: 1,
                h_nr_running: 1,
                ..Cpu::default()
            };
            let mut task = Task {
                flags: task_flag::ON_RQ,
                ..Task::default()
            };
            rq::clock(&mut cpu, PERIOD);
            (task.pelt.last_update_time, cpu.cfs.last_update_time) = (PERIOD, PERIOD);
            task.pelt.util_avg = 100;
            rq::clock(&mut cpu, 40 * PERIOD);
            match delays {
                true => rq::delay(&k, &mut cpu, &mut task),
                false => rq::dequeue(&k, &mut cpu, &mut task, true, true, true),
            };
            let now = task.pelt.util_avg;
            assert!(now > 400, "{base}: it ran for 39 periods");
            let expected = if knows { now } else { 100 };
            assert_eq!(task.util_est_ewma, expected, "{base}, delayed: {delays}");
        }
    }
}
