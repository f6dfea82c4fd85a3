// SPDX-License-Identifier: GPL-2.0-only
//! Task groups (cgroups of the cpu controller), one level below the root: CPUs
//! are shared between groups by their weights, and within a group by its tasks'.
//!
//! On each CPU a group has a queue of its tasks, and an entity that stands for
//! them in the CPU's queue beside tasks without a group. Both queues go by the
//! same rules (`cfs`, `eevdf`); they know the number of a queue and of an entity:
//!
//! | | number |
//! |---|---|
//! | queue of CPU c | c |
//! | queue of group g on CPU c | CPUs + g * CPUs + c |
//! | entity of a task | the task's |
//! | entity of group g on CPU c | tasks + g * CPUs + c |
//!
//! so that tables of queues and of entities hold one sort behind the other. In a
//! run without groups a CPU's number is its queue's, and nothing here is looked at.
//!
//! A group's weight is spread over its entities as its load is (`calc_group_shares`):
//! each gets a part as its queue has of the load of all. `signals` is load
//! tracking through both levels; this file is who comes, goes and runs. Rules of
//! kernel/sched/fair.c; the function behind each is named at it.
//!
//! Left out: groups below groups, bandwidth (`cpu.max`), automatic groups of
//! sessions (`CONFIG_SCHED_AUTOGROUP`). The kernel charges a level when it is
//! touched, here both are charged together.

mod check;
mod names;
mod signals;
#[cfg(test)]
mod tests;
mod weights;

use super::NICE_0_FINE;
use crate::base::timeline::{NONE, Nodes};
use crate::face::api::Cgroup;
use crate::kernel::tunables::{Order, Tunables};
use crate::kernel::{BuddiesCleared, Levels, Sleepers, WakeupTest};
use crate::queues::Queues;
use crate::world::state::FairQueue;
use alight_policy::abi::{class, task_flag};

/// Least weight of a group's entity (`MIN_SHARES`), in the finer unit, which the
/// kernel forgot to convert it to.
const MIN_SHARES: u64 = 2;
/// Weights of groups have this many bits behind the point (`scale_load`).
const FINE: u32 = 10;

/// A group.
#[derive(Debug, Clone)]
struct TaskGroup {
    /// `tg->shares`, in the finer unit.
    shares: u64,
    /// Load of its queues, as they have told it (`tg->load_avg`).
    load_avg: u64,
    /// Tasks that want to run, in 1024ths, told along with it (`tg->runnable_avg`; 7.3).
    runnable_avg: u64,
}

/// What a group is on a CPU: its queue, and what its entity has beyond a task's.
#[derive(Debug, Clone, Default)]
struct GroupQueue {
    fair: FairQueue,
    /// Sums and signals of its tasks.
    view: alight_policy::Cpu,
    /// The entity's weight in the finer unit.
    weight: u64,
    /// Tasks that want to run, as the entity's signals know it (`runnable_weight`).
    runnable: u64,
    /// What it has told the group of its load, and when (`tg_load_avg_contrib`).
    contribution: u64,
    runnable_contribution: u64,
    contributed_at: u64,
    /// Signals came or went, which the entity does not know yet (`propagate`,
    /// `prop_runnable_sum`).
    propagate: bool,
    prop_sum: i64,
    /// Sums of load of those that were removed from afar (`removed.runnable_sum`).
    removed_sum: i64,
}

/// What groups add to the queue of a CPU.
#[derive(Debug, Clone, Copy)]
struct Root {
    /// Entity of the group that runs, or [`NONE`] (`cfs_rq->curr`).
    curr: u32,
    /// Weights of the groups queued, in the finer unit.
    fine: u64,
    /// What of the queue's weight is theirs.
    weight: u32,
}

