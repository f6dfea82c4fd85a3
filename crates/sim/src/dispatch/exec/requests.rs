// SPDX-License-Identifier: GPL-2.0-only
//! Requests of tasks to the scheduler: `sched_yield`, and other attributes (`sched_setattr`).

use crate::dispatch::Sim;
use crate::program::Programs;
use crate::program::effect::Effect;
use alight_workload::program::Op;

impl Programs<'_> {
    /// The current task of `cpu` calls `sched_yield` or `sched_setattr`.
    #[inline(always)]
    pub(super) fn ask_scheduler(&mut self, cpu: usize, task: usize, op: Op) -> Effect {
        match op {
            Op::Yield => {
                self.trace_yield(cpu);
                if self.core.cpus[cpu].nr_running > 1 || self.yields_alone(task as u32) {
                    match self.is_rt(task as u32) {
                        true => self.yield_rt(cpu),
                        false => self.yield_fair(cpu),
                    }
                }
                Effect::Yield
            }
            Op::SetAttributes { attributes } => self.set_attributes(cpu, task, attributes),
            Op::SetAttributesUntil {
                until,
                before,
                after,
            } => {
                let holds = self.before_stamp(until);
                let attributes = if holds { before } else { after };
                self.set_attributes(cpu, task, attributes)
            }
            _ => unreachable!(),
        }
    }
}

impl Sim<'_> {
    /// Completes the `sched_yield` of the current task of `cpu`; true if the task goes on.
    #[inline(always)]
    pub(super) fn goes_on_behind_yield(&mut self, cpu: usize, task: usize) -> bool {
        self.step(task);
        self.stats.yields += 1;
        if self.core.cpus[cpu].nr_running > 1 {
            self.tasks[task].yielded = true;
            self.schedule(cpu);
            return self.cpus[cpu].curr as usize == task;
        }
        true
    }
}
