// SPDX-License-Identifier: GPL-2.0-only
//! Cache-aware scheduling gathers the threads of a process in one last-level cache (SCHED_CACHE,
//! 7.2; rules read in 7.2.13). This file keeps the preferences; `balance::cache_aware` acts on
//! them.
//!
//! A process prefers the cache in which it ran most lately; the times are halved every epoch
//! (`task_cache_work`). It prefers no cache while too many of its threads run at a time.
//! Balancing between caches moves its threads to that cache, one by one, and leaves them there,
//! while the cache has room (`can_migrate_llc`). Wakeups ignore the preference.
//!
//! Not modelled: the size of a process's memory (`exceed_llc_capacity`) and its preferred node,
//! which only NUMA balancing knows.

use crate::base::timeline::NONE;
use crate::queues::Queues;
use crate::world::World;
use crate::world::util::fits;
use alight_policy::abi::{NONE as NO_DOMAIN, task_flag};
use std::collections::BTreeMap;

/// `EPOCH_LLC_AFFINITY_TIMEOUT`: epochs without a scan after which a process prefers no cache.
const AFFINITY_EPOCHS: u64 = 5;
/// `NICE_0_LOAD` of 64-bit kernels: all of a CPU's time.
const WHOLE: u64 = 1 << 20;

/// A process of several threads (`struct sched_cache_group`).
#[derive(Debug, Clone)]
struct Process {
    /// Threads alive.
    threads: u32,
    /// The CPU whose cache the process prefers, or [`NONE`].
    cpu: u32,
    /// The epoch in which a tick last asked for a scan.
    epoch: u64,
    /// Jiffies.
    next_scan: u64,
    /// Average number of its threads that run at a time.
    nr_running_avg: u64,
    /// Time run on each CPU.
    ran: Vec<Ran>,
}

/// Time run, halved every epoch.
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

/// The epochs of a CPU, and the time that it ran in them.
#[derive(Debug, Clone, Copy, Default)]
struct Epochs {
    ran: Ran,
    /// Jiffies.
    next: u64,
}

/// The cache preference of a task.
#[derive(Debug, Clone, Copy)]
struct Wish {
    /// Index of its process, [`NONE`] if that has one thread.
    process: u32,
    /// The cache, or [`NONE`] (`preferred_llc`).
    llc: u32,
    /// Is it queued there (`pref_llc_queued`)?
    granted: bool,
}

/// The preferences of all processes and tasks.
#[derive(Debug, Clone, Default)]
pub(crate) struct CacheAware {
    /// The kernel has the feature, and the machine has several caches.
    pub used: bool,
    /// Length of an epoch, jiffies.
    period: u64,
    /// Threads of a core.
    smt: u32,
    /// The cache number of each CPU.
    llcs: Vec<u32>,
    nr_llcs: usize,
    processes: Vec<Process>,
    wishes: Vec<Wish>,
    epochs: Vec<Epochs>,
    /// For each CPU and cache: tasks queued on the CPU that prefer the cache (`sd->llc_counts`).
    wanted: Vec<u32>,
    /// For each cache: tasks that prefer it and are queued elsewhere. Balancing skips the search
    /// for them while this is 0, as it mostly is.
    strays: Vec<u32>,
}

impl CacheAware {
    /// The number of the cache of `cpu`.
    #[inline]
    pub fn llc(&self, cpu: usize) -> usize {
        self.llcs[cpu] as usize
    }

    /// Threads of a core.
    pub fn threads_of_a_core(&self) -> u32 {
        self.smt
    }

    /// Queued tasks of `cpu` that prefer the cache of `dst`.
    pub fn wanted(&self, cpu: usize, dst: usize) -> u32 {
        self.wanted[cpu * self.nr_llcs + self.llc(dst)]
    }

    /// Does `task` prefer the cache of `cpu`?
    pub fn prefers(&self, task: u32, cpu: usize) -> bool {
        self.wishes[task as usize].llc == self.llcs[cpu]
    }

    /// Is `task` queued in the cache that it prefers (`pref_llc_queued`)?
    pub fn is_granted(&self, task: u32) -> bool {
        self.wishes[task as usize].granted
    }

    /// The CPU whose cache the process of `task` prefers, or [`NONE`].
    pub fn home_of(&self, task: u32) -> u32 {
        let process = self.wishes[task as usize].process;
        (self.processes.get(process as usize)).map_or(NONE, |process| process.cpu)
    }

    /// Queued tasks elsewhere that prefer the cache of `cpu`.
    #[inline]
    pub fn strays_of(&self, cpu: usize) -> u32 {
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
}

impl Queues<'_> {
    /// Called once, when the topology is complete and before any task starts.
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
        // All CPUs have a number: one that goes offline keeps it.
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

    /// A process with too many threads that run at a time prefers no cache (`invalid_llc_nr`).
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

    /// A tick found `task` running: once an epoch it scans where the task's process runs
    /// (`task_tick_cache`, `task_cache_work`).
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
        // The scan reads the data of other CPUs and costs what balancing costs per CPU.
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

    /// Checks the counts of preferences against the queues.
    ///
    /// # Errors
    /// Names the count that differs.
    pub fn cache_aware_check(&self) -> Result<(), String> {
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

#[cfg(test)]
mod tests;
