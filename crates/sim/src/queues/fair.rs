// SPDX-License-Identifier: GPL-2.0-only
//! The fair class: charging, preemption, tick, pick and switch, common to both orders. CFS
//! (`cfs`) orders by virtual runtime, EEVDF (`eevdf`) by virtual deadline; the kernel's row
//! says which.

mod cfs;
mod eevdf;
mod enqueue;
mod flat;
mod group;
mod hrtick;
#[cfg(test)]
mod properties;
mod tree;

use crate::kernel::tunables::Order;
use crate::kernel::weight::NICE_0_FINE;
pub(crate) use crate::kernel::weight::{inverse, weight};
pub(crate) use eevdf::Eevdf;
pub(crate) use group::Groups;

use crate::base::timeline::NONE;
use crate::kernel::{BuddiesCleared, PickedAgain, Preemption, WakeupTest};
use crate::queues::Queues;
use crate::world::World;
use alight_policy::abi::task_flag;
use alight_policy::rq;

impl World<'_> {
    /// The current task should give way to another fair one.
    fn resched_fair(&mut self, cpu: usize) {
        let c = &mut self.cpus[cpu];
        match self.kernel.preemption {
            Preemption::Full => c.need_resched = true,
            Preemption::Lazy => c.resched_lazy = true,
        }
    }

    /// The current task was picked again.
    #[inline]
    pub fn picked_again(&mut self, cpu: usize) {
        if self.tunables.picked_again == PickedAgain::BeginsSlice {
            let t = &mut self.tasks[self.cpus[cpu].curr as usize];
            t.slice_start = t.sum_exec;
        }
    }

    #[inline]
    fn curr_is_fair(&self, cpu: usize) -> bool {
        self.cpus[cpu].curr != NONE && !self.curr_is_rt(cpu)
    }
}

