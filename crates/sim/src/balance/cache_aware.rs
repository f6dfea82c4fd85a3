// SPDX-License-Identifier: GPL-2.0-only
//! Cache-aware load balancing: threads of a process move to the cache that it prefers while that
//! has room (`can_migrate_llc`), and stay there. `queues::cache_aware` keeps the preferences.
//!
//! If capacities differ, no task moves from a CPU that it fits to one that it does not fit
//! (`task_misfits_asym_cpu`).

use super::cache_nice_tries;
use crate::balance::contest::GroupStats;
use crate::balance::detach::Take;
use crate::balance::groups::Scope;
use crate::balance::imbalance::Migrate;
use crate::balance::{Balancer, Idle};
use crate::base::treap::NONE;
use alight_policy::abi::NONE as NO_DOMAIN;
use alight_policy::abi::domain_flag;
/// `llc_overaggr_pct`: a cache draws tasks while less than this part of its capacity is used,
/// percent; half as much again if CPUs have no siblings (`fits_llc_capacity`).
const ROOM_PERCENT: u64 = 50;

/// `llc_imb_pct`: how much fuller than the other a cache may get by a move, percent.
const FULLER_PERCENT: u64 = 20;

/// The use of a cache at the last periodic balancing (`sd_llc_shared`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Use {
    util: u64,
    capacity: u64,
}

/// May a task go to another cache (`enum llc_mig`)?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Forbidden,
    Wanted,
    /// Ordinary balancing decides.
    Free,
}

