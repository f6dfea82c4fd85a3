// SPDX-License-Identifier: GPL-2.0-only
//! The statistics of the groups of a domain, and the choice of the busiest.
//!
//! The kernel sums load, utilization, tasks and idle CPUs of every CPU of the domain at every
//! attempt. Here tasks and idle CPUs of each group are counted as they change, and most attempts
//! are decided by them. Load and utilization are updated when they are read ([`super::sums`]).
//!
//! Every attempt has the kernel's outcome, without host time for CPUs that cannot change it. The
//! simulated cost of an attempt still depends on the number of CPUs in the domain.

mod members;
mod spread;
mod updates;

use super::Idle;
use super::contest::{Contest, GroupStats, Kind, greater};
use super::sums::fair_runnable;
use crate::balance::Balancer;
use crate::kernel::tunables::Order;
use crate::kernel::{MisfitCounts, NohzRound, Sibling};
use crate::queues::Queues;
use crate::world::World;
use alight_policy::Mask;
use alight_policy::abi::domain_flag;
use std::ops::Range;

/// Load and capacity of a domain.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    pub load: u64,
    pub capacity: u64,
}

/// The two groups that an attempt compares.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rivals {
    pub local: GroupStats,
    pub busiest: GroupStats,
    /// Index of the busiest group.
    pub group: usize,
    /// Totals of the domain, summed if the local group is at least fully busy.
    pub totals: Totals,
}

/// The CPUs that one attempt looks at, and the CPU for which it does so.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    /// CPU to bring work to.
    pub dst: usize,
    pub level: usize,
    pub idle: Idle,
    /// Jiffies.
    pub now: u64,
    /// CPUs that were found to hold only pinned tasks, and are left out.
    pub excluded: Option<Mask>,
    /// The imbalance found last is a misfit task.
    pub misfit: bool,
}

impl Scope {
    pub fn new(dst: usize, level: usize, idle: Idle, now: u64) -> Self {
        Scope {
            dst,
            level,
            idle,
            now,
            excluded: None,
            misfit: false,
        }
    }
}

impl World<'_> {
    /// Runnable fair tasks of `cpu`; in some kernels sleepers that are still queued count too.
    #[inline]
    pub(super) fn fair_runnable(&self, cpu: usize) -> u32 {
        fair_runnable(&self.core.cpus[cpu], &self.kernel.balance)
    }
}

impl Queues<'_> {
    /// Can other classes, or limits of the frequency, take capacity from fair tasks?
    fn capacities_shrink(&self) -> bool {
        self.has_classes() || self.has_pressure()
    }
}

