// SPDX-License-Identifier: GPL-2.0-only
//! HRTICK: a timer ends the turn of a task at its deadline, where a tick would come late. This
//! sched feature is on by default from 7.1 on if the architecture sets timers once a switch
//! (CONFIG_HRTIMER_REARM_DEFERRED: x86).
//!
//! The timer is set to the deadline of the current task: at the end of a switch while others
//! wait, and when a task joins a queue whose timer is not set. A task that is picked again does
//! not set it. The timer is not cancelled if the turn ends early: the next task moves it, or has
//! to give way when it expires.

use crate::base::queue::NEVER;
use crate::queues::Queues;
use crate::world::World;

/// The shortest turn, ns (`hrtick_start`).
const SHORTEST: u64 = 10_000;
/// A timer that is set is moved only by more than this, ns (`hrtick_needs_rearm`).
const NEAR: u64 = 5_000;
/// An interrupt reads the clock this long after the time that its timer was set to, ns. That is
/// more than two divisions round down: the deadline has passed by then.
const ENTRY: u64 = 2;

impl World<'_> {
    fn hrtick_set(&mut self, cpu: usize, at: u64) {
        let at = at + ENTRY;
        let c = &mut self.cpus[cpu];
        if c.hrtick_at == NEVER || at.abs_diff(c.hrtick_at) > NEAR {
            c.hrtick_at = at;
            self.queue.advance(cpu, at);
        }
    }
}

impl Queues<'_> {
    /// A task joined: sets the timer of `cpu`, whose current task is fair, to the end of the
    /// current task's turn (`hrtick_update`, `hrtick_start_fair`).
    pub fn hrtick_start(&mut self, cpu: usize) {
        if self.core.cpus[cpu].h_nr_running <= 1 {
            return;
        }
        match u64::try_from(self.until_deadline(self.cpus[cpu].curr)) {
            Ok(left) => {
                let at = self.now + left.max(SHORTEST);
                self.hrtick_set(cpu, at);
            }
            Err(_) => self.cpus[cpu].need_resched = true,
        }
    }

    /// `cpu` switches to its current task, which is fair: sets the timer at the end of
    /// the switch (`set_next_task_fair`, `hrtick_schedule_exit`). If the deadline is past, the
    /// task does not have to give way, because the kernel does not see it as current yet.
    pub fn hrtick_switch(&mut self, cpu: usize) {
        if self.core.cpus[cpu].h_nr_running <= 1 {
            return;
        }
        if let Ok(left) = u64::try_from(self.until_deadline(self.cpus[cpu].curr)) {
            let switch = self.ns(cpu, self.costs(cpu).switch);
            let at = self.now + switch + left.max(SHORTEST);
            self.hrtick_set(cpu, at);
        }
    }

    /// The timer expired (`hrtick`, `entity_tick` with `queued`).
    pub fn hrtick(&mut self, cpu: usize) {
        self.cpus[cpu].hrtick_at = NEVER;
        let timer = self.costs(cpu).timer;
        self.charge(cpu, timer);
        if self.curr_is_fair(cpu) {
            self.clock(cpu);
            self.update_curr(cpu);
            self.cpus[cpu].need_resched = true;
        }
    }
}

#[cfg(test)]
mod tests;
