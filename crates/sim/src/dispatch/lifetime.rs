// SPDX-License-Identifier: GPL-2.0-only
//! The start of workloads, and the end of their durations.

use crate::base::queue::NEVER;
use crate::dispatch::Sim;
use crate::program::Programs;

impl Programs<'_> {
    /// The duration of some workload ends now; the run goes on.
    pub fn cancel_over(&mut self) {
        self.now = self.ends.next_over;
        self.acted = 0;
        let world = self.world();
        for (id, workload) in world.workloads.iter_mut().enumerate() {
            let over = workload.over_at != 0 && workload.over_at <= world.now;
            if over && !std::mem::replace(&mut workload.cancelled, true) {
                let tasks = world.tasks.iter_mut();
                for task in tasks.filter(|task| task.workload as usize == id) {
                    task.cancelled = true;
                }
            }
        }
        for task in 0..self.tasks.len() {
            let workload = self.tasks[task].workload as usize;
            if self.tasks[task].cancelled && self.workloads[workload].over_at == self.now {
                self.counts_no_more(task);
            }
        }
        self.find_end();
    }
}

impl Sim<'_> {
    /// The first task of a workload starts.
    pub fn workload_starts(&mut self, workload: usize) {
        let now = self.now;
        let of = &mut self.workloads[workload];
        of.start = now;
        if of.duration < NEVER {
            of.over_at = of.over_at.min(now + of.duration);
        }
        self.find_end();
        self.ticks_as_recorded(workload);
    }
}
