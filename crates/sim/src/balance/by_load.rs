// SPDX-License-Identifier: GPL-2.0-only
//! The search for an imbalance in Linux 5.4: groups are compared by kind, and groups of the same
//! kind by load per capacity, whatever their utilization (`update_sd_lb_stats`,
//! `find_busiest_group`, `calculate_imbalance`, `fix_small_imbalance`; 5.5 replaced this by the
//! kinds of `contest`).
//!
//! Load is that of queued tasks. Differences are unsigned in the kernel. A test before each one
//! keeps it from wrapping, except for a misfit below the average.

use super::Idle;
use super::contest::GroupStats;
use super::groups::Scope;
use super::imbalance::{Imbalance, Migrate};
use super::source::greatest;
use crate::balance::Balancer;
use crate::world::util::fits;
use alight_policy::abi::domain_flag;

/// Kinds of groups, rising (`enum group_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Other,
    Misfit,
    Imbalanced,
    Overloaded,
}

/// A group as 5.4 sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    pub stats: GroupStats,
    /// `sgs->group_no_capacity`
    no_capacity: bool,
    kind: Kind,
    /// A level below failed because of affinity (`sg_imbalanced`).
    imbalance: bool,
}

/// The inputs of an attempt beside the groups.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    pub pct: u64,
    pub idle: Idle,
    pub prefer_sibling: bool,
    pub asym: bool,
    /// Tasks on the queue of the CPU that balances, and their load.
    pub dst: (u32, u64),
}

impl Side {
    /// `group_is_overloaded`, `group_classify`.
    pub fn new(stats: GroupStats, imbalance: bool, terms: &Terms) -> Self {
        let crowded = stats.h_nr_running > stats.weight;
        let no_capacity = crowded && stats.capacity * 100 < stats.util * terms.pct;
        let mut side = Side {
            stats,
            no_capacity,
            kind: Kind::Other,
            imbalance,
        };
        side.classify();
        side
    }

    fn classify(&mut self) {
        self.kind = if self.no_capacity {
            Kind::Overloaded
        } else if self.imbalance {
            Kind::Imbalanced
        } else if self.stats.misfit_load != 0 {
            Kind::Misfit
        } else {
            Kind::Other
        };
    }

    /// `group_has_capacity`
    fn has_capacity(&self, pct: u64) -> bool {
        let s = &self.stats;
        s.h_nr_running < s.weight || s.capacity * 100 > s.util * pct
    }

    /// `sgs->avg_load`
    fn avg_load(&self) -> u64 {
        self.stats.load * 1024 / self.stats.capacity
    }

    /// `sgs->load_per_task`
    fn load_per_task(&self) -> u64 {
        let nr = u64::from(self.stats.h_nr_running);
        self.stats.load.checked_div(nr).unwrap_or(0)
    }

    /// In a domain that spreads tasks: if the local group has room and this one has at least two
    /// tasks more, this one counts as without capacity.
    pub fn spread(&mut self, local: &Side, terms: &Terms) {
        let more = self.stats.h_nr_running > local.stats.h_nr_running + 1;
        if terms.prefer_sibling && local.has_capacity(terms.pct) && more {
            self.no_capacity = true;
            self.classify();
        }
    }

    /// `update_sd_pick_busiest`; `None`: the first.
    pub fn busier_than(&self, busiest: Option<&Side>, local: &Side, terms: &Terms) -> bool {
        let s = &self.stats;
        let bigger_here = fits(s.max_capacity, local.stats.max_capacity);
        if self.kind == Kind::Misfit && (!bigger_here || !local.has_capacity(terms.pct)) {
            return false;
        }
        let (kind, avg_load, misfit_load) = match busiest {
            Some(b) => (b.kind, b.avg_load(), b.stats.misfit_load),
            None => (Kind::Other, 0, 0),
        };
        if self.kind != kind {
            return self.kind > kind;
        }
        let better_off = s.h_nr_running <= s.weight
            && fits(local.stats.min_capacity, s.min_capacity)
            || self.kind == Kind::Misfit && s.misfit_load < misfit_load;
        self.avg_load() > avg_load && !(terms.asym && better_off)
    }
}

