// SPDX-License-Identifier: GPL-2.0-only
//! Is there an imbalance between the local and the busiest group, and what
//! would end it (`find_busiest_group`, `calculate_imbalance`).

use super::Idle;
use super::groups::{Kind, Rivals};

/// What to move (`enum migration_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Migrate {
    Load,
    Util,
    Task,
    Misfit,
}

/// An imbalance: what to move, and how much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Imbalance {
    pub what: Migrate,
    /// In the unit of `what`: load, utilization or tasks.
    pub amount: i64,
}

/// Rules of the domain that an imbalance is judged by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub pct: u32,
    /// The child domain has `SD_PREFER_SIBLING`: spread tasks over the groups.
    pub prefer_sibling: bool,
    /// What the balancing CPU is doing.
    pub idle: Idle,
}

/// The imbalance, if it is one (`find_busiest_group`).
pub(super) fn find(rivals: &Rivals, rules: Rules) -> Option<Imbalance> {
    let (local, busiest) = (&rivals.local, &rivals.busiest);
    match busiest.kind {
        Kind::Misfit => return Some(Imbalance { what: Migrate::Misfit, amount: 1 }),
        Kind::Imbalanced => return Some(Imbalance { what: Migrate::Task, amount: 1 }),
        _ => {}
    }
    if local.kind > busiest.kind || (local.kind == Kind::Overloaded && load_is_fair(rivals, rules)) {
        return None;
    }
    let crowded = rules.prefer_sibling
        && local.kind == Kind::HasSpare
        && busiest.nr_running > local.nr_running + 1;
    if !crowded && busiest.kind != Kind::Overloaded && !worth_evening(rivals, rules) {
        return None;
    }
    let imbalance = amount(rivals, rules);
    (imbalance.amount != 0).then_some(imbalance)
}

/// Both groups are overloaded: does this one carry its share already?
fn load_is_fair(rivals: &Rivals, rules: Rules) -> bool {
    let (local, busiest) = (rivals.local.avg_load, rivals.busiest.avg_load);
    local >= busiest || local >= average(rivals) || 100 * busiest <= u64::from(rules.pct) * local
}

/// Nobody is overloaded: has the busiest group a task that an idle CPU here would gain from?
fn worth_evening(rivals: &Rivals, rules: Rules) -> bool {
    let (local, busiest) = (&rivals.local, &rivals.busiest);
    rules.idle != Idle::Not
        && (busiest.weight == 1 || local.idle_cpus > busiest.idle_cpus.saturating_add(1))
        && busiest.nr_running != 1
}

/// Load per capacity of the domain.
fn average(rivals: &Rivals) -> u64 {
    rivals.totals.load * 1024 / rivals.totals.capacity.max(1)
}

/// How much of what (`calculate_imbalance`). Differences wrap as the kernel's unsigned ones do.
fn amount(rivals: &Rivals, rules: Rules) -> Imbalance {
    let (local, busiest) = (&rivals.local, &rivals.busiest);
    if local.kind == Kind::HasSpare {
        return amount_into_spare(rivals, rules);
    }
    let average = average(rivals);
    let local_load = match local.kind {
        Kind::Overloaded => local.avg_load,
        _ => local.load * 1024 / local.capacity,
    };
    let surplus = busiest.avg_load.wrapping_sub(average).wrapping_mul(busiest.capacity);
    let deficit = average.wrapping_sub(local_load).wrapping_mul(local.capacity);
    Imbalance { what: Migrate::Load, amount: (surplus.min(deficit) / 1024) as i64 }
}

/// The local group has room: fill it, or even out tasks or idle CPUs.
fn amount_into_spare(rivals: &Rivals, rules: Rules) -> Imbalance {
    let (local, busiest) = (&rivals.local, &rivals.busiest);
    let tasks = |amount| Imbalance { what: Migrate::Task, amount: i64::from(amount) };
    if busiest.kind == Kind::Overloaded {
        let room = local.capacity.saturating_sub(local.util);
        if room == 0 && rules.idle != Idle::Not {
            return tasks(1);
        }
        return Imbalance { what: Migrate::Util, amount: room as i64 };
    }
    if busiest.weight == 1 || rules.prefer_sibling {
        return tasks(busiest.nr_running.saturating_sub(local.nr_running) >> 1);
    }
    tasks(local.idle_cpus.wrapping_sub(busiest.idle_cpus) >> 1)
}
