// SPDX-License-Identifier: GPL-2.0-only
//! The invariants of each CPU: its queue counts the tasks on it, and its state agrees with the
//! task that it runs.

use crate::base::queue::NEVER;
use crate::base::timeline::NONE;
use crate::queues::Queues;
use crate::world::state::Phase;

impl Queues<'_> {
    /// What is wrong with `cpu`. `queued`: number of tasks on it; `weight`: weight of its fair
    /// tasks in no group.
    pub(super) fn broken_cpu(&self, cpu: usize, queued: u32, weight: u32) -> Option<String> {
        self.broken_queue(cpu, queued, weight)
            .or_else(|| self.broken_state(cpu, queued))
    }

    /// What is wrong with the counts of its tasks.
    fn broken_queue(&self, cpu: usize, queued: u32, weight: u32) -> Option<String> {
        let (c, view) = (&self.cpus[cpu], &self.core.cpus[cpu]);
        let (rt, rt_counted) = self.rt_counts(cpu);
        let running = u32::from(c.curr != NONE && !self.curr_is_rt(cpu));
        let fair = queued - rt;
        let weight = weight + self.group_weight(cpu);
        let counts = (view.nr_running, view.h_nr_running, view.weight);
        if counts != (fair + rt_counted, fair, weight) {
            return Some(format!(
                "CPU {cpu} counts {} tasks of weight {}, there are {queued} of {weight}",
                view.nr_running, view.weight
            ));
        }
        if let Some(what) = self.server_check(cpu) {
            return Some(what);
        }
        if self.has_classes()
            && let Some(what) = self.rt_check(cpu)
        {
            return Some(what);
        }
        if self.queued_on(cpu) + running != fair {
            return Some(format!(
                "CPU {cpu} queues {} and runs {running} of {queued}",
                self.queued_on(cpu)
            ));
        }
        self.hotplug_check(cpu).or_else(|| self.fair_check(cpu))
    }

    /// What is wrong with the state of `cpu`.
    fn broken_state(&self, cpu: usize, queued: u32) -> Option<String> {
        let (c, view) = (&self.cpus[cpu], &self.core.cpus[cpu]);
        if self.overloaded.contains(cpu as u32) != (view.nr_running >= 2) {
            return Some(format!(
                "CPU {cpu} has {queued} tasks but its overload bit is wrong"
            ));
        }
        if (c.phase == Phase::Running) != (c.curr != NONE)
            || (view.curr_is_idle == 0) != matches!(c.phase, Phase::Running | Phase::Searching)
            || (c.search.prev != NONE) != (c.phase == Phase::Searching)
        {
            return Some(format!(
                "CPU {cpu} is {:?} with task {}",
                c.phase, c.curr as i32
            ));
        }
        if c.curr != NONE && self.tasks[c.curr as usize].cpu as usize != cpu {
            return Some(format!(
                "CPU {cpu} runs task {} of CPU {}",
                c.curr, self.tasks[c.curr as usize].cpu
            ));
        }
        if c.stats.busy_ns > self.now {
            return Some(format!(
                "CPU {cpu} was busy for {} of {} ns",
                c.stats.busy_ns, self.now
            ));
        }
        if c.phase == Phase::Idle && view.nr_running != 0 && c.ipi_at == NEVER {
            return Some(format!(
                "CPU {cpu} is idle with {} queued tasks and no pending interrupt",
                view.nr_running
            ));
        }
        None
    }
}