/// The imbalance, if there is one (`find_busiest_group`); `average`: load per
/// capacity of the domain.
pub(super) fn find(local: &Side, busiest: &Side, average: u64, terms: &Terms) -> Option<Imbalance> {
    if busiest.stats.h_nr_running == 0 {
        return None;
    }
    let fills = terms.idle != Idle::No && local.has_capacity(terms.pct) && busiest.no_capacity;
    let forced = matches!(busiest.kind, Kind::Imbalanced | Kind::Misfit) || fills;
    if !forced && !worth_it(local, busiest, average, terms) {
        return None;
    }
    let amount = amount(local, busiest, average, terms);
    let what = match busiest.kind {
        Kind::Misfit => Migrate::Misfit,
        _ => Migrate::Load,
    };
    (amount != 0).then_some(Imbalance {
        what,
        amount: amount as i64,
    })
}

fn worth_it(local: &Side, busiest: &Side, average: u64, terms: &Terms) -> bool {
    let (here, there) = (local.avg_load(), busiest.avg_load());
    if here >= there || here >= average {
        return false;
    }
    match terms.idle {
        Idle::Yes => {
            busiest.kind == Kind::Overloaded || local.stats.idle_cpus > busiest.stats.idle_cpus + 1
        }
        Idle::No | Idle::Newly => 100 * there > terms.pct * here,
    }
}

/// `calculate_imbalance`
fn amount(local: &Side, busiest: &Side, average: u64, terms: &Terms) -> u64 {
    let (here, there) = (local.avg_load(), busiest.avg_load());
    let per_task = match busiest.kind {
        Kind::Imbalanced => busiest.load_per_task().min(average),
        _ => busiest.load_per_task(),
    };
    let misfit = busiest.kind == Kind::Misfit;
    if !misfit && (there <= average || here >= average) {
        return small(local, busiest, per_task, 0, terms);
    }
    let mut above = u64::MAX;
    if busiest.kind == Kind::Overloaded && local.kind == Kind::Overloaded {
        let wanted = u64::from(busiest.stats.h_nr_running) * 1024;
        let capacity = busiest.stats.capacity;
        if wanted > capacity {
            above = (wanted - capacity) * 1024 / capacity;
        }
    }
    // The load of a misfit's group may be below the average: the differences wrap then.
    let surplus = there.wrapping_sub(average).min(above);
    let pull = surplus.wrapping_mul(busiest.stats.capacity);
    let room = average
        .wrapping_sub(here)
        .wrapping_mul(local.stats.capacity);
    let mut amount = pull.min(room) / 1024;
    if misfit {
        amount = amount.max(busiest.stats.misfit_load.into());
    }
    match amount < per_task {
        true => small(local, busiest, per_task, amount, terms),
        false => amount,
    }
}

/// The imbalance is less than a task's load: the load of a task if its move uses the capacity
/// better, else `amount` (`fix_small_imbalance`).
fn small(local: &Side, busiest: &Side, per_task: u64, amount: u64, terms: &Terms) -> u64 {
    let (here, there) = (local.avg_load(), busiest.avg_load());
    let (local_per_task, steps) = match local.stats.h_nr_running {
        0 => (terms.dst.1.checked_div(terms.dst.0.into()).unwrap_or(0), 2),
        _ if per_task > local.load_per_task() => (local.load_per_task(), 1),
        _ => (local.load_per_task(), 2),
    };
    let scaled = per_task * 1024 / busiest.stats.capacity;
    if there + scaled >= here + scaled * steps {
        return per_task;
    }
    let weighed = |side: &Side, load, per_task| Weighed {
        load,
        capacity: side.stats.capacity,
        per_task,
    };
    let (local, busiest) = (
        weighed(local, here, local_per_task),
        weighed(busiest, there, per_task),
    );
    match better_moved(local, busiest) {
        true => per_task,
        false => amount,
    }
}

