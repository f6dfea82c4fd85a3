// SPDX-License-Identifier: GPL-2.0-only
//! Decides whether there is an imbalance between the local and the busiest group, and how much
//! has to move (`find_busiest_group`, `calculate_imbalance`).

use super::Idle;
use super::contest::{GroupStats, Kind};
use super::groups::Rivals;
use crate::kernel::{Balance, NumaTolerance, Sibling};

/// The kind of amount to move (`enum migration_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Migrate {
    Load,
    Util,
    Task,
    Misfit,
    /// A task that prefers the cache here (`migrate_llc_task`).
    ToCache,
}

/// An imbalance: what to move, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Imbalance {
    pub what: Migrate,
    /// In the unit of `what`: load, utilization or tasks.
    pub amount: i64,
}

/// The rules of the domain by which an imbalance is judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub pct: u32,
    /// `SD_PREFER_SIBLING`: spread tasks over the groups.
    pub prefer_sibling: bool,
    /// What the balancing CPU is doing.
    pub idle: Idle,
    /// CPUs of the domain differ in capacity.
    pub asym: bool,
    /// They share a cache.
    pub shares_cache: bool,
    /// Number of tasks that a node may run before they spread, if the domain spans nodes.
    pub imb_numa_nr: Option<u32>,
    /// The rules of the kernel.
    pub kernel: &'static Balance,
}

/// The greatest imbalance between nodes that is tolerated (`NUMA_IMBALANCE_MIN`).
const NUMA_IMBALANCE_MIN: i64 = 2;

/// The imbalance, if it is one (`find_busiest_group`).
pub(super) fn find(rivals: &Rivals, rules: Rules) -> Option<Imbalance> {
    let (local, busiest) = (&rivals.local, &rivals.busiest);
    match busiest.kind {
        Kind::Misfit if rules.asym => {
            return Some(Imbalance {
                what: Migrate::Misfit,
                amount: 1,
            });
        }
        // The CPU of the task has little time for it.
        Kind::Misfit => {
            return Some(Imbalance {
                what: Migrate::Load,
                amount: i64::from(busiest.misfit_load),
            });
        }
        Kind::AsymPacking => {
            return Some(Imbalance {
                what: Migrate::Task,
                amount: i64::from(busiest.h_nr_running),
            });
        }
        Kind::Imbalanced => {
            return Some(Imbalance {
                what: Migrate::Task,
                amount: 1,
            });
        }
        _ => {}
    }
    if local.kind > busiest.kind || (local.kind == Kind::Overloaded && load_is_fair(rivals, rules))
    {
        return None;
    }
    let crowded = rules.prefer_sibling
        && local.kind == Kind::HasSpare
        && (busiest.kind == Kind::CacheAware || sibling_imbalance(local, busiest, rules) > 1);
    if !crowded && busiest.kind != Kind::Overloaded && !worth_evening(rivals, rules) {
        return None;
    }
    let imbalance = amount(rivals, rules);
    (imbalance.amount != 0).then_some(imbalance)
}

/// Both groups are overloaded: does the local one already have its share?
fn load_is_fair(rivals: &Rivals, rules: Rules) -> bool {
    let (local, busiest) = (rivals.local.avg_load, rivals.busiest.avg_load);
    local >= busiest || local >= average(rivals) || 100 * busiest <= u64::from(rules.pct) * local
}

/// No group is overloaded: has the busiest group a task for an idle CPU of the local one?
fn worth_evening(rivals: &Rivals, rules: Rules) -> bool {
    let (local, busiest) = (&rivals.local, &rivals.busiest);
    let shares_core = busiest.kind == Kind::SmtBalance && busiest.smt != local.smt;
    let uneven = (busiest.weight == 1 || local.idle_cpus > busiest.idle_cpus.saturating_add(1))
        && busiest.h_nr_running != 1;
    rules.idle != Idle::No && (shares_core || uneven)
}

/// Number of tasks that the busiest group has more than the local one, if tasks are to be
/// spread; each core counts the same.
fn sibling_imbalance(local: &GroupStats, busiest: &GroupStats, rules: Rules) -> i64 {
    let (l, b) = (i64::from(local.nr_running), i64::from(busiest.nr_running));
    if rules.kernel.sibling != Sibling::Cores {
        return (b - l).max(0);
    }
    if rules.idle == Idle::No || b == 0 {
        return 0;
    }
    let (cl, cb) = (i64::from(local.cores), i64::from(busiest.cores));
    if cl == cb {
        return (b - l).max(0);
    }
    // Normalized to the mean number of cores, and rounded.
    let more = (2 * (cl * b - cb * l).max(0) + cl + cb) / (cl + cb);
    // No task runs here: one of several may come.
    if more <= 1 && l == 0 && b > 1 {
        2
    } else {
        more
    }
}

