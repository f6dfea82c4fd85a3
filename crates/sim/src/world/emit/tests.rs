// SPDX-License-Identifier: GPL-2.0-only
//! The event stream: the tracepoints of a wakeup, in their order.

use crate::testbed::{MS, Record, begin, begin_recorded, machine, task, workload};
use alight_workload::program::Op;

const RUN: Op = Op::Run { ns: MS };

/// Names of the tracepoints at and after `from`, without counters.
fn passed(record: &Record, from: u64) -> Vec<(usize, &'static str)> {
    let all = record.all.iter().filter(|event| event.0 >= from);
    all.map(|&(_, cpu, name)| (cpu, name))
        .filter(|event| event.1 != "counter")
        .collect()
}

/// Task 0 on CPU 0 wakes task 1, which slept on CPU 1 and finds that CPU busy.
#[test]
fn a_wakeup_on_another_cpu() {
    let mut record = Record::default();
    let waker = task(0, &[RUN, RUN, RUN, Op::SemPost { semaphore: 0 }, RUN]).on(&[0]);
    let wakee = task(0, &[Op::SemWait { semaphore: 0 }, RUN]);
    let hog = task(MS, &[Op::Run { ns: 90 * MS }]).on(&[1]);
    let tasks = [waker, wakee.on(&[1, 2]), hog];
    begin_recorded(&machine(3, 3), &workload(&tasks), &mut record, |sim| {
        sim.until(9 * MS)
    });
    assert_eq!(record.runs_of(1)[0].1, 1);
    let woken = record.wakings_of(1)[0];
    let expected = [
        (0, "sched_waking"),
        (0, "decision"),
        (0, "sched_migrate_task"),
        (0, "sched_wakeup"),
        (2, "cpu_idle exit"),
        (2, "sched_switch"),
    ];
    assert_eq!(passed(&record, woken)[..6], expected);
}

/// A timer with a cost of 20 us wakes the task. The wakeup takes 30 us and reads the queue's clock
/// after 10 us; the switch takes 8 us.
#[test]
fn when_a_cpu_gets_to_what_it_tells() {
    let mut costly = machine(1, 1);
    let costs = &mut costly.core_types[0].costs;
    (costs.timer_ns, costs.switch_ns) = (20_000, 8_000);
    (costs.wakeup_ns, costs.wakeup_clock_ns) = (30_000, 10_000);
    let mut record = Record::default();
    let tasks = [task(0, &[Op::Sleep { ns: 50 * MS }, RUN])];
    begin_recorded(&costly, &workload(&tasks), &mut record, |sim| {
        sim.until(100 * MS)
    });
    let from = (record.reached.iter())
        .position(|event| event.1 == "sched_waking")
        .expect("the sleeper is woken");
    let due = record.wakings_of(0)[0];
    let told = ["sched_waking", "sched_wakeup", "sched_switch"];
    let reached: Vec<_> = (record.reached[from..].iter())
        .filter(|event| told.contains(&event.1))
        .map(|&(at, name)| (at - due, name))
        .collect();
    let expected = [20_000, 30_000, 54_000].into_iter().zip(told);
    assert_eq!(reached[..3], expected.collect::<Vec<_>>());
}

/// From fork to exit, and from idle to idle.
#[test]
fn the_life_of_a_task() {
    let mut record = Record::default();
    let tasks = [task(0, &[RUN, Op::Sleep { ns: 50 * MS }, RUN])];
    begin_recorded(&machine(1, 1), &workload(&tasks), &mut record, |sim| {
        sim.until(100 * MS)
    });
    let names: Vec<&str> = passed(&record, 0).iter().map(|event| event.1).collect();
    let idle = ["cpu_idle enter", "cpu_idle exit"];
    let told: Vec<&str> = names
        .into_iter()
        .filter(|name| !idle.contains(name))
        .collect();
    assert_eq!(
        told,
        [
            "sched_process_fork",
            "decision",
            "sched_wakeup_new",
            "sched_switch",
            "sched_switch",
            "sched_waking",
            "decision",
            "sched_wakeup",
            "sched_switch",
            "sched_process_exit",
            "sched_switch",
        ]
    );
    for pair in record.all.windows(2) {
        assert!(pair[0].0 <= pair[1].0, "time goes back: {pair:?}");
    }
}

/// The hash changes with a nanosecond, a CPU, or a task.
#[test]
fn the_hash_is_of_all_that_happens() {
    let hash = |ns, cpu, first| {
        let sleeper = task(0, &[Op::Sleep { ns }, RUN]).on(&[cpu]);
        let other = task(0, &[Op::Sleep { ns: 3 * MS }, RUN]).on(&[cpu]);
        let tasks = if first {
            [sleeper, other]
        } else {
            [other, sleeper]
        };
        begin(&machine(2, 2), &workload(&tasks), |sim| {
            sim.until(50 * MS);
            sim.hash
        })
    };
    let mut hashes = vec![
        hash(MS, 0, true),
        hash(MS + 1, 0, true),
        hash(MS, 1, true),
        hash(MS, 0, false),
    ];
    assert_eq!(hashes[0], hash(MS, 0, true));
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 4);
}