impl Balancer<'_> {
    /// Have so many attempts failed that caches no longer count?
    fn gave_up(&self, scope: &Scope) -> bool {
        let tries = cache_nice_tries(self.domain(scope.dst, scope.level));
        self.balance[scope.dst].levels[scope.level].nr_balance_failed > tries
    }

    /// Does `task` fit `src`, but not `dst` (`task_misfits_asym_cpu`)?
    fn would_misfit(&self, scope: &Scope, src: usize, dst: usize, task: u32) -> bool {
        let view = &self.views[task as usize];
        self.domain(scope.dst, scope.level).flags & domain_flag::ASYM != 0
            && !self.task_fits(view, dst)
            && self.task_fits(view, src)
    }

    /// Does balancing of this level record the use of its groups? It does if each group is a cache
    /// (`record_sg_llc_stats`).
    pub(super) fn records_caches(&self, scope: &Scope) -> bool {
        let place = &self.core.places[scope.dst];
        let child = match scope.level {
            0 => NO_DOMAIN,
            level => place.domain[level - 1],
        };
        self.cache_aware.used && scope.idle != Idle::Newly && child == place.llc_domain
    }

    pub(super) fn record_cache(&mut self, group: usize, stats: &GroupStats) {
        let first = self.core.groups[group].cpu as usize;
        let llc = self.cache_aware.llc(first);
        self.cache_uses[llc] = Use {
            util: stats.util,
            capacity: stats.capacity,
        };
    }

    /// Queued tasks of `cpu` that prefer the cache of `dst`. A CPU with a cache of its own keeps no
    /// such count (`alloc_sd_llc`).
    pub(super) fn wanted(&self, cpu: usize, dst: usize) -> u32 {
        match self.core.places[cpu].llc_domain {
            NO_DOMAIN => 0,
            _ => self.cache_aware.wanted(cpu, dst),
        }
    }

    /// `cpus_share_cache`
    fn share_cache(&self, a: usize, b: usize) -> bool {
        self.cache_aware.llc(a) == self.cache_aware.llc(b)
    }

    /// Should a task that prefers the cache here be fetched from the group (`llc_balance`)?
    pub(super) fn draws(&self, scope: &Scope, group: usize, stats: &GroupStats) -> bool {
        let domain = self.domain(scope.dst, scope.level);
        let misfit = domain.flags & domain_flag::ASYM != 0 && stats.misfit_load != 0;
        let yields = stats.asym_packing && self.priority_before_caches();
        let first = self.core.groups[group].cpu as usize;
        stats.drawn_here != 0
            && !misfit
            && !yields
            && !self.gave_up(scope)
            && self.move_between(first, scope.dst, 0, true) == Verdict::Wanted
    }

    /// May a task of utilization `util` move from the cache of `src` to that of `dst`
    /// (`can_migrate_llc`)? `home`: the task prefers the cache of `dst`, else that of `src`.
    fn move_between(&self, src: usize, dst: usize, util: u64, home: bool) -> Verdict {
        let alone = |cpu: usize| self.core.places[cpu].llc_domain == NO_DOMAIN;
        if alone(src) || alone(dst) {
            return Verdict::Free;
        }
        let used = |cpu: usize| self.cache_uses[self.cache_aware.llc(cpu)];
        let percent = match self.cache_aware.threads_of_a_core() {
            1 => ROOM_PERCENT * 3 / 2,
            _ => ROOM_PERCENT,
        };
        let has_room = |util: u64, capacity: u64| util * 100 < capacity * percent;
        let fuller = |a: u64, b: u64| a * 100 > b * (100 + FULLER_PERCENT);
        let (from, to) = (used(src), used(dst));
        let (from_util, to_util) = (from.util.saturating_sub(util), to.util + util);
        let from_has_room = has_room(from_util, from.capacity);
        let to_has_room = has_room(to_util, to.capacity);
        let forbidden = match home {
            true => !to_has_room && fuller(to_util, from_util),
            false => from_has_room || !fuller(from_util, to_util),
        };
        match forbidden {
            _ if !from_has_room && !to_has_room => Verdict::Free,
            true => Verdict::Forbidden,
            false => Verdict::Wanted,
        }
    }

    /// Does `task` prefer the cache of `cpu`?
    pub(super) fn prefers(&self, task: u32, cpu: usize) -> bool {
        self.cache_aware.prefers(task, cpu)
    }

    /// Does the running task of `src` stay, because all tasks of its queue are in the cache that
    /// they prefer (`alb_break_llc`)?
    pub(super) fn stays_in_cache(&self, scope: &Scope, src: usize, what: Migrate) -> bool {
        let dst = scope.dst;
        if !self.cache_aware.used || self.share_cache(src, dst) {
            return false;
        }
        let runnable = self.fair_runnable(src);
        if runnable == 0 || self.granted(src) != runnable || what == Migrate::Misfit {
            return false;
        }
        let curr = self.cpus[src].curr;
        if self.core.cpus[src].nr_running <= 1 || curr == NONE {
            return true;
        }
        let util = match self.is_rt(curr) {
            true => 0,
            false => u64::from(self.views[curr as usize].pelt.util_avg),
        };
        self.would_misfit(scope, src, dst, curr)
            || self.move_between(src, dst, util, false) == Verdict::Forbidden
    }

    /// Runnable tasks of `cpu` that are in the cache they prefer (`nr_pref_llc_running`).
    pub fn granted(&self, cpu: usize) -> u32 {
        let mut task = self.cpus[cpu].lru.head;
        let mut granted = 0;
        while task != NONE {
            granted += u32::from(self.cache_aware.is_granted(task) && !self.is_delayed(task));
            task = self.tasks[task as usize].list_next;
        }
        granted
    }

    /// Tasks of the group that prefer the cache of the CPU that balances (`nr_pref_dst_llc`).
    #[inline]
    pub(super) fn drawn_here(&self, scope: &Scope, group: usize) -> u32 {
        if !self.cache_aware.used || self.cache_aware.strays_of(scope.dst) == 0 {
            return 0;
        }
        self.count_drawn(scope, group)
    }

    #[cold]
    fn count_drawn(&self, scope: &Scope, group: usize) -> u32 {
        if self.domain(scope.dst, scope.level).flags & domain_flag::SHARE_LLC != 0 {
            return 0;
        }
        self.members(group, scope.excluded.as_ref())
            .filter(|&cpu| !self.share_cache(cpu, scope.dst))
            .map(|cpu| self.wanted(cpu, scope.dst))
            .sum()
    }

    /// Does `task` have to stay for its cache (`migrate_degrades_llc`)?
    pub(super) fn is_kept(&self, scope: &Scope, take: &Take, task: u32) -> bool {
        !self.gave_up(scope)
            && (take.what == Migrate::ToCache && !self.prefers(task, take.dst)
                || self.move_of(scope, take.src, take.dst, task) == Verdict::Forbidden)
    }

    /// `can_migrate_llc_task`.
    fn move_of(&self, scope: &Scope, src: usize, dst: usize, task: u32) -> Verdict {
        if self.would_misfit(scope, src, dst, task) {
            return Verdict::Forbidden;
        }
        let home = self.cache_aware.home_of(task);
        if home == NONE || self.share_cache(src, dst) {
            return Verdict::Free;
        }
        if self.priority_before_caches() && self.goes_by_priority(scope, src, dst) {
            return Verdict::Free;
        }
        let util = u64::from(self.views[task as usize].pelt.util_avg);
        if self.share_cache(home as usize, dst) {
            self.move_between(src, dst, util, true)
        } else if self.share_cache(home as usize, src) {
            self.move_between(src, dst, util, false)
        } else {
            Verdict::Free
        }
    }
}

#[cfg(test)]
mod tests;
