// SPDX-License-Identifier: GPL-2.0-only
//! Feature pack in the balancer. The number of CPUs that take part follows the activity; tasks
//! that run elsewhere are brought to them; and idle CPUs near the buddy balance for the others
//! ("sched: packing small tasks" v4, April 2013; rules of v5, October 2013, are marked). The
//! letters are those of docs/policies/pack.md.

use super::Idle;
use super::groups::Scope;
use super::imbalance::{Imbalance, Migrate};
use crate::balance::Balancer;
use crate::base::table::Tables;
use crate::base::timeline::NONE;
use crate::world;
use crate::world::World;
use alight_policy::Mask;
use alight_policy::abi::{Share, domain_flag, rule};
use alight_policy::pack::{self, Follow, Search};

/// `runnable_avg_period` stays below this. It decays when it reaches a multiple of 1024, because
/// `runnable_avg_period % 1024` is the part of the current period that is over. From this multiple
/// it decays to at most 48,099. After that less than 1024 is added, and it grows to the next
/// multiple, which is this one again.
const LONGEST_PERIOD: u32 = 48 * 1024;

/// The state of packing beside the buddies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Packing {
    /// Some CPU has a buddy.
    pub acts: bool,
    /// Some CPU has a buddy, and the mode is full.
    pub full: bool,
    searches: Vec<Search>,
    /// A CPU that takes no part but pulled tasks: an error, for the invariants.
    pulled: Option<usize>,
}

/// Do the queues of `core` keep the pair of signals of 2013?
pub(crate) fn keeps_signals_2013(core: &world::Core) -> bool {
    acts(core) && core.params.pack_pelt == 0
}

/// Has some CPU a buddy?
fn acts(core: &world::Core) -> bool {
    core.cpus.iter().any(|cpu| cpu.buddy != NONE)
}

impl Packing {
    /// The state for the buddies of `core`.
    pub fn new(core: &world::Core) -> Self {
        let k = &core.params;
        let acts = acts(core);
        let full = acts && k.pack == rule::PACK_FULL;
        Packing {
            acts,
            full,
            searches: match full {
                true => pack::searches(core),
                false => Vec::new(),
            },
            pulled: None,
        }
    }
}

impl World<'_> {
    /// Does `cpu` take part in packing?
    #[inline]
    fn takes_part(&self, cpu: usize) -> bool {
        pack::takes_part(cpu, &self.core.cpus[cpu])
    }

    fn share(&self, cpu: usize) -> Share {
        pack::share(&self.core.params, &self.core.cpus[cpu])
    }
}

