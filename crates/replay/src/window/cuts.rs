// SPDX-License-Identifier: GPL-2.0-only
//! The ends of a window and of its blocks.

use super::{IDLE, Window};
use crate::task::{IN_CALL, State, Task};
use crate::{attributes, timers};

impl Window<'_> {
    /// Cuts all tasks where blocks end that lie before `now`.
    pub(super) fn cut_until(&mut self, now: u64) {
        let Some(block_ns) = self.block_ns else {
            return;
        };
        while self.start + self.cuts.len() as u64 * block_ns <= now {
            self.cut_at(self.cuts.len() as u64 * block_ns);
        }
    }

    fn cut_at(&mut self, at: u64) {
        self.cuts.push(at);
        for task in 0..self.tasks.len() {
            self.book(self.start + at, task);
            self.tasks[task].cut();
        }
    }

    /// The number of tasks changes in the block that goes on.
    pub(super) fn note_uneven(&mut self) {
        if let Some(block) = self.cuts.len().checked_sub(1) {
            self.uneven.insert(block);
        }
    }

    /// Ends the window: what runs stops, and who sleeps stays asleep.
    pub fn finish(&mut self) {
        if self.block_ns.is_some() && self.cuts.last() != Some(&(self.end - self.start)) {
            self.cut_at(self.end - self.start);
        }
        for cpu in 0..self.cpus.len() {
            if let Some(pid) = self.cpus[cpu].current.filter(|&pid| pid != IDLE)
                && let Some(&task) = self.by_pid.get(&pid)
            {
                self.book(self.end, task);
            }
        }
        let runs_on = self.tasks.iter().any(Task::runs_on);
        for task in &mut self.tasks {
            task.flush();
            let fair = attributes::is_fair(&task.fact, &task.attributes);
            match task.state {
                State::Running { .. } => task.goes_on = fair,
                State::Runnable => {
                    task.goes_on = fair;
                    if fair && runs_on {
                        task.retires_on_cpu();
                    }
                }
                State::Asleep(sleep) if sleep.op == IN_CALL => {}
                State::Asleep(sleep) if task.woken => {
                    task.goes_on = fair;
                    task.retires_at = (fair && runs_on).then_some(sleep.op);
                }
                State::Asleep(sleep) => task.parked = Some(sleep.op),
                State::Dead => {}
            }
            let (assumed, devices) = timers::settle(task, self.start);
            let waits = std::mem::take(&mut task.waits);
            self.health.suspect += waits.suspect();
            if task.is_replayed() {
                self.health.by_timers_assumed += assumed;
                self.health.by_timers -= devices;
                self.health.by_devices += devices;
            }
            self.health.clipped_ns += crate::work::to_ns(task.take_debt());
        }
        self.health.window_ns = self.end - self.start;
    }
}
