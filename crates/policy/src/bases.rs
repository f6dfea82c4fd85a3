// SPDX-License-Identifier: GPL-2.0-only
//! The base kernels: which rules of placement each of them has.

use crate::abi::{Params, rule};
use crate::scheduler::hint;

/// A base kernel.
#[derive(Debug)]
pub struct Base {
    /// The name that users type, such as `linux-6.5`.
    pub name: &'static str,
    /// The kernel that it stands for, one line.
    pub summary: &'static str,
    pub(crate) rules: Params,
}

/// All bases, by release, the oldest first.
pub const BASES: &[Base] = &[
    Base {
        name: "linux-3.9",
        summary: "CFS; load by weight, idle groups below the cache; no utilization, no energy model",
        rules: LINUX_3_9,
    },
    Base {
        name: "linux-5.4",
        summary: "CFS; wake_cap on asymmetric machines, SIS_PROP, EAS, fork by spare capacity",
        rules: LINUX_5_4,
    },
    Base {
        name: "linux-5.5",
        summary: "CFS; wake_cap and slow path for big tasks on asymmetric machines; SIS_PROP, EAS",
        rules: LINUX_5_5,
    },
    Base {
        name: "linux-6.1",
        summary: "CFS; scan for CPUs that fit task and clamps, one LLC scan, SIS_UTIL, EAS by least energy",
        rules: LINUX_6_1,
    },
    Base {
        name: "linux-6.5",
        summary: "as 6.1; EAS counts waiting tasks in the frequency that it expects",
        rules: LINUX_6_5,
    },
    Base {
        name: "linux-7.2",
        summary: "EEVDF; clusters, idle cores on asymmetric machines, EAS by performance states",
        rules: LINUX_7_2,
    },
];

/// A release of Linux: its first two numbers, the second if there is one.
type Release = (u64, Option<u64>);

/// The release in a name such as `linux-6.12`, `v6.5`, `6.5.13` or `linux-6.1-rc3`.
fn release(name: &str) -> Option<Release> {
    let word = |c: char| c.is_ascii_alphabetic() || c == '-';
    let mut numbers = name.trim_start_matches(word).split('.');
    // A number that is too large is a release all the same, one that is to come.
    let number = |text: &str| {
        let end = text.find(|c: char| !c.is_ascii_digit());
        let digits = &text[..end.unwrap_or(text.len())];
        (!digits.is_empty()).then(|| digits.parse().unwrap_or(u64::MAX))
    };
    let first = numbers.next().and_then(number)?;
    Some((first, numbers.next().and_then(number)))
}

/// Whether a part of a scheduler's name is meant as a base: all of theirs begin with `linux`, and
/// a feature's name begins with no digit.
pub(crate) fn is_release(part: &str) -> bool {
    let bare = part.strip_prefix('v').unwrap_or(part);
    part.starts_with("linux") || bare.starts_with(|c: char| c.is_ascii_digit())
}

/// What to name instead of a base that there is not. What is no release may be misspelled.
pub(crate) fn instead_of(name: &str) -> String {
    let names = || BASES.iter().map(|base| base.name);
    let Some((major, minor)) = release(name) else {
        return hint(name, names());
    };
    let at_most = |base: &&Base| {
        let (own, minor_own) = release(base.name).expect("a base is a release");
        (own, minor_own) <= (major, minor.or(Some(u64::MAX)))
    };
    let nearest = match BASES.iter().rev().find(at_most) {
        Some(base) if release(base.name) == Some((major, minor)) => {
            format!("did you mean '{}'?", base.name)
        }
        Some(base) => format!("the nearest below it is '{}'", base.name),
        None => format!("the oldest is '{}'", BASES[0].name),
    };
    format!(
        "{nearest}; bases: {}",
        names().collect::<Vec<_>>().join(", ")
    )
}

