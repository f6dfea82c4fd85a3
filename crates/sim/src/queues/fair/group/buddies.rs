// SPDX-License-Identifier: GPL-2.0-only
//! Buddies at each level: the entities that a queue prefers (`cfs_rq->next`, `last`) or passes
//! over (`skip`).

use crate::base::timeline::NONE;
use crate::queues::Queues;
use crate::world::state::FairQueue;
use alight_policy::abi::class;

impl Queues<'_> {
    /// Sets a buddy at each level, from the task up; stops at a SCHED_IDLE entity
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

    /// `entity` of queue `q` is no longer a buddy. Its group's entity loses the same roles
    /// (`clear_buddies`).
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
}
