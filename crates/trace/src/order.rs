// SPDX-License-Identifier: GPL-2.0-only
//! The order that readers of a trace rely on, checked in debug builds.
//!
//! Time never goes back. A task that was woken while it ran does not go to sleep at the next switch: Perfetto's
//! thread states would lose the time until it runs again (a `sched_waking` that belongs after the `sched_switch` was
//! told before it). A CPU switches away from the task that it switched to.

use crate::event::{Event, PrevState};

/// What is needed of the past to judge the next event.
pub(crate) struct OrderCheck {
    last_ns: u64,
    current: Vec<u32>,
    /// Of each CPU: its current task got a `sched_waking` since it runs.
    woken: Vec<bool>,
}

impl OrderCheck {
    pub(crate) fn new(start_ns: u64, cpus: usize) -> Self {
        Self {
            last_ns: start_ns,
            current: vec![0; cpus],
            woken: vec![false; cpus],
        }
    }

    /// Panics if `event` cannot follow what came before: a defect of the caller.
    pub(crate) fn assert_follows(&mut self, time_ns: u64, cpu: u32, event: &Event<'_>) {
        assert!(
            time_ns >= self.last_ns,
            "trace: time goes back from {} ns to {time_ns} ns at {event:?} on CPU {cpu}",
            self.last_ns
        );
        self.last_ns = time_ns;
        match *event {
            Event::Switch {
                prev,
                prev_state,
                next,
            } => {
                let at = cpu as usize;
                assert_eq!(
                    self.current[at], prev.pid,
                    "trace: at {time_ns} ns CPU {cpu} switches from a task that it does not run"
                );
                let sleeps = matches!(prev_state, PrevState::Sleeping | PrevState::Uninterruptible);
                assert!(
                    !(sleeps && self.woken[at]),
                    "trace: pid {} sleeps at {time_ns} ns but was woken while it ran: tell the switch before the waking",
                    prev.pid
                );
                self.current[at] = next.pid;
                self.woken[at] = false;
            }
            Event::Waking { task, .. } => {
                if let Some(at) = self.current.iter().position(|&pid| pid == task.pid) {
                    self.woken[at] = true;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
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
                Event::Waking {
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
                Event::Waking {
                    task: A,
                    target_cpu: 0,
                },
            ),
            (200, 0, switch(A, PrevState::Preempted, IDLE)),
        ]);
    }

    #[test]
    #[should_panic(expected = "tell the switch before the waking")]
    fn a_wakeup_before_the_sleep_that_it_ends_is_refused() {
        run(&[
            (100, 0, switch(IDLE, PrevState::Running, A)),
            (
                200,
                1,
                Event::Waking {
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
}
