// SPDX-License-Identifier: GPL-2.0-only
//! Enqueue and dequeue of SCHED_DEADLINE tasks.

use super::timers::INACTIVE;
use super::{Joins, before};
use crate::queues::Queues;
use crate::world::state::DEADLINE;
use alight_policy::abi::task_flag;

impl Queues<'_> {
    /// A task whose deadline has passed but whose period has not waits for the next
    /// one (`dl_check_constrained_dl`).
    fn check_constrained(&mut self, cpu: usize, task: u32) {
        let now = self.rq_time(cpu);
        let d = self.dl(task);
        let implicit = d.params.deadline == d.params.period;
        let between = before(d.deadline, now) && before(now, d.next_period());
        if d.throttled || d.is_new() || implicit || !between || !self.start_dl_timer(cpu, task) {
            return;
        }
        let d = self.dl(task);
        d.throttled = true;
        d.runtime = d.runtime.min(0);
    }

    /// `task` comes to the runqueue of `cpu` (`enqueue_task_dl`); its clock is current.
    pub(in crate::queues::classes) fn enqueue_dl(&mut self, cpu: usize, task: u32, how: Joins) {
        let now = self.rq_time(cpu);
        if how != Joins::Replenished {
            let view = &mut self.views[task as usize];
            view.prev_cpu = cpu as u32;
            view.flags |= task_flag::ON_RQ;
            self.tasks[task as usize].cpu = cpu as u32;
            self.classes.dl[cpu].all += 1;
        }
        self.check_constrained(cpu, task);
        if matches!(how, Joins::Moved | Joins::New) {
            self.contend(cpu, task);
        }
        if self.dl(task).throttled && how != Joins::Replenished {
            if how == Joins::Woken {
                self.contend(cpu, task);
            }
            return;
        }
        match how {
            Joins::Woken => {
                self.contend(cpu, task);
                self.dl(task).wakes(now);
            }
            Joins::Replenished => self.dl(task).replenish(now),
            Joins::New if self.dl(task).is_new() || before(self.deadline(task), now) => {
                self.dl(task).new_period(now);
            }
            Joins::New | Joins::Moved => {}
        }
        self.queue_dl(cpu, task);
    }

    /// `__enqueue_dl_entity`: behind tasks of the same deadline.
    fn queue_dl(&mut self, cpu: usize, task: u32) {
        let tasks = &self.classes.dl[cpu].tasks;
        let at = tasks.partition_point(|&other| !self.earlier(task, other));
        self.classes.dl[cpu].tasks.insert(at, task);
        self.dl(task).queued = true;
        self.end_rounds(cpu);
        self.pack_update_signals(cpu);
        self.core.cpus[cpu].nr_running += 1;
        self.dl_counted(cpu);
    }

    /// `__dequeue_task_dl`.
    pub(super) fn unqueue_dl(&mut self, cpu: usize, task: u32) {
        if std::mem::take(&mut self.dl(task).queued) {
            self.classes.dl[cpu].tasks.retain(|&other| other != task);
            self.pack_update_signals(cpu);
            self.core.cpus[cpu].nr_running -= 1;
            self.dl_counted(cpu);
        }
    }

    /// The number of tasks that may run on `cpu` has changed.
    fn dl_counted(&mut self, cpu: usize) {
        let some = !self.classes.dl[cpu].tasks.is_empty();
        self.classes.dl_busy.assign(cpu as u32, some);
        let present = some || self.is_served(cpu);
        self.class_present(cpu, DEADLINE, present);
        let nr = self.core.cpus[cpu].nr_running;
        self.overloaded.assign(cpu as u32, nr >= 2);
        self.rq_changed(cpu);
        self.cpufreq_update(cpu);
    }

    /// A task leaves the runqueue of `cpu` for another CPU or class; its run has been charged.
    pub(in crate::queues::classes) fn dequeue_dl(&mut self, cpu: usize, task: u32) {
        self.leave_dl(cpu, task);
        self.uncount_bandwidth(task);
    }

    fn leave_dl(&mut self, cpu: usize, task: u32) {
        self.unqueue_dl(cpu, task);
        self.classes.dl[cpu].all -= 1;
        self.views[task as usize].flags &= !task_flag::ON_RQ;
    }

    /// The current task of `cpu` goes to sleep or dies.
    pub(in crate::queues::classes) fn dequeue_current_dl(&mut self, cpu: usize) {
        let task = self.cpus[cpu].curr;
        self.update_curr_dl(cpu);
        self.leave_dl(cpu, task);
        // `task_non_contending`
        let at = self.dl(task).zero_lag();
        if at < self.now as i64 {
            self.uncount_bandwidth(task);
            return;
        }
        self.dl(task).non_contending = true;
        self.start_timer_of(cpu, task, INACTIVE, at as u64);
    }

    /// Moves the throttled tasks of a CPU that goes offline to another one. The kernel does so
    /// later, when they may run again (`dl_task_offline_migration`).
    pub fn move_throttled_away(&mut self, cpu: usize) {
        for task in 0..self.tasks.len() as u32 {
            let on_rq = self.views[task as usize].flags & task_flag::ON_RQ != 0;
            let here = self.tasks[task as usize].cpu as usize == cpu;
            if on_rq && here && self.is_dl(task) {
                let to = self.fallback_cpu(cpu, task);
                self.dequeue_dl(cpu, task);
                self.clock(to);
                self.trace_migrate(cpu, task, to);
                self.enqueue_dl(to, task, Joins::Moved);
            }
        }
    }
}
