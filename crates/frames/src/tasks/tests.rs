// SPDX-License-Identifier: GPL-2.0-only

use proptest::prelude::*;

use super::*;
use crate::small::{A, B, lines, switch, trace, wakeup};

/// A is woken at 100, runs from 150 on CPU 1, is preempted by B at 200, runs again from 300 to 400,
/// sleeps, is woken at 600 and runs from 650 to the end. B ends at 300.
fn small() -> Trace {
    trace(&[
        (100, 0, wakeup(A, 1)),
        (150, 1, switch(0, 0, A)),
        (200, 1, switch(A, PREEMPTED, B)),
        (300, 1, switch(B, 0x10, A)),
        (400, 1, switch(A, 1, 0)),
        (600, 0, wakeup(A, 0)),
        (650, 0, switch(0, 0, A)),
    ])
}

#[test]
fn states_follow_each_other_with_their_durations() {
    assert_eq!(
        lines(&tasks_states(&small()).unwrap()),
        [
            "Time pid comm target_cpu cpu curr_state next_state delta",
            "100 100 a 1 0 512 8192 5e-8",
            "150 100 a - 1 8192 256 5e-8",
            "200 100 a - 1 256 8192 1e-7",
            "200 101 b - 1 8192 16 1e-7",
            "300 101 b - 1 16 - -",
            "300 100 a - 1 8192 1 1e-7",
            "400 100 a - 1 1 512 2e-7",
            "600 100 a 0 0 512 8192 5e-8",
            "650 100 a - 0 8192 - -",
        ]
    );
    assert_eq!(
        lines(&task_states(&small(), &TaskId::parse("b"), true).unwrap()),
        [
            "Time target_cpu cpu curr_state next_state delta curr_state_str next_state_str",
            "200 - 1 8192 16 1e-7 A X",
            "300 - 1 16 - - X U",
        ]
    );
}

#[test]
fn wakeups_are_counted_by_task() {
    let trace = small();
    let expected = ["pid wakeups comm", "100 2 a"];
    assert_eq!(lines(&tasks_wakeups(&trace).unwrap()), expected);
    assert_eq!(lines(&top_wakeup(&trace, 1).unwrap()), expected);
    assert_eq!(lines(&top_wakeup(&trace, 2).unwrap()), expected[..1]);
}

#[test]
fn a_run_that_the_trace_cuts_counts_for_cpus_and_not_for_tasks() {
    let trace = small();
    assert_eq!(
        lines(&tasks_runtime(&trace)),
        ["pid comm runtime", "100 a 1.5e-7", "101 b 1e-7"]
    );
    let of_a = task_total_residency(&trace, &TaskId::pid(A)).unwrap();
    assert_eq!(lines(&of_a), ["cpu runtime", "0 3.5e-7", "1 1.5e-7"]);
    let all = tasks_total_residency(&trace, None, false, None).unwrap();
    assert_eq!(
        lines(&all),
        [
            "task 0 1 Total",
            "[100:a] 3.5e-7 1.5e-7 5e-7",
            "[101:b] 0e0 1e-7 1e-7"
        ]
    );
    let first = tasks_total_residency(&trace, Some(&[TaskId::pid(B)]), true, Some(1));
    assert_eq!(lines(&first.unwrap())[1..], ["[101:b] 0e0 1e-7 1e-7"]);
    assert!(tasks_total_residency(&trace, Some(&[TaskId::pid(7)]), true, None).is_err());
}

#[test]
fn a_preemption_interrupts_an_activation_and_does_not_end_it() {
    // It ran 150 of the 450 ns from 150 to 600 that it did not wait for B.
    let activation = task_activation(&small(), &TaskId::pid(A), None).unwrap();
    assert_eq!(
        lines(&activation),
        [
            "Time active cpu duration duty_cycle",
            "150 1e0 1 5e-8 3.75e-1",
            "200 - 1 1e-7 -",
            "300 1e0 1 1e-7 -",
            "400 0e0 1 2.5e-7 -",
            "650 1e0 0 - -",
        ]
    );
    let on_one = task_activation(&small(), &TaskId::pid(A), Some(0)).unwrap();
    assert_eq!(lines(&on_one)[1..], ["650 1e0 0 - -"]);
}

#[test]
fn real_time_tasks_are_those_that_ran_with_their_priority() {
    let mut trace = small();
    trace.events.push(crate::Happened {
        time: 700,
        cpu: 1,
        what: What::Switch {
            prev: 0,
            prev_prio: 120,
            state: 0,
            next: B,
            next_prio: 49,
        },
    });
    assert_eq!(lines(&rt_tasks(&trace, 99)), ["pid prio comm", "101 49 b"]);
    assert_eq!(lines(&rt_tasks(&trace, 48)), ["pid prio comm"]);
}

#[test]
fn a_source_without_wakeups_has_no_states() {
    let mut trace = small();
    trace.untold = [("sched_wakeup", "they were not recorded".to_owned())].into();
    assert!(tasks_states(&trace).is_err());
    assert!(task_states(&trace, &TaskId::pid(A), false).is_err());
    assert!(tasks_wakeups(&trace).is_err());
}

proptest! {
    /// Whatever a foreign recording says: durations add up to the task's time in the trace.
    #[test]
    fn durations_fill_the_time_from_the_first_event_of_a_task(
        steps in prop::collection::vec((0..50u64, 0..3u32, 0..3u32, 0..4u32, any::<bool>()), 0..60)
    ) {
        let mut now = 0;
        let events: Vec<(u64, u32, What)> = steps.iter().map(|&(gap, prev, next, cpu, wakes)| {
            now += gap;
            let pid = |place: u32| if place == 0 { 0 } else { A + place - 1 };
            let what = match wakes {
                true => wakeup(pid(prev), cpu),
                false => switch(pid(prev), 1, pid(next)),
            };
            (now, cpu, what)
        }).collect();
        let trace = Trace { window: 0..now, ..trace(&events) };
        for pid in [A, B] {
            let states = states_of(&trace, Some(pid));
            let sum: u64 = states.iter().map(|state| state.within(&trace)).sum();
            prop_assert_eq!(sum, states.first().map_or(0, |first| now - first.time));
            let runtime: u64 = residency(&trace, pid).iter().sum();
            prop_assert!(runtime <= sum);
        }
        tasks_total_residency(&trace, None, false, None).unwrap();
        task_activation(&trace, &TaskId::pid(A), None).unwrap();
    }
}
