// SPDX-License-Identifier: GPL-2.0-only
//! The fair class: what a task's life means to its queue, whichever rules order
//! it. CFS (`cfs`) goes by virtual runtime, EEVDF (`eevdf`) by virtual deadline;
//! the kernel's row says which.

mod cfs;
mod eevdf;
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

use crate::base::queue::NEVER;
use crate::base::timeline::NONE;
use crate::kernel::{BuddiesCleared, PickedAgain, Preemption, WakeupTest};
use crate::power::uclamp_sum;
use crate::queues::Queues;
use crate::world::World;
use alight_policy::abi::{class, task_flag};
use alight_policy::rq;

impl World<'_> {
    /// `task`, which left, was the last on `cpu` that is not SCHED_IDLE, but not the last.
    fn only_idle_left(&self, cpu: usize, task: u32) -> bool {
        let view = &self.core.cpus[cpu];
        view.nr_running != 0
            && view.nr_running == view.h_nr_idle
            && self.views[task as usize].class != class::IDLE
    }

    /// The current task should give way to another fair one.
    fn resched_fair(&mut self, cpu: usize) {
        let c = &mut self.cpus[cpu];
        match self.kernel.preemption {
            Preemption::Full => c.need_resched = true,
            Preemption::Lazy => c.resched_lazy = true,
        }
    }

    /// The current task was picked to run on.
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

    /// `cpu` is left with SCHED_IDLE tasks only: its next tick looks for better ones
    /// (`dequeue_task_fair`, 5.7).
    pub fn balance_at_next_tick(&mut self, cpu: usize) {
        self.cpus[cpu].next_balance = self.jiffies();
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

    /// The current entity of queue `q` if it counts on the queue, else [`NONE`].
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

    /// A sleeping task is about to wake on another CPU than `prev` (`migrate_task_rq_fair`).
    #[inline]
    pub fn leave_behind(&mut self, prev: usize, task: u32) {
        if self.tunables.order == Order::Cfs {
            // The old queue's time as it was last: nobody takes its lock for this.
            let min_vruntime = self.fair_queue(self.queue_of(prev, task)).min_vruntime;
            let t = &mut self.tasks[task as usize];
            t.vruntime = t.vruntime.wrapping_sub(min_vruntime);
        }
    }

    /// The signals of the current task and its queue come up to now, by a `tick` or not.
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
    pub fn update_curr(&mut self, cpu: usize) {
        if self.curr_is_rt(cpu) {
            return;
        }
        let now = self.clock_task(cpu);
        let world = self.world();
        let c = &mut world.cpus[cpu];
        let curr = c.curr;
        let Some(t) = world.tasks.get_mut(curr as usize) else {
            return;
        };
        let delta = now - c.exec_start;
        if delta == 0 {
            return;
        }
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

    /// A placed task joins the queue of `cpu` (`enqueue_task_fair`); clocks are current. Where groups
    /// are flat it is placed here, `new` or not, since its weight hangs on the groups as they are with it.
    #[inline(always)]
    fn join(&mut self, cpu: usize, task: u32, new: bool) {
        self.end_rounds(cpu);
        self.uclamp_join(cpu, task);
        let curr_fair = self.curr_is_fair(cpu);
        self.views[task as usize].prev_cpu = cpu as u32;
        let changed = match self.groups.used {
            false => {
                let (params, rq, view) = self.rq_and_task(cpu, task);
                rq::enqueue(params, rq, view, curr_fair)
            }
            true => self.enqueue_grouped(cpu, task),
        };
        let world = self.world();
        let rq = &mut world.core.cpus[cpu];
        if rq.nr_running == 2 {
            world.overloaded.insert(cpu as u32);
        }
        let first = rq.h_nr_running == 1;
        let t = &mut self.tasks[task as usize];
        t.cpu = cpu as u32;
        self.rq_changed(cpu);
        let world = self.world();
        let c = &mut world.cpus[cpu];
        c.lru.push_front(&mut world.tasks, task);
        if self.cache_aware.used {
            self.cache_aware_joined(cpu, task);
        }
        match self.groups.used {
            false => self.queue_in(cpu, task),
            true => self.join_grouped(cpu, task, new),
        }
        self.sample(cpu, task, false);
        if changed {
            self.cpufreq_update(cpu);
        }
        if uclamp_sum::add_up(&self.core.params) {
            self.clamped_joined(cpu, task);
        }
        if first && self.classes.served {
            self.server_start(cpu);
        }
        if self.tunables.hrtick && curr_fair && self.cpus[cpu].hrtick_at == NEVER {
            self.hrtick_start(cpu);
        }
    }

    /// What leaving costs the queue's books, whether it runs or is queued.
    #[inline(always)]
    fn leave(&mut self, cpu: usize, task: u32) {
        let world = self.world();
        let c = &mut world.cpus[cpu];
        c.lru.remove(&mut world.tasks, task);
        if self.cache_aware.used {
            self.cache_aware_left(cpu, task);
        }
        let line = self.line_of(cpu, task);
        self.forget_buddy(line, task);
        if self.core.cpus[cpu].nr_running == 1 {
            self.overloaded.remove(cpu as u32);
        }
        if self.core.params.sched_idle_balance != 0 && self.only_idle_left(cpu, task) {
            self.balance_at_next_tick(cpu);
        }
        self.rq_changed(cpu);
    }

    /// A woken task joins.
    #[inline(always)]
    pub fn enqueue_woken(&mut self, cpu: usize, task: u32, migrated: bool) {
        self.clock(cpu);
        self.update_curr(cpu);
        let q = self.queue_of(cpu, task);
        match self.tunables.order {
            Order::Cfs => self.place_woken(q, task, migrated),
            Order::Eevdf if self.groups.flat => {}
            Order::Eevdf => self.place(q, task, false),
        }
        self.join(cpu, task, false);
        self.overutilized_update(cpu);
        self.uclamp_joined(cpu, task);
    }

    /// A new task joins. With CFS it stands as far behind the queue's time as it
    /// would on the CPU that it was forked on; `None`: nobody forked it.
    pub fn enqueue_new(&mut self, cpu: usize, task: u32, forked_on: Option<usize>) {
        let debit = match self.tunables.order {
            Order::Cfs => self.fork_debit(forked_on.unwrap_or(cpu), task),
            Order::Eevdf => 0,
        };
        self.clock(cpu);
        self.update_curr(cpu);
        self.init_signals(cpu, task);
        let q = self.queue_of(cpu, task);
        match self.tunables.order {
            Order::Cfs => {
                let placed = self.fair_queue(q).min_vruntime.wrapping_add(debit);
                self.tasks[task as usize].vruntime = placed;
            }
            Order::Eevdf if self.groups.flat => {}
            Order::Eevdf => self.place(q, task, true),
        }
        self.join(cpu, task, true);
        self.uclamp_joined(cpu, task);
    }

    /// The current task of `cpu` goes to sleep or dies (`dequeue_task_fair`); with
    /// EEVDF a sleeper may stay queued for a while.
    #[inline(always)]
    pub fn dequeue_current(&mut self, cpu: usize) {
        self.clock(cpu);
        self.update_curr(cpu);
        let task = self.cpus[cpu].curr;
        self.uclamp_leave(cpu, task);
        if self.tunables.order == Order::Eevdf && self.delay_or_keep_lag(cpu, task) {
            self.sample(cpu, task, true);
            return;
        }
        let changed = match self.groups.used {
            false => {
                let (params, rq, view) = self.rq_and_task(cpu, task);
                rq::dequeue(params, rq, view, true, true, true)
            }
            true => self.dequeue_grouped(cpu, task, true),
        };
        if changed {
            self.cpufreq_update(cpu);
        }
        self.sample(cpu, task, true);
        self.leave(cpu, task);
        if self.tunables.order == Order::Cfs {
            let queue = self.queue_of(cpu, task);
            self.update_min_vruntime(queue);
        }
        if self.groups.used {
            self.group_left(cpu, task, true);
        }
    }

    /// A queued task leaves `src` for another CPU; where it stands becomes relative.
    pub fn detach_task(&mut self, src: usize, task: u32) {
        self.clock(src);
        self.update_curr(src);
        let q = self.line_of(src, task);
        if self.tunables.order == Order::Eevdf {
            self.keep_place(q, task);
        }
        self.uclamp_leave(src, task);
        let curr_fair = self.curr_is_fair(src);
        match self.groups.used {
            false => {
                let (params, rq, view) = self.rq_and_task(src, task);
                rq::detach(params, rq, view, curr_fair)
            }
            true => self.detach_grouped(src, task),
        }
        self.queue_out(q, task);
        self.leave(src, task);
        if self.tunables.order == Order::Cfs {
            let min_vruntime = self.fair_queue(q).min_vruntime;
            let t = &mut self.tasks[task as usize];
            t.vruntime = t.vruntime.wrapping_sub(min_vruntime);
            self.update_min_vruntime(q);
        }
        if self.groups.used {
            self.group_left(src, task, false);
        }
    }

    /// A task that `cpu` detached joins `dst`, which may have to reschedule for it.
    pub fn attach_task(&mut self, cpu: usize, dst: usize, task: u32) {
        self.clock(dst);
        self.update_curr(dst);
        self.trace_migrate(cpu, task, dst);
        self.rejoin_fair(dst, task);
        self.check_preempt(dst, task);
    }

    /// A task that left the fair queue of some CPU as it was joins that of `cpu`;
    /// clocks are current.
    pub fn rejoin_fair(&mut self, cpu: usize, task: u32) {
        let q = self.queue_of(cpu, task);
        match self.tunables.order {
            Order::Cfs => {
                let min_vruntime = self.fair_queue(q).min_vruntime;
                let t = &mut self.tasks[task as usize];
                t.vruntime = t.vruntime.wrapping_add(min_vruntime);
            }
            Order::Eevdf if self.groups.flat => {}
            Order::Eevdf => self.place(q, task, false),
        }
        self.join(cpu, task, false);
        self.uclamp_joined(cpu, task);
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
    /// runnable (`pick_next_entity`). Sleepers that were kept queued leave if they
    /// are picked.
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
