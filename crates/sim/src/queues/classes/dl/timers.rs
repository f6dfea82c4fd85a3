// SPDX-License-Identifier: GPL-2.0-only
//! Timers of SCHED_DEADLINE tasks: the next period of a throttled task (`dl_timer`), and the
//! 0-lag time of a sleeping one (`inactive_timer`).

use super::Joins;
use crate::queues::Queues;
use crate::world::state::Life;
use alight_policy::abi::task_flag;

/// The timers of a task.
pub(super) const REPLENISH: usize = 0;
pub(super) const INACTIVE: usize = 1;

impl Queues<'_> {
    /// Starts the timer for the next period of `task`; false if the period has already begun
    /// (`start_dl_timer`).
    pub(super) fn start_dl_timer(&mut self, cpu: usize, task: u32) -> bool {
        let at = self.dl(task).next_period();
        if at < self.now {
            return false;
        }
        self.start_timer_of(cpu, task, REPLENISH, at);
        true
    }

    pub(super) fn start_timer_of(&mut self, cpu: usize, task: u32, which: usize, at: u64) {
        if std::mem::replace(&mut self.dl(task).pending[which], true) {
            return;
        }
        let timer = self.tasks.len() as u32 + 1 + 2 * task + which as u32;
        let world = self.world();
        world.cpus[cpu].timers.insert(&mut world.nodes, timer, at);
        if !self.cpus[cpu].phase.holds_interrupts() {
            self.queue.advance(cpu, at);
        }
    }

    /// Timer number `timer` of the class's tasks expires on `by`.
    pub(in crate::queues::classes) fn dl_timer(&mut self, by: usize, timer: u32) {
        let (task, which) = (timer / 2, timer as usize % 2);
        self.dl(task).pending[which] = false;
        match which {
            REPLENISH => self.next_period_begins(by, task),
            _ => self.zero_lag_comes(by, task),
        }
    }

    /// `dl_task_timer`.
    fn next_period_begins(&mut self, by: usize, task: u32) {
        if !self.is_dl(task) {
            // It left the class while throttled, and may come back (`__dl_clear_params`).
            let dl = self.dl(task);
            (dl.throttled, dl.yielded) = (false, false);
            return;
        }
        if !self.dl(task).throttled {
            return;
        }
        if self.views[task as usize].flags & task_flag::ON_RQ == 0 {
            let now = self.now;
            return self.dl(task).replenish(now);
        }
        let cpu = self.tasks[task as usize].cpu as usize;
        self.clock(cpu);
        self.enqueue_dl(cpu, task, Joins::Replenished);
        self.check_preempt(cpu, task);
        self.push_dl(by, cpu);
        if self.cpus[cpu].need_resched {
            self.kick(by, cpu);
        }
    }

    /// `inactive_task_timer`. A task that woke and slept again meanwhile has a later 0-lag time:
    /// the timer is started again.
    fn zero_lag_comes(&mut self, by: usize, task: u32) {
        let gone = !self.is_dl(task) || self.tasks[task as usize].life == Life::Dead;
        let d = self.dl(task);
        let held = gone && d.admitted != 0;
        if !d.non_contending && !held {
            return;
        }
        let at = d.zero_lag();
        if at > self.now as i64 {
            return self.start_timer_of(by, task, INACTIVE, at as u64);
        }
        self.uncount_bandwidth(task);
        if gone {
            self.give_bandwidth_back(task);
        }
    }
}