impl Balancer<'_> {
    /// Statistics of the local group and of the busiest other one
    /// (`update_sd_lb_stats`); `None` if no other has a task to give.
    pub(super) fn rivals(&mut self, scope: &Scope) -> Option<Rivals> {
        let (own, groups) = self.look_at_domain(scope);
        let asym = self.domain(scope.dst, scope.level).flags & domain_flag::ASYM != 0;
        // The kernel's ring of groups starts at the local one.
        let others = (own + 1..groups.end).chain(groups.start..own);
        self.update_idle_cpu_scan(scope);
        let records = self.records_caches(scope);
        let told = !asym && !records && !self.is_ranked(scope);
        if told && scope.excluded.is_none() && !self.may_differ(scope, own, others.clone()) {
            self.update_overload(scope, false);
            return None;
        }

        self.sums_refresh();
        let contest = Contest {
            local: self.group_stats(scope, own, true),
            asym,
            capacity: self.core.cpus[scope.dst].capacity,
            core_idle: asym && self.core_is_idle(scope.dst),
            rules: &self.kernel.balance,
        };
        if records {
            self.record_cache(own, &contest.local);
        }
        let mut busiest = GroupStats::LEAST;
        let mut group = None;
        let mut misfit = false;
        for other in others {
            if told && self.is_idler(scope, other, &busiest) {
                continue;
            }
            let stats = self.group_stats(scope, other, false);
            if records {
                self.record_cache(other, &stats);
            }
            misfit |= stats.misfit;
            if stats.busier_than(&busiest, &contest) {
                busiest = stats;
                group = Some(other);
            }
        }
        self.update_overload(scope, misfit);
        let local = contest.local;
        let totals = match local.kind {
            Kind::HasSpare => Totals::default(),
            _ => self.totals(scope),
        };
        Some(Rivals {
            local,
            busiest,
            group: group?,
            totals,
        })
    }

    /// Updates shared state before groups are compared. Returns the local group and the range of
    /// all groups.
    pub(super) fn look_at_domain(&mut self, scope: &Scope) -> (usize, Range<usize>) {
        let compares_fresh = self.kernel.balance.nohz.round == NohzRound::ByNumber;
        if compares_fresh && scope.idle == Idle::Newly && self.nohz.has_blocked {
            self.refresh_span(scope);
        }
        let own = self.core.places[scope.dst].group[scope.level] as usize;
        let domain = self.domain(scope.dst, scope.level);
        let (first, nr) = (domain.first_group as usize, domain.nr_groups as usize);
        self.update_local_capacity(scope, own);
        if self.energy_aware() {
            self.update_overutilized(scope);
        }
        (own, first..first + nr)
    }

    /// Could some other group, as the busiest, be out of balance with the local one? This is
    /// decided by tasks and idle CPUs alone. [`super::imbalance::find`] finds an imbalance only if
    /// one of these conditions is met, whatever the utilization and load.
    fn may_differ(
        &self,
        scope: &Scope,
        own: usize,
        mut others: impl Iterator<Item = usize>,
    ) -> bool {
        let rules = &self.kernel.balance;
        if rules.reduced_is_misfit && self.capacities_shrink() {
            return true;
        }
        let local = self.occupancy.groups[own];
        let spread = rules.sibling == Sibling::Child && self.child_spreads(scope);
        others.any(|other| {
            let group = &self.core.groups[other];
            let count = self.occupancy.groups[other];
            let overloaded = count.nr_running > group.weight;
            let spread = spread || rules.sibling != Sibling::Child && self.spreads(other);
            let unlike = || rules.sibling == Sibling::Cores && self.cores(other) != self.cores(own);
            let crowded = spread && (count.nr_running > local.nr_running + 1 || unlike());
            let uneven = count.nr_running > 1
                && scope.idle != Idle::No
                && (group.weight == 1
                    || local.idle_cpus > count.idle_cpus + 1
                    || rules.smt_balance && self.is_core(other) != self.is_core(own));
            let drawn = || self.drawn_here(scope, other) != 0;
            group.imbalance != 0 || overloaded || crowded || uneven || drawn()
        })
    }

    /// Is the group no busier than the busiest so far? This is decided by tasks and idle CPUs
    /// alone. A group without more tasks than CPUs is at most fully busy. It loses to an earlier
    /// fully busy group in kernels where the first of equals wins (neither has an `avg_load`). If
    /// it has a spare CPU, it also loses to a group with fewer idle CPUs.
    fn is_idler(&self, scope: &Scope, group: usize, busiest: &GroupStats) -> bool {
        let (g, count) = (&self.core.groups[group], self.occupancy.groups[group]);
        let rules = &self.kernel.balance;
        if scope.excluded.is_some() || g.imbalance != 0 || count.nr_running > g.weight {
            return false;
        }
        if count.nr_running == 0 {
            return true;
        }
        if self.drawn_here(scope, group) != 0 {
            return false;
        }
        let special = rules.reduced_is_misfit && self.capacities_shrink()
            || rules.smt_balance && self.core.topology.smt != 0 && self.is_core(group);
        let ties = &rules.ties;
        !special
            && match busiest.kind {
                Kind::HasSpare => {
                    let alike = !ties.mixed_smt || !busiest.smt;
                    let fewer = count.idle_cpus > busiest.idle_cpus
                        || count.idle_cpus == busiest.idle_cpus
                            && (!ties.spare_by_tasks || count.nr_running <= busiest.nr_running);
                    alike && count.nr_running < g.weight && fewer
                }
                Kind::FullyBusy => count.nr_running < g.weight || !ties.full_later || busiest.smt,
                _ => true,
            }
    }

    /// Cores of a group (`sg->cores`).
    fn cores(&self, group: usize) -> u32 {
        self.nohz.cores[group]
    }

    /// `update_sg_lb_stats`.
    pub(super) fn group_stats(&self, scope: &Scope, group: usize, local: bool) -> GroupStats {
        let g = &self.core.groups[group];
        let (count, sum) = match &scope.excluded {
            None => (self.occupancy.groups[group], self.nohz.sums.groups[group]),
            Some(excluded) => (self.count(group, excluded), self.sum(group, excluded)),
        };
        let domain = self.domain(scope.dst, scope.level);
        let rules = &self.kernel.balance;
        let mut stats = GroupStats {
            load: sum.load,
            util: sum.util,
            runnable: sum.runnable,
            capacity: match self.packing.full {
                true => self.packed_capacity(group).into(),
                false => g.capacity.max(1).into(),
            },
            min_capacity: g.min_capacity,
            max_capacity: g.max_capacity,
            nr_running: count.nr_running,
            h_nr_running: match self.has_classes() || self.tunables.order == Order::Eevdf {
                true => sum.fair,
                false => count.nr_running,
            },
            idle_cpus: count.idle_cpus,
            weight: g.weight,
            smt: self.is_core(group),
            cores: self.cores(group),
            priority: self.itmt.of_group(group),
            ..GroupStats::LEAST
        };
        let asym = domain.flags & domain_flag::ASYM != 0;
        if !local {
            if asym && self.nohz.nr_misfit != 0 {
                let load = self.biggest_misfit(group, scope);
                let capacity = self.core.cpus[scope.dst].capacity;
                let counts = rules.misfit_counts == MisfitCounts::Always
                    || greater(capacity, g.max_capacity);
                stats.misfit = load != 0;
                stats.misfit_load = if counts { load } else { 0 };
            } else if !asym && rules.reduced_is_misfit && self.capacities_shrink() {
                stats.misfit_load = self.biggest_reduced(group, scope, domain.imbalance_pct);
            }
            stats.smt_balance =
                rules.smt_balance && scope.idle != Idle::No && stats.smt && stats.h_nr_running > 1;
        }
        if !local {
            stats.asym_packing = self.pulls_by_priority(scope, &stats);
            stats.drawn_here = self.drawn_here(scope, group);
            stats.draws = self.draws(scope, group, &stats);
        }
        stats.spared = rules.overloaded_if_overutilized
            && self.energy_aware()
            && stats.nr_running > stats.weight
            && !self.any_overutilized(self.members(group, scope.excluded.as_ref()));
        stats.kind = stats.classify(domain.imbalance_pct, g.imbalance != 0, rules);
        if stats.kind == Kind::Overloaded {
            stats.avg_load = stats.load * 1024 / stats.capacity;
        }
        stats
    }
}
