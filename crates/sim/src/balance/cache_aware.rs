// SPDX-License-Identifier: GPL-2.0-only
//! The threads of a process are drawn to one last-level cache (SCHED_CACHE, 7.2;
//! rules read in 7.2.13).
//!
//! A process prefers the cache in which it ran most lately, by halves of every epoch
//! (`task_cache_work`), as long as few enough of its threads run at a time. Balancing between caches
//! then moves its threads there, one by one, and leaves them there, while that cache has room
//! (`can_migrate_llc`). Wakeups do not look at it.
//!
//! Where capacities differ, balancing between caches also leaves any task where it fits if it would
//! not fit where it would go (`task_misfits_asym_cpu`).
//!
//! Not modelled: the size of a process's memory (`exceed_llc_capacity`) and its preferred node,
//! which NUMA balancing alone knows.

use super::contest::GroupStats;
use super::detach::Take;
use super::groups::Scope;
use super::imbalance::Migrate;
use super::{Idle, cache_nice_tries, fits};
use crate::balance::Balancer;
use crate::base::timeline::NONE;
use crate::layers::{Queues, World};
use alight_policy::abi::{NONE as NO_DOMAIN, domain_flag, task_flag};
use std::collections::BTreeMap;

/// `EPOCH_LLC_AFFINITY_TIMEOUT`: epochs after which a process that was not looked at prefers nothing.
const AFFINITY_EPOCHS: u64 = 5;
/// `llc_overaggr_pct`: what of a cache's capacity may be used for tasks to be drawn there, percent; half as
/// much again where CPUs have no siblings (`fits_llc_capacity`).
const ROOM_PERCENT: u64 = 50;
/// `llc_imb_pct`: how much fuller than the other a cache may get by it, percent.
const FULLER_PERCENT: u64 = 20;
/// `NICE_0_LOAD` of 64-bit kernels, the whole of a CPU's time.
const WHOLE: u64 = 1 << 20;

/// A process of several threads (`struct sched_cache_group`).
#[derive(Debug, Clone)]
struct Process {
    /// Threads alive.
    threads: u32,
    /// The CPU in whose cache it is to run, or [`NONE`].
    cpu: u32,
    /// When a tick last asked for a look at it, an epoch.
    epoch: u64,
    /// Jiffies.
    next_scan: u64,
    /// Of its threads, how many run at a time.
    nr_running_avg: u64,
    /// On each CPU.
    ran: Vec<Ran>,
}

/// Time run, half of which every epoch takes.
#[derive(Debug, Clone, Copy, Default)]
struct Ran {
    ns: u64,
    epoch: u64,
}

impl Ran {
    fn decay(&mut self, epoch: u64) {
        let passed = epoch - self.epoch;
        self.ns = self.ns.checked_shr(passed.min(64) as u32).unwrap_or(0);
        self.epoch = epoch;
    }
}

/// A CPU's epochs and what it ran of them.
#[derive(Debug, Clone, Copy, Default)]
struct Epochs {
    ran: Ran,
    /// Jiffies.
    next: u64,
}

/// What a task wants.
#[derive(Debug, Clone, Copy)]
struct Wish {
    /// Index of its process, [`NONE`] if that has one thread.
    process: u32,
    /// The cache, or [`NONE`] (`preferred_llc`).
    llc: u32,
    /// Is it queued there (`pref_llc_queued`)?
    granted: bool,
}

/// What the last periodic balancing found of a cache (`sd_llc_shared`).
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

/// What is kept for all of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct CacheAware {
    /// The kernel does it, and the machine has several caches.
    pub used: bool,
    /// Length of an epoch, jiffies.
    period: u64,
    /// Threads of a core.
    smt: u32,
    /// Of each CPU, the number of its cache.
    llcs: Vec<u32>,
    nr_llcs: usize,
    processes: Vec<Process>,
    wishes: Vec<Wish>,
    epochs: Vec<Epochs>,
    /// Of each CPU and cache, queued tasks that prefer the cache (`sd->llc_counts`).
    wanted: Vec<u32>,
    /// Of each cache, those that are queued elsewhere: mostly none, and nobody need look for them.
    strays: Vec<u32>,
    uses: Vec<Use>,
}

impl CacheAware {
    /// Queued tasks elsewhere that prefer the cache of `cpu`.
    #[inline]
    fn strays_of(&self, cpu: usize) -> u32 {
        self.strays[self.llcs[cpu] as usize]
    }
}

