// SPDX-License-Identifier: GPL-2.0-only
//! The end of a turn by a timer of its own (sched feature HRTICK), where a tick
//! would come late: on by default from 7.2 on where the architecture lets timers
//! be set once a switch (CONFIG_HRTIMER_REARM_DEFERRED: x86).
//!
//! The timer is set when a task is switched to while others wait, and when
//! somebody joins a queue whose timer is not set, to the deadline of who runs. A
//! task that is picked again does not set it. It is not taken back when the turn
//! ends before; what comes next moves it, or is told to give way by it.

use crate::queue::NEVER;
use crate::state::Sim;

/// No turn is shorter, ns (`hrtick_start`).
const SHORTEST: u64 = 10_000;
/// A timer that is set stays where it is unless it moves by more, ns (`hrtick_needs_rearm`).
const NEAR: u64 = 5_000;

impl Sim<'_> {
    /// Sets the timer of `cpu`, whose current task is fair, to the end of its turn
    /// (`hrtick_start_fair`).
    pub fn hrtick_start(&mut self, cpu: usize) {
        if self.core.cpus[cpu].h_nr_running <= 1 {
            return;
        }
        let left = self.until_deadline(self.cpus[cpu].curr);
        let Ok(left) = u64::try_from(left) else {
            self.cpus[cpu].need_resched = true;
            return;
        };
        let at = self.now + left.max(SHORTEST);
        let c = &mut self.cpus[cpu];
        if c.hrtick_at == NEVER || at.abs_diff(c.hrtick_at) > NEAR {
            c.hrtick_at = at;
            self.queue.advance(cpu, at);
        }
    }

    /// The timer expired (`hrtick`, `entity_tick` with `queued`).
    pub fn hrtick(&mut self, cpu: usize) {
        self.cpus[cpu].hrtick_at = NEVER;
        self.charge(cpu, self.costs(cpu).timer);
        if self.curr_is_fair(cpu) {
            self.clock(cpu);
            self.update_curr(cpu);
            self.cpus[cpu].need_resched = true;
        }
    }
}

#[cfg(test)]
mod tests;