impl Queues<'_> {
    /// Brings the clocks of `cpu` and the progress of its task to now.
    #[inline]
    pub fn clock(&mut self, cpu: usize) {
        self.rq_clock(cpu);
        self.progress(cpu);
    }

    /// Brings the clocks of the queue of `cpu` to now.
    #[inline]
    pub fn rq_clock(&mut self, cpu: usize) {
        if self.has_irq_time() {
            return self.rq_clock_beside_irq(cpu);
        }
        let world = self.world();
        let view = &mut world.core.cpus[cpu];
        if view.clock != world.now {
            rq::clock(view, world.now);
        }
    }

    /// The current entity of queue `q` if it is on the queue (`on_rq`), else [`NONE`].
    #[inline(always)]
    pub fn fair_curr(&self, q: usize) -> u32 {
        if self.groups.nested {
            return self.group_curr(q);
        }
        let cpu = q;
        let curr = self.cpus[cpu].curr;
        if self.curr_is_fair(cpu) && self.views[curr as usize].flags & task_flag::ON_RQ != 0 {
            curr
        } else {
            NONE
        }
    }

    /// Entities in the queue `q`; the current one is not among them.
    pub fn fair_queued(&self, q: usize) -> u32 {
        match self.tunables.order {
            Order::Cfs => self.fair_queue(q).tree.len(),
            Order::Eevdf => self.eevdf.queued(q),
        }
    }

    /// Entities on the queue `q`, the current one included (`nr_queued`).
    #[inline]
    pub fn nr_queued(&self, q: usize) -> u32 {
        if self.groups.nested {
            return self.fair_queued(q) + u32::from(self.fair_curr(q) != NONE);
        }
        self.core.cpus[q].h_nr_running
    }

    /// What is wrong with the queue `q`, for the invariants.
    pub fn fair_check(&self, q: usize) -> Option<String> {
        match self.tunables.order {
            Order::Cfs => None,
            Order::Eevdf => self.eevdf_check(q),
        }
    }

    /// Puts `task` into the queue `q`, where its key belongs.
    #[inline(always)]
    pub fn queue_in(&mut self, q: usize, task: u32) {
        match self.tunables.order {
            Order::Cfs => {
                let key = self.tasks[task as usize].vruntime;
                match self.power.world.cpus.get_mut(q) {
                    Some(c) => c.fair.tree.insert(&mut self.power.world.nodes, task, key),
                    None => self.groups.queue_in(q, &mut self.power.nodes, task, key),
                }
            }
            Order::Eevdf => {
                let weight = self.exact_weight(task);
                self.eevdf.insert(q, task, weight);
            }
        }
    }

    /// Takes `task` out of the queue `q`.
    #[inline(always)]
    pub fn queue_out(&mut self, q: usize, task: u32) {
        match self.tunables.order {
            Order::Cfs => match self.power.world.cpus.get_mut(q) {
                Some(c) => c.fair.tree.remove(&mut self.power.world.nodes, task),
                None => self.groups.queue_out(q, &mut self.power.nodes, task),
            },
            Order::Eevdf => self.eevdf.remove(q, task),
        }
    }

    /// Brings the signals of the current task and its queue to now; true if they changed. `tick`:
    /// it is called from the tick.
    #[inline(always)]
    fn refresh_curr(&mut self, cpu: usize, curr: u32, tick: bool) -> bool {
        if self.groups.used {
            return self.refresh_grouped(cpu, curr, tick);
        }
        let world = self.world();
        let rq = &mut world.core.cpus[cpu];
        rq::update_curr(&world.core.params, rq, &mut world.views[curr as usize])
    }

    /// Is `task`, which sleeps, still on the queue it slept on (`sched_delayed`)?
    #[inline]
    pub fn is_delayed(&self, task: u32) -> bool {
        self.tunables.order == Order::Eevdf && self.eevdf.is_delayed(task)
    }

    /// Charges the current task, if it is a fair one, the time it ran (`update_curr`).
    #[inline(always)]
    pub fn update_curr(&mut self, cpu: usize) {
        if self.cpus[cpu].curr == NONE || self.curr_is_rt(cpu) {
            return;
        }
        let delta = self.clock_task(cpu) - self.cpus[cpu].exec_start;
        if delta != 0 {
            self.charge_curr(cpu, delta);
        }
    }

    /// The current task of `cpu`, a fair one, has run for `delta` ns more.
    #[inline(never)]
    fn charge_curr(&mut self, cpu: usize, delta: u64) {
        let world = self.world();
        let c = &mut world.cpus[cpu];
        let curr = c.curr;
        let t = &mut world.tasks[curr as usize];
        let now = c.exec_start + delta;
        c.exec_start = now;
        c.stats.busy_ns += delta;
        t.last_run = now;
        t.sum_exec += delta;
        if self.cache_aware.used {
            self.cache_aware_ran(cpu, curr, delta);
        }
        let q = self.line_of(cpu, curr);
        match self.tunables.order {
            Order::Cfs => self.charge_cfs(q, curr, delta),
            Order::Eevdf => {
                self.charge_eevdf(q, curr, delta);
                if self.classes.served {
                    self.server_update(cpu, delta, false);
                }
            }
        }
        if self.groups.used {
            self.charge_group(cpu, delta);
        }
    }

    /// Does `task`, just enqueued on `cpu`, preempt its current task?
    pub fn check_preempt(&mut self, cpu: usize, task: u32) {
        self.check_preempt_by(cpu, task, false);
    }

    /// Does the new `task`, just enqueued on `cpu`, preempt its current task?
    pub fn check_preempt_new(&mut self, cpu: usize, task: u32) {
        self.check_preempt_by(cpu, task, true);
    }

    fn check_preempt_by(&mut self, cpu: usize, task: u32, new: bool) {
        if self.classes.used && self.preempts_by_class(cpu, task) {
            return;
        }
        let c = &mut self.cpus[cpu];
        let curr = c.curr;
        if curr == NONE {
            c.need_resched = true;
        } else if !c.need_resched || self.tunables.eevdf.wakeup == WakeupTest::ShortIsNext {
            match self.tunables.order {
                Order::Cfs => self.check_preempt_cfs(cpu, curr, task),
                Order::Eevdf => self.check_preempt_eevdf(cpu, curr, task, new),
            }
        }
    }

    /// The fair part of a tick (`task_tick_fair`).
    pub fn tick_fair(&mut self, cpu: usize) {
        self.update_curr(cpu);
        let curr = self.cpus[cpu].curr;
        if self.refresh_curr(cpu, curr, true) {
            self.cpufreq_update(cpu);
        }
        self.sample(cpu, curr, false);
        if self.tunables.order == Order::Cfs {
            let queue = self.queue_of(cpu, curr);
            self.tick_cfs(queue, curr);
        }
        if self.groups.used {
            self.tick_group(cpu, curr);
        }
        if self.cache_aware.used {
            self.cache_aware_tick(cpu, curr);
        }
    }

    /// `sched_yield` of the current task, which is not alone (`yield_task_fair`).
    pub fn yield_fair(&mut self, cpu: usize) {
        let curr = self.cpus[cpu].curr;
        match self.tunables.order {
            Order::Cfs => self.yield_cfs(cpu, curr),
            Order::Eevdf => self.yield_eevdf(cpu, curr),
        }
    }

    /// The task to run next, or [`NONE`]; `curr_stays`: the current one is still
    /// runnable (`pick_next_entity`). A sleeper that was kept queued (`sched_delayed`) is dequeued
    /// when it is picked.
    #[inline(always)]
    pub fn pick_fair(&mut self, cpu: usize, curr_stays: bool) -> u32 {
        match self.tunables.order {
            _ if self.groups.nested => self.pick_grouped(cpu),
            Order::Cfs => {
                let curr = match curr_stays {
                    true => self.cpus[cpu].curr,
                    false => NONE,
                };
                self.pick_cfs(cpu, curr)
            }
            Order::Eevdf => self.pick_runnable(cpu),
        }
    }

    /// The current task stays queued but stops running (`put_prev_entity`).
    pub fn put_prev(&mut self, cpu: usize) {
        let task = self.cpus[cpu].curr;
        if self.refresh_curr(cpu, task, false) {
            self.cpufreq_update(cpu);
        }
        self.sample(cpu, task, false);
        let line = self.line_of(cpu, task);
        self.queue_in(line, task);
    }

    /// A queued task becomes current (`set_next_entity`).
    #[inline(always)]
    pub fn set_next(&mut self, cpu: usize, task: u32) {
        let q = self.line_of(cpu, task);
        self.queue_out(q, task);
        let changed = match self.groups.used {
            false => {
                let (params, rq, view) = self.rq_and_task(cpu, task);
                rq::set_next(params, rq, view)
            }
            true => self.set_next_grouped(cpu, task),
        };
        if self.tunables.buddies_cleared == BuddiesCleared::SwitchedTo {
            self.forget_buddy(q, task);
        }
        let now = self.clock_task(cpu);
        self.cpus[cpu].curr = task;
        if self.tunables.order == Order::Eevdf {
            if self.groups.flat {
                self.weigh(cpu, task);
            }
            self.protect(q, task);
        }
        let world = self.world();
        let c = &mut world.cpus[cpu];
        c.exec_start = now;
        let t = &mut world.tasks[task as usize];
        t.slice_start = t.sum_exec;
        t.last_run = now;
        if !world.kernel.balance.detach.newest_first {
            c.lru.remove(&mut world.tasks, task);
            c.lru.push_front(&mut world.tasks, task);
        }
        self.sample(cpu, task, false);
        if changed {
            self.cpufreq_update(cpu);
        }
        if self.tunables.hrtick {
            self.hrtick_switch(cpu);
        }
    }
}
