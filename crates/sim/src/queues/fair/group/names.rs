// SPDX-License-Identifier: GPL-2.0-only
//! The numbers of queues and entities, and access by number. [`super`] has a table of them.

use super::{FINE, GroupQueue, Groups, TaskGroup};
use crate::base::timeline::NONE;
use crate::queues::Queues;
use crate::queues::fair::NICE_0_FINE;
use crate::world::World;
use crate::world::state::FairQueue;
use alight_policy::abi::task_flag;

impl Groups {
    /// Sets the weight of `task` in its CPU's tree, with flat groups.
    pub(in crate::queues::fair) fn weigh(&mut self, task: u32, weight: u64) {
        self.at_root[task as usize] = weight;
    }
}

impl World<'_> {
    pub(super) fn on_queue(&self, entity: u32) -> bool {
        self.views[entity as usize].flags & task_flag::ON_RQ != 0
    }
}

impl Queues<'_> {
    /// CPU of queue `q`.
    #[inline(always)]
    pub fn cpu_of(&self, q: usize) -> usize {
        match self.groups.used {
            true => q % self.groups.cpus,
            false => q,
        }
    }

    /// Queue of `entity` on `cpu` (`cfs_rq_of`).
    #[inline(always)]
    pub fn queue_of(&self, cpu: usize, entity: u32) -> usize {
        match self.groups.used {
            true => self.queue_of_grouped(cpu, entity),
            false => cpu,
        }
    }

    /// The queue whose tree holds `entity` of `cpu`: its own, or the CPU's with flat groups.
    #[inline(always)]
    pub fn line_of(&self, cpu: usize, entity: u32) -> usize {
        match self.groups.nested {
            true => self.queue_of_grouped(cpu, entity),
            false => cpu,
        }
    }

    pub(super) fn queue_of_grouped(&self, cpu: usize, entity: u32) -> usize {
        match self.groups.of.get(entity as usize) {
            Some(&group) if group != NONE => self.groups.cpus * (1 + group as usize) + cpu,
            _ => cpu,
        }
    }

    /// Does `entity` represent a group? It must not be [`NONE`].
    #[inline(always)]
    pub fn is_group(&self, entity: u32) -> bool {
        entity as usize >= self.groups.tasks
    }

    /// Entity of the group that owns queue `q`; `None`: `q` is a CPU's.
    pub(super) fn entity_of(&self, q: usize) -> Option<u32> {
        let nr = q.checked_sub(self.groups.cpus)?;
        Some((self.groups.tasks + nr) as u32)
    }

    /// The entity in the queue of `cpu` that represents `task`: its group's (`parent_entity`), else
    /// its own.
    pub(super) fn root_entity(&self, cpu: usize, task: u32) -> u32 {
        self.entity_of(self.queue_of(cpu, task)).unwrap_or(task)
    }

    /// Entity of the group of `task` on `cpu`, if it is in one.
    pub(super) fn group_entity(&self, cpu: usize, task: u32) -> Option<u32> {
        self.entity_of(self.queue_of(cpu, task))
    }

    /// The queue of a group on the CPU of its `entity`.
    pub(super) fn group_queue(&self, entity: u32) -> &GroupQueue {
        &self.groups.queues[entity as usize - self.groups.tasks]
    }

    pub(super) fn group_queue_mut(&mut self, entity: u32) -> &mut GroupQueue {
        &mut self.groups.queues[entity as usize - self.groups.tasks]
    }

    pub(super) fn group_of(&self, entity: u32) -> &TaskGroup {
        &self.groups.groups[(entity as usize - self.groups.tasks) / self.groups.cpus]
    }

    #[inline(always)]
    pub fn fair_queue(&self, q: usize) -> &FairQueue {
        match self.cpus.get(q) {
            Some(c) => &c.fair,
            None => &self.groups.queues[q - self.cpus.len()].fair,
        }
    }

    #[inline(always)]
    pub fn fair_queue_mut(&mut self, q: usize) -> &mut FairQueue {
        match self.power.cpus.get_mut(q) {
            Some(c) => &mut c.fair,
            None => &mut self.groups.queues[q - self.groups.cpus].fair,
        }
    }

    /// Sums over the tasks of queue `q`.
    #[inline(always)]
    pub fn queue_view(&self, q: usize) -> &alight_policy::Cpu {
        match self.groups.used && q >= self.groups.cpus {
            true => &self.groups.queues[q - self.groups.cpus].view,
            false => &self.core.cpus[q],
        }
    }

    /// Weight of `entity` in its tree, in the finer unit if the run has groups.
    #[inline(always)]
    pub fn exact_weight(&self, entity: u32) -> u64 {
        match self.groups.used {
            true if self.groups.flat => self.groups.at_root[entity as usize],
            true if self.is_group(entity) => self.group_queue(entity).weight,
            true => u64::from(self.views[entity as usize].weight) << FINE,
            false => self.views[entity as usize].weight.into(),
        }
    }

    /// Is the virtual time of `entity` computed with a weight in the finer unit?
    #[inline(always)]
    pub fn weighs_finely(&self, entity: u32) -> bool {
        entity as usize >= self.groups.fine_from
    }

    /// `calc_delta_fair` with a weight in the finer unit, for EEVDF.
    pub fn virtual_of_fine(&self, entity: u32, delta: u64) -> u64 {
        let weight = self.exact_weight(entity);
        (u128::from(delta) * u128::from(NICE_0_FINE) / u128::from(weight)) as u64
    }

    /// The level above a group's queue `q`: the total weight including the group's, and the
    /// group's; `None` for a CPU's queue.
    pub fn above(&self, q: usize) -> Option<(u32, u32)> {
        if !self.groups.used {
            return None;
        }
        let entity = self.entity_of(q)?;
        let own = self.views[entity as usize].weight;
        let others = match self.on_queue(entity) {
            true => 0,
            false => own,
        };
        Some((self.core.cpus[self.cpu_of(q)].weight + others, own))
    }

    /// Group of `task`, [`NONE`] without one.
    pub fn task_group(&self, task: u32) -> u32 {
        self.groups.of.get(task as usize).copied().unwrap_or(NONE)
    }
}