/// The groups of a run.
#[derive(Debug)]
pub(crate) struct Groups {
    /// Fair tasks may be in groups: else nothing of it is looked at.
    pub used: bool,
    /// Groups stand in trees, and have some of their own ([`Levels::Nested`]).
    pub nested: bool,
    /// Their tasks stand in the CPUs' trees ([`Levels::Flat`], [`super::flat`]).
    pub flat: bool,
    /// `cfs_rq->next` may be somebody, with EEVDF.
    pub buddies: bool,
    cpus: usize,
    tasks: usize,
    /// The first entity whose weight is kept in the finer unit: of a group where they are nested,
    /// else any.
    fine_from: usize,
    /// Weights of tasks in their CPU's tree where groups are flat, in the finer unit (`se->h_load`).
    at_root: Box<[u64]>,
    /// Group of each task, [`NONE`] without one.
    of: Box<[u32]>,
    /// Tasks that were given theirs; others begin where they are forked.
    own: Box<[bool]>,
    groups: Box<[TaskGroup]>,
    queues: Box<[GroupQueue]>,
    roots: Box<[Root]>,
}

impl Groups {
    /// `groups` for tasks that are given those of `of`; `cpus` of the machine.
    pub fn new(groups: &[Cgroup], of: &[Option<u32>], cpus: usize, rules: &Tunables) -> Self {
        let used = !groups.is_empty();
        let flat = used && rules.eevdf.levels == Levels::Flat;
        let nr = if used { cpus } else { 0 };
        let root = Root {
            curr: NONE,
            fine: 0,
            weight: 0,
        };
        let queue = GroupQueue {
            weight: NICE_0_FINE,
            ..GroupQueue::default()
        };
        let tasks = if used { of.len() } else { usize::MAX };
        Groups {
            used,
            nested: used && !flat,
            flat,
            buddies: used && !flat || rules.eevdf.wakeup == WakeupTest::ShortIsNext,
            cpus,
            tasks,
            fine_from: if flat { 0 } else { tasks },
            at_root: vec![NICE_0_FINE; if flat { of.len() } else { 0 }].into(),
            of: of.iter().map(|group| group.unwrap_or(NONE)).collect(),
            own: of.iter().map(Option::is_some).collect(),
            groups: (groups.iter())
                .map(|group| TaskGroup {
                    shares: u64::from(crate::kernel::weight::shares(group)) << FINE,
                    load_avg: 0,
                    runnable_avg: 0,
                })
                .collect(),
            queues: vec![queue; groups.len() * nr].into(),
            roots: vec![root; nr].into(),
        }
    }

    /// Entities, and queues, that groups have.
    pub fn entities(&self) -> usize {
        self.queues.len()
    }

    /// As [`FairQueue::tree`] of queue `q`, which is a group's.
    pub fn queue_in(&mut self, q: usize, nodes: &mut Nodes, entity: u32, key: u64) {
        let queue = &mut self.queues[q - self.cpus];
        queue.fair.tree.insert(nodes, entity, key);
    }

    pub fn queue_out(&mut self, q: usize, nodes: &mut Nodes, entity: u32) {
        let queue = &mut self.queues[q - self.cpus];
        queue.fair.tree.remove(nodes, entity);
    }
}

