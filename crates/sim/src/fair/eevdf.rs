// SPDX-License-Identifier: GPL-2.0-only
//! EEVDF: of the tasks that got no more than their share, the one with the
//! earliest virtual deadline; who runs is left alone for a while; who sleeps in
//! debt stays queued until the debt is paid.
//!
//! Rules of kernel/sched/fair.c, Linux 7.2; the function behind each is named at
//! it. A queue `q` is that of a CPU or of a task group on a CPU, an entity a task
//! or a group: see [`super::group`]. Only task groups become buddies:
//! NEXT_BUDDY is off, and no workload uses yield_to().

use super::Order;
use super::tree::{Entity, Tree};
use super::weight::{NICE_0, before, virtual_time};
use crate::state::{Life, Sim};
use crate::table::Table;
use crate::timeline::NONE;
use alight_policy::abi::{class, task_flag};
use alight_policy::rq;

/// The queues of all CPUs and what they know of the tasks; empty with CFS.
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

    pub(super) fn insert(&mut self, q: usize, task: u32, weight: u32) {
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
    /// Has a task at `vruntime` got no more than its share (`vruntime_eligible`)?
    fn eligible(&self, vruntime: u64) -> bool {
        let ahead = i128::from(vruntime.wrapping_sub(self.zero) as i64);
        i128::from(self.sum) >= ahead * i128::from(self.weight)
    }
}

/// What is left of a lag when the weight of its task changes (`rescale_entity`).
pub(super) fn rescale(lag: i64, old: u32, new: u32) -> i64 {
    (i128::from(lag) * i128::from(old) / i128::from(new)) as i64
}

