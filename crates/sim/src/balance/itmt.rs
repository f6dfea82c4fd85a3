// SPDX-License-Identifier: GPL-2.0-only
//! Asymmetric packing: idle CPUs pull tasks from CPUs with lower priorities (SD_ASYM_PACKING;
//! on x86 the firmware ranks the cores, arch/x86/kernel/itmt.c).

use super::Idle;
use super::contest::GroupStats;
use super::groups::Scope;
use crate::balance::Balancer;
use crate::kernel::views::rules;
use crate::kernel::{self, Pulls, ThreadPriority};
use crate::world::World;
use crate::world::occupancy::Count;
use alight_machine::Machine;
use alight_policy::abi::domain_flag;

/// The priorities of a run; empty if its machine or its kernel has none.
#[derive(Debug, Default)]
pub(crate) struct Itmt {
    /// `arch_asym_cpu_priority` of each CPU.
    priorities: Vec<u32>,
    /// That of `asym_prefer_cpu` of each group.
    of_groups: Vec<u32>,
}

impl Itmt {
    /// Are there priorities?
    #[inline]
    pub fn used(&self) -> bool {
        !self.priorities.is_empty()
    }

    /// The highest priority in a group.
    #[inline]
    pub(super) fn of_group(&self, group: usize) -> u32 {
        self.of_groups.get(group).copied().unwrap_or(0)
    }

    /// `sched_asym_prefer`
    fn prefers(&self, cpu: usize, other: usize) -> bool {
        self.priorities[cpu] > self.priorities[other]
    }
}

impl World<'_> {
    fn pulls(&self) -> Pulls {
        match &self.kernel.balance.itmt {
            Some(rules) => rules.pulls,
            None => Pulls::ByPriority,
        }
    }

    fn ranked(&self, cpu: usize, level: usize) -> bool {
        self.domain(cpu, level).flags & domain_flag::ASYM_PACKING != 0
    }

    /// Does the priority of `cpu` count in the domain of `scope` (`sched_use_asym_prio`)?
    fn counts_for(&self, cpu: usize, scope: &Scope) -> bool {
        let flags = self.domain(scope.dst, scope.level).flags;
        self.pulls() != Pulls::ToIdleCore
            || self.core.topology.smt == 0
            || flags & domain_flag::SMT != 0
            || self.core_is_idle(cpu)
    }

    /// Do priorities precede cache preferences?
    pub(super) fn priority_before_caches(&self) -> bool {
        (self.kernel.balance.itmt).is_some_and(|rules| rules.before_caches)
    }
}

