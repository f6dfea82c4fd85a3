// SPDX-License-Identifier: GPL-2.0-only
//! Task groups (cgroups of the cpu controller), one level below the root: groups share CPUs by
//! their weights, and the tasks of a group share its part by theirs.
//!
//! On each CPU a group has a queue of its tasks, and an entity that represents them in the CPU's
//! queue beside tasks without a group. Both queues follow the same rules (`cfs`, `eevdf`), which
//! identify a queue and an entity by number:
//!
//! | | number |
//! |---|---|
//! | queue of CPU c | c |
//! | queue of group g on CPU c | CPUs + g * CPUs + c |
//! | entity of a task | the task's |
//! | entity of group g on CPU c | tasks + g * CPUs + c |
//!
//! Tables of queues hold those of CPUs, then those of groups; tables of entities hold those of
//! tasks, then those of groups. In a run without groups the number of a queue is that of its CPU,
//! and nothing else here is used.
//!
//! A group's weight is divided among its entities in proportion to the load of their queues
//! (`calc_group_shares`). The rules are those of kernel/sched/fair.c; comments name the kernel's
//! function. Each mechanism has a file:
//!
//! - this one: the state of groups, and the current entity;
//! - `names`: the numbers of queues and entities;
//! - `enqueue`: groups join the queue of a CPU and leave it;
//! - `switch`: groups are picked, run and are charged;
//! - `buddies`: the entities that a queue prefers or skips;
//! - `weights`: the weight of a group on a CPU;
//! - `signals`: load tracking through both levels.
//!
//! Not modelled: groups below groups, bandwidth (`cpu.max`), automatic groups of
//! sessions (`CONFIG_SCHED_AUTOGROUP`). The kernel charges each level when it is
//! touched; here both are charged together.

mod buddies;
mod check;
mod enqueue;
mod names;
mod signals;
mod switch;
#[cfg(test)]
mod tests;
mod weights;

use super::NICE_0_FINE;
use crate::base::timeline::{NONE, Nodes};
use crate::face::api::Cgroup;
use crate::kernel::tunables::Tunables;
use crate::kernel::weight;
use crate::kernel::{Levels, WakeupTest};
use crate::queues::Queues;
use crate::world::state::FairQueue;

/// Least weight of a group's entity (`MIN_SHARES`), in the finer unit. The kernel does not
/// convert the constant to that unit.
const MIN_SHARES: u64 = 2;
/// Weights of groups have this many bits behind the point (`scale_load`).
const FINE: u32 = 10;

/// A group.
#[derive(Debug, Clone)]
struct TaskGroup {
    /// `tg->shares`, in the finer unit.
    shares: u64,
    /// Load of its queues as they last reported it (`tg->load_avg`).
    load_avg: u64,
    /// Runnable tasks, in 1024ths, reported with the load (`tg->runnable_avg`; 7.3).
    runnable_avg: u64,
}

/// A group on a CPU: its queue, and the fields that its entity has beyond those of a task's.
#[derive(Debug, Clone, Default)]
struct GroupQueue {
    fair: FairQueue,
    /// Sums and signals of its tasks.
    view: alight_policy::Cpu,
    /// The entity's weight in the finer unit.
    weight: u64,
    /// Runnable tasks as the entity's signals count them (`runnable_weight`).
    runnable: u64,
    /// The load and the runnable tasks that it last reported to the group
    /// (`tg_load_avg_contrib`), and the time of that.
    contribution: u64,
    runnable_contribution: u64,
    contributed_at: u64,
    /// Tasks came or went with their signals, which the entity does not contain yet
    /// (`propagate`, `prop_runnable_sum`).
    propagate: bool,
    prop_sum: i64,
    /// Load sums of tasks that were removed while they were not queued (`removed.runnable_sum`).
    removed_sum: i64,
}

/// The part of groups in the queue of a CPU.
#[derive(Debug, Clone, Copy)]
struct Root {
    /// Entity of the group that runs, or [`NONE`] (`cfs_rq->curr`).
    curr: u32,
    /// Weights of the groups queued, in the finer unit.
    fine: u64,
    /// Their part of the queue's weight.
    weight: u32,
}

/// The groups of a run.
#[derive(Debug)]
pub(crate) struct Groups {
    /// Fair tasks may be in groups. If not, nothing else here is used.
    pub used: bool,
    /// Group entities are in the CPUs' trees, and groups have trees of their own
    /// ([`Levels::Nested`]).
    pub nested: bool,
    /// The tasks of groups are in the CPUs' trees ([`Levels::Flat`], [`super::flat`]).
    pub flat: bool,
    /// With EEVDF: `cfs_rq->next` may be set.
    pub buddies: bool,
    cpus: usize,
    tasks: usize,
    /// The first entity whose weight is kept in the finer unit: the first group's with nested
    /// groups, the first of all with flat ones.
    fine_from: usize,
    /// With flat groups: weights of tasks in their CPU's tree, in the finer unit (`se->h_load`).
    at_root: Box<[u64]>,
    /// Group of each task, [`NONE`] without one.
    of: Box<[u32]>,
    /// Tasks whose group is configured; others begin in the group of their parent.
    own: Box<[bool]>,
    groups: Box<[TaskGroup]>,
    queues: Box<[GroupQueue]>,
    roots: Box<[Root]>,
}

impl Groups {
    /// `of`: the configured group of each task; `cpus`: number of CPUs of the machine.
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
                    shares: u64::from(weight::shares(group)) << FINE,
                    load_avg: 0,
                    runnable_avg: 0,
                })
                .collect(),
            queues: vec![queue; groups.len() * nr].into(),
            roots: vec![root; nr].into(),
        }
    }

    /// Number of the groups' entities, and of their queues.
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

/// The current entity, and entities that compete.
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

    /// The entities of two tasks of `cpu` that are in the same queue (`find_matching_se`).
    #[inline]
    pub fn matching(&self, cpu: usize, a: u32, b: u32) -> (u32, u32) {
        match self.groups.nested && self.queue_of(cpu, a) != self.queue_of(cpu, b) {
            true => (self.root_entity(cpu, a), self.root_entity(cpu, b)),
            false => (a, b),
        }
    }
}
