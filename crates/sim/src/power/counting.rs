// SPDX-License-Identifier: GPL-2.0-only
//! Runtimes of tasks and busy times of CPUs up to now, and the places of tasks.

use crate::base::treap::NONE;
use crate::power::Power;
use alight_trace::{Event, PrevState};

impl Power<'_> {
    /// Notes that `task` runs on `cpu` now. Called only if some workload asks where its tasks are.
    pub fn note_place(&mut self, cpu: usize, task: u32) {
        let cluster = self.cpus[cpu].cluster;
        let now = self.now;
        let ran = self.ran_ns(task as usize);
        let is_on_biggest = self.is_biggest(cpu);
        if let Some(place) = self.counting.places.get_mut(task as usize) {
            place.comes_to(cluster, is_on_biggest, ran, now);
        }
    }

    /// Runtime of `task`, ns, with the part not accounted yet.
    pub fn ran_ns(&self, task: usize) -> u64 {
        let accounted = self.tasks[task].sum_exec;
        let cpu = self.tasks[task].cpu as usize;
        match self.cpus[cpu].curr as usize == task {
            true => accounted + (self.clock_task_now(cpu) - self.cpus[cpu].exec_start),
            false => accounted,
        }
    }

    /// Time that tasks ran on `cpu`, ns, with the part of the current task not accounted yet.
    pub fn busy_ns(&self, cpu: usize) -> u64 {
        let c = &self.cpus[cpu];
        let current = match c.curr {
            NONE => 0,
            _ => self.clock_task_now(cpu) - c.exec_start,
        };
        c.stats.busy_ns + current
    }

    #[inline(always)]
    pub fn trace_switch(&mut self, cpu: usize, prev: u32, prev_state: PrevState, next: u32) {
        self.stats.switches += 1;
        self.mix_switch(cpu, prev, next);
        if !self.counting.places.is_empty() && next != NONE {
            self.note_place(cpu, next);
        }
        if self.tracing {
            let mut reached = self.reached(cpu);
            if next != NONE {
                // The tracepoint is somewhere in the switch, which is already charged.
                reached -= self.ns(cpu, self.costs(cpu).switch).div_ceil(2);
            }
            let event = Event::Switch {
                prev: self.task_ref(prev),
                prev_state,
                next: self.task_ref(next),
            };
            self.emit_reached(cpu, reached, event);
            self.trace_counters(cpu);
        }
    }
}
