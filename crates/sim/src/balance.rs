// SPDX-License-Identifier: GPL-2.0-only
//! Load balancing: when and where a CPU looks for work, and the tasks that it pulls. It is called
//! at ticks, on the way to idle, and by kicks for CPUs without a tick.
//!
//! The rules are those of kernel/sched/fair.c; comments name the kernel's function. Differences
//! between kernels are in a table, [`crate::kernel::Balance`]. Each mechanism has a file:
//!
//! - `groups`: how busy the groups of a domain are (`update_sg_lb_stats`);
//! - `contest`: the choice of the busiest group (`group_classify`, `update_sd_pick_busiest`);
//! - `sums`: load and utilization of the groups;
//! - `imbalance`: is there an imbalance, and how much has to move
//!   (`find_busiest_group`, `calculate_imbalance`);
//! - `by_load`: the same up to 5.4, which compared load;
//! - `by_index`: the same in 3.9, which compared averages of weight, and the times of attempts;
//! - `source`: the queue to take from (`find_busiest_queue`);
//! - `detach`: the tasks that may go (`can_migrate_task`, `detach_tasks`);
//! - `pull`: one attempt in one domain (`load_balance`), active balance;
//! - `rebalance`: attempts at ticks (`rebalance_domains`);
//! - `newidle`: attempts on the way to idle (`newidle_balance`), by their cost and success;
//! - `counts`: the counters, with the names of their metrics;
//! - `rebuild`: domains that were built anew;
//! - `cache_aware`: threads of a process are gathered in one cache (SCHED_CACHE, 7.2);
//! - `pack`: tasks are packed on few power domains (feature pack);
//! - `itmt`: idle CPUs pull from CPUs with lower priorities (asymmetric packing);
//! - `nohz`: one idle CPU balances for all whose tick is stopped (`nohz_idle_balance`).
//!
//! Not modelled, because no machine or workload here uses them: NUMA placement (preferred
//! nodes), core scheduling and bandwidth groups; and SD_SERIALIZE, whose lock two
//! balancers never want at the same instant.

use crate::world::occupancy::{Count, Occupancy, of_groups};
mod by_index;
mod by_load;
mod cache_aware;
mod contest;
mod counts;
mod detach;
mod groups;
mod imbalance;
mod itmt;
mod newidle;
mod nohz;
mod pack;
mod pull;
mod rebalance;
mod rebuild;
mod source;
mod sums;
#[cfg(test)]
pub(super) mod tests;

use by_index::turns::BalanceByIndex;
pub(crate) use counts::Named;
pub(crate) use newidle::NewidleBalance;
pub(crate) use nohz::NohzBalance;
pub(crate) use pack::keeps_signals_2013;
use pull::LoadBalance;
pub(crate) use rebalance::PeriodicBalance;

use crate::base::layer::stands_on;
use crate::base::table::Table;
use crate::base::timeline::NONE;
use crate::kernel::{Bounds, MisfitStatus};
use crate::place::Place;
use crate::queues::Queues;
use crate::world::World;
use alight_policy::abi::{NONE as NO_DOMAIN, domain_flag};
use alight_policy::{Domain, Group, MAX_LEVELS, Mask};
use counts::Counts;
use itmt::Itmt;
use pack::Packing;
use std::ops::DerefMut;

/// `sysctl_sched_migration_cost`: a task that ran less than this ago is cache
/// hot, and an idle phase shorter than this is not worth looking for work, ns.
pub(crate) const MIGRATION_COST: u64 = 500_000;
/// `sysctl_sched_nr_migrate`: tasks looked at under one hold of a queue's lock.
const NR_MIGRATE: u32 = 32;
/// `MAX_PINNED_INTERVAL`: limit of the interval if only affinity prevents a move, ms.
const MAX_PINNED_INTERVAL: u32 = 512;
/// `LOAD_AVG_PERIOD`: blocked load of idle CPUs is refreshed this often, ms.
const LOAD_AVG_PERIOD: u64 = 32;
/// What the balancing CPU is doing (`enum cpu_idle_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Idle {
    /// A task is current (`CPU_NOT_IDLE`).
    No,
    /// In the idle loop (`CPU_IDLE`).
    Yes,
    /// About to enter it (`CPU_NEWLY_IDLE`).
    Newly,
}

