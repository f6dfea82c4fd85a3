// SPDX-License-Identifier: GPL-2.0-only
//! Enqueue and dequeue of fair tasks: wakeup, fork, sleep, exit, migration.

use crate::base::queue::NEVER;
use crate::kernel::tunables::Order;
use crate::power::uclamp_sum;
use crate::queues::Queues;
use crate::world::World;
use alight_policy::abi::class;
use alight_policy::rq;

impl World<'_> {
    /// `task` left `cpu`: did it leave SCHED_IDLE tasks only, and is it none itself?
    fn only_idle_left(&self, cpu: usize, task: u32) -> bool {
        let view = &self.core.cpus[cpu];
        view.nr_running != 0
            && view.nr_running == view.h_nr_idle
            && self.views[task as usize].class != class::IDLE
    }

    /// `cpu` is left with SCHED_IDLE tasks only: its next tick balances to find other tasks
    /// (`dequeue_task_fair`, 5.7).
    pub fn balance_at_next_tick(&mut self, cpu: usize) {
        self.cpus[cpu].next_balance = self.jiffies();
    }
}

impl Queues<'_> {
    /// A sleeping task is about to wake on another CPU than `prev` (`migrate_task_rq_fair`).
    #[inline]
    pub fn leave_behind(&mut self, prev: usize, task: u32) {
        if self.tunables.order == Order::Cfs {
            // The old queue's time at its last update: the kernel does not take its lock here.
            let min_vruntime = self.fair_queue(self.queue_of(prev, task)).min_vruntime;
            let t = &mut self.tasks[task as usize];
            t.vruntime = t.vruntime.wrapping_sub(min_vruntime);
        }
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

    /// A new task joins. With CFS its distance from the queue's time is the one that it would
    /// have on the CPU that it was forked on; `None`: it was not forked.
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

    /// A placed task joins the queue of `cpu` (`enqueue_task_fair`); clocks are current. With flat
    /// groups it is placed here, because its weight depends on its group with the task included;
    /// `new` is for that placement.
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

    /// The bookkeeping when a running or queued task leaves the queue.
    #[inline(always)]
    pub(super) fn leave(&mut self, cpu: usize, task: u32) {
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

    /// A queued task leaves `src` for another CPU; its place becomes relative to the queue.
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
}
