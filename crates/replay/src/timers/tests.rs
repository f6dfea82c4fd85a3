// SPDX-License-Identifier: GPL-2.0-only
//! Points in time are told from pauses, and timers from devices.

use alight_recording::workload::TaskFact;
use alight_workload::program::Attributes;

use super::*;
use crate::task::Role;

/// A task with these sleeps, from and until in us, settled; its operations, and what was counted.
fn settled(sleeps: &[(u64, u64)], known: bool) -> (Vec<Op>, (u64, u64)) {
    let fact = TaskFact::default();
    let mut task = Task::new(1, Role::Background, fact, Attributes::default());
    for &(since, until) in sleeps {
        let sleep = task.sleep(since * 1000);
        task.timer_sleeps.push(TimerSleep {
            op: sleep.op,
            since: since * 1000,
            until: until * 1000,
            behind: 0,
            cpu: 2,
            known,
            called: None,
        });
    }
    let counted = settle(&mut task, 0);
    (task.ops, counted)
}

/// Ten sleeps that end each `period` us, behind work of varying length.
fn periodic(period: u64) -> Vec<(u64, u64)> {
    (1..=10)
        .map(|k| (k * period - 100 - 50 * (k % 7), k * period))
        .collect()
}

/// Ten sleeps of `length` us, behind work of varying length.
fn paused(length: u64) -> Vec<(u64, u64)> {
    let mut now = 0;
    (1..=10)
        .map(|k| {
            let since = now + 100 + 150 * (k % 7);
            now = since + length;
            (since, now)
        })
        .collect()
}

#[test]
fn a_period_is_points_in_time() {
    let (ops, _) = settled(&periodic(1000), true);
    assert_eq!(
        ops[4],
        Op::SleepUntil {
            ns: 5_000_000,
            slack_ns: 0
        }
    );
}

#[test]
fn equal_lengths_are_pauses() {
    let (ops, _) = settled(&paused(3000), true);
    let pause = Op::SleepFor {
        ns: 3_000_000,
        slack_ns: 0,
    };
    assert_eq!(ops, vec![pause; 10]);
}

#[test]
fn what_varies_is_a_timer_only_if_the_recording_says_so() {
    let mut now = 0;
    let varying: Vec<(u64, u64)> = (1..=10)
        .map(|k| {
            let since = now + 100;
            now = since + 100 + 170 * k * k % 1000;
            (since, now)
        })
        .collect();
    let (ops, counted) = settled(&varying, true);
    assert!(ops.iter().all(|op| matches!(op, Op::SleepUntil { .. })));
    assert_eq!(counted, (0, 0));
    let (ops, counted) = settled(&varying, false);
    assert!(
        ops.iter()
            .all(|op| matches!(op, Op::Complete { cpu: 2, .. }))
    );
    assert_eq!(counted, (0, 10));
}

#[test]
fn a_period_is_a_timer_without_being_told() {
    let (ops, counted) = settled(&periodic(1000), false);
    assert!(ops.iter().all(|op| matches!(op, Op::SleepUntil { .. })));
    assert_eq!(counted, (10, 0));
}
