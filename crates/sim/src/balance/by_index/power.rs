// SPDX-License-Identifier: GPL-2.0-only
//! CPU power: 1024 for a usual CPU. A thread of a core has less, and so has a CPU while real-time
//! tasks take its time; on machines with different CPUs it is more or less
//! (`update_cpu_power`, `update_group_power` of 3.9.6).

use super::{Early, EarlyCpu};
use crate::balance::Balancer;
use crate::balance::groups::Scope;
use crate::world::World;
use alight_policy::Mask;
use alight_policy::abi::{NONE, domain_flag};

/// Power of all threads of a core together (`sd->smt_gain`).
const SMT_GAIN: u32 = 1178;

/// Number of tasks that `power` is worth (`DIV_ROUND_CLOSEST`).
pub(in super::super) fn rounded(power: u32) -> u64 {
    (u64::from(power) + 512) / 1024
}

/// Power of different CPUs by their capacity: a middling one has 1024, and none has 1536, which
/// would round to two tasks (`parse_dt_topology` of 32-bit arm, which knew Cortex-A15 and A7). The
/// kernel's efficiency times clock corresponds to the capacity here.
fn scale(capacity: u32, least: u32, most: u32) -> u32 {
    if least == most {
        return 1024;
    }
    // Scaled to the kernel's order of magnitude, because the division is of whole numbers.
    let [capacity, least, most] = [capacity, least, most].map(|c| u64::from(c) << 12);
    let middle = match 4 * most < 3 * (most + least) {
        true => (least + most) >> 11,
        false => ((most / 3) >> 9) + 1,
    };
    (capacity / middle) as u32
}

impl World<'_> {
    /// Power of `cpu` as a thread of its core.
    fn thread_power(&self, cpu: usize) -> u32 {
        match self.core.places[cpu].smt_domain {
            NONE => 1024,
            core => SMT_GAIN / self.core.domains[core as usize].weight,
        }
    }
}

impl Balancer<'_> {
    /// Sets the full power of all CPUs and groups.
    pub(in super::super) fn cpu_power_init(&mut self) {
        if !self.by_index() {
            return;
        }
        let capacities = || self.core.cpus.iter().map(|cpu| cpu.capacity_orig);
        let (least, most) = (capacities().min(), capacities().max());
        let (least, most) = (least.unwrap_or(1024), most.unwrap_or(1024));
        let full = |cpu: usize| {
            let scale = scale(self.core.cpus[cpu].capacity_orig, least, most);
            ((scale * self.thread_power(cpu)) >> 10).max(1)
        };
        let kept = &self.nohz.early.cpus;
        let cpus = (0..self.core.cpus.len()).map(|cpu| EarlyCpu {
            index: kept.get(cpu).map_or_else(Default::default, |c| c.index),
            power: self.packed_power(cpu, full(cpu)),
            available: full(cpu),
            full: full(cpu),
        });
        let cpus: Vec<EarlyCpu> = cpus.collect();
        let power = |group| self.members(group, None).map(|cpu| cpus[cpu].power).sum();
        let groups = (0..self.core.groups.len()).map(power).collect();
        let idled = (0..cpus.len() as u32).collect::<Mask>();
        self.nohz.early = Early {
            cpus: cpus.into(),
            groups,
            idled,
        };
    }

    /// Updates the power of `own`, the group of `cpu` at a level.
    pub(in super::super) fn update_cpu_power(&mut self, cpu: usize, own: usize) {
        let child = self.core.groups[own].child;
        let power = match child {
            NONE => {
                let left = self.left_by_rt(cpu);
                let of = &self.nohz.early.cpus[cpu];
                let available = ((u64::from(of.full) * left) >> 10).max(1) as u32;
                let power = self.packed_power(cpu, available);
                let of = &mut self.nohz.early.cpus[cpu];
                (of.power, of.available) = (power, available);
                power
            }
            child => {
                let child = &self.core.domains[child as usize];
                let first = child.first_group as usize;
                let groups = &self.nohz.early.groups;
                (first..first + child.nr_groups as usize)
                    .map(|group| groups[group])
                    .sum()
            }
        };
        self.nohz.early.groups[own] = power;
    }

    /// The power of `cpu` that real-time tasks leave.
    pub(in super::super) fn available_power(&self, cpu: usize) -> u32 {
        self.nohz.early.cpus[cpu].available
    }

    /// Number of tasks that a group is worth. A thread of a core with nearly all of its power is
    /// worth one (`fix_small_capacity`).
    pub(super) fn capacity_of_group(&self, scope: &Scope, group: usize) -> u64 {
        match rounded(self.nohz.early.groups[group]) {
            0 => self.is_nearly_whole(scope, group).into(),
            capacity => capacity,
        }
    }

    /// Is `group` a thread of a core with 90 % of its power left?
    pub(super) fn is_nearly_whole(&self, scope: &Scope, group: usize) -> bool {
        let domain = self.domain(scope.dst, scope.level);
        let power = self.nohz.early.groups[group];
        domain.flags & domain_flag::SMT != 0 && power * 32 > SMT_GAIN / domain.weight * 29
    }

    /// Checks that the power of CPUs and groups is within its limits.
    ///
    /// # Errors
    /// Names the power that is not.
    pub(in super::super) fn cpu_power_check(&self) -> Result<(), String> {
        for (cpu, of) in self.nohz.early.cpus.iter().enumerate() {
            if of.power == 0 || of.power > of.full {
                return Err(format!("CPU {cpu} has power {} of {}", of.power, of.full));
            }
        }
        for (group, &power) in self.nohz.early.groups.iter().enumerate() {
            let full = |cpu: usize| self.nohz.early.cpus[cpu].full;
            let most = self.members(group, None).map(full).sum();
            if power == 0 || power > most {
                return Err(format!("group {group} has power {power} of {most}"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
