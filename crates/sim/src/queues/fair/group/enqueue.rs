// SPDX-License-Identifier: GPL-2.0-only
//! Groups join the queue of a CPU with the first of their tasks, and leave it with the last.

use crate::base::timeline::NONE;
use crate::kernel::Sleepers;
use crate::kernel::tunables::Order;
use crate::queues::Queues;
use alight_policy::abi::task_flag;

impl Queues<'_> {
    /// Where tasks may ask for slices, a group asks for the shortest of its tasks
    /// (`cfs_rq_min_slice`).
    fn take_slice(&mut self, cpu: usize, entity: u32) {
        let cfs = self.tunables.order == Order::Cfs;
        if cfs || self.groups.flat || self.tunables.eevdf.custom_slice_ns.is_none() {
            return;
        }
        let q = self.groups.cpus + entity as usize - self.groups.tasks;
        let slice = self.shortest_slice(q);
        let e = self.entity_mut(entity);
        (e.slice, e.custom) = (slice, true);
        if self.on_queue(entity) && self.groups.roots[cpu].curr != entity {
            self.eevdf.slice_changed(cpu, entity);
        }
    }

    /// The entity joins or leaves the sums of the queue of `cpu`.
    fn count_entity(&mut self, cpu: usize, entity: u32, joins: bool) {
        let weight = self.group_queue(entity).weight;
        let root = &mut self.groups.roots[cpu];
        match joins {
            true => root.fine += weight,
            false => root.fine -= weight,
        }
        self.views[entity as usize].flags ^= task_flag::ON_RQ;
        self.count_weight(cpu);
    }

    /// `task` forks `child`, which is in its group if it has none of its own.
    pub fn inherit_group(&mut self, task: u32, child: u32) {
        if !self.groups.own[child as usize] {
            self.groups.of[child as usize] = self.groups.of[task as usize];
            self.uclamp_limit(child);
        }
    }

    /// `task` has joined its queue on `cpu`: its group joins the CPU's, if it is
    /// not there (`enqueue_task_fair`).
    pub fn group_joined(&mut self, cpu: usize, task: u32) {
        let Some(entity) = self.group_entity(cpu, task) else {
            return;
        };
        if self.on_queue(entity) {
            if self.is_delayed(entity) {
                self.requeue_group(cpu, entity);
            }
            return self.group_changed(cpu, entity);
        }
        self.take_slice(cpu, entity);
        self.refresh_entity(cpu, entity);
        self.runnable_changed(entity);
        self.update_group(cpu, entity);
        if self.groups.flat {
            return self.count_entity(cpu, entity, true);
        }
        match self.tunables.order {
            Order::Cfs => self.place_woken(cpu, entity, false),
            Order::Eevdf => self.place(cpu, entity, false),
        }
        self.count_entity(cpu, entity, true);
        if self.groups.roots[cpu].curr != entity {
            self.queue_in(cpu, entity);
        }
    }

    /// `task` has left its queue on `cpu`; `sleeps`: it went to sleep. Its group leaves the CPU's
    /// queue if it has no task left there (`dequeue_task_fair`, 7.2: `dequeue_entities`).
    pub(in crate::queues::fair) fn group_left(&mut self, cpu: usize, task: u32, sleeps: bool) {
        let Some(entity) = self.group_entity(cpu, task) else {
            return;
        };
        if self.group_queue(entity).view.h_nr_running == 0 {
            return self.group_leaves(cpu, entity);
        }
        if sleeps && self.groups.nested {
            // The task slept within its turn: its group gets the rest.
            self.set_next_buddy(cpu, entity);
        }
        self.group_changed(cpu, entity);
    }

    /// A group's queue has changed; its entity stays queued.
    fn group_changed(&mut self, cpu: usize, entity: u32) {
        self.refresh_entity(cpu, entity);
        self.runnable_changed(entity);
        self.update_group(cpu, entity);
        self.take_slice(cpu, entity);
    }

    /// The entity of a group without tasks leaves the queue of `cpu`. With EEVDF from 6.12 on it
    /// stays queued until it is eligible, like a task (`dequeue_entity`).
    fn group_leaves(&mut self, cpu: usize, entity: u32) {
        if self.groups.flat {
            return self.group_gone(cpu, entity);
        }
        self.forget_buddy(cpu, entity);
        let eevdf = self.tunables.order == Order::Eevdf;
        let rules = self.tunables.eevdf;
        if eevdf {
            let lag = self.lag(cpu, entity);
            self.entity_mut(entity).lag = lag;
            if rules.sleepers != Sleepers::Leave && !self.is_eligible(cpu, entity) {
                self.refresh_entity(cpu, entity);
                self.entity_mut(entity).delayed = true;
                return;
            }
        }
        self.group_gone(cpu, entity);
        if !eevdf || !rules.empty_group_keeps_weight {
            self.update_group(cpu, entity);
        }
        if !eevdf {
            self.update_min_vruntime(cpu);
        }
    }

    /// Dequeues a picked group entity without tasks that had stayed in the queue of `cpu`.
    pub(in crate::queues::fair) fn finish_delayed_group(&mut self, cpu: usize, entity: u32) {
        self.forget_buddy(cpu, entity);
        self.lag_of_delayed(cpu, entity);
        self.group_gone(cpu, entity);
        self.entity_mut(entity).delayed = false;
    }

    fn group_gone(&mut self, cpu: usize, entity: u32) {
        self.refresh_entity(cpu, entity);
        self.runnable_changed(entity);
        if self.groups.nested && self.groups.roots[cpu].curr != entity {
            self.queue_out(cpu, entity);
        }
        self.count_entity(cpu, entity, false);
    }

    /// The group of `entity`, which had stayed queued without tasks, has a task again
    /// (`requeue_delayed_entity`).
    fn requeue_group(&mut self, cpu: usize, entity: u32) {
        if self.lag_of_delayed(cpu, entity) {
            let running = self.groups.roots[cpu].curr == entity;
            if !running {
                self.queue_out(cpu, entity);
            }
            // Place it as if it were not queued (`nr_queued--`).
            self.views[entity as usize].flags &= !task_flag::ON_RQ;
            self.place(cpu, entity, false);
            self.views[entity as usize].flags |= task_flag::ON_RQ;
            if !running {
                self.queue_in(cpu, entity);
            }
        }
        self.refresh_entity(cpu, entity);
        self.entity_mut(entity).delayed = false;
    }

    /// The current task of `cpu` moves to `group` (`sched_move_task`): it leaves its queue as in a
    /// migration, joins the other one, and the CPU reschedules.
    pub fn change_group(&mut self, cpu: usize, task: u32, group: u32) {
        if self.groups.of[task as usize] == group {
            return;
        }
        if self.is_rt(task) {
            self.groups.of[task as usize] = group;
            return;
        }
        self.clock(cpu);
        self.update_curr(cpu);
        self.put_prev(cpu);
        self.cpus[cpu].curr = NONE;
        self.switch_groups(cpu, NONE);
        self.detach_task(cpu, task);
        self.groups.of[task as usize] = group;
        self.uclamp_limit(task);
        self.rejoin_fair(cpu, task);
        self.switch_groups(cpu, task);
        self.set_next(cpu, task);
        self.cpus[cpu].need_resched = true;
    }
}