impl World<'_> {
    fn llc_size(&self, cpu: usize) -> u32 {
        match self.core.places[cpu].llc_domain {
            NO_DOMAIN => 1,
            domain => self.core.domains[domain as usize].weight,
        }
    }

    /// Attempts failed too often for caches to count.
    fn gave_up(&self, scope: &Scope) -> bool {
        let tries = cache_nice_tries(self.domain(scope.dst, scope.level));
        self.cpus[scope.dst].balance.levels[scope.level].nr_balance_failed > tries
    }

    /// It fits `src`, but would not fit `dst` (`task_misfits_asym_cpu`).
    fn would_misfit(&self, scope: &Scope, src: usize, dst: usize, task: u32) -> bool {
        let view = &self.views[task as usize];
        self.domain(scope.dst, scope.level).flags & domain_flag::ASYM != 0
            && !self.task_fits(view, dst)
            && self.task_fits(view, src)
    }
}

impl Queues<'_> {
    /// The topology is complete, no task has started.
    pub fn cache_aware_init(&mut self) {
        let one_cache = |cpu: usize| {
            let place = &self.core.places[cpu];
            place.llc_domain == NO_DOMAIN
                || place.domain[place.nr_domains as usize - 1] == place.llc_domain
        };
        let nr = self.cpus.len();
        if !self.kernel.balance.gathers_threads || (0..nr).all(one_cache) {
            return;
        }
        let mut by_process: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
        for (at, task) in self.tasks.iter().enumerate() {
            let threads = by_process.entry((task.workload, task.process));
            threads.or_default().push(at);
        }
        let mut wishes = vec![
            Wish {
                process: NONE,
                llc: NONE,
                granted: false,
            };
            self.tasks.len()
        ];
        let mut processes = vec![];
        for threads in by_process.values().filter(|threads| threads.len() > 1) {
            for &thread in threads {
                wishes[thread].process = processes.len() as u32;
            }
            processes.push(Process {
                threads: 0,
                cpu: NONE,
                epoch: 0,
                next_scan: 0,
                nr_running_avg: 0,
                ran: vec![Ran::default(); nr],
            });
        }
        let siblings = |cpu: usize| match self.core.places[cpu].smt_domain {
            NO_DOMAIN => 1,
            core => self.core.domains[core as usize].weight,
        };
        // Of all CPUs: one that goes off keeps its number.
        let llcs = (0..nr).map(|cpu| self.core.places[cpu].llc).collect();
        let nr_llcs = self.core.llcs.len();
        let hz = 1_000_000_000 / self.tunables.tick;
        self.cache_aware = CacheAware {
            used: true,
            period: (hz / 100).max(1),
            smt: (0..nr).map(siblings).max().unwrap_or(1),
            llcs,
            nr_llcs,
            processes,
            wishes,
            epochs: vec![Epochs::default(); nr],
            wanted: vec![0; nr * nr_llcs],
            strays: vec![0; nr_llcs],
            uses: vec![Use::default(); nr_llcs],
        };
    }

    /// A thread begins (1) or ends (-1).
    pub fn cache_aware_thread(&mut self, task: u32, change: i32) {
        if self.cache_aware.used
            && let Some(process) = self.process_of(task)
        {
            process.threads = process.threads.wrapping_add_signed(change);
        }
    }

    /// The current task of `cpu` ran for `delta` (`account_mm_sched`).
    pub fn cache_aware_ran(&mut self, cpu: usize, task: u32, delta: u64) {
        let epoch = self.cache_aware_epoch(cpu);
        self.cache_aware.epochs[cpu].ran.ns += delta;
        let Some(process) = self.process_of(task) else {
            return;
        };
        let ran = &mut process.ran[cpu];
        ran.decay(epoch);
        ran.ns += delta;
        if epoch.saturating_sub(process.epoch) > AFFINITY_EPOCHS {
            process.cpu = NONE;
        }
        let process = self.cache_aware.wishes[task as usize].process;
        self.forget_if_crowded(process, cpu);
        let llc = match self.cache_aware.processes[process as usize].cpu {
            home if home != NONE && self.hotplug.online.contains(home) => {
                self.cache_aware.llcs[home as usize]
            }
            _ => NONE,
        };
        let queued = self.views[task as usize].flags & task_flag::ON_RQ != 0;
        if queued && self.cache_aware.wishes[task as usize].llc != llc {
            self.cache_aware_left(cpu, task);
            self.cache_aware.wishes[task as usize].llc = llc;
            self.cache_aware_joined(cpu, task);
        }
    }

    /// Brings the epochs of `cpu` to now (`__update_mm_sched`).
    fn cache_aware_epoch(&mut self, cpu: usize) -> u64 {
        let now = self.jiffies();
        let period = self.cache_aware.period;
        let epochs = &mut self.cache_aware.epochs[cpu];
        if now > epochs.next {
            let passed = (now - epochs.next).div_ceil(period);
            epochs.next += passed * period;
            epochs.ran.decay(epochs.ran.epoch + passed);
        }
        epochs.ran.epoch
    }

    /// A process with too many threads that run at a time prefers nothing (`invalid_llc_nr`).
    fn forget_if_crowded(&mut self, process: u32, cpu: usize) -> bool {
        let p = &self.cache_aware.processes[process as usize];
        let running = u32::try_from(p.nr_running_avg).unwrap_or(u32::MAX);
        let busy = running.saturating_mul(self.cache_aware.smt);
        let few = p.threads > 1 && fits(busy, self.llc_size(cpu));
        if !few {
            self.cache_aware.processes[process as usize].cpu = NONE;
        }
        !few
    }

    fn process_of(&mut self, task: u32) -> Option<&mut Process> {
        let process = self.cache_aware.wishes[task as usize].process;
        self.cache_aware.processes.get_mut(process as usize)
    }

    /// `task` was queued on `cpu` (`account_llc_enqueue`).
    pub fn cache_aware_joined(&mut self, cpu: usize, task: u32) {
        let all = &mut self.cache_aware;
        let wish = &mut all.wishes[task as usize];
        if wish.llc != NONE {
            wish.granted = wish.llc == all.llcs[cpu];
            all.wanted[cpu * all.nr_llcs + wish.llc as usize] += 1;
            all.strays[wish.llc as usize] += u32::from(!wish.granted);
        }
    }

    /// `task` leaves the queue of `cpu` (`account_llc_dequeue`).
    pub fn cache_aware_left(&mut self, cpu: usize, task: u32) {
        let all = &mut self.cache_aware;
        let wish = &mut all.wishes[task as usize];
        if wish.llc != NONE {
            all.wanted[cpu * all.nr_llcs + wish.llc as usize] -= 1;
            all.strays[wish.llc as usize] -= u32::from(!wish.granted);
            wish.granted = false;
        }
    }

    /// A tick found `task` running: once in an epoch that is reason to look where its process
    /// runs (`task_tick_cache`, `task_cache_work`).
    pub fn cache_aware_tick(&mut self, cpu: usize, task: u32) {
        let now = self.jiffies();
        let period = self.cache_aware.period;
        let epoch = self.cache_aware.epochs[cpu].ran.epoch;
        let Some(process) = self.process_of(task) else {
            return;
        };
        if process.epoch >= epoch {
            return;
        }
        process.epoch = epoch;
        if now < process.next_scan {
            return;
        }
        process.next_scan = now + period;
        let process = self.cache_aware.wishes[task as usize].process;
        if !self.forget_if_crowded(process, cpu) {
            self.look_where_it_runs(process, cpu);
        }
    }

    fn look_where_it_runs(&mut self, process: u32, cpu: usize) {
        let home = self.cache_aware.processes[process as usize].cpu;
        let home_domain = match home {
            NONE => NO_DOMAIN,
            home => self.core.places[home as usize].llc_domain,
        };
        let (mut most, mut at_home, mut best, mut running) = (0, 0, NONE, 0u64);
        let mut looked = 0;
        for first in 0..self.cpus.len() {
            let domain = self.core.places[first].llc_domain;
            if domain == NO_DOMAIN {
                continue;
            }
            let span = self.core.domains[domain as usize].span;
            if span.iter().next() != Some(first as u32) {
                continue;
            }
            let (mut sum, mut busiest, mut busiest_cpu) = (0, 0, NONE);
            for member in span.iter() {
                looked += 1;
                let share = self.share_of(process, member as usize);
                sum += share;
                if share > busiest {
                    (busiest, busiest_cpu) = (share, member);
                }
                let curr = self.cpus[member as usize].curr as usize;
                let own = self.cache_aware.wishes.get(curr);
                running += u64::from(own.is_some_and(|wish| wish.process == process));
            }
            if sum > most {
                (most, best) = (sum, busiest_cpu);
            }
            if domain == home_domain {
                at_home = sum;
            }
        }
        // The kernel reads what other CPUs keep, as balancing does.
        let newidle_cpu = looked * self.costs(cpu).newidle_cpu;
        self.charge(cpu, newidle_cpu);
        // `update_avg_scale`
        let divisor = i64::from((self.llc_size(cpu) >> 2).clamp(2, 8));
        let p = &mut self.cache_aware.processes[process as usize];
        if most > 2 * at_home {
            p.cpu = best;
        }
        let diff = running as i64 - p.nr_running_avg as i64;
        p.nr_running_avg = p.nr_running_avg.wrapping_add_signed(diff / divisor);
    }

    /// The process's share of what `cpu` ran (`fraction_mm_sched`).
    fn share_of(&mut self, process: u32, cpu: usize) -> u64 {
        let epoch = self.cache_aware_epoch(cpu);
        let all = &mut self.cache_aware;
        let ran = &mut all.processes[process as usize].ran[cpu];
        ran.decay(epoch);
        WHOLE * ran.ns / (all.epochs[cpu].ran.ns + 1)
    }

    /// Is what balancing of this level finds of its groups kept, each of them being a cache
    /// (`record_sg_llc_stats`)?
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
        let llc = self.cache_aware.llcs[first] as usize;
        self.cache_aware.uses[llc] = Use {
            util: stats.util,
            capacity: stats.capacity,
        };
    }

    /// Queued tasks of `cpu` that prefer the cache of `dst`. What has a cache of its own keeps no such
    /// count (`alloc_sd_llc`).
    pub(super) fn wanted(&self, cpu: usize, dst: usize) -> u32 {
        let all = &self.cache_aware;
        match self.core.places[cpu].llc_domain {
            NO_DOMAIN => 0,
            _ => all.wanted[cpu * all.nr_llcs + all.llcs[dst] as usize],
        }
    }

    /// `cpus_share_cache`
    fn share_cache(&self, a: usize, b: usize) -> bool {
        self.cache_aware.llcs[a] == self.cache_aware.llcs[b]
    }

    /// Should such a task be fetched from the group (`llc_balance`)?
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

    /// Would a move of `util` from the cache of `src` to that of `dst` leave both in order; `home`: the
    /// task prefers `dst`, else `src` (`can_migrate_llc`)?
    fn move_between(&self, src: usize, dst: usize, util: u64, home: bool) -> Verdict {
        let alone = |cpu: usize| self.core.places[cpu].llc_domain == NO_DOMAIN;
        if alone(src) || alone(dst) {
            return Verdict::Free;
        }
        let used = |cpu: usize| self.cache_aware.uses[self.cache_aware.llcs[cpu] as usize];
        let percent = match self.cache_aware.smt {
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
        self.cache_aware.wishes[task as usize].llc == self.cache_aware.llcs[cpu]
    }

    /// Is the running task of `src` to be left alone, since all tasks of its queue are where they
    /// want to be (`alb_break_llc`)?
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
    fn granted(&self, cpu: usize) -> u32 {
        let mut task = self.cpus[cpu].lru.head;
        let mut granted = 0;
        while task != NONE {
            let wish = &self.cache_aware.wishes[task as usize];
            granted += u32::from(wish.granted && !self.is_delayed(task));
            task = self.tasks[task as usize].list_next;
        }
        granted
    }

    /// Do the counts of who prefers what agree with the queues?
    ///
    /// # Errors
    /// What differs.
    pub(super) fn cache_aware_check(&self) -> Result<(), String> {
        let nr_llcs = self.cache_aware.nr_llcs;
        let mut strays = vec![0; nr_llcs];
        for cpu in 0..self.cpus.len() {
            let mut found = vec![0; nr_llcs];
            let mut task = self.cpus[cpu].lru.head;
            while task != NONE {
                let wish = &self.cache_aware.wishes[task as usize];
                if wish.llc != NONE {
                    found[wish.llc as usize] += 1;
                    strays[wish.llc as usize] += u32::from(!wish.granted);
                }
                task = self.tasks[task as usize].list_next;
            }
            let kept = &self.cache_aware.wanted[cpu * nr_llcs..][..nr_llcs];
            if kept != found {
                return Err(format!(
                    "CPU {cpu} holds tasks that prefer caches {found:?}, counted {kept:?}"
                ));
            }
        }
        match strays == self.cache_aware.strays {
            true => Ok(()),
            false => Err(format!(
                "tasks away from the caches they prefer are {strays:?}, counted {:?}",
                self.cache_aware.strays
            )),
        }
    }
}

impl Balancer<'_> {
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

    /// Does caching forbid that balancing moves `task` (`migrate_degrades_llc`)?
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
        let process = self.cache_aware.wishes[task as usize].process;
        let home = match self.cache_aware.processes.get(process as usize) {
            Some(process) => process.cpu,
            None => NONE,
        };
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
