// SPDX-License-Identifier: GPL-2.0-only
//! A task changes how it is scheduled (`sched_setattr`, `sched_setaffinity`).

use crate::dispatch::exec::Effect;
use crate::layers::{Programs, Queues, World};
use crate::power::uclamp_sum;
use crate::queues::classes::Class;
use crate::queues::fair::{self, Order};
use alight_policy::rq;

impl World<'_> {
    /// The nice value of a real-time task: it counts when that is a fair one again.
    fn set_nice(&mut self, task: usize, nice: Option<i8>) {
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
    fn reweight(&mut self, cpu: usize, task: usize, class: Option<u32>, nice: Option<i8>) {
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

impl Programs<'_> {
    /// The current task of `cpu` takes on other attributes.
    pub fn set_attributes(&mut self, cpu: usize, task: usize, attributes: u32) -> Effect {
        self.trace_attributes(cpu, attributes);
        let new = self.attributes[attributes as usize].clone();
        if self.tasks[task].logged {
            self.pass_begins(task);
        }
        if self.classes.used {
            self.set_clamp(task, new.uclamp_min);
            let class = Class::of(&new);
            if class != Class::Fair || new.class.is_some() && self.is_rt(task as u32) {
                self.change_class(cpu, task as u32, class);
            }
        }
        if self.is_rt(task as u32) {
            self.set_nice(task, new.nice);
        } else if new.class.is_some() || new.nice.is_some() {
            self.reweight(cpu, task, new.class, new.nice);
        }
        if let Some(slice) = new.slice_ns {
            self.set_slice(task as u32, slice);
        }
        self.uclamp_change(cpu, task as u32, new.uclamp_min, new.uclamp_max);
        if let Some(group) = new.group {
            self.change_group(cpu, task as u32, group);
        }
        if let Some(affinity) = new.affinity
            && self.class_lets_move(task as u32, affinity)
        {
            let mask = &self.masks[affinity as usize];
            let words = self.cpus.len().div_ceil(64);
            let Some(first) = mask.next_and(&self.hotplug.online, 0, words) else {
                // EINVAL: none of them is there.
                return Effect::Done;
            };
            self.views[task].nr_cpus_allowed = mask.len();
            self.tasks[task].affinity = affinity;
            if !self.allowed(task as u32, cpu) {
                self.push_running(cpu, first as usize);
                return Effect::Moved;
            }
        }
        Effect::Done
    }
}

#[cfg(test)]
mod tests;