impl Balancer<'_> {
    /// The capacity of `cpu` that real-time tasks leave, whether it takes part or not
    /// (`power_available`).
    fn capacity_available(&self, cpu: usize) -> u64 {
        match self.by_index() {
            true => self.available_power(cpu).into(),
            false => self.core.cpus[cpu].capacity.max(1).into(),
        }
    }

    /// The rule by which CPUs and their buddies follow the activity; (a) and (b).
    fn pack_follow(&self) -> Follow<'_, Tables, impl Fn(usize) -> u64> {
        Follow {
            core: &self.core,
            searches: &self.packing.searches,
            available: |cpu| self.capacity_available(cpu),
        }
    }

    /// Called at periodic balancing for `cpu`: updates its signals; in full mode also its buddy
    /// when its domain is due (`update_packing_buddy`).
    pub(super) fn pack_rebalance(&mut self, cpu: usize, idle: Idle, now: u64) {
        self.pack_update_signals(cpu);
        if !self.packing.full {
            return;
        }
        let Search { level, .. } = self.packing.searches[cpu];
        if level == NONE {
            return;
        }
        let level = level as usize;
        let last = self.balance[cpu].levels[level].last_balance;
        if now < last + self.balance_interval(cpu, level, idle == Idle::No) {
            return;
        }
        let buddy = self.pack_follow().buddy(cpu);
        self.core.cpus[cpu].buddy = buddy;
    }

    /// (c) The power of a CPU for the balancer: next to nothing if it takes no part.
    #[inline]
    pub(super) fn packed_power(&self, cpu: usize, available: u32) -> u32 {
        match self.packing.full && !self.takes_part(cpu) {
            true => 1,
            false => available,
        }
    }

    /// The capacity of a group by that rule; the CPUs themselves keep theirs.
    pub(super) fn packed_capacity(&self, group: usize) -> u32 {
        let capacity = |cpu| self.packed_power(cpu, self.core.cpus[cpu].capacity.max(1));
        self.members(group, None).map(capacity).sum()
    }

    /// (d) A CPU that takes no part pulls nothing.
    #[inline]
    pub(super) fn pack_refuses(&self, scope: &Scope) -> bool {
        self.packing.full && !self.takes_part(scope.dst)
    }

    /// (g) Tasks of a CPU that takes no part move to one that does and is not full: waiting
    /// tasks are pulled, a single one is pushed.
    pub(super) fn pack_source(&self, scope: &Scope) -> Option<(usize, Imbalance)> {
        let Share { part, whole } = self.share(scope.dst);
        if whole != 0 && part * 1024 >= whole * 1000 {
            return None;
        }
        let own = self.core.places[scope.dst].group[scope.level] as usize;
        let domain = self.domain(scope.dst, scope.level);
        let mut busiest: Option<usize> = None;
        for group in pack::other_groups(domain, own as u32) {
            for cpu in self.members(group, scope.excluded.as_ref()) {
                let weight = |cpu: usize| self.core.cpus[cpu].weight;
                let heavier = busiest.is_none_or(|most| weight(cpu) > weight(most));
                if !self.takes_part(cpu) && self.fair_runnable(cpu) != 0 && heavier {
                    busiest = Some(cpu);
                }
            }
        }
        let src = busiest?;
        let view = &self.core.cpus[src];
        let imbalance = match self.by_index() {
            true => Imbalance {
                what: Migrate::Load,
                amount: view.weight.into(),
            },
            false => Imbalance {
                what: Migrate::Task,
                amount: view.nr_running.into(),
            },
        };
        Some((src, imbalance))
    }

    /// Is a running task pushed off `src` at the first attempt?
    pub(super) fn pack_forces(&self, src: usize, dst: usize) -> bool {
        self.packing.full && !self.takes_part(src) && self.takes_part(dst)
    }

    /// (f) The CPU without a tick that `from` asks to balance for all: the first one in the
    /// smallest domain of its buddy that has one. The domain of a core's threads is skipped.
    pub(super) fn pack_ilb(&self, from: usize) -> Option<u32> {
        let buddy = self.core.cpus[from].buddy;
        let first = |span: &Mask| {
            let idle = span.and(&self.nohz.idle, self.nohz.words);
            idle.into_iter().find(|&cpu| self.is_idle(cpu as usize))
        };
        if buddy == NONE {
            return first(&self.nohz.idle);
        }
        let levels = 0..self.core.places[buddy as usize].nr_domains as usize;
        (levels.map(|level| self.domain(buddy as usize, level)))
            .filter(|domain| domain.flags & domain_flag::SMT == 0)
            .find_map(|domain| first(&domain.span))
    }

    /// (f) Does `cpu` ask for help in full mode, beyond the reasons of the base? A CPU that takes
    /// no part does. Others ask in v4 if their buddy is idle, in v5 if they are used above the
    /// level.
    pub(super) fn pack_kicks(&self, cpu: usize) -> bool {
        if !self.packing.full || self.core.cpus[cpu].buddy == NONE {
            return false;
        }
        let k = &self.core.params;
        !self.takes_part(cpu)
            || match k.pack_by_level {
                0 => self.is_idle(self.core.cpus[cpu].buddy as usize),
                _ => {
                    let most = self.capacity_available(cpu) * u64::from(k.pack_level);
                    self.pack_follow().activity(cpu) * 100 >= most
                }
            }
    }

    /// `dst` pulled tasks.
    pub(super) fn pack_pulled(&mut self, dst: usize) {
        if self.packing.full && !self.takes_part(dst) {
            self.packing.pulled = Some(dst);
        }
    }

    /// Checks that buddies are online, that pairs are within their limits, and that no CPU pulled
    /// that takes no part.
    ///
    /// # Errors
    /// Names the violation.
    pub(super) fn pack_check(&self) -> Result<(), String> {
        if let Some(cpu) = self.packing.pulled {
            return Err(format!(
                "CPU {cpu} takes no part in packing but pulled tasks"
            ));
        }
        for (cpu, view) in self.core.cpus.iter().enumerate() {
            let online = |cpu: usize| self.hotplug.online.contains(cpu as u32);
            let buddy = view.buddy;
            if buddy != NONE && !(online(cpu) && online(buddy as usize)) {
                return Err(format!(
                    "CPU {cpu} packs on {buddy}, and not both are online"
                ));
            }
            let pair = view.pelt13;
            if pair.runnable_avg_sum > pair.runnable_avg_period
                || pair.runnable_avg_period >= LONGEST_PERIOD
            {
                return Err(format!("CPU {cpu} was runnable for {pair:?}"));
            }
        }
        let torn = |task: &alight_policy::Task| {
            task.pelt13.runnable_avg_sum > task.pelt13.runnable_avg_period
        };
        match self.views.iter().position(torn) {
            Some(task) => Err(format!(
                "task {task} was runnable for longer than it exists"
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
