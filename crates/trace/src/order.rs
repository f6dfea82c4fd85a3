// SPDX-License-Identifier: GPL-2.0-only
//! The order that readers of a trace rely on, checked in debug builds.
//!
//! Time never goes back. A task that got a `sched_wakeup` while it ran does not go to sleep at the next switch: the
//! wakeup belongs behind it. A `sched_waking` may come before the switch, as in kernels: the waker finds the task on
//! its CPU, which searches for others (`p->on_cpu`). Perfetto then shows the task asleep until it runs. A CPU switches
//! away from the task that it switched to.

use crate::event::{Event, PrevState};

/// What is needed of the past to judge the next event.
pub(crate) struct OrderCheck {
    last_ns: u64,
    current: Vec<u32>,
    /// Of each CPU: its current task got a `sched_wakeup` since it runs.
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
                    "trace: pid {} sleeps at {time_ns} ns but was woken while it ran: emit the \
                     switch before the wakeup",
                    prev.pid
                );
                self.current[at] = next.pid;
                self.woken[at] = false;
            }
            Event::Wakeup { task, .. } => {
                if let Some(at) = self.current.iter().position(|&pid| pid == task.pid) {
                    self.woken[at] = true;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
