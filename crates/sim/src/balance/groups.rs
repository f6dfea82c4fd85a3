// SPDX-License-Identifier: GPL-2.0-only
//! How busy the groups of a domain are, and which of them is the busiest.
//!
//! The kernel sums load, utilization, tasks and idle CPUs of every CPU of the
//! domain at every attempt. Here tasks and idle CPUs of each group are counted
//! as they change and most attempts end at them; load and utilization are
//! brought up to date when they are read ([`super::sums`]).
//!
//! So every attempt has the kernel's outcome and none costs host time for CPUs
//! that cannot change it. What the attempt costs in the simulation is charged by
//! the CPUs of the domain all the same.

use super::sums::Sum;
use super::{Count, Idle, fits};
use crate::state::Sim;
use alight_policy::abi::{Cpu, NONE, domain_flag};
use alight_policy::{Group, Mask};

/// How much relief a group needs, rising (`enum group_type` without asymmetric
/// packing; the wakeup path's classification is the same).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    HasSpare,
    FullyBusy,
    Misfit,
    Imbalanced,
    Overloaded,
}

/// A group's statistics (`struct sg_lb_stats`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupStats {
    pub load: u64,
    pub util: u64,
    /// Load per capacity; of overloaded groups only.
    pub avg_load: u64,
    pub capacity: u64,
    pub min_capacity: u32,
    pub max_capacity: u32,
    pub nr_running: u32,
    /// Fair tasks among them (`sum_h_nr_running`).
    pub h_nr_running: u32,
    pub idle_cpus: u32,
    pub weight: u32,
    /// Biggest load of a misfit task; not of the local group.
    pub misfit_load: u32,
    pub kind: Kind,
}

impl GroupStats {
    /// What any candidate beats (`init_sd_lb_stats`).
    pub const LEAST: GroupStats = GroupStats {
        load: 0,
        util: 0,
        avg_load: 0,
        capacity: 1,
        min_capacity: 0,
        max_capacity: 0,
        nr_running: 0,
        h_nr_running: 0,
        idle_cpus: u32::MAX,
        weight: 1,
        misfit_load: 0,
        kind: Kind::HasSpare,
    };

    /// `group_classify`. `imbalance`: a level below failed because of affinity.
    pub fn classify(&self, pct: u32, imbalance: bool) -> Kind {
        let (room, need) = (self.capacity * 100, self.util * u64::from(pct));
        if self.nr_running > self.weight && room < need {
            Kind::Overloaded
        } else if imbalance {
            Kind::Imbalanced
        } else if self.misfit_load != 0 {
            Kind::Misfit
        } else if self.nr_running >= self.weight && room <= need {
            Kind::FullyBusy
        } else {
            Kind::HasSpare
        }
    }

    /// Is this group, a neighbour of `local`, busier than `busiest`
    /// (`update_sd_pick_busiest`)? `asym`: CPUs of the domain differ in capacity.
    pub fn busier_than(&self, busiest: &GroupStats, local: &GroupStats, asym: bool) -> bool {
        if self.h_nr_running == 0 {
            return false;
        }
        // Misfit tasks that this CPU's group cannot help.
        if self.kind == Kind::Misfit
            && (!fits(self.max_capacity, local.max_capacity) || local.kind != Kind::HasSpare)
        {
            return false;
        }
        if self.kind != busiest.kind {
            return self.kind > busiest.kind;
        }
        let busier = match self.kind {
            Kind::Overloaded | Kind::FullyBusy => self.avg_load > busiest.avg_load,
            Kind::Imbalanced => false,
            Kind::Misfit => self.misfit_load >= busiest.misfit_load,
            Kind::HasSpare => self.idle_cpus < busiest.idle_cpus,
        };
        // Nobody waits there, and its CPUs are bigger: tasks are better off there.
        let better_off =
            asym && self.kind <= Kind::FullyBusy && fits(local.min_capacity, self.min_capacity);
        busier && !better_off
    }
}

/// Load and capacity of a domain.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    pub load: u64,
    pub capacity: u64,
}

/// Utilization of a CPU, that of tasks that wait included (`cpu_util`).
#[inline]
pub(crate) fn cpu_util(view: &Cpu) -> u32 {
    view.cfs
        .util_avg
        .max(view.est_enqueued)
        .min(view.capacity_orig)
}

/// The two groups that an attempt weighs against each other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rivals {
    pub local: GroupStats,
    pub busiest: GroupStats,
    /// Index of the busiest group.
    pub group: usize,
    /// Of the domain, summed if the local group is at least fully busy.
    pub totals: Totals,
}

/// Which CPUs one attempt looks at, and for whom.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope {
    /// CPU to bring work to.
    pub dst: usize,
    pub level: usize,
    pub idle: Idle,
    /// Jiffies.
    pub now: u64,
    /// CPUs found to hold pinned tasks only; out of the question.
    pub excluded: Option<Mask>,
}

impl Scope {
    pub fn new(dst: usize, level: usize, idle: Idle, now: u64) -> Self {
        Scope {
            dst,
            level,
            idle,
            now,
            excluded: None,
        }
    }
}

