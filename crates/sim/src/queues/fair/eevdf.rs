// SPDX-License-Identifier: GPL-2.0-only
//! EEVDF: the pick, placement by lag, and sleepers that stay queued. It runs the eligible task
//! with the earliest virtual deadline; a task is eligible if it got no more than its share. The
//! current task is protected for a while. A sleeper with negative lag stays queued until it is
//! eligible.
//!
//! The rules are those of kernel/sched/fair.c; comments name the kernel's function, and
//! differences between kernels are in [`crate::kernel::Eevdf`]. A queue `q` belongs to a CPU, or
//! to a task group on a CPU; an entity is a task or a group: see [`super::group`] and
//! [`super::flat`]. NEXT_BUDDY is off, and no workload uses yield_to(): buddies are task groups,
//! and in 7.3 tasks with short slices.
//!
//! 6.6 sorts its queue by virtual runtime and searches it by the least deadline below a node. It
//! picks the same task, except among queued tasks with equal deadlines: its pick depends on the
//! shape of the tree, while here the first one queued is picked. Kernels measure virtual times
//! from the least (up to 6.17) or from the mean; this changes no result.

use super::tree::{Entity, Tree};
use super::{NICE_0_FINE, Order};
use crate::base::table::Table;
use crate::base::timeline::NONE;
use crate::kernel::weight::{NICE_0, before, virtual_time};
use crate::kernel::{Buddies, MovedDeadline, Sleepers, WakeupTest};
use crate::queues::Queues;
use crate::world::World;
use crate::world::state::Life;
use alight_policy::abi::task_flag;
use alight_policy::rq;

/// The queues of all CPUs and the entities of all tasks; empty with CFS.
#[derive(Debug)]
pub(crate) struct Eevdf {
    queues: Table<Tree>,
    entities: Table<Entity>,
}

impl Eevdf {
    pub fn new(queues: usize, entities: usize) -> Self {
        let entities: Vec<_> = (0..entities).map(Entity::new).collect();
        // SAFETY: indexed by the numbers of queues and entities that the caller counts, and by the
        // links between entities.
        unsafe {
            Eevdf {
                queues: Table::new(vec![Tree::default(); queues]),
                entities: Table::new(entities),
            }
        }
    }

    /// Entities queued in `q` without the current one.
    pub fn queued(&self, q: usize) -> u32 {
        self.queues[q].len()
    }

    /// The slice of `entity`, which is in `q`, has changed (`min_vruntime_cb_propagate`).
    pub(super) fn slice_changed(&mut self, q: usize, entity: u32) {
        self.queues[q].slice_changed(&mut self.entities, entity);
    }

    #[inline]
    pub fn is_delayed(&self, task: u32) -> bool {
        self.entities[task as usize].delayed
    }

    pub(super) fn insert(&mut self, q: usize, task: u32, weight: u64) {
        self.queues[q].insert(&mut self.entities, task, weight);
    }

    pub(super) fn remove(&mut self, q: usize, task: u32) {
        self.queues[q].remove(&mut self.entities, task);
    }
}

/// The weighted mean of the virtual runtimes of a queue, its current task
/// included: sum of weight times distance from `zero`, and of weights.
#[derive(Clone, Copy)]
struct Mean {
    zero: u64,
    sum: i64,
    weight: i64,
}

impl Mean {
    /// Is a task at `vruntime` eligible: has it got no more than its share (`vruntime_eligible`)?
    fn eligible(&self, vruntime: u64) -> bool {
        let ahead = i128::from(vruntime.wrapping_sub(self.zero) as i64);
        i128::from(self.sum) >= ahead * i128::from(self.weight)
    }
}

/// A lag after the weight of its task has changed from `old` to `new` (`rescale_entity`).
pub(super) fn rescale(lag: i64, old: u64, new: u64) -> i64 {
    (i128::from(lag) * i128::from(old) / i128::from(new)) as i64
}

impl World<'_> {
    /// Does an eligible buddy go first in a pick? `protect`: the pick heeds protection.
    fn pick_asks_buddy(&self, protect: bool) -> bool {
        match self.tunables.eevdf.buddies {
            Buddies::Ignored | Buddies::AtSwitches => false,
            Buddies::InAllPicks => true,
            Buddies::InPicks => protect,
        }
    }
}

