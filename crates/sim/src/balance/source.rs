// SPDX-License-Identifier: GPL-2.0-only
//! The queue to take tasks from: the one of the busiest group that has most of the imbalance
//! (`find_busiest_queue`).

use super::contest::greater;
use super::groups::Scope;
use super::imbalance::{Imbalance, Migrate};
use super::sums::Signals;
use crate::balance::Balancer;
use crate::base::timeline::NONE;
use crate::kernel::Judged;
use crate::power::uclamp::actual_capacity;
use crate::power::uclamp_sum::Weighed;
use crate::world::World;
use alight_policy::Group;
use alight_policy::abi::domain_flag;

/// The CPU with the greatest key per capacity among those that `may_be` taken, the first of
/// equals; none if all keys are 0.
#[inline]
pub(super) fn greatest(
    cpus: impl Iterator<Item = usize>,
    key: impl Fn(usize) -> (u64, u64),
    may_be: impl Fn(usize, u64) -> bool,
) -> Option<usize> {
    let (mut most, mut most_capacity) = (0, 1);
    let mut found = None;
    for cpu in cpus {
        let (key, capacity) = key(cpu);
        if key * most_capacity > most * capacity && may_be(cpu, key) {
            (most, most_capacity) = (key, capacity);
            found = Some(cpu);
        }
    }
    found
}

impl World<'_> {
    /// May the lone task of `src` gain on `dst`, which is no bigger? It may if it shares its core
    /// with a busy sibling, or if `dst` has the same capacity and the machine has clusters
    /// (`sched_balance_find_src_rq`).
    fn gains_from(&self, dst: usize, src: usize) -> bool {
        let topology = &self.core.topology;
        let capacity = |cpu: usize| actual_capacity(&self.core.params, &self.core.cpus[cpu]);
        self.kernel.balance.source.lone_beside_busy
            && (topology.smt != 0 && !self.core_is_idle(src)
                || topology.cluster != 0 && capacity(dst) == capacity(src))
    }
}

impl Balancer<'_> {
    /// The CPU of the group that has most of the imbalance (`find_busiest_queue`).
    pub(super) fn busiest_queue(
        &self,
        scope: &Scope,
        group: usize,
        imbalance: Imbalance,
    ) -> Option<usize> {
        if self.kernel.balance.judged == Judged::Load {
            return self.queue_by_load(scope, group, imbalance);
        }
        let domain = self.domain(scope.dst, scope.level);
        let asym = domain.flags & domain_flag::ASYM != 0;
        let pct = domain.imbalance_pct;
        let rules = &self.kernel.balance.source;
        if imbalance.what == Migrate::Task
            && !asym
            && !self.is_ranked(scope)
            && scope.excluded.is_none()
            && !self.has_classes()
        {
            return self.longest_queue(group);
        }
        let eligible = |cpu: usize| self.is_eligible_source(scope, asym, cpu);
        let cpus = self.members(group, scope.excluded.as_ref());
        let (signals, weighed) = (&self.nohz.sums.cpus, self.weighed());
        match imbalance.what {
            Migrate::Load => greatest(
                cpus,
                |cpu| {
                    let capacity = u64::from(self.core.cpus[cpu].capacity);
                    (u64::from(signals[cpu].load), capacity)
                },
                |cpu, load| {
                    eligible(cpu)
                        && (self.fair_runnable(cpu) != 1
                            || load <= imbalance.amount as u64
                            || self.capacity_reduced(cpu, pct))
                },
            ),
            Migrate::Util => greatest(
                cpus,
                |cpu| (self.util_of_source(cpu, signals[cpu], weighed), 1),
                |cpu, _| eligible(cpu) && (self.fair_runnable(cpu) > 1 || !rules.util_of_several),
            ),
            Migrate::Task => greatest(
                cpus,
                |cpu| (u64::from(self.fair_runnable(cpu)), 1),
                |cpu, _| eligible(cpu),
            ),
            Migrate::ToCache => greatest(
                cpus,
                |cpu| (u64::from(self.wanted(cpu, scope.dst)), 1),
                |cpu, _| eligible(cpu),
            ),
            Migrate::Misfit => greatest(
                cpus,
                |cpu| (u64::from(self.balance[cpu].misfit_load), 1),
                |cpu, _| eligible(cpu),
            ),
        }
    }

    /// May tasks be taken from `cpu`? A lone task would have to be pushed: it stays if its CPU is
    /// as good as the destination.
    #[inline(always)]
    fn is_eligible_source(&self, scope: &Scope, asym: bool, cpu: usize) -> bool {
        let rules = &self.kernel.balance.source;
        let dst_capacity = self.core.cpus[scope.dst].capacity;
        let capacity = self.core.cpus[cpu].capacity;
        let as_good = match rules.greater_capacity {
            true => !greater(dst_capacity, capacity),
            false => dst_capacity < capacity,
        };
        let nr = self.fair_runnable(cpu);
        let kept = asym && as_good && !self.gains_from(scope.dst, cpu);
        let stays = nr == 1 && (kept || self.stays_by_priority(scope, cpu));
        !(stays || nr == 0 && rules.skips_empty)
    }

    /// The utilization by which queues are compared (`cpu_util_cfs`, `cpu_util_cfs_boost`).
    #[inline(always)]
    fn util_of_source(&self, cpu: usize, signals: Signals, weighed: Weighed) -> u64 {
        let Signals { util, runnable, .. } = signals;
        let view = &self.core.cpus[cpu];
        match self.kernel.balance.source.util_boosted {
            true if weighed.summed() => u64::from(weighed.boosted(view)),
            true => u64::from(util.max(runnable).min(view.capacity_orig)),
            false => u64::from(util),
        }
    }

    /// The first CPU of the group with the most tasks. Numbers of tasks are compared only among
    /// CPUs with two or more.
    fn longest_queue(&self, group: usize) -> Option<usize> {
        let Group { child, cpu, .. } = self.core.groups[group];
        if child == NONE {
            return (self.fair_runnable(cpu as usize) != 0).then_some(cpu as usize);
        }
        let span = &self.core.domains[child as usize].span;
        let words = self.nohz.words;
        let (mut longest, mut most) = (None, 1);
        for at in span.and(&self.overloaded, words) {
            let nr = self.fair_runnable(at as usize);
            if nr > most {
                (longest, most) = (Some(at as usize), nr);
            }
        }
        let first = || {
            span.and(&self.occupancy.runnable, words)
                .map(|at| at as usize)
                .find(|&at| self.fair_runnable(at) != 0)
        };
        longest.or_else(first)
    }
}
