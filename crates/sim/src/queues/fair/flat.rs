// SPDX-License-Identifier: GPL-2.0-only
//! Task groups with one tree per CPU (7.3): tasks of all groups are in the CPU's own queue, each
//! with its share of its group's weight (`h_load` of the kernel's entities).
//!
//! The weight of a task there is its part of its group's queue times the weight of the group's
//! entity. It therefore changes when other tasks join or leave. It is computed when the task
//! joins, when it is switched to, at its ticks and when its own weight changes; between these, a
//! queued task keeps its last weight. Groups ([`super::group`]) have weights, load tracking and
//! counts as before, but no slice, lag or turn of their own: an empty group is dequeued at once.
//!
//! Rules of kernel/sched/fair.c, Linux 7.3.

use crate::queues::Queues;
use alight_policy::abi::task_flag;

impl Queues<'_> {
    /// Weighs and places `task`, which is in its queue's sums but not yet in the tree.
    pub fn place_flat(&mut self, cpu: usize, task: u32, new: bool) {
        let (old, weight) = (self.exact_weight(task), self.weight_at_root(cpu, task));
        self.entity_mut(task).rescale(old, weight);
        self.groups.weigh(task, weight);
        // Place it as if it were not queued (ENQUEUE_QUEUED).
        self.views[task as usize].flags &= !task_flag::ON_RQ;
        self.place(cpu, task, new);
        self.views[task as usize].flags |= task_flag::ON_RQ;
    }

    /// Updates the weight of the current `task` of `cpu` to its share of its group's weight now.
    /// Its lag, the rest of its turn and its protection are rescaled (`reweight_eevdf`).
    pub(super) fn weigh(&mut self, cpu: usize, task: u32) {
        let (old, weight) = (self.exact_weight(task), self.weight_at_root(cpu, task));
        if old == weight {
            return;
        }
        let place = self.lift(cpu, task);
        self.entity_mut(task).rescale(old, weight);
        self.groups.weigh(task, weight);
        self.set_down(cpu, task, place, (old, weight));
    }

    /// `task` has joined the sums of its queue on `cpu`. With nested groups the task is queued,
    /// then its group joins. With flat groups the group joins first; then the task is placed by its
    /// share of the group's weight (`enqueue_hierarchy`, `reweight_eevdf`, `place_entity`).
    pub(super) fn join_grouped(&mut self, cpu: usize, task: u32, new: bool) {
        if self.groups.nested {
            let queue = self.queue_of(cpu, task);
            self.queue_in(queue, task);
            return self.group_joined(cpu, task);
        }
        self.group_joined(cpu, task);
        self.place_flat(cpu, task, new);
        self.queue_in(cpu, task);
    }
}

#[cfg(test)]
mod tests;
