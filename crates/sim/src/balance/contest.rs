// SPDX-License-Identifier: GPL-2.0-only
//! The comparison of groups: their statistics, their kinds, and the rules by which groups of
//! the same kind are compared.

use crate::kernel::{Balance, BetterOff, Misfit};
use crate::world::util::fits;

/// The kind of a group, by rising need for relief (`enum group_type`; the wakeup path classifies
/// in the same way, without asymmetric packing).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    HasSpare,
    FullyBusy,
    Misfit,
    /// A core that runs several tasks (`group_smt_balance`).
    SmtBalance,
    /// The CPU that balances has a higher priority than its CPUs (`group_asym_packing`).
    AsymPacking,
    Imbalanced,
    /// It holds tasks that prefer the cache here (`group_llc_balance`).
    CacheAware,
    Overloaded,
}

/// A group's statistics (`struct sg_lb_stats`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupStats {
    pub load: u64,
    pub util: u64,
    pub runnable: u64,
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
    /// Biggest load of a misfit task, if that counts; 0 for the local group.
    pub misfit_load: u32,
    /// It has a misfit task, whether that counts or not.
    pub misfit: bool,
    /// No CPU is overutilized, and the group may therefore not be overloaded.
    pub spared: bool,
    /// It is a core with siblings.
    pub smt: bool,
    /// It is such a core with several fair tasks, seen from an idle CPU; false for the local
    /// group.
    pub smt_balance: bool,
    /// Tasks that prefer the cache of the CPU that balances (`nr_pref_dst_llc`).
    pub drawn_here: u32,
    /// These tasks are to be fetched; false for the local group.
    pub draws: bool,
    pub cores: u32,
    /// The highest priority of its CPUs (that of `asym_prefer_cpu`).
    pub priority: u32,
    /// That is lower than the priority of the CPU that balances, which may pull; false for the
    /// local group.
    pub asym_packing: bool,
    pub kind: Kind,
}

impl GroupStats {
    /// The initial statistics, which any candidate beats (`init_sd_lb_stats`).
    pub const LEAST: GroupStats = GroupStats {
        load: 0,
        util: 0,
        runnable: 0,
        avg_load: 0,
        capacity: 1,
        min_capacity: 0,
        max_capacity: 0,
        nr_running: 0,
        h_nr_running: 0,
        idle_cpus: u32::MAX,
        weight: 1,
        misfit_load: 0,
        misfit: false,
        spared: false,
        smt: false,
        smt_balance: false,
        drawn_here: 0,
        draws: false,
        cores: 0,
        priority: 0,
        asym_packing: false,
        kind: Kind::HasSpare,
    };

    /// `group_classify`. `imbalance`: a level below failed because of affinity.
    pub fn classify(&self, pct: u32, imbalance: bool, rules: &Balance) -> Kind {
        let (room, need) = (self.capacity * 100, self.util * u64::from(pct));
        let waiting = rules.runnable && self.capacity * u64::from(pct) < self.runnable * 100;
        if self.nr_running > self.weight && !self.spared && (room < need || waiting) {
            Kind::Overloaded
        } else if self.draws {
            Kind::CacheAware
        } else if imbalance {
            Kind::Imbalanced
        } else if self.asym_packing {
            Kind::AsymPacking
        } else if self.smt_balance {
            Kind::SmtBalance
        } else if self.misfit_load != 0 {
            Kind::Misfit
        } else if self.nr_running >= self.weight && (waiting || room <= need) {
            Kind::FullyBusy
        } else {
            Kind::HasSpare
        }
    }

    /// Is this group, a neighbour of the local one, busier than `busiest`
    /// (`update_sd_pick_busiest`)?
    pub fn busier_than(&self, busiest: &GroupStats, contest: &Contest) -> bool {
        let Contest { rules, asym, .. } = *contest;
        if self.h_nr_running == 0 {
            return false;
        }
        if asym && self.kind == Kind::Misfit && !contest.helps_misfit(self) {
            return false;
        }
        let better_off = || asym && self.kind <= Kind::FullyBusy && contest.better_off(self);
        if rules.better_off == BetterOff::BiggerThanCpuFirst && better_off() {
            return false;
        }
        if self.kind != busiest.kind {
            return self.kind > busiest.kind;
        }
        let busier = match self.kind {
            Kind::Overloaded => self.avg_load > busiest.avg_load,
            Kind::CacheAware => self.drawn_here > busiest.drawn_here,
            Kind::Imbalanced => false,
            Kind::AsymPacking if rules.itmt.is_some_and(|itmt| itmt.ties_later) => {
                self.priority <= busiest.priority
            }
            Kind::AsymPacking => self.priority < busiest.priority,
            Kind::Misfit if rules.ties.misfit_later => self.misfit_load >= busiest.misfit_load,
            Kind::Misfit => self.misfit_load > busiest.misfit_load,
            Kind::SmtBalance if self.idle_cpus != 0 || busiest.idle_cpus != 0 => {
                self.has_less_spare(busiest, rules)
            }
            Kind::SmtBalance | Kind::FullyBusy => {
                self.avg_load > busiest.avg_load
                    || self.avg_load == busiest.avg_load && rules.ties.full_later && !busiest.smt
            }
            // The first candidate has nothing to be compared with.
            Kind::HasSpare
                if rules.ties.mixed_smt && busiest.cores != 0 && self.smt != busiest.smt =>
            {
                !self.smt || self.h_nr_running > 1
            }
            Kind::HasSpare => self.has_less_spare(busiest, rules),
        };
        busier && (rules.better_off == BetterOff::BiggerThanCpuFirst || !better_off())
    }

    fn has_less_spare(&self, busiest: &GroupStats, rules: &Balance) -> bool {
        self.idle_cpus < busiest.idle_cpus
            || rules.ties.spare_by_tasks
                && self.idle_cpus == busiest.idle_cpus
                && self.nr_running > busiest.nr_running
    }
}

/// The conditions under which the groups of a domain are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Contest {
    pub local: GroupStats,
    /// CPUs of the domain differ in capacity.
    pub asym: bool,
    /// Capacity of the CPU that balances.
    pub capacity: u32,
    /// Its siblings idle (`dst_core_idle`).
    pub core_idle: bool,
    pub rules: &'static Balance,
}

impl Contest {
    /// Can the CPU that balances run the misfit task of `group` better?
    fn helps_misfit(&self, group: &GroupStats) -> bool {
        let room = self.local.kind == Kind::HasSpare;
        room && match self.rules.misfit {
            Misfit::ToBiggerGroup => fits(group.max_capacity, self.local.max_capacity),
            Misfit::ToBiggerCpu { on_idle_core } => {
                greater(self.capacity, group.max_capacity) && (self.core_idle || !on_idle_core)
            }
        }
    }

    /// Are the CPUs of `group`, where no task waits, bigger, so that tasks should stay there?
    fn better_off(&self, group: &GroupStats) -> bool {
        match self.rules.better_off {
            BetterOff::FitsGroup => fits(self.local.min_capacity, group.min_capacity),
            BetterOff::BiggerThanCpu | BetterOff::BiggerThanCpuFirst => {
                greater(group.min_capacity, self.capacity)
            }
        }
    }
}

/// Is a capacity noticeably greater (`capacity_greater`: by a 20th)?
#[inline]
pub(super) fn greater(a: u32, b: u32) -> bool {
    u64::from(a) * 1024 > u64::from(b) * 1078
}
