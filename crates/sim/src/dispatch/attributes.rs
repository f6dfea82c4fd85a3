// SPDX-License-Identifier: GPL-2.0-only
//! A running task gets other attributes (`sched_setattr`).

use crate::balance::Stopper;
use crate::program::Programs;
use crate::program::effect::Effect;
use crate::queues::classes::Class;

impl Programs<'_> {
    /// The current task of `cpu` gets other attributes.
    pub fn set_attributes(&mut self, cpu: usize, task: usize, attributes: u32) -> Effect {
        self.trace_attributes(cpu, attributes);
        let new = self.attributes(attributes).clone();
        if self.tasks[task].logged {
            self.pass_begins(task);
        }
        if self.has_classes() {
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
                // EINVAL: none of these CPUs is online.
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
