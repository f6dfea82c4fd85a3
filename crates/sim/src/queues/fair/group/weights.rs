// SPDX-License-Identifier: GPL-2.0-only
//! The weight of a group: its shares on the CPUs, and the change of an entity's weight.

use super::{FINE, MIN_SHARES};
use crate::kernel::weight::inverse_of_sum;
use crate::kernel::{Protection, Shares};
use crate::queues::Queues;
use crate::queues::fair::eevdf::rescale;
use crate::queues::fair::{NICE_0_FINE, Order};
use alight_policy::rq;

impl Queues<'_> {
    /// Updates the queue's weight after that of its groups changed (`scale_load_down` of the sum).
    pub(super) fn count_weight(&mut self, cpu: usize) {
        let (root, view) = (&mut self.groups.roots[cpu], &mut self.power.core.cpus[cpu]);
        let tasks = view.weight - root.weight;
        let fine = (u64::from(tasks) << FINE) + root.fine;
        view.weight = match fine {
            0 => 0,
            fine => scale_down(fine),
        };
        root.weight = view.weight - tasks;
    }

    /// The weight that the group of `entity` divides among CPUs (`calc_smp_shares`,
    /// `calc_concur_shares`).
    pub(super) fn shares_of(&self, entity: u32) -> u64 {
        let group = self.group_of(entity);
        match self.group_rules().shares {
            Shares::Own => group.shares,
            Shares::PerTask => {
                let tasks = (group.runnable_avg >> FINE).max(1);
                let cpus = u64::from(self.hotplug.online.len()).max(1);
                group.shares * tasks.min(cpus)
            }
        }
    }

    /// The weight of `task` in the tree of `cpu`, its share of its group's weight, in the finer
    /// unit; computed from the task up (`__calc_prop_weight`).
    pub(in crate::queues::fair) fn weight_at_root(&self, cpu: usize, task: u32) -> u64 {
        let own = u64::from(self.views[task as usize].weight) << FINE;
        let Some(entity) = self.group_entity(cpu, task) else {
            return own;
        };
        let queue = self.group_queue(entity);
        let part = NICE_0_FINE * own / (u64::from(queue.view.weight) << FINE);
        (part.max(MIN_SHARES) * queue.weight / NICE_0_FINE).max(MIN_SHARES)
    }

    /// Takes a queued entity, a group's or the current task's, out of the tree of `cpu`. Returns
    /// the mean of the queue, and the distances from it to the entity's deadline and to the end of
    /// its protection. A protection by deadline is not returned: it ends as the deadline moves.
    pub(in crate::queues::fair) fn lift(
        &mut self,
        cpu: usize,
        entity: u32,
    ) -> (u64, u64, Option<u64>) {
        let lag = self.lag(cpu, entity);
        let mean = self.mean_vruntime(cpu);
        let running = self.fair_curr(cpu) == entity;
        let moves = self.tunables.eevdf.protection == Protection::UpTo;
        let protected = moves && running && self.protected(entity);
        if !running {
            self.queue_out(cpu, entity);
        }
        let e = self.entity_mut(entity);
        e.lag = lag;
        let left = e.deadline.wrapping_sub(mean);
        (
            mean,
            left,
            protected.then_some(e.protected_until.wrapping_sub(mean)),
        )
    }

    /// Puts the entity back at its lag; deadline and protection are rescaled to its new weight.
    pub(in crate::queues::fair) fn set_down(
        &mut self,
        cpu: usize,
        entity: u32,
        (mean, left, protected): (u64, u64, Option<u64>),
        (old, new): (u64, u64),
    ) {
        let scaled = |time: u64| rescale(time as i64, old, new) as u64;
        let e = self.entity_mut(entity);
        e.deadline = mean.wrapping_add(scaled(left));
        if let Some(protected) = protected {
            e.protected_until = mean.wrapping_add(scaled(protected));
        }
        e.vruntime = mean.wrapping_sub(e.lag as u64);
        if self.fair_curr(cpu) != entity {
            self.queue_in(cpu, entity);
        }
    }

    /// The share of the group's weight that its entity on `cpu` gets
    /// (`calc_group_shares`, `update_cfs_group`).
    pub(super) fn update_group(&mut self, cpu: usize, entity: u32) {
        let (group, queue) = (self.group_of(entity), self.group_queue(entity));
        let eevdf = self.tunables.order == Order::Eevdf;
        if eevdf && self.tunables.eevdf.empty_group_keeps_weight && queue.view.weight == 0 {
            return;
        }
        let load = u64::from(queue.view.weight.max(queue.view.cfs.load_avg));
        let all = group.load_avg - queue.contribution + load;
        let shares = self.shares_of(entity);
        let share = (shares * load).checked_div(all);
        let share = share.unwrap_or(0).clamp(MIN_SHARES, shares);
        if !eevdf || share != queue.weight {
            self.reweight_group(cpu, entity, share);
        }
    }

    /// Gives a group's entity another weight, in the finer unit (`reweight_entity`).
    pub(super) fn reweight_group(&mut self, cpu: usize, entity: u32, weight: u64) {
        let old = self.group_queue(entity).weight;
        let queued = self.on_queue(entity);
        let eevdf = self.tunables.order == Order::Eevdf;
        let mut place = None;
        if queued && eevdf && self.groups.nested {
            place = Some(self.lift(cpu, entity));
        }
        let fine = scale_down(weight);
        let world = self.world();
        rq::reweight(
            &world.core.params,
            &mut world.core.cpus[cpu],
            &mut world.views[entity as usize],
            fine,
        );
        self.tasks[entity as usize].inv_weight = inverse_of_sum(fine);
        self.group_queue_mut(entity).weight = weight;
        if queued {
            let root = &mut self.groups.roots[cpu];
            root.fine = root.fine - old + weight;
            self.count_weight(cpu);
        }
        if eevdf && self.groups.nested {
            let e = self.entity_mut(entity);
            e.lag = rescale(e.lag, old, weight);
        }
        if let Some(place) = place {
            self.set_down(cpu, entity, place, (old, weight));
        }
        self.signals_changed(cpu);
    }
}

/// `scale_load_down`.
fn scale_down(fine: u64) -> u32 {
    ((fine >> FINE) as u32).max(2)
}