impl Queues<'_> {
    pub(super) fn entity(&self, task: u32) -> &Entity {
        &self.eevdf.entities[task as usize]
    }

    pub(super) fn entity_mut(&mut self, task: u32) -> &mut Entity {
        &mut self.eevdf.entities[task as usize]
    }

    /// `delta` ns in the virtual time of `task` (`calc_delta_fair`).
    fn virtual_of(&self, task: u32, delta: u64) -> u64 {
        if self.weighs_finely(task) {
            return self.virtual_of_fine(task, delta);
        }
        let weight = self.views[task as usize].weight;
        let inverse = self.tasks[task as usize].inv_weight;
        virtual_time(self.tunables.division, delta, weight, inverse)
    }

    /// `task` asks for slices of `ns`, 0 for the usual one (`__setparam_fair`). CFS, and EEVDF up
    /// to 6.11, ignore the request.
    pub fn set_slice(&mut self, task: u32, ns: u64) {
        if self.tunables.order == Order::Cfs {
            return;
        }
        let base = self.tunables.base_slice;
        let asked = match self.tunables.eevdf.custom_slice_ns {
            Some((shortest, longest)) if ns != 0 => Some(ns.clamp(shortest, longest)),
            _ => None,
        };
        let e = self.entity_mut(task);
        e.custom = asked.is_some();
        e.slice = asked.unwrap_or(base);
    }

    fn mean(&self, q: usize) -> Mean {
        let queue = &self.eevdf.queues[q];
        let (zero, mut sum, mut weight) = (queue.zero, queue.sum, queue.weight);
        let curr = self.fair_curr(q);
        if curr != NONE {
            let own = self.exact_weight(curr) as i64;
            weight += own;
            sum += own * self.entity(curr).vruntime.wrapping_sub(zero) as i64;
        }
        Mean { zero, sum, weight }
    }

    /// The mean of the virtual runtimes, rounded down (`avg_vruntime`). It becomes the queue's
    /// zero, which keeps distances small and changes no result.
    pub(super) fn mean_vruntime(&mut self, q: usize) -> u64 {
        self.mean_and_weight(q).0
    }

    /// The mean, and the weight of all entities in it.
    fn mean_and_weight(&mut self, q: usize) -> (u64, i64) {
        let Mean { zero, sum, weight } = self.mean(q);
        if weight == 0 {
            return (zero, 0);
        }
        self.eevdf.queues[q].move_zero(sum.div_euclid(weight));
        (self.eevdf.queues[q].zero, weight)
    }

    /// Time until the deadline of `task` if it runs alone; negative if the deadline is past. The
    /// division is that of `hrtick_start_fair`.
    pub(super) fn until_deadline(&self, task: u32) -> i64 {
        let e = self.entity(task);
        let ahead = e.deadline.wrapping_sub(e.vruntime) as i64;
        if self.groups.flat {
            let turned = i128::from(ahead) * i128::from(self.exact_weight(task));
            return (turned / i128::from(NICE_0_FINE)) as i64;
        }
        let weight = i64::from(self.views[task as usize].weight);
        ahead.saturating_mul(weight) / i64::from(NICE_0)
    }

    #[cfg(test)]
    pub(crate) fn vruntime_of(&self, task: u32) -> u64 {
        self.entity(task).vruntime
    }

    #[cfg(test)]
    pub(super) fn set_until_deadline(&mut self, task: u32, left: u64) {
        let e = self.entity_mut(task);
        e.deadline = e.vruntime.wrapping_add(left);
    }

    /// Slice of `task` at its next turn (`update_deadline`).
    fn slice(&self, task: u32) -> u64 {
        let e = self.entity(task);
        if e.custom {
            e.slice
        } else {
            self.tunables.base_slice
        }
    }

    /// Charges the current entity of `q` the virtual time of `delta` ns. At its deadline it gets
    /// the next deadline, and the CPU reschedules if others are queued (`update_curr`,
    /// `update_deadline`).
    pub(super) fn charge_eevdf(&mut self, q: usize, curr: u32, delta: u64) {
        let ran = self.virtual_of(curr, delta);
        let e = self.entity_mut(curr);
        e.vruntime = e.vruntime.wrapping_add(ran);
        let expired = !before(e.vruntime, e.deadline);
        if expired {
            let slice = self.slice(curr);
            let wanted = self.virtual_of(curr, slice);
            let e = self.entity_mut(curr);
            e.slice = slice;
            e.deadline = e.vruntime.wrapping_add(wanted);
        }
        if self.nr_queued(q) > 1 && (expired || self.turn_ends_early(q, curr)) {
            if self.groups.buddies {
                self.forget_buddy(q, curr);
            }
            let cpu = self.cpu_of(q);
            self.resched_fair(cpu);
        }
    }

    /// Places `task`, which is about to join, at its lag from the mean. Joining moves the mean
    /// towards the task: the lag is stretched beforehand to make up for that
    /// (`place_entity`, PLACE_LAG, PLACE_DEADLINE_INITIAL, PLACE_REL_DEADLINE).
    pub fn place(&mut self, q: usize, task: u32, new: bool) {
        let slice = self.slice(task);
        let (mean, weight) = self.mean_and_weight(q);
        let mut lag = 0;
        if weight != 0 {
            let own = self.exact_weight(task) as i64;
            let stretched = i128::from(self.entity(task).lag) * i128::from(weight + own);
            lag = (stretched / i128::from(weight)) as i64;
        }
        let mut wanted = self.virtual_of(task, slice);
        if new && self.tunables.eevdf.new_gets_half {
            wanted /= 2;
        }
        let e = self.entity_mut(task);
        e.slice = slice;
        e.vruntime = mean.wrapping_sub(lag as u64);
        if !e.relative {
            e.deadline = wanted;
        }
        e.deadline = e.deadline.wrapping_add(e.vruntime);
        e.relative = false;
    }

    /// Shortest slice on the queue `q` (`cfs_rq_min_slice`).
    pub(super) fn shortest_slice(&self, q: usize) -> u64 {
        let queued = self.eevdf.queues[q].shortest_slice(&self.eevdf.entities);
        let curr = self.fair_curr(q);
        let own = match curr {
            NONE => u64::MAX,
            curr => self.entity(curr).slice,
        };
        queued.unwrap_or(u64::MAX).min(own)
    }

    /// Is `task`, which is on the queue `q`, eligible (`entity_eligible`)?
    pub fn is_eligible(&self, q: usize, task: u32) -> bool {
        self.mean(q).eligible(self.entity(task).vruntime)
    }

    /// A queued task leaves without sleeping: keeps its lag and the rest of its turn
    /// (`dequeue_entity`, PLACE_REL_DEADLINE).
    pub fn keep_place(&mut self, q: usize, task: u32) {
        let lag = self.lag(q, task);
        let relative = self.tunables.eevdf.moved_deadline != MovedDeadline::Anew;
        let e = self.entity_mut(task);
        e.lag = lag;
        if relative {
            e.deadline = e.deadline.wrapping_sub(e.vruntime);
            e.relative = true;
        }
    }

    /// The weight of the running task is about to become `weight`: keeps its lag and the rest of
    /// its turn, in the virtual time of the new weight (`reweight_entity`). The caller changes the
    /// weight and places the task.
    pub fn keep_place_reweighted(&mut self, q: usize, task: u32, weight: u32) {
        self.keep_place(q, task);
        let old = self.views[task as usize].weight;
        let rescaled = self.tunables.eevdf.moved_deadline == MovedDeadline::Rescaled;
        let (old, weight) = (old.into(), weight.into());
        let e = self.entity_mut(task);
        match rescaled {
            true => e.rescale(old, weight),
            false => e.lag = rescale(e.lag, old, weight),
        }
    }

    /// The running `task`, whose weight changed, joined again (`set_next_entity`).
    pub fn protect_reweighted(&mut self, q: usize, task: u32) {
        if self.tunables.eevdf.reweighted_is_protected {
            self.protect(q, task);
        }
    }

    /// The entity of `q` that should run (`__pick_eevdf`); `protect`: the current one keeps
    /// the CPU while it is protected.
    pub(super) fn pick_eevdf(&self, q: usize, protect: bool) -> u32 {
        let queue = &self.eevdf.queues[q];
        let curr = self.fair_curr(q);
        if self.nr_queued(q) <= 1 {
            return if curr != NONE { curr } else { queue.first() };
        }
        let mean = self.mean(q);
        if self.groups.buddies && self.pick_asks_buddy(protect) {
            let buddy = self.fair_queue(q).next;
            if buddy != NONE && mean.eligible(self.entity(buddy).vruntime) {
                return buddy;
            }
        }
        let due = curr != NONE && mean.eligible(self.entity(curr).vruntime);
        if due && protect && self.protected(curr) {
            return curr;
        }
        let best = queue.pick(&self.eevdf.entities, |vruntime| mean.eligible(vruntime));
        let earlier = || before(self.entity(curr).deadline, self.entity(best).deadline);
        if due && (best == NONE || earlier()) {
            curr
        } else {
            best
        }
    }

    /// The entity of queue `q` to run next where there are groups (`pick_next_entity`).
    pub(super) fn pick_at_switch(&self, q: usize) -> u32 {
        if self.tunables.eevdf.buddies == Buddies::AtSwitches {
            let buddy = self.fair_queue(q).next;
            if buddy != NONE && self.is_eligible(q, buddy) {
                return buddy;
            }
        }
        self.pick_eevdf(q, true)
    }

    /// The current task sleeps or dies; its lag is kept for its return. True if it stays queued
    /// because its lag is negative (`dequeue_entity`, DELAY_DEQUEUE).
    pub(super) fn delay_or_keep_lag(&mut self, cpu: usize, task: u32) -> bool {
        let q = self.line_of(cpu, task);
        let lag = self.lag(q, task);
        let eligible = self.is_eligible(q, task);
        self.entity_mut(task).lag = lag;
        if self.tunables.eevdf.wakeup == WakeupTest::ShortIsNext {
            self.forget_buddy(q, task);
        }
        let stays = self.tunables.eevdf.sleepers != Sleepers::Leave;
        let exits = self.views[task as usize].flags & task_flag::EXITING != 0;
        if !stays || eligible || exits {
            return false;
        }
        let changed = match self.groups.used {
            false => {
                let (params, rq, view) = self.rq_and_task(cpu, task);
                rq::delay(params, rq, view)
            }
            true => self.delay_grouped(cpu, task),
        };
        if changed {
            self.cpufreq_update(cpu);
        }
        self.signals_changed(cpu);
        self.entity_mut(task).delayed = true;
        true
    }

    /// Dequeues a picked entity that sleeps.
    pub(super) fn finish_delayed(&mut self, q: usize, task: u32) {
        let cpu = self.cpu_of(q);
        if self.is_group(task) {
            return self.finish_delayed_group(cpu, task);
        }
        self.lag_of_delayed(q, task);
        if self.cpus[cpu].curr != task {
            self.eevdf.remove(q, task);
        }
        self.entity_mut(task).delayed = false;
        let curr_fair = self.curr_is_fair(cpu);
        let changed = match self.groups.used {
            false => {
                let (params, rq, view) = self.rq_and_task(cpu, task);
                rq::dequeue_delayed(params, rq, view, curr_fair)
            }
            true => self.dequeue_delayed_grouped(cpu, task),
        };
        if changed {
            self.cpufreq_update(cpu);
        }
        self.leave(cpu, task);
        if self.groups.used {
            self.group_left(cpu, task, true);
        }
    }

    /// `task`, which sleeps on the queue of `cpu`, was woken: it keeps its place, but not a
    /// positive lag gained meanwhile (`requeue_delayed_entity`).
    pub fn requeue_delayed(&mut self, cpu: usize, task: u32) {
        self.clock(cpu);
        if self.tunables.eevdf.sleepers == (Sleepers::PayDebtOnly { charges_curr: true }) {
            self.update_curr(cpu);
        }
        let q = self.line_of(cpu, task);
        if self.lag_of_delayed(q, task) {
            self.eevdf.remove(q, task);
            self.place(q, task, false);
            let weight = self.exact_weight(task);
            self.eevdf.insert(q, task, weight);
        }
        self.uclamp_join(cpu, task);
        let curr_fair = self.curr_is_fair(cpu);
        let changed = match self.groups.used {
            false => {
                let (params, rq, view) = self.rq_and_task(cpu, task);
                rq::requeue(params, rq, view, curr_fair)
            }
            true => self.requeue_grouped(cpu, task),
        };
        if changed {
            self.cpufreq_update(cpu);
        }
        self.signals_changed(cpu);
        self.entity_mut(task).delayed = false;
        self.uclamp_joined(cpu, task);
        self.tasks[task as usize].life = Life::Runnable;
    }

    /// The task to run next; sleepers that are picked are dequeued (`pick_next_entity`).
    pub(super) fn pick_runnable(&mut self, cpu: usize) -> u32 {
        loop {
            let pick = self.pick_eevdf(cpu, true);
            if pick == NONE || !self.eevdf.is_delayed(pick) {
                return pick;
            }
            self.finish_delayed(cpu, pick);
        }
    }
}

mod check;
mod lag;
mod preempt;

#[cfg(test)]
mod against_live;
#[cfg(test)]
mod by_version;
#[cfg(test)]
mod from_6_18;
#[cfg(test)]
pub(super) mod tests;
