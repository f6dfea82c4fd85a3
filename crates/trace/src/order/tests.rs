// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::event::TaskRef;

const IDLE: TaskRef = TaskRef { pid: 0, prio: 120 };
const A: TaskRef = TaskRef { pid: 7, prio: 120 };

fn run(events: &[(u64, u32, Event<'_>)]) {
    let mut check = OrderCheck::new(100, 2);
    for (time, cpu, event) in events {
        check.assert_follows(*time, *cpu, event);
    }
}

fn switch(prev: TaskRef, prev_state: PrevState, next: TaskRef) -> Event<'static> {
    Event::Switch {
        prev,
        prev_state,
        next,
    }
}

#[test]
fn a_sleep_then_a_wakeup_at_the_same_instant_is_in_order() {
    run(&[
        (100, 0, switch(IDLE, PrevState::Running, A)),
        (200, 0, switch(A, PrevState::Sleeping, IDLE)),
        (
            200,
            1,
            Event::Wakeup {
                task: A,
                target_cpu: 0,
            },
        ),
    ]);
}

#[test]
fn a_task_woken_while_it_runs_may_be_preempted() {
    run(&[
        (100, 0, switch(IDLE, PrevState::Running, A)),
        (
            150,
            1,
            Event::Wakeup {
                task: A,
                target_cpu: 0,
            },
        ),
        (200, 0, switch(A, PrevState::Preempted, IDLE)),
    ]);
}

#[test]
fn a_task_may_be_about_to_wake_when_its_cpu_switches() {
    let (task, target_cpu) = (A, 0);
    run(&[
        (100, 0, switch(IDLE, PrevState::Running, A)),
        (150, 1, Event::Waking { task, target_cpu }),
        (200, 0, switch(A, PrevState::Sleeping, IDLE)),
        (210, 0, Event::Wakeup { task, target_cpu }),
    ]);
}

#[test]
#[should_panic(expected = "emit the switch before the wakeup")]
fn a_wakeup_before_the_sleep_that_it_ends_is_refused() {
    run(&[
        (100, 0, switch(IDLE, PrevState::Running, A)),
        (
            200,
            1,
            Event::Wakeup {
                task: A,
                target_cpu: 0,
            },
        ),
        (200, 0, switch(A, PrevState::Sleeping, IDLE)),
    ]);
}

#[test]
#[should_panic(expected = "time goes back from 100 ns to 99 ns")]
fn an_event_before_the_start_is_refused() {
    run(&[(99, 0, Event::IdleExit)]);
}

#[test]
#[should_panic(expected = "a task that it does not run")]
fn a_switch_from_another_task_is_refused() {
    run(&[(100, 0, switch(A, PrevState::Sleeping, IDLE))]);
}