/// The state of one domain of a CPU (the changing part of `struct sched_domain`).
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    /// Jiffies.
    last_balance: u64,
    /// Jiffies.
    next_decay: u64,
    /// Longest newidle attempt, ns.
    max_newidle_lb_cost: u64,
    /// Time that a look at the queues of the domain waits for lines of other caches, ns.
    far_ns: u64,
    /// ms.
    balance_interval: u32,
    nr_balance_failed: u32,
}

/// The balancing state of a CPU.
#[repr(C)]
#[derive(Debug, Clone)]
pub(crate) struct CpuBalance {
    /// Load of a current task that is too big for the CPU, else 0.
    misfit_load: u32,
    /// A kick is on its way ([`nohz::STATS`], [`nohz::BALANCE`]).
    nohz_flags: u8,
    /// It is in the set of tickless CPUs: from the stop of its tick to its next busy tick.
    nohz_tick_stopped: bool,
    /// Its domain was rebuilt meanwhile and counts it as busy in spite of that.
    counted_busy: bool,
    levels: [Level; MAX_LEVELS],
    /// The round that it runs for all idle CPUs.
    round: Option<nohz::Round>,
    /// The success of newidle attempts at each level, for kernels that draw a random number.
    newidle: [newidle::Luck; MAX_LEVELS],
    /// Number of random draws so far.
    dice: u64,
}

impl Default for CpuBalance {
    fn default() -> Self {
        CpuBalance {
            levels: [Level::default(); MAX_LEVELS],
            misfit_load: 0,
            nohz_flags: 0,
            round: None,
            newidle: newidle::Luck::of_all(0),
            dice: 0,
            nohz_tick_stopped: false,
            counted_busy: false,
        }
    }
}

/// Load balancing, above the queues: tasks that CPUs pull from others, and balancing for CPUs
/// without a tick.
#[repr(C)]
pub(crate) struct Balancer<'a> {
    place: Place<'a>,
    /// The state of each CPU.
    balance: Table<CpuBalance>,
    counts: Counts,
    nohz: Nohz,
    itmt: Itmt,
    packing: Packing,
    /// The use of each cache that the last periodic balancing found ([`cache_aware`]).
    cache_uses: Vec<cache_aware::Use>,
}

stands_on!(Balancer on Place: place);

/// The function that balancing needs from the layer above it, which runs the CPUs.
pub(crate) trait Stopper<'a>: DerefMut<Target = Balancer<'a>> + Sized {
    /// Active balance: the stopper of `src` preempts its current task and moves it to `dst`
    /// (`active_load_balance_cpu_stop`).
    fn push_running(&mut self, src: usize, dst: usize);
}

impl<'a> Balancer<'a> {
    /// Packing is set up by the buddies of the core; [`Balancer::balance_init`] sets up the rest.
    pub fn new(place: Place<'a>) -> Self {
        let cpus = vec![CpuBalance::default(); place.cpus.len()];
        Balancer {
            // SAFETY: looked up by numbers of CPUs.
            balance: unsafe { Table::new(cpus) },
            packing: Packing::new(&place.core),
            counts: Counts::default(),
            nohz: Nohz::default(),
            itmt: Itmt::default(),
            cache_uses: vec![],
            place,
        }
    }
}

/// The balancing state that all CPUs share (`nohz`, and the balancing part of `struct
/// root_domain`).
#[derive(Debug, Clone)]
struct Nohz {
    /// Tickless CPUs (`idle_cpus_mask`); some of them may run tasks by now.
    idle: Mask,
    nr_cpus: u32,
    has_blocked: bool,
    /// A CPU has stopped its tick since the next round was worked out (`needs_update`).
    needs_update: bool,
    /// Jiffies.
    next_balance: u64,
    /// Jiffies.
    next_blocked: u64,
    sums: sums::Sums,
    /// When each group's capacity is due to be summed again, jiffies (`sgc->next_update`).
    next_update: Table<u64>,
    /// CPUs that left blocked load behind when they went idle (`rq->has_blocked_load`).
    blocked: Mask,
    /// CPUs whose blocked load was brought up to date in jiffy `refreshed_at`.
    refreshed: Mask,
    refreshed_at: u64,
    /// CPUs with a misfit task.
    nr_misfit: u32,
    /// Words of a mask in use.
    words: usize,
    /// Ticks per second.
    hz: u64,
    /// `max_load_balance_interval`: 0.1 s a CPU, in jiffies.
    max_interval: u64,
    /// Cores of each group (`sg->cores`).
    cores: Table<u32>,
    /// For each entry of `alight_policy::Core::llcs`, the domain that shares it (`sd->shared`).
    shared_domain: Table<u32>,
    early: by_index::Early,
}

