// SPDX-License-Identifier: GPL-2.0-only
//! The idle loop: the way into it, the choice of an idle state, and the way out of it.

use crate::balance::{Balancer, NohzBalance};
use crate::base::queue::NEVER;
use crate::base::treap::NONE;
use crate::dispatch::Sim;
use crate::power::Power;
use crate::program::Programs;
use crate::queues::Queues;
use crate::world::World;
use crate::world::state::Phase;

impl Balancer<'_> {
    /// The idle task executes on `cpu`, and only `work` ns of charged work are left: enters an idle
    /// state after them, and stops the tick if that pays (`cpuidle_idle_call`).
    #[inline(always)]
    pub fn idle_call(&mut self, cpu: usize, work: u64) {
        let choice = self.idle_choose(cpu);
        if self.idle_stop_tick(cpu, choice.stop_tick) {
            self.nohz_enter_idle(cpu);
        }
        self.idle_enter(cpu, choice, work);
    }

    /// All CPUs enter idle for the first time.
    pub fn boot(&mut self) {
        for cpu in 0..self.cpus.len() {
            self.settle(cpu);
            self.arm(cpu);
        }
    }

    /// Enters an idle state, after the kernel work that is still charged.
    pub fn settle(&mut self, cpu: usize) {
        let work = std::mem::take(&mut self.cpus[cpu].steal);
        self.cpus[cpu].phase = Phase::Idle;
        self.thread_rests(cpu);
        self.idle_call(cpu, work);
    }
}

impl World<'_> {
    /// If all threads of the core are idle, wakeups search for idle cores again
    /// (`update_idle_core`).
    fn core_went_idle(&mut self, cpu: usize) {
        let place = &self.core.places[cpu];
        if place.smt_domain == NONE {
            return;
        }
        let (shared, core) = (place.shared as usize, place.smt_domain as usize);
        if self.core.llcs[shared].has_idle_cores != 0 {
            return;
        }
        let all_idle = self.core.domains[core]
            .span
            .iter()
            .all(|sibling| self.core.cpus[sibling as usize].curr_is_idle != 0);
        if all_idle {
            self.core.llcs[shared].has_idle_cores = 1;
        }
    }
}

impl Power<'_> {
    /// An interrupt reaches an idle CPU: it leaves its idle state.
    #[inline(always)]
    pub fn idle_interrupted(&mut self, cpu: usize) {
        let out = self.idle_leave(cpu, self.now);
        self.cpus[cpu].phase = Phase::Waking;
        if out == self.now {
            self.thread_executes(cpu);
        }
        self.cpus[cpu].end = out + self.ns(cpu, self.costs(cpu).idle_exit);
    }
}

impl Queues<'_> {
    /// The idle task becomes current on `cpu`.
    pub fn clock_goes_idle(&mut self, cpu: usize) {
        let others = self.rt_util_sum(cpu);
        if self.has_servers() {
            self.server_idles(cpu, true);
        }
        self.pack_update_signals(cpu);
        alight_policy::rq::clock_idle(&mut self.core.cpus[cpu], others);
        self.core.cpus[cpu].curr_is_idle = 1;
        self.rq_changed(cpu);
    }
}

impl Programs<'_> {
    pub fn go_idle(&mut self, cpu: usize) {
        self.idle_task_runs(cpu);
        self.settle(cpu);
    }

    /// `cpu` is in the idle loop, and enters no idle state yet.
    pub fn idle_task_runs(&mut self, cpu: usize) {
        self.cpus[cpu].hrtick_at = NEVER;
        self.clock_goes_idle(cpu);
        self.core_went_idle(cpu);
        self.nohz_stay_begins(cpu);
        self.idle_stay_begins(cpu);
    }
}

impl Sim<'_> {
    /// The CPU has left its idle state: handles interrupts, then runs a task or stays idle.
    #[inline(always)]
    pub fn idle_loop_event(&mut self, cpu: usize) {
        let by_tick = self.cpus[cpu].tick_at <= self.now && self.cpus[cpu].ipi_at > self.now;
        self.idle_left(cpu, by_tick);
        self.thread_executes(cpu);
        self.idle_loop_goes_on(cpu);
    }

    /// The idle task of `cpu` executes: handles interrupts, then runs a task or goes to rest.
    #[inline(always)]
    pub fn idle_loop_goes_on(&mut self, cpu: usize) {
        self.interrupts(cpu);
        if self.core.cpus[cpu].nr_running != 0 {
            self.schedule(cpu);
        } else {
            self.cpus[cpu].need_resched = false;
            self.settle(cpu);
        }
    }
}
