// SPDX-License-Identifier: GPL-2.0-only
//! The set of online CPUs, and the CPU of a task by its affinity and that set.

use crate::face::api::Scenario;
use crate::world::World;
use alight_machine::Governor;
use alight_policy::Mask;

/// Affinity of a task that may run on any CPU: index into `World::masks`.
pub(crate) const ANYWHERE: u32 = 0;

/// The online CPUs, and counts of what hotplug did to tasks.
#[derive(Debug, Clone)]
pub(crate) struct Hotplug {
    /// CPUs go offline or come back in this run; else all stay online.
    pub used: bool,
    /// `cpu_active_mask` and `cpu_online_mask`; see the head of `dispatch/hotplug.rs`.
    pub online: Mask,
    pub governor: Governor,
    /// Tasks that left a CPU because it went offline; `broken`: those that had to break their
    /// affinity.
    pub moved: u64,
    pub broken: u64,
    /// CPUs that stayed online because deadline tasks need them.
    pub refused: u64,
}

impl Hotplug {
    pub fn new(scenario: &Scenario<'_>, used: bool) -> Self {
        let machine = scenario.machine;
        Hotplug {
            used,
            online: (0..machine.cpus.len() as u32).collect(),
            governor: scenario.governor_in_force(),
            moved: 0,
            broken: 0,
            refused: 0,
        }
    }
}

impl World<'_> {
    /// The CPU for `task`: `cpu`, the policy's answer, if it is online and allowed, else a fallback
    /// (`select_task_rq`, `is_cpu_allowed`).
    pub fn allowed_cpu(&mut self, cpu: usize, task: u32) -> usize {
        match self.is_there_for(cpu, task) {
            true => cpu,
            false => {
                let prev = self.views[task as usize].prev_cpu as usize;
                self.fallback_cpu(prev, task)
            }
        }
    }

    /// The CPU that [`Self::allowed_cpu`] will return for a fair task. It changes nothing; traces
    /// and explanations use it.
    pub fn sent_to(&self, cpu: u32, task: u32) -> u32 {
        if !self.hotplug.used || self.is_there_for(cpu as usize, task) {
            return cpu;
        }
        let prev = self.views[task as usize].prev_cpu as usize;
        let to = self.fallback_within(prev, task);
        to.unwrap_or_else(|| self.anywhere()) as u32
    }

    fn is_there_for(&self, cpu: usize, task: u32) -> bool {
        self.hotplug.online.contains(cpu as u32) && self.allowed(task, cpu)
    }

    /// The first CPU that `task` may use, if possible in the node of `from`. If the task may use no
    /// online CPU, its affinity becomes all CPUs (`select_fallback_rq`).
    pub fn fallback_cpu(&mut self, from: usize, task: u32) -> usize {
        if let Some(cpu) = self.fallback_within(from, task) {
            return cpu;
        }
        self.hotplug.broken += 1;
        self.tasks[task as usize].affinity = ANYWHERE;
        self.views[task as usize].nr_cpus_allowed = self.cpus.len() as u32;
        self.anywhere()
    }

    /// The same within the affinity of `task`; `None`: no CPU of it is online.
    fn fallback_within(&self, from: usize, task: u32) -> Option<usize> {
        let node = self.core.places[from].node;
        let near = |&cpu: &u32| self.core.places[cpu as usize].node == node;
        let there = || self.online_of(self.tasks[task as usize].affinity);
        let found = there().find(near).or_else(|| there().next());
        found.map(|cpu| cpu as usize)
    }

    pub fn anywhere(&self) -> usize {
        let first = self.online_of(ANYWHERE).next();
        first.expect("one is online") as usize
    }

    /// CPUs of an affinity that are online, in rising order.
    fn online_of(&self, affinity: u32) -> impl Iterator<Item = u32> {
        let words = self.cpus.len().div_ceil(64);
        self.masks[affinity as usize].and(&self.hotplug.online, words)
    }

    /// May `task` run on `cpu`?
    pub fn allowed(&self, task: u32, cpu: usize) -> bool {
        self.masks[self.tasks[task as usize].affinity as usize].contains(cpu as u32)
    }
}