impl Default for Nohz {
    fn default() -> Self {
        Nohz {
            idle: Mask::EMPTY,
            nr_cpus: 0,
            has_blocked: false,
            needs_update: false,
            next_balance: 0,
            next_blocked: 0,
            sums: sums::Sums::new(0, 0),
            next_update: of_groups(Vec::new()),
            blocked: Mask::EMPTY,
            refreshed: Mask::EMPTY,
            refreshed_at: 0,
            nr_misfit: 0,
            words: 1,
            hz: 1,
            max_interval: 1,
            cores: of_groups(Vec::new()),
            shared_domain: of_groups(Vec::new()),
            early: by_index::Early::default(),
        }
    }
}

impl Nohz {
    /// `msecs_to_jiffies`: rounded up.
    #[inline]
    fn jiffies_of_ms(&self, ms: u64) -> u64 {
        (ms * self.hz).div_ceil(1000)
    }

    /// An interval of `ms` in jiffies, within the limits of all intervals.
    #[inline]
    fn interval(&self, ms: u64) -> u64 {
        self.jiffies_of_ms(ms).clamp(1, self.max_interval)
    }
}

/// `sd->cache_nice_tries` by kind of domain (`sd_init`): failed attempts before
/// a cache-hot task may go.
#[inline]
fn cache_nice_tries(domain: &Domain) -> u32 {
    if domain.flags & domain_flag::SMT != 0 {
        0
    } else if domain.flags & domain_flag::SHARE_LLC == 0 && domain.flags & domain_flag::NUMA != 0 {
        2
    } else {
        1
    }
}

impl World<'_> {
    fn cores_of_groups(&self) -> Table<u32> {
        let first_of_core = |cpu: u32| match self.core.places[cpu as usize].smt_domain {
            NO_DOMAIN => true,
            core => self.core.domains[core as usize].span.iter().next() == Some(cpu),
        };
        let cores = |group: &Group| match group.child {
            NO_DOMAIN => 1,
            child => {
                let span = &self.core.domains[child as usize].span;
                span.iter().filter(|&cpu| first_of_core(cpu)).count() as u32
            }
        };
        of_groups(self.core.groups.iter().map(cores).collect())
    }

    fn shared_domains(&self) -> Table<u32> {
        let mut domains = vec![NO_DOMAIN; self.core.llcs.len()];
        for place in self.core.places.iter() {
            let domain = match place.shared == place.llc {
                true => place.llc_domain,
                false => place.asym_domain,
            };
            if domain != NO_DOMAIN {
                domains[place.shared as usize] = domain;
            }
        }
        of_groups(domains)
    }

    /// Is the capacity of `cpu` for fair tasks reduced by more than `pct` tolerates
    /// (`check_cpu_capacity`)?
    #[inline]
    fn capacity_reduced(&self, cpu: usize, pct: u32) -> bool {
        let view = &self.core.cpus[cpu];
        u64::from(view.capacity) * u64::from(pct) < u64::from(view.capacity_orig) * 100
    }

    /// Bounds of the interval between two attempts at a level, ms.
    fn bounds(&self, cpu: usize, level: usize) -> (u32, u32) {
        let domain = self.domain(cpu, level);
        let is = |flag: u32| domain.flags & flag != 0;
        match self.kernel.balance.interval.bounds {
            Bounds::ByLevel if is(domain_flag::SMT) => (1, 2),
            Bounds::ByLevel if !is(domain_flag::NUMA) => (1, 4),
            Bounds::ByLevel | Bounds::Weight => (domain.weight, 2 * domain.weight),
        }
    }

    /// Domain of `cpu` at `level`.
    #[inline]
    fn domain(&self, cpu: usize, level: usize) -> &Domain {
        &self.core.domains[self.core.places[cpu].domain[level] as usize]
    }
}