impl Sim<'_> {
    pub(super) fn entity(&self, task: u32) -> &Entity {
        &self.eevdf.entities[task as usize]
    }

    pub(super) fn entity_mut(&mut self, task: u32) -> &mut Entity {
        &mut self.eevdf.entities[task as usize]
    }

    /// `delta` ns in the virtual time of `task` (`calc_delta_fair`).
    fn virtual_of(&self, task: u32, delta: u64) -> u64 {
        if self.is_group(task) {
            return self.virtual_of_group(task, delta);
        }
        let weight = self.views[task as usize].weight;
        let inverse = self.tasks[task as usize].inv_weight;
        virtual_time(self.tunables.division, delta, weight, inverse)
    }

    /// `task` asks for slices of `ns`, 0 for the usual one (`__setparam_fair`). CFS knows no such wish.
    pub fn set_slice(&mut self, task: u32, ns: u64) {
        if self.tunables.order == Order::Cfs {
            return;
        }
        let (shortest, longest) = self.tunables.custom_slice;
        let base = self.tunables.base_slice;
        let e = self.entity_mut(task);
        e.custom = ns != 0;
        e.slice = if e.custom {
            ns.clamp(shortest, longest)
        } else {
            base
        };
    }

    fn mean(&self, q: usize) -> Mean {
        let queue = &self.eevdf.queues[q];
        let (zero, mut sum, mut weight) = (queue.zero, queue.sum, queue.weight);
        let curr = self.fair_curr(q);
        if curr != NONE {
            let own = i64::from(self.exact_weight(curr));
            weight += own;
            sum += own * self.entity(curr).vruntime.wrapping_sub(zero) as i64;
        }
        Mean { zero, sum, weight }
    }

    /// The mean itself, rounded down (`avg_vruntime`). Distances are measured from
    /// it from now on, which keeps them small and changes no result.
    pub(super) fn mean_vruntime(&mut self, q: usize) -> u64 {
        let Mean { zero, sum, weight } = self.mean(q);
        if weight == 0 {
            return zero;
        }
        self.eevdf.queues[q].move_zero(sum.div_euclid(weight));
        self.eevdf.queues[q].zero
    }

    /// Time until the deadline of `task` if it runs alone; negative behind it. Divided as
    /// `hrtick_start_fair` does.
    pub(super) fn until_deadline(&self, task: u32) -> i64 {
        let e = self.entity(task);
        let ahead = e.deadline.wrapping_sub(e.vruntime) as i64;
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

    /// `delta` ns of the current task in virtual time; at its deadline it wants
    /// another slice, and behind its protection somebody else may have a turn
    /// (`update_curr`, `update_deadline`).
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
        if self.nr_queued(q) > 1 && (expired || !self.protected(curr)) {
            if self.groups.used {
                self.forget_buddy(q, curr);
            }
            self.resched_fair(self.cpu_of(q));
        }
    }

    /// `protect_slice`.
    pub(super) fn protected(&self, curr: u32) -> bool {
        let e = self.entity(curr);
        before(e.vruntime, e.protected_until)
    }

    /// `cancel_protect_slice`.
    fn cancel_protection(&mut self, curr: u32) {
        if self.protected(curr) {
            let e = self.entity_mut(curr);
            e.protected_until = e.vruntime;
        }
    }

    /// `task` is being switched to: it keeps the CPU for its slice, or for the
    /// shortest slice that somebody waits for (`set_protect_slice`).
    pub(super) fn protect(&mut self, q: usize, task: u32) {
        let e = *self.entity(task);
        let shortest = self.eevdf.queues[q].shortest_slice(&self.eevdf.entities);
        let mut until = e.deadline;
        if let Some(shortest) = shortest.filter(|&shortest| shortest < e.slice) {
            let end = e.vruntime.wrapping_add(self.virtual_of(task, shortest));
            if before(end, until) {
                until = end;
            }
        }
        self.entity_mut(task).protected_until = until;
    }

    /// A waking task did not preempt: from its slice on it may (`update_protect_slice`).
    fn shorten_protection(&mut self, q: usize, curr: u32) {
        let own = self.entity(curr).slice;
        let queue = &self.eevdf.queues[q];
        let shortest = queue
            .shortest_slice(&self.eevdf.entities)
            .map_or(own, |s| s.min(own));
        let reach = self.virtual_of(curr, shortest);
        let e = self.entity_mut(curr);
        let end = e.vruntime.wrapping_add(reach);
        if before(end, e.protected_until) {
            e.protected_until = end;
        }
    }

    /// Places `task`, which is about to join, at its lag from the mean. It will
    /// move the mean towards itself, so that the distance is stretched by what it
    /// weighs (`place_entity`, PLACE_LAG, PLACE_DEADLINE_INITIAL, PLACE_REL_DEADLINE).
    pub fn place(&mut self, q: usize, task: u32, new: bool) {
        let slice = self.slice(task);
        let mean = self.mean_vruntime(q);
        let weight = self.mean(q).weight;
        let mut lag = 0;
        if weight != 0 {
            let own = i64::from(self.exact_weight(task));
            let stretched = i128::from(self.entity(task).lag) * i128::from(weight + own);
            lag = (stretched / i128::from(weight)) as i64;
        }
        let mut wanted = self.virtual_of(task, slice);
        if new {
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

    /// Gives `task` the lag by which [`Sim::place`] will have it stand `ahead` of `origin`, or of the
    /// mean; returns that origin. In an empty queue it stands where that begins: the others' origin
    /// lies that much before it.
    pub fn lag_to_stand_ahead(
        &mut self,
        q: usize,
        task: u32,
        origin: Option<u64>,
        ahead: i64,
    ) -> u64 {
        // No lag is longer (`entity_lag`).
        let limit = self.virtual_of(task, self.slice(task) + self.tunables.tick) as i64;
        let ahead = ahead.clamp(-limit, limit);
        let mean = self.mean_vruntime(q);
        let weight = self.mean(q).weight;
        if weight == 0 {
            self.entity_mut(task).lag = -ahead;
            return mean.wrapping_sub(ahead as u64);
        }
        let origin = origin.unwrap_or(mean);
        let behind = mean.wrapping_sub(origin.wrapping_add_signed(ahead)) as i64;
        let own = i64::from(self.exact_weight(task));
        let lag = i128::from(behind) * i128::from(weight) / i128::from(weight + own);
        self.entity_mut(task).lag = lag as i64;
        origin
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

    /// How far the mean is ahead of the queued `task`, at most a turn and a tick
    /// (`entity_lag`).
    pub(super) fn lag(&mut self, q: usize, task: u32) -> i64 {
        let mean = self.mean_vruntime(q);
        let queue = &self.eevdf.queues[q];
        let mut longest = queue.longest_slice(&self.eevdf.entities).unwrap_or(0);
        let curr = self.fair_curr(q);
        if curr != NONE {
            longest = longest.max(self.entity(curr).slice);
        }
        let limit = self.virtual_of(task, longest + self.tunables.tick) as i64;
        let behind = mean.wrapping_sub(self.entity(task).vruntime) as i64;
        behind.clamp(-limit, limit)
    }

    /// A sleeper in debt may pay it off but not run up a credit; true if it should
    /// stand elsewhere for that, or for the bound of lag (`update_entity_lag`).
    pub(super) fn lag_of_delayed(&mut self, q: usize, task: u32) -> bool {
        let now = self.lag(q, task);
        let e = self.entity_mut(task);
        e.lag = now.max(e.lag).min(0);
        let (lag, vruntime) = (e.lag, e.vruntime);
        // Lag was measured from the mean, which is the queue's zero now.
        self.eevdf.queues[q].zero.wrapping_sub(lag as u64) != vruntime
    }

    /// Has `task`, which is on the queue of `cpu`, got no more than its share
    /// (`entity_eligible`)?
    pub fn is_eligible(&self, q: usize, task: u32) -> bool {
        self.mean(q).eligible(self.entity(task).vruntime)
    }

    /// The current task sleeps or dies. A sleeper in debt stays queued: true. Else
    /// its lag is kept for when it comes back (`dequeue_entity`, DELAY_DEQUEUE).
    pub(super) fn delay_or_keep_lag(&mut self, cpu: usize, task: u32) -> bool {
        let q = self.queue_of(cpu, task);
        let lag = self.lag(q, task);
        let eligible = self.is_eligible(q, task);
        self.entity_mut(task).lag = lag;
        let view = &mut self.views[task as usize];
        if eligible || view.flags & task_flag::EXITING != 0 {
            return false;
        }
        let changed = match self.groups.used {
            false => rq::delay(&self.core.params, &mut self.core.cpus[cpu], view),
            true => self.delay_grouped(cpu, task),
        };
        if changed {
            self.cpufreq_update(cpu);
        }
        self.signals_changed(cpu);
        self.entity_mut(task).delayed = true;
        true
    }

    /// A picked entity that sleeps leaves `q` for good.
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
        let view = &mut self.views[task as usize];
        let rq = &mut self.core.cpus[cpu];
        let changed = match self.groups.used {
            false => rq::dequeue_delayed(&self.core.params, rq, view, curr_fair),
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

    /// `task`, which sleeps on the queue of `cpu`, was woken: it goes on from where
    /// it stands, without what it gained meanwhile (`requeue_delayed_entity`).
    pub fn requeue_delayed(&mut self, cpu: usize, task: u32) {
        self.clock(cpu);
        self.update_curr(cpu);
        let q = self.queue_of(cpu, task);
        if self.lag_of_delayed(q, task) {
            self.eevdf.remove(q, task);
            self.place(q, task, false);
            let weight = self.exact_weight(task);
            self.eevdf.insert(q, task, weight);
        }
        self.uclamp_join(cpu, task);
        let curr_fair = self.curr_is_fair(cpu);
        let view = &mut self.views[task as usize];
        let changed = match self.groups.used {
            false => rq::requeue(&self.core.params, &mut self.core.cpus[cpu], view, curr_fair),
            true => self.requeue_grouped(cpu, task),
        };
        if changed {
            self.cpufreq_update(cpu);
        }
        self.signals_changed(cpu);
        self.entity_mut(task).delayed = false;
        self.tasks[task as usize].life = Life::Runnable;
    }

    /// A queued task leaves otherwise than by sleeping: it takes its lag and the
    /// rest of its turn along (`dequeue_entity`, PLACE_REL_DEADLINE).
    pub(super) fn keep_place(&mut self, q: usize, task: u32) {
        let lag = self.lag(q, task);
        let e = self.entity_mut(task);
        e.lag = lag;
        e.deadline = e.deadline.wrapping_sub(e.vruntime);
        e.relative = true;
    }

    /// The running task's weight, which the views still have, becomes `weight`:
    /// it leaves and joins with its lag and the rest of its turn in the new
    /// weight's virtual time (`reweight_entity`). To be placed afterwards.
    pub fn keep_place_reweighted(&mut self, q: usize, task: u32, weight: u32) {
        self.keep_place(q, task);
        let old = self.views[task as usize].weight;
        let e = self.entity_mut(task);
        e.lag = rescale(e.lag, old, weight);
        e.deadline = rescale(e.deadline as i64, old, weight) as u64;
    }

    /// The task that should run (`__pick_eevdf`); `protect`: the current one keeps
    /// the CPU while it is protected.
    pub(super) fn pick_eevdf(&self, q: usize, protect: bool) -> u32 {
        let queue = &self.eevdf.queues[q];
        let curr = self.fair_curr(q);
        if self.nr_queued(q) <= 1 {
            return if curr != NONE { curr } else { queue.first() };
        }
        let mean = self.mean(q);
        if protect && self.groups.used {
            // PICK_BUDDY
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

    /// The task to run next; sleepers that are picked leave (`pick_next_entity`).
    pub(super) fn pick_runnable(&mut self, cpu: usize) -> u32 {
        loop {
            let pick = self.pick_eevdf(cpu, true);
            if pick == NONE || !self.eevdf.is_delayed(pick) {
                return pick;
            }
            self.finish_delayed(cpu, pick);
        }
    }

    /// Does `task`, just enqueued on `cpu`, preempt `curr` (`wakeup_preempt_fair`)?
    pub(super) fn check_preempt_eevdf(&mut self, cpu: usize, curr: u32, task: u32, new: bool) {
        if curr == task {
            return;
        }
        if self.fair_curr(self.queue_of(cpu, curr)) == NONE || self.eevdf.is_delayed(curr) {
            // It is on its way to sleep.
            return self.resched_fair(cpu);
        }
        let (se, pse) = self.matching(cpu, curr, task);
        let q = self.queue_of(cpu, se);
        let is_idle = |e: u32| self.views[e as usize].class == class::IDLE;
        match (is_idle(se), is_idle(pse)) {
            (true, false) => {
                self.cancel_protection(se);
                return self.resched_fair(cpu);
            }
            (false, true) => return,
            _ if self.views[task as usize].class != class::NORMAL => return,
            _ => {}
        }
        self.update_curr(cpu);
        let short = self.entity(pse).slice < self.entity(se).slice;
        if new && !short {
            return;
        }
        if self.wakee_is_picked(q, pse, !short) {
            if short {
                self.cancel_protection(se);
                if self.groups.used {
                    self.forget_buddy(q, se);
                }
            }
            self.resched_fair(cpu);
        } else {
            self.shorten_protection(q, se);
        }
    }

    /// Would `task` run next? Sleepers met on the way leave.
    fn wakee_is_picked(&mut self, q: usize, task: u32, protect: bool) -> bool {
        loop {
            let pick = self.pick_eevdf(q, protect);
            if pick == NONE || !self.eevdf.is_delayed(pick) {
                return pick == task;
            }
            self.finish_delayed(q, pick);
        }
    }

    /// The current task gives up the rest of its turn, if it still has a claim to
    /// the CPU (`yield_task_fair`).
    pub(super) fn yield_eevdf(&mut self, cpu: usize, curr: u32) {
        self.clock(cpu);
        self.update_curr(cpu);
        let q = self.queue_of(cpu, curr);
        if self.groups.used {
            self.forget_buddy(q, curr);
        }
        if !self.mean(q).eligible(self.entity(curr).vruntime) {
            return;
        }
        let turn = self.virtual_of(curr, self.entity(curr).slice);
        let e = self.entity_mut(curr);
        e.vruntime = e.deadline;
        e.deadline = e.deadline.wrapping_add(turn);
    }

    /// The first broken rule of the queue of `cpu`, for the invariants: what is
    /// ahead of the mean and what is behind balances, but for rounding.
    pub(crate) fn eevdf_check(&self, q: usize) -> Option<String> {
        let queue = &self.eevdf.queues[q];
        let curr = self.fair_curr(q);
        let queued = |&task: &u32| {
            let view = &self.views[task as usize];
            let here = self.queue_of(self.tasks[task as usize].cpu as usize, task) == q;
            here && view.flags & task_flag::ON_RQ != 0 && task != curr && !self.is_rt(task)
        };
        let (mut sum, mut weight) = (0i128, 0i64);
        for task in (0..self.tasks.len() as u32).filter(queued) {
            let own = i64::from(self.exact_weight(task));
            let distance = self.entity(task).vruntime.wrapping_sub(queue.zero) as i64;
            sum += i128::from(own) * i128::from(distance);
            weight += own;
        }
        if (i128::from(queue.sum), queue.weight) != (sum, weight) {
            return Some(format!(
                "queue {q} sums up to {} of weight {}, its tasks to {sum} of {weight}",
                queue.sum, queue.weight
            ));
        }
        if queue.len() != 0 && curr == NONE {
            let mean = self.mean(q);
            let due = queue.pick(&self.eevdf.entities, |vruntime| mean.eligible(vruntime));
            if due == NONE {
                return Some(format!("no task in queue {q} is eligible"));
            }
        }
        None
    }
}

#[cfg(test)]
mod against_live;
#[cfg(test)]
mod tests;