/// Who runs, who is a buddy, and who meets whom.
impl Queues<'_> {
    /// See [`Queues::fair_curr`].
    pub fn group_curr(&self, q: usize) -> u32 {
        let cpu = self.cpu_of(q);
        let group = self.groups.roots[cpu].curr;
        let entity = match (q == cpu, group) {
            (true, group) if group != NONE => group,
            _ => {
                let curr = self.cpus[cpu].curr;
                if curr == NONE || self.curr_is_rt(cpu) || self.queue_of(cpu, curr) != q {
                    return NONE;
                }
                curr
            }
        };
        if self.on_queue(entity) { entity } else { NONE }
    }

    /// Is there a current entity on `q`, queued or not (`cfs_rq->curr`)?
    fn runs_in(&self, q: usize) -> bool {
        let cpu = self.cpu_of(q);
        if q == cpu && self.groups.roots[cpu].curr != NONE {
            return true;
        }
        let curr = self.cpus[cpu].curr;
        curr != NONE && !self.curr_is_rt(cpu) && self.queue_of(cpu, curr) == q
    }

    /// The entities of two tasks of `cpu` that are in one queue (`find_matching_se`).
    #[inline]
    pub fn matching(&self, cpu: usize, a: u32, b: u32) -> (u32, u32) {
        match self.groups.nested && self.queue_of(cpu, a) != self.queue_of(cpu, b) {
            true => (self.root_entity(cpu, a), self.root_entity(cpu, b)),
            false => (a, b),
        }
    }

    /// Sets a buddy at each level, up to one that yields to all others anyway
    /// (`set_next_buddy`, `set_last_buddy`).
    #[inline]
    fn set_buddy(&mut self, cpu: usize, entity: u32, buddy: impl Fn(&mut FairQueue) -> &mut u32) {
        let mut entity = entity;
        loop {
            let idle = self.views[entity as usize].class == class::IDLE;
            if self.groups.used && (!self.on_queue(entity) || idle) {
                return;
            }
            let q = self.queue_of(cpu, entity);
            *buddy(self.fair_queue_mut(q)) = entity;
            if q == cpu {
                return;
            }
            entity = self.root_entity(cpu, entity);
        }
    }

    pub fn set_next_buddy(&mut self, cpu: usize, entity: u32) {
        self.set_buddy(cpu, entity, |queue| &mut queue.next);
    }

    pub fn set_last_buddy(&mut self, cpu: usize, entity: u32) {
        self.set_buddy(cpu, entity, |queue| &mut queue.last);
    }

    /// The current task, and its group, are passed over once (`set_skip_buddy`).
    pub fn set_skip_buddy(&mut self, cpu: usize, task: u32) {
        self.fair_queue_mut(self.queue_of(cpu, task)).skip = task;
        if let Some(group) = self
            .groups
            .used
            .then(|| self.group_entity(cpu, task))
            .flatten()
        {
            self.cpus[cpu].fair.skip = group;
        }
    }

    /// `entity` of queue `q` is no buddy any more, and then its group is none for
    /// its sake (`clear_buddies`).
    #[inline(always)]
    pub fn forget_buddy(&mut self, q: usize, entity: u32) {
        match self.groups.nested {
            true => self.forget_buddy_grouped(q, entity),
            false => _ = self.cpus[q].fair.forget(entity),
        }
    }

    fn forget_buddy_grouped(&mut self, q: usize, entity: u32) {
        let was = self.fair_queue_mut(q).forget(entity);
        let Some(group) = self.entity_of(q).filter(|_| entity != NONE) else {
            return;
        };
        let cpu = self.cpu_of(q);
        let root = &mut self.cpus[cpu].fair;
        for (was, buddy) in was
            .iter()
            .zip([&mut root.skip, &mut root.next, &mut root.last])
        {
            if *was && *buddy == group {
                *buddy = NONE;
            }
        }
    }

    /// The group that runs on `cpu` is charged, too (`update_curr`).
    pub(super) fn charge_group(&mut self, cpu: usize, delta: u64) {
        let entity = self.groups.roots[cpu].curr;
        if entity == NONE {
            return;
        }
        self.tasks[entity as usize].sum_exec += delta;
        match self.tunables.order {
            _ if self.groups.flat => {}
            Order::Cfs => self.charge_cfs(cpu, entity, delta),
            Order::Eevdf => self.charge_eevdf(cpu, entity, delta),
        }
    }
}

