// SPDX-License-Identifier: GPL-2.0-only
//! The end of a turn by a timer of its own (sched feature HRTICK), where a tick
//! would come late: on by default from 7.2 on where the architecture lets timers
//! be set once a switch (CONFIG_HRTIMER_REARM_DEFERRED: x86).
//!
//! The timer is set when a task is switched to while others wait, behind the switch,
//! and when somebody joins a queue whose timer is not set, to the deadline of who
//! runs. A task that is picked again does not set it. It is not taken back when the
//! turn ends before; what comes next moves it, or is told to give way by it.

use crate::base::queue::NEVER;
use crate::queues::Queues;
use crate::world::World;

/// No turn is shorter, ns (`hrtick_start`).
const SHORTEST: u64 = 10_000;
/// A timer that is set stays where it is unless it moves by more, ns (`hrtick_needs_rearm`).
const NEAR: u64 = 5_000;
/// An interrupt looks at the clock behind the moment that its timer was set to, ns: by
/// more than what two divisions round down, so that the deadline has passed by then.
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
    /// Somebody joined: sets the timer of `cpu`, whose current task is fair, to the end
    /// of its turn (`hrtick_update`, `hrtick_start_fair`).
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
    /// the switch (`set_next_task_fair`, `hrtick_schedule_exit`). Behind its deadline
    /// the task is not told to give way, for it is not yet the current one.
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