impl Queues<'_> {
    /// The misfit load of `task`, which is too big for `cpu`.
    fn misfit_load(&self, cpu: usize, task: u32) -> u32 {
        let load = self.task_h_load(task);
        let movable = || self.views[task as usize].nr_cpus_allowed > 1;
        let to_bigger = || {
            let capacity = |cpu: usize| self.core.cpus[cpu].capacity_orig;
            let allowed = &self.masks[self.tasks[task as usize].affinity as usize];
            allowed
                .iter()
                .any(|other| capacity(other as usize) > capacity(cpu))
        };
        match self.kernel.balance.misfit_status {
            MisfitStatus::Any => load,
            MisfitStatus::Movable if movable() => load.max(1),
            MisfitStatus::MovableToBigger if movable() && to_bigger() => load.max(1),
            _ => 0,
        }
    }
}

impl Balancer<'_> {
    /// The longest interval, jiffies.
    #[cfg(test)]
    pub fn max_interval_jiffies(&self) -> u64 {
        self.nohz.max_interval
    }

    /// Sets the balancing state of an idle machine; the views and the topology
    /// are complete (`sd_init`, `sched_init`).
    pub fn balance_init(&mut self) {
        let now = self.jiffies();
        let nr = self.cpus.len();
        let hz = 1_000_000_000 / self.tunables.tick;
        self.occupancy = Occupancy::of(self.core.groups.len());
        self.nohz = Nohz {
            next_balance: now,
            next_blocked: now,
            sums: sums::Sums::new(nr, self.core.groups.len()),
            next_update: of_groups(vec![now; self.core.groups.len()]),
            words: nr.div_ceil(64),
            hz,
            max_interval: (hz * nr as u64 / 10).max(1),
            cores: self.cores_of_groups(),
            shared_domain: self.shared_domains(),
            ..Nohz::default()
        };
        for cpu in 0..nr {
            self.balance[cpu] = CpuBalance {
                levels: self.new_levels(cpu, now),
                ..CpuBalance::default()
            };
            self.cpus[cpu].occupied = Count::default();
            self.cpus[cpu].max_idle_balance_cost = MIGRATION_COST;
            self.cpus[cpu].next_balance = now;
            self.core.cpus[cpu].avg_idle = 2 * MIGRATION_COST;
            self.rq_changed(cpu);
        }
        self.cpu_power_init();
        self.cache_aware_init();
        self.cache_uses = vec![cache_aware::Use::default(); self.core.llcs.len()];
        self.itmt_init();
    }

    /// Checks the counts kept by [`World::rq_changed`], and the sums, against the views.
    ///
    /// # Errors
    /// Names the count or sum that differs.
    pub fn balance_check(&self) -> Result<(), String> {
        for (index, &kept) in self.occupancy.groups.iter().enumerate() {
            let found = self.count(index, &Mask::EMPTY);
            if kept != found {
                return Err(format!("group {index} holds {found:?}, counted {kept:?}"));
            }
        }
        self.cpu_power_check()?;
        if self.cache_aware.used {
            self.cache_aware_check()?;
        }
        if self.packing.acts {
            self.pack_check()?;
        }
        self.sums_check()
    }

    /// Is the current task too big for the CPU? At each pick and tick (`update_misfit_status`).
    #[inline]
    pub fn misfit_update(&mut self, cpu: usize) {
        if self.core.topology.asym != 0 && !self.curr_is_rt(cpu) {
            self.misfit_look(cpu);
        }
    }

    fn misfit_look(&mut self, cpu: usize) {
        let curr = self.cpus[cpu].curr;
        let load = match self.views.get(curr as usize) {
            Some(task) if curr != NONE && !self.task_fits(task, cpu) => self.misfit_load(cpu, curr),
            _ => 0,
        };
        self.set_misfit(cpu, load);
    }

    fn set_misfit(&mut self, cpu: usize, load: u32) {
        let misfit = &mut self.balance[cpu].misfit_load;
        self.nohz.nr_misfit += u32::from(load != 0);
        self.nohz.nr_misfit -= u32::from(*misfit != 0);
        *misfit = load;
    }
}
