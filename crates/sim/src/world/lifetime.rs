// SPDX-License-Identifier: GPL-2.0-only
//! The ends of workloads and of the run.
//!
//! A workload is over when its last task has ended, or when its duration since its start has
//! passed. Then its remaining tasks end, as rt-app cancels its threads: a running task ends after
//! the operation that is under way, a sleeping task ends when it is woken.

use crate::base::queue::NEVER;
use crate::world::World;
use crate::world::state::WorkloadState;

/// Possible ends of a run, ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ends {
    /// Latest end of the run.
    pub by: u64,
    /// Time at which the duration of the next workload passes, or the run ends.
    pub next_over: u64,
    /// Time at which a task last went to sleep or ended.
    pub last_sleep: u64,
}

impl Ends {
    pub fn new(by: u64) -> Self {
        Ends {
            by,
            next_over: by,
            last_sleep: 0,
        }
    }
}

impl World<'_> {
    /// Ends the run now, since it cannot go on.
    pub fn end_now(&mut self) {
        (self.end_at, self.ends.by) = (self.now, self.now);
    }

    /// The run no longer waits for the task, which may go on.
    pub fn is_over(&mut self, task: usize) {
        if std::mem::replace(&mut self.tasks[task].retired, true) {
            return;
        }
        let workload = self.tasks[task].workload as usize;
        self.workloads[workload].alive -= 1;
        if self.workloads[workload].alive == 0 {
            self.workload_ends(workload);
        }
    }

    /// The run no longer waits for a task of this workload.
    pub fn workload_ends(&mut self, workload: usize) {
        self.workloads[workload].ended = self.now;
        self.find_end();
    }

    /// Recomputes the end of the run: the time at which all workloads are over.
    pub fn find_end(&mut self) {
        let over = |w: &WorkloadState| if w.alive == 0 { 0 } else { w.over_at };
        let last = self.workloads.iter().map(over).max().unwrap_or(0);
        self.end_at = last.clamp(self.now, self.ends.by.max(self.now));
        // Workloads that only accompany others (`over_at` 0) count as over from the start, and keep
        // running.
        let lasts = |w: &&WorkloadState| w.alive != 0 && !w.cancelled && w.over_at != 0;
        let next = self.workloads.iter().filter(lasts).map(|w| w.over_at).min();
        self.ends.next_over = self.end_at.min(next.unwrap_or(NEVER)).max(self.now);
    }

    /// Seconds from the start of a workload until its last task ended by itself; `None`: it did
    /// not.
    pub fn lifetime_s(&self, workload: u32) -> Option<f64> {
        let workload = &self.workloads[workload as usize];
        let ended = workload.ended != NEVER && !workload.cancelled;
        ended.then(|| (workload.ended - workload.start) as f64 / 1e9)
    }
}