impl Balancer<'_> {
    /// The priorities of CPUs and groups (`sched_set_itmt_core_prio`,
    /// `init_sched_groups_capacity`).
    pub(super) fn itmt_init(&mut self) {
        let Some(rules) = rules(self.machine, self.kernel) else {
            return;
        };
        let Some(stated) = &self.machine.itmt else {
            return;
        };
        let of_cpu = |cpu: usize| thread_priority(self.machine, cpu, stated.priority[cpu], rules);
        let priorities: Vec<u32> = (0..self.cpus.len()).map(of_cpu).collect();
        let highest = |group: usize| {
            let members = self.members(group, None);
            members.map(|cpu| priorities[cpu]).max().unwrap_or(0)
        };
        let of_groups = (0..self.core.groups.len()).map(highest).collect();
        self.itmt = Itmt {
            priorities,
            of_groups,
        };
    }

    /// Does the domain follow priorities?
    #[inline]
    pub(super) fn is_ranked(&self, scope: &Scope) -> bool {
        self.itmt.used() && self.ranked(scope.dst, scope.level)
    }

    /// Should `cpu` rather than `other` run tasks (`sched_asym`)?
    fn goes_first(&self, cpu: usize, other: usize, scope: &Scope) -> bool {
        self.counts_for(cpu, scope) && self.itmt.prefers(cpu, other)
    }

    /// Does the CPU that balances pull from the group for its priority (`sched_group_asym`)?
    pub(super) fn pulls_by_priority(&self, scope: &Scope, group: &GroupStats) -> bool {
        if !self.is_ranked(scope) || scope.idle == Idle::No || group.h_nr_running == 0 {
            return false;
        }
        let higher = self.itmt.priorities[scope.dst] > group.priority;
        let busy = group.weight - group.idle_cpus;
        match self.pulls() {
            Pulls::ByPriority => higher,
            Pulls::ByThreads => self.pulls_by_threads(scope, group, busy, higher),
            Pulls::ToIdleCore => {
                self.counts_for(scope.dst, scope) && (!group.smt || busy == 1) && higher
            }
        }
    }

    /// `asym_smt_can_pull_tasks`
    fn pulls_by_threads(&self, scope: &Scope, group: &GroupStats, busy: u32, higher: bool) -> bool {
        let own = self.core.places[scope.dst].group[scope.level] as usize;
        let local: Count = match &scope.excluded {
            None => self.occupancy.groups[own],
            Some(excluded) => self.count(own, excluded),
        };
        let local_busy = self.core.groups[own].weight - local.idle_cpus;
        match (self.is_core(own), group.smt) {
            (false, true) => busy >= 2 || higher,
            (false, false) => higher,
            (true, true) => busy == local_busy + 1 && higher,
            (true, false) => local.nr_running == 0 && higher,
        }
    }

    /// Does a lone task of `src`, whose priority is higher, stay there (`find_busiest_queue`)?
    #[inline]
    pub(super) fn stays_by_priority(&self, scope: &Scope, src: usize) -> bool {
        self.is_ranked(scope)
            && self.pulls() != Pulls::ByPriority
            && self.goes_first(src, scope.dst, scope)
    }

    /// Is the running task of `src` pushed to the CPU that balances for its priority
    /// (`asym_active_balance`)?
    pub(super) fn pushes_by_priority(&self, scope: &Scope, src: usize) -> bool {
        self.is_ranked(scope)
            && scope.idle != Idle::No
            && self.counts_for(scope.dst, scope)
            && (self.itmt.prefers(scope.dst, src) || !self.counts_for(src, scope))
    }

    /// Does a task of `src` go to `dst`, which idles, for its priority (`can_migrate_llc_task`)?
    pub(super) fn goes_by_priority(&self, scope: &Scope, src: usize, dst: usize) -> bool {
        self.is_ranked(scope) && scope.idle != Idle::No && self.goes_first(dst, src, scope)
    }

    /// Is there a tickless CPU with a higher priority, which should pull the task of `cpu`
    /// (`nohz_balancer_kick`)?
    pub(super) fn kicks_by_priority(&self, cpu: usize) -> bool {
        if !self.itmt.used() {
            return false;
        }
        let levels = 0..self.core.places[cpu].nr_domains as usize;
        let Some(level) = levels.rev().find(|&level| self.ranked(cpu, level)) else {
            return false;
        };
        let scope = Scope::new(cpu, level, Idle::No, 0);
        let span = &self.domain(cpu, level).span;
        span.and(&self.nohz.idle, self.nohz.words)
            .any(|other| self.goes_first(other as usize, cpu, &scope))
    }
}

/// The priority of a thread, computed from that of its core.
fn thread_priority(machine: &Machine, cpu: usize, core: u32, rules: kernel::Itmt) -> u32 {
    let siblings = |cpu: usize| {
        let of_core = move |other: &usize| machine.cpus[*other].core == machine.cpus[cpu].core;
        (0..machine.cpus.len()).filter(of_core)
    };
    let most = (0..machine.cpus.len()).map(|cpu| siblings(cpu).count());
    let threads = most.max().unwrap_or(1) as u32;
    let place = 1 + siblings(cpu).take_while(|&other| other < cpu).count() as u32;
    match rules.threads {
        ThreadPriority::Divided => core * threads / place,
        ThreadPriority::DividedTwice => core * threads / (place * place),
        ThreadPriority::OfCore => core,
    }
}

#[cfg(test)]
mod tests;
