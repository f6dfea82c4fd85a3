// SPDX-License-Identifier: GPL-2.0-only
//! Task groups in one tree a CPU (7.3): tasks of all groups stand in the CPU's own queue, each
//! with what its groups leave it of their weight (`h_load` of the kernel's entities).
//!
//! The weight of a task there is its part of its group's queue times the weight of the group's
//! entity, so that it changes with whoever else comes and goes. It is made anew when the task joins,
//! when it is switched to, at its ticks and when its own weight changes; until then a queued task
//! keeps the one that it had. Groups themselves ([`super::group`]) have weights, load tracking and
//! counts as before, but no slice, no lag and no turn of their own: a group that is left
//! empty leaves at once.
//!
//! Rules of kernel/sched/fair.c, Linux 7.3.

use crate::queues::Queues;
use alight_policy::abi::task_flag;

impl Queues<'_> {
    /// Weighs and places `task`, which counts on its queue already but does not stand there.
    pub fn place_flat(&mut self, cpu: usize, task: u32, new: bool) {
        let (old, weight) = (self.exact_weight(task), self.weight_at_root(cpu, task));
        self.entity_mut(task).rescale(old, weight);
        self.groups.weigh(task, weight);
        // As if it was not there (ENQUEUE_QUEUED).
        self.views[task as usize].flags &= !task_flag::ON_RQ;
        self.place(cpu, task, new);
        self.views[task as usize].flags |= task_flag::ON_RQ;
    }

    /// The current `task` of `cpu` takes on the weight that its groups leave it now; its lag, the rest
    /// of its turn and of its protection are the same in the new weight's time (`reweight_eevdf`).
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

    /// `task` has joined the sums of its queue on `cpu`, whatever groups are like: it takes its place
    /// there, and its group joins. Where they are flat that comes first, then it is placed by the
    /// weight that they leave it (`enqueue_hierarchy`, `reweight_eevdf`, `place_entity`).
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