/// Load per capacity of the domain.
fn average(rivals: &Rivals) -> u64 {
    rivals.totals.load * 1024 / rivals.totals.capacity.max(1)
}

/// The imbalance (`calculate_imbalance`). Differences wrap as the kernel's unsigned ones do.
fn amount(rivals: &Rivals, rules: Rules) -> Imbalance {
    let (local, busiest) = (&rivals.local, &rivals.busiest);
    if busiest.kind == Kind::SmtBalance {
        return Imbalance {
            what: Migrate::Task,
            amount: 1,
        };
    }
    if busiest.kind == Kind::CacheAware {
        return Imbalance {
            what: Migrate::ToCache,
            amount: 1,
        };
    }
    if local.kind == Kind::HasSpare {
        return amount_into_spare(rivals, rules);
    }
    let average = average(rivals);
    let local_load = match local.kind {
        Kind::Overloaded => local.avg_load,
        _ => local.load * 1024 / local.capacity,
    };
    if rules.kernel.full_takes_no_load
        && local.kind != Kind::Overloaded
        && (local_load >= busiest.avg_load || local_load >= average)
    {
        return Imbalance {
            what: Migrate::Load,
            amount: 0,
        };
    }
    let surplus = busiest
        .avg_load
        .wrapping_sub(average)
        .wrapping_mul(busiest.capacity);
    let deficit = average
        .wrapping_sub(local_load)
        .wrapping_mul(local.capacity);
    Imbalance {
        what: Migrate::Load,
        amount: (surplus.min(deficit) / 1024) as i64,
    }
}

/// The local group has room: the imbalance that fills it, or that evens out tasks or idle CPUs.
fn amount_into_spare(rivals: &Rivals, rules: Rules) -> Imbalance {
    let (local, busiest) = (&rivals.local, &rivals.busiest);
    let tasks = |amount| Imbalance {
        what: Migrate::Task,
        amount,
    };
    let by_tasks = rules.kernel.cache_counts_tasks && rules.shares_cache;
    if busiest.kind == Kind::Overloaded && !by_tasks {
        let room = local.capacity.saturating_sub(local.util);
        if room == 0 && rules.idle != Idle::No {
            return tasks(1);
        }
        return Imbalance {
            what: Migrate::Util,
            amount: room as i64,
        };
    }
    let more = if busiest.weight == 1 || rules.prefer_sibling {
        sibling_imbalance(local, busiest, rules)
    } else {
        // The kernel's difference is unsigned, in spite of the limit to 0 around it.
        i64::from(local.idle_cpus.wrapping_sub(busiest.idle_cpus))
    };
    tasks(match rules.imb_numa_nr {
        Some(imb_numa_nr) => beyond_tolerance(more, rivals, rules, imb_numa_nr),
        None => more >> 1,
    })
}

/// Number of tasks to move between nodes whose difference is `more` tasks or idle CPUs; 0 if
/// the kernel tolerates the difference (`adjust_numa_imbalance`).
fn beyond_tolerance(more: i64, rivals: &Rivals, rules: Rules, imb_numa_nr: u32) -> i64 {
    let (local, busiest) = (&rivals.local, &rivals.busiest);
    let half = more >> 1;
    match rules.kernel.numa_tolerance {
        NumaTolerance::None => half,
        NumaTolerance::TwoRun if busiest.nr_running <= 2 => 0,
        NumaTolerance::TwoRun => half,
        NumaTolerance::Quarter
            if local.nr_running + 1 < local.weight >> 2 && half <= NUMA_IMBALANCE_MIN =>
        {
            0
        }
        NumaTolerance::Quarter => half,
        NumaTolerance::ImbNumaNr => {
            // The kernel's function takes and returns an int.
            let more = i64::from(more as i32);
            if local.nr_running < imb_numa_nr && more <= NUMA_IMBALANCE_MIN {
                0
            } else {
                more >> 1
            }
        }
    }
}

#[cfg(test)]
mod tests;