/// kernel/sched/fair.c of 3.9.
const LINUX_3_9: Params = Params {
    affine_balanced: 1,
    exit_is_sync: 1,
    load: rule::LOAD_WEIGHT,
    walk_all: 1,
    search_if_affine: 1,
    sched_idle: rule::SCHED_IDLE_BUSY,
    sibling: rule::SIBLING_GROUPS,
    recent_none: 1,
    idlest: rule::IDLEST_LOAD,
    fit: rule::FIT_PLAIN,
    est_none: 1,
    cache_pct: 125,
    package_pct: 125,
    ..Params::NONE
};

/// kernel/sched/fair.c of 5.4.
const LINUX_5_4: Params = Params {
    wake_wide: 1,
    wake_cap: 1,
    eas: rule::EAS_SIXTEENTH,
    performance: rule::PERFORMANCE_FREQUENCY,
    load: rule::LOAD_RUNNABLE,
    sched_idle: rule::SCHED_IDLE_LAST,
    sibling: rule::SIBLING_SEPARATE,
    sis_prop: 1,
    idlest: rule::IDLEST_SPARE,
    fit: rule::FIT_PLAIN,
    fork_util_inflated: 1,
    est_lsb: 1,
    est_slow_up: 1,
    sums: rule::SUMS_FREE,
    cache_pct: 117,
    package_pct: 125,
    ..Params::NONE
};

/// What 5.5 changed: load with the blocked tasks, fork by how full groups are, estimates that rise
/// at once. Clamps count as they do from 5.6 on, which the published comparisons with 5.5 had.
const LINUX_5_5: Params = Params {
    load: rule::LOAD_AVG,
    idlest: rule::IDLEST_CLASS,
    idlest_load_inverted: 1,
    idlest_weight_unset: 1,
    fit: rule::FIT_CLAMPED,
    est_slow_up: 0,
    sums: rule::SUMS_BOUNDED,
    ..LINUX_5_4
};

/// What changed up to 6.1, read in 6.1.192.
const LINUX_6_1: Params = Params {
    wake_cap: 0,
    eas: rule::EAS_DELTA,
    performance: rule::PERFORMANCE_UTIL,
    skip_inefficient: 1,
    affine_prev_idle: 1,
    sched_idle: rule::SCHED_IDLE_AVAIL,
    sched_idle_balance: 1,
    sibling: rule::SIBLING_ONE_SCAN,
    recent_always: 1,
    kthread_stacks: 1,
    sis_prop: 0,
    sis_util: 1,
    asym: rule::ASYM_FITS,
    fit: rule::FIT_CLAMPS,
    pressure: rule::PRESSURE_THERMAL,
    idlest_load_inverted: 0,
    idlest_weight_unset: 0,
    idlest_tie_util: 1,
    idlest_runnable: 1,
    idlest_misfit_cpus: 1,
    idlest_numa_imbalance: 1,
    est_lsb: 0,
    est_keeps_last: 1,
    sums: rule::SUMS_CUT,
    package_pct: 117,
    asym_partial: 1,
    cluster_level: 1,
    ..LINUX_5_5
};

/// What changed up to 6.5, read in 6.5.13 (fixes of 6.1.192 that it lacks included).
const LINUX_6_5: Params = Params {
    util_boost: rule::BOOST_QUEUE,
    asym_from_next: 1,
    smt_beyond_domain: 1,
    ..LINUX_6_1
};

/// What changed up to 7.2.
const LINUX_7_2: Params = Params {
    current_cpu: 1,
    util_boost: rule::BOOST_TASK,
    performance: rule::PERFORMANCE_CLAMPED,
    state_by_performance: 1,
    delayed_dequeue: 1,
    sched_idle: rule::SCHED_IDLE_NORMAL,
    cluster_scan: 1,
    smt_beyond_domain: 0,
    empty_scan_tells_nothing: 1,
    asym: rule::ASYM_CORES,
    asym_from_next: 0,
    pressure: rule::PRESSURE_AVERAGE,
    idlest_allowed_only: 1,
    idlest_eas_spares: 1,
    fork_util_inflated: 0,
    est_keeps_last: 0,
    est_single: 1,
    sums: rule::SUMS_BOUNDED_JOIN,
    shared_by_asym: 1,
    ..LINUX_6_5
};
