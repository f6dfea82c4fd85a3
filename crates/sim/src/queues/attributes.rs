// SPDX-License-Identifier: GPL-2.0-only
//! A task changes how it is scheduled (`sched_setattr`, `sched_setaffinity`).

use crate::kernel::tunables::Order;
use crate::power::uclamp_sum;
use crate::queues::{Queues, fair};
use crate::world::World;
use alight_policy::rq;

impl World<'_> {
    /// Sets the nice value of a real-time task; it counts once the task is a fair one again.
    pub fn set_nice(&mut self, task: usize, nice: Option<i8>) {
        let t = &mut self.tasks[task];
        t.nice = nice.unwrap_or(t.nice);
        let view = &mut self.views[task];
        view.weight = fair::weight(view.class, t.nice);
        t.inv_weight = fair::inverse(view.weight);
    }
}

impl Queues<'_> {
    #[cfg(test)]
    pub fn reweight_current(&mut self, cpu: usize, nice: i8) {
        let task = self.cpus[cpu].curr as usize;
        self.reweight(cpu, task, None, Some(nice));
    }

    /// The weight of a running task changes: its load leaves the queue with the
    /// old one and joins with the new one (`reweight_entity`).
    pub fn reweight(&mut self, cpu: usize, task: usize, class: Option<u32>, nice: Option<i8>) {
        self.clock(cpu);
        self.update_curr(cpu);
        let nice = nice.unwrap_or(self.tasks[task].nice);
        let class = class.unwrap_or(self.views[task].class);
        let weight = fair::weight(class, nice);
        let eevdf = self.tunables.order == Order::Eevdf;
        let q = self.line_of(cpu, task as u32);
        if self.groups.flat {
            self.keep_place(q, task as u32);
        } else if eevdf {
            self.keep_place_reweighted(q, task as u32, weight);
        }
        if self.groups.used {
            self.refresh_grouped(cpu, task as u32, false);
            self.detach_grouped(cpu, task as u32);
        } else {
            let world = self.world();
            let k = &world.core.params;
            let (rq, view) = (&mut world.core.cpus[cpu], &mut world.views[task]);
            rq::update_curr(k, rq, view);
            rq::detach(k, rq, view, true);
        }
        let view = &mut self.views[task];
        let old = u64::from(view.weight);
        (view.class, view.weight) = (class, weight);
        view.pelt.load_avg = (u64::from(view.pelt.load_avg) * u64::from(weight) / old) as u32;
        let t = &mut self.tasks[task];
        (t.nice, t.inv_weight) = (nice, fair::inverse(weight));
        if eevdf && !self.groups.flat {
            self.place(q, task as u32, false);
        }
        if self.groups.used {
            self.enqueue_grouped(cpu, task as u32);
            self.group_joined(cpu, task as u32);
            if self.groups.flat {
                self.place_flat(cpu, task as u32, false);
            }
        } else {
            let world = self.world();
            let k = &world.core.params;
            rq::enqueue(k, &mut world.core.cpus[cpu], &mut world.views[task], true);
        }
        if eevdf {
            self.protect_reweighted(q, task as u32);
        }
        if uclamp_sum::add_up(&self.core.params) {
            self.clamped_joined(cpu, task as u32);
        }
        self.signals_changed(cpu);
    }
}

#[cfg(test)]
mod tests;
