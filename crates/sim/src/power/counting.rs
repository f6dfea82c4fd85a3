// SPDX-License-Identifier: GPL-2.0-only
//! What is counted of where tasks ran, and for how long, up to now.

use crate::base::treap::NONE;
use crate::power::Power;
use alight_trace::Event;
use alight_trace::PrevState;

impl Power<'_> {
    /// `task` runs on `cpu` now, and some workload asks where its tasks are.
    pub fn note_place(&mut self, cpu: usize, task: u32) {
        let cluster = self.cpus[cpu].cluster;
        let now = self.now;
        let ran = self.ran_ns(task as usize);
        let is_on_biggest = self.is_biggest(cpu);
        if let Some(place) = self.counting.places.get_mut(task as usize) {
            place.comes_to(cluster, is_on_biggest, ran, now);
        }
    }

    /// How long `task` has run, ns, what it has run since it was last accounted included.
    pub fn ran_ns(&self, task: usize) -> u64 {
        let accounted = self.tasks[task].sum_exec;
        let cpu = self.tasks[task].cpu as usize;
        match self.cpus[cpu].curr as usize == task {
            true => accounted + (self.clock_task_now(cpu) - self.cpus[cpu].exec_start),
            false => accounted,
        }
    }

    /// Time that tasks ran on `cpu`, ns, the run of its current task included.
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
                // The tracepoint lies somewhere in the switch, which is charged already.
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
