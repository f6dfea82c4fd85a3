// SPDX-License-Identifier: GPL-2.0-only
//! Tests of sleeps that end at a time, and of sleeps that a device ends.

use super::{mark, on_own_cpus, passed, run};
use crate::face::changes::{Action, Change};
use crate::testbed::{MS, Record, begin_changed, begin_recorded, machine, task, workload};
use alight_machine::{Costs, CpuSet, Governor};
use alight_workload::program::Op;

fn until(ms: u64) -> Op {
    Op::SleepUntil {
        ns: ms * MS,
        slack_ns: 0,
    }
}

fn complete(ms: u64, cpu: u32) -> Op {
    Op::Complete { ns: ms * MS, cpu }
}

/// Times count from the start of the workload, and there is no slack.
#[test]
fn a_time_that_is_slept_until_does_not_move() {
    let cases: [(&[Op], [u64; 3]); 3] = [
        (
            &[until(5), mark(0), until(10), mark(1), until(20), mark(2)],
            [5, 10, 20],
        ),
        // The work in between takes longer: a sleep whose time has passed is skipped, the next is
        // on time.
        (
            &[
                until(5),
                mark(0),
                run(7),
                until(10),
                mark(1),
                until(20),
                mark(2),
            ],
            [5, 12, 20],
        ),
        (
            &[run(1), until(1), mark(0), mark(1), until(0), mark(2)],
            [1, 1, 1],
        ),
    ];
    for (ops, expected) in cases {
        assert_eq!(passed(&[ops]), expected, "{ops:?}");
    }
    on_own_cpus(Costs::default(), &[&[until(5), mark(0)]], |sim| {
        assert_eq!(sim.passed(0).0, 5 * MS, "to the nanosecond");
    });
    // A workload that starts later.
    let later = workload(&[task(3 * MS, &[run(1), until(5), mark(0)])]);
    begin_recorded(&machine(1, 1), &later, &mut Record::default(), |sim| {
        sim.until(100 * MS);
        assert_eq!(sim.passed(0).0, 8 * MS);
    });
}

#[test]
fn a_timer_with_slack_expires_behind_those_that_interrupt_in_it() {
    let sleep = |slack_ns| Op::SleepUntil {
        ns: 5 * MS,
        slack_ns,
    };
    // The slack of the first, the operations of the other, how much later than at 5 ms the first
    // is woken, and the task that is woken before.
    let cases = [
        (0, until(9), 0, 0),
        (1, until(9), 1, 0),
        (500, until(9), 500, 0),
        (1, until(5), 0, 1),
        (500, until(5), 0, 1),
    ];
    for (slack, other, late, before) in cases {
        let tasks = [&[sleep(slack)], &[other]].map(|ops| task(0, ops).on(&[0]));
        let mut record = Record::default();
        begin_recorded(&machine(1, 1), &workload(&tasks), &mut record, |sim| {
            sim.until(100 * MS);
        });
        assert_eq!(record.wakings_of(0), [5 * MS + late], "slack {slack}");
        assert_eq!(record.wakings[0].2, before, "slack {slack}");
    }
}

#[test]
fn a_device_interrupts_the_cpu_that_it_is_bound_to() {
    let offline = |cpu| Change {
        at_ns: MS,
        action: Action::Offline(CpuSet::single(cpu)),
    };
    let gone = [offline(1)];
    // The CPU of the interrupt, the change at 1 ms, and the CPU that wakes the task, which sleeps
    // on CPU 2 from 0 to 3 ms.
    let cases: [(u32, &[Change], usize); 5] = [
        (1, &[], 1),
        (2, &[], 2),
        (9, &[], 2),
        (u32::MAX, &[], 2),
        (1, &gone, 2),
    ];
    for (cpu, changes, from) in cases {
        let tasks = workload(&[task(0, &[complete(3, cpu), mark(0)]).on(&[2])]);
        let mut record = Record::default();
        let rules = ("linux-5.5", Governor::Performance);
        begin_changed(changes, rules, &machine(4, 4), &tasks, &mut record, |sim| {
            sim.until(100 * MS);
            assert_eq!(sim.passed(0).0, 3 * MS, "CPU {cpu}");
        });
        assert_eq!(record.wakings, [(3 * MS, from, 0)], "CPU {cpu}");
    }
}

/// A device's interrupt takes the time of a timer's interrupt from the task that runs on that CPU,
/// not from the task that waits.
#[test]
fn an_interrupt_of_a_device_is_charged_where_it_comes() {
    let costs = Costs {
        timer_ns: 7000,
        ..Costs::default()
    };
    let waits = [complete(3, 1), mark(0)];
    let hog = [run(10), mark(1)];
    // Both tasks start by a timer on their CPU. The interrupt wakes the waiting task at its end.
    on_own_cpus(costs, &[&waits, &hog], |sim| {
        assert_eq!(sim.passed(0).0, 7000 + 3 * MS + 7000);
        assert_eq!(sim.passed(1).0, 10 * MS + 2 * 7000);
        assert_eq!(sim.stats.wakeups_hardirq_task.seen(), 1);
    });
}

/// Devices that are done in one instant interrupt in the order in which they began.
#[test]
fn devices_are_done_in_order() {
    let waits = [complete(3, 0)];
    let record = on_own_cpus(Costs::default(), &[&waits, &waits, &waits], |_| ());
    assert_eq!(
        record.wakings,
        [(3 * MS, 0, 0), (3 * MS, 0, 1), (3 * MS, 0, 2)]
    );
}