impl Sim<'_> {
    /// Statistics of the local group and of the busiest other one
    /// (`update_sd_lb_stats`); `None` if no other has a task to give.
    pub(super) fn rivals(&mut self, scope: &Scope) -> Option<Rivals> {
        if scope.idle == Idle::Newly && self.nohz.has_blocked {
            self.refresh_span(scope);
        }
        let own = self.core.places[scope.dst].group[scope.level] as usize;
        let domain = self.domain(scope.dst, scope.level);
        let (first, nr) = (domain.first_group as usize, domain.nr_groups as usize);
        let asym = domain.flags & domain_flag::ASYM != 0;
        self.update_local_capacity(scope, own);
        if self.energy_aware() {
            self.update_overutilized(scope);
        }
        // The kernel's ring of groups starts at the local one.
        let others = (own + 1..first + nr).chain(first..own);
        if !asym && scope.excluded.is_none() && !self.may_differ(scope, own, others.clone()) {
            self.update_overload(scope, false);
            return None;
        }

        self.sums_refresh();
        let local = self.group_stats(scope, own, true);
        let mut busiest = GroupStats::LEAST;
        let mut group = None;
        let mut misfit = false;
        for other in others {
            if !asym && self.is_idler(scope, other, &busiest) {
                continue;
            }
            let stats = self.group_stats(scope, other, false);
            misfit |= stats.misfit_load != 0;
            if stats.busier_than(&busiest, &local, asym) {
                busiest = stats;
                group = Some(other);
            }
        }
        self.update_overload(scope, misfit);
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

    /// Could any other group, taken for the busiest, be found out of balance with
    /// the local one? Told by tasks and idle CPUs alone: each condition is one
    /// that [`super::imbalance::find`] needs to get past, whatever the
    /// utilization and load; if none is met, neither is an imbalance.
    fn may_differ(
        &self,
        scope: &Scope,
        own: usize,
        mut others: impl Iterator<Item = usize>,
    ) -> bool {
        let local = self.nohz.counts[own];
        let spread = self.prefers_sibling(scope);
        others.any(|other| {
            let group = &self.core.groups[other];
            let count = self.nohz.counts[other];
            let overloaded = count.nr_running > group.weight;
            let crowded = spread && count.nr_running > local.nr_running + 1;
            let uneven = count.nr_running > 1
                && scope.idle != Idle::No
                && (group.weight == 1 || local.idle_cpus > count.idle_cpus + 1);
            group.imbalance != 0 || overloaded || crowded || uneven
        })
    }

    /// Is the group no busier than the busiest so far, as tasks and idle CPUs
    /// alone tell? With no task too many it is fully busy at most, and behind
    /// another such group (neither has an `avg_load`); with a CPU to spare it is
    /// behind a group with fewer idle CPUs as well.
    fn is_idler(&self, scope: &Scope, group: usize, busiest: &GroupStats) -> bool {
        let (g, count) = (&self.core.groups[group], self.nohz.counts[group]);
        let behind = count.nr_running == 0
            || busiest.kind != Kind::HasSpare
            || (count.nr_running < g.weight && count.idle_cpus >= busiest.idle_cpus);
        scope.excluded.is_none() && g.imbalance == 0 && count.nr_running <= g.weight && behind
    }

    /// Are tasks to be spread over the groups (`sds->prefer_sibling`)?
    pub(super) fn prefers_sibling(&self, scope: &Scope) -> bool {
        scope.level > 0
            && self.domain(scope.dst, scope.level - 1).flags & domain_flag::PREFER_SIBLING != 0
    }

    /// The top domain was looked at: does any CPU hold work for others (`rd->overload`)?
    fn update_overload(&mut self, scope: &Scope, misfit: bool) {
        let place = &self.core.places[scope.dst];
        if scope.level + 1 == place.nr_domains as usize {
            let span = &self.core.domains[place.domain[scope.level] as usize].span;
            self.nohz.overload = misfit || self.overloaded.intersects(span, self.nohz.words);
        }
    }

    /// `update_sg_lb_stats`.
    fn group_stats(&self, scope: &Scope, group: usize, local: bool) -> GroupStats {
        let g = &self.core.groups[group];
        let (count, sum) = match &scope.excluded {
            None => (self.nohz.counts[group], self.nohz.sums.groups[group]),
            Some(excluded) => (self.count(group, excluded), self.sum(group, excluded)),
        };
        let domain = self.domain(scope.dst, scope.level);
        let mut stats = GroupStats {
            load: sum.load,
            util: sum.util,
            capacity: u64::from(g.capacity.max(1)),
            min_capacity: g.min_capacity,
            max_capacity: g.max_capacity,
            nr_running: count.nr_running,
            h_nr_running: match self.classes.used {
                true => self.fair_tasks(scope, group),
                false => count.nr_running,
            },
            idle_cpus: count.idle_cpus,
            weight: g.weight,
            ..GroupStats::LEAST
        };
        if !local && self.nohz.nr_misfit != 0 && domain.flags & domain_flag::ASYM != 0 {
            stats.misfit_load = self.biggest_misfit(group, scope);
        }
        stats.kind = stats.classify(domain.imbalance_pct, g.imbalance != 0);
        if stats.kind == Kind::Overloaded {
            stats.avg_load = stats.load * 1024 / stats.capacity;
        }
        stats
    }

    fn fair_tasks(&self, scope: &Scope, group: usize) -> u32 {
        self.members(group, scope.excluded.as_ref())
            .map(|cpu| self.core.cpus[cpu].h_nr_running)
            .sum()
    }

    fn totals(&self, scope: &Scope) -> Totals {
        let domain = self.domain(scope.dst, scope.level);
        let groups = domain.first_group as usize..(domain.first_group + domain.nr_groups) as usize;
        let load = |group| match &scope.excluded {
            None => self.nohz.sums.groups[group].load,
            Some(excluded) => self.sum(group, excluded).load,
        };
        groups.fold(Totals::default(), |t, group| Totals {
            load: t.load + load(group),
            capacity: t.capacity + u64::from(self.core.groups[group].capacity.max(1)),
        })
    }

    /// Books what an attempt finds of the root domain's utilization.
    fn update_overutilized(&mut self, scope: &Scope) {
        let place = &self.core.places[scope.dst];
        let topmost = scope.level + 1 == place.nr_domains as usize;
        let mut cpus = self.domain(scope.dst, scope.level).span;
        if let Some(excluded) = &scope.excluded {
            for (word, out) in cpus.w.iter_mut().zip(&excluded.w) {
                *word &= !out;
            }
        }
        self.overutilized_seen(&cpus, topmost);
    }

    fn biggest_misfit(&self, group: usize, scope: &Scope) -> u32 {
        self.members(group, scope.excluded.as_ref())
            .map(|cpu| self.cpus[cpu].balance.misfit_load)
            .max()
            .unwrap_or(0)
    }

    /// Sums up a group from its CPUs' signals, without `excluded`.
    pub(super) fn sum(&self, group: usize, excluded: &Mask) -> Sum {
        self.members(group, Some(excluded))
            .fold(Sum::default(), |sum, cpu| {
                sum.plus(self.nohz.sums.cpus[cpu])
            })
    }

    /// Counts a group from the views, without `excluded`.
    pub(super) fn count(&self, group: usize, excluded: &Mask) -> Count {
        self.members(group, Some(excluded))
            .fold(Count::default(), |count, cpu| {
                let view = &self.core.cpus[cpu];
                let busy =
                    view.nr_running != 0 || view.curr_is_idle == 0 || view.wakeup_pending != 0;
                Count {
                    nr_running: count.nr_running + view.nr_running,
                    idle_cpus: count.idle_cpus + u32::from(!busy),
                }
            })
    }

    /// CPUs of a group in rising order, without `excluded`.
    pub(super) fn members<'a>(
        &'a self,
        group: usize,
        excluded: Option<&'a Mask>,
    ) -> impl Iterator<Item = usize> + 'a {
        let Group { child, cpu, .. } = self.core.groups[group];
        let mut word = cpu as usize / 64;
        let (span, end) = match child {
            NONE => (None, word + 1),
            child => (
                Some(&self.core.domains[child as usize].span),
                self.nohz.words,
            ),
        };
        let bits = move |word: usize| {
            let all = span.map_or(1 << (cpu % 64), |span| span.w[word]);
            all & !excluded.map_or(0, |mask| mask.w[word])
        };
        let mut left = bits(word);
        std::iter::from_fn(move || {
            while left == 0 {
                word += 1;
                if word >= end {
                    return None;
                }
                left = bits(word);
            }
            let at = word * 64 + left.trailing_zeros() as usize;
            left &= left - 1;
            Some(at)
        })
    }

    /// Sums the capacity of the local group again when that is due (`update_group_capacity`).
    fn update_local_capacity(&mut self, scope: &Scope, own: usize) {
        let now = scope.now;
        if scope.idle == Idle::Newly && now < self.nohz.next_update[own] {
            return;
        }
        let interval = self.cpus[scope.dst].balance.levels[scope.level].balance_interval;
        self.nohz.next_update[own] = now + self.nohz.interval(u64::from(interval));

        let child = self.core.groups[own].child;
        if child == NONE && (self.classes.used || self.pressure.used) {
            self.scale_rt_capacity(scope.dst);
        }
        let (capacity, least, most) = if child == NONE {
            let capacity = self.core.cpus[scope.dst].capacity.max(1);
            (capacity, capacity, capacity)
        } else {
            let child = &self.core.domains[child as usize];
            let first = child.first_group as usize;
            (first..first + child.nr_groups as usize)
                .map(|group| &self.core.groups[group])
                .fold((0, u32::MAX, 0), |(sum, least, most), g| {
                    (
                        sum + g.capacity,
                        least.min(g.min_capacity),
                        most.max(g.max_capacity),
                    )
                })
        };
        let group = &mut self.core.groups[own];
        group.capacity = capacity;
        group.min_capacity = least;
        group.max_capacity = most;
    }
}