/// Who comes and goes.
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

    /// `task` has left its queue on `cpu`; `sleeps`: for itself. Its group leaves
    /// the CPU's queue if nobody is left (`dequeue_task_fair`, 7.2: `dequeue_entities`).
    pub(super) fn group_left(&mut self, cpu: usize, task: u32, sleeps: bool) {
        let Some(entity) = self.group_entity(cpu, task) else {
            return;
        };
        if self.group_queue(entity).view.h_nr_running == 0 {
            return self.group_leaves(cpu, entity);
        }
        if sleeps && self.groups.nested {
            // It slept within its turn: the rest is its group's.
            self.set_next_buddy(cpu, entity);
        }
        self.group_changed(cpu, entity);
    }

    /// A group's queue has changed, its entity stays where it is.
    fn group_changed(&mut self, cpu: usize, entity: u32) {
        self.refresh_entity(cpu, entity);
        self.runnable_changed(entity);
        self.update_group(cpu, entity);
        self.take_slice(cpu, entity);
    }

    /// The entity of a group without tasks leaves the queue of `cpu`; with EEVDF from 6.12
    /// on it may have to wait there until it is due, as a task (`dequeue_entity`).
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

    /// A group's entity that waited in the queue of `cpu` was picked: it leaves.
    pub(super) fn finish_delayed_group(&mut self, cpu: usize, entity: u32) {
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

    /// The group of `entity`, which waited to leave, has a task again
    /// (`requeue_delayed_entity`).
    fn requeue_group(&mut self, cpu: usize, entity: u32) {
        if self.lag_of_delayed(cpu, entity) {
            let running = self.groups.roots[cpu].curr == entity;
            if !running {
                self.queue_out(cpu, entity);
            }
            // As if it was not there (`nr_queued--`).
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

    /// The tick of the group of `task`, which runs on `cpu` (`entity_tick`).
    pub(super) fn tick_group(&mut self, cpu: usize, task: u32) {
        if let Some(entity) = self.group_entity(cpu, task) {
            self.refresh_entity(cpu, entity);
            self.update_group(cpu, entity);
            if self.tunables.order == Order::Cfs {
                self.tick_cfs(cpu, entity);
            }
            if self.groups.flat {
                self.weigh(cpu, task);
            }
        }
    }

    /// The current task of `cpu` goes over to `group` (`sched_move_task`): it leaves
    /// the queue as when it migrates, joins the other and lets others have a look.
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
    /// The task of `cpu` to run next, level by level (`pick_next_task_fair`, 7.2:
    /// `pick_task_fair`). Sleepers that are picked leave, and the pick begins anew.
    pub(super) fn pick_grouped(&mut self, cpu: usize) -> u32 {
        'again: loop {
            let mut q = cpu;
            loop {
                let pick = match self.tunables.order {
                    Order::Cfs => {
                        let curr = self.fair_curr(q);
                        self.pick_cfs(q, curr)
                    }
                    Order::Eevdf => self.pick_at_switch(q),
                };
                if pick != NONE && self.is_delayed(pick) {
                    self.finish_delayed(q, pick);
                    continue 'again;
                }
                if pick == NONE || !self.is_group(pick) {
                    return pick;
                }
                q = self.groups.cpus + pick as usize - self.groups.tasks;
            }
        }
    }

    /// `next`, which may be [`NONE`] or of another class, is about to become
    /// current on `cpu`: groups that both are in stay current
    /// (`put_prev_entity`, `set_next_entity` of groups).
    pub fn switch_groups(&mut self, cpu: usize, next: u32) {
        let new = match next {
            NONE => NONE,
            next if self.is_rt(next) => NONE,
            next => self.group_entity(cpu, next).unwrap_or(NONE),
        };
        let old = self.groups.roots[cpu].curr;
        if new == old {
            return;
        }
        if old != NONE {
            if self.on_queue(old) {
                if self.groups.nested {
                    self.queue_in(cpu, old);
                }
                self.refresh_entity(cpu, old);
            }
            self.groups.roots[cpu].curr = NONE;
        }
        if new != NONE {
            if self.groups.nested {
                self.queue_out(cpu, new);
                if self.tunables.order == Order::Eevdf {
                    self.protect(cpu, new);
                }
            }
            self.refresh_entity(cpu, new);
            if self.tunables.buddies_cleared == BuddiesCleared::SwitchedTo {
                self.forget_buddy(cpu, new);
            }
            self.groups.roots[cpu].curr = new;
            let t = &mut self.tasks[new as usize];
            t.slice_start = t.sum_exec;
        }
    }

    /// No fair task runs on `cpu` from now on, and no group.
    #[inline]
    pub fn leave_groups(&mut self, cpu: usize) {
        if self.groups.used {
            self.switch_groups(cpu, NONE);
        }
    }
}