/// A group's load per capacity, its capacity, and the load of a task of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weighed {
    pub load: u64,
    pub capacity: u64,
    pub per_task: u64,
}

/// Is more of both capacities in use after a task has moved here
/// (`fix_small_imbalance`, 2.6.x to 5.4)?
pub(super) fn better_moved(here: Weighed, there: Weighed) -> bool {
    let task = there.per_task;
    let now = there.capacity * task.min(there.load) + here.capacity * here.per_task.min(here.load);
    let scaled = task * 1024 / there.capacity;
    let left = match there.load > scaled {
        true => there.capacity * task.min(there.load - scaled),
        false => 0,
    };
    let moved = (there.load * there.capacity).min(task * 1024) / here.capacity;
    let then = left + here.capacity * here.per_task.min(here.load + moved);
    then / 1024 > now / 1024
}

impl Balancer<'_> {
    /// The group to take from, and how much.
    pub(super) fn find_by_load(&mut self, scope: &Scope) -> Option<(usize, Imbalance)> {
        let (own, groups) = self.look_at_domain(scope);
        self.sums_refresh();
        let domain = self.domain(scope.dst, scope.level);
        let view = &self.core.cpus[scope.dst];
        let terms = Terms {
            pct: domain.imbalance_pct.into(),
            idle: scope.idle,
            prefer_sibling: self.prefers_sibling(scope, own),
            asym: domain.flags & domain_flag::ASYM != 0,
            dst: (view.h_nr_running, view.runnable_load_avg.into()),
        };
        let side = |sim: &Self, group: usize| {
            let stats = sim.group_stats(scope, group, group == own);
            Side::new(stats, sim.core.groups[group].imbalance != 0, &terms)
        };
        let local = side(self, own);
        let (mut load, mut capacity) = (local.stats.load, local.stats.capacity);
        let mut busiest: Option<(usize, Side)> = None;
        let mut misfit = false;
        for group in (own + 1..groups.end).chain(groups.start..own) {
            let mut other = side(self, group);
            other.spread(&local, &terms);
            misfit |= other.stats.misfit_load != 0;
            load += other.stats.load;
            capacity += other.stats.capacity;
            if other.busier_than(busiest.as_ref().map(|(_, b)| b), &local, &terms) {
                busiest = Some((group, other));
            }
        }
        self.update_overload(scope, misfit);
        let (group, busiest) = busiest?;
        if self.core.root.overutilized == 0 {
            return None;
        }
        let imbalance = find(&local, &busiest, 1024 * load / capacity, &terms)?;
        Some((group, imbalance))
    }
}

impl Balancer<'_> {
    /// The CPU of the group with the biggest misfit, or with the most load per
    /// capacity; tasks of all classes count (`find_busiest_queue`).
    pub(super) fn queue_by_load(
        &self,
        scope: &Scope,
        group: usize,
        imbalance: Imbalance,
    ) -> Option<usize> {
        let cpus = self.members(group, scope.excluded.as_ref());
        if imbalance.what == Migrate::Misfit {
            let misfit = |cpu: usize| (u64::from(self.balance[cpu].misfit_load), 1);
            return greatest(cpus, misfit, |_, _| true);
        }
        let domain = self.domain(scope.dst, scope.level);
        let capacity = |cpu: usize| self.core.cpus[cpu].capacity;
        let asym = domain.flags & domain_flag::ASYM != 0;
        let as_good = |cpu: usize| asym && capacity(scope.dst) < capacity(cpu);
        let too_much = |cpu: usize, load: u64| {
            load > imbalance.amount as u64 && !self.capacity_reduced(cpu, domain.imbalance_pct)
        };
        let load = |cpu: usize| {
            let load = self.nohz.sums.cpus[cpu].load;
            (u64::from(load), u64::from(capacity(cpu)))
        };
        greatest(cpus, load, |cpu, load| {
            self.core.cpus[cpu].nr_running != 1 || !(as_good(cpu) || too_much(cpu, load))
        })
    }
}

#[cfg(test)]
mod tests;
