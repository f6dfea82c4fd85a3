// SPDX-License-Identifier: GPL-2.0-only
//! The base kernels and their rules of placement. Each lists the changes since the base before it.

use super::{Base, Proof, Release};
use crate::abi::{Params, rule};

/// All bases, by release, the oldest first.
pub const BASES: &[Base] = &[
    Base {
        name: "linux-3.9",
        release: Release::new(3, 9),
        read: "3.9.6",
        proof: Proof::Source,
        summary: "CFS; load by weight, idle groups below the cache; no utilization, no energy model",
        rules: LINUX_3_9,
    },
    Base {
        name: "linux-5.4",
        release: Release::new(5, 4),
        read: "5.4.30",
        proof: Proof::Source,
        summary: "CFS; wake_cap on asymmetric machines, SIS_PROP, EAS, fork by spare capacity",
        rules: LINUX_5_4,
    },
    Base {
        name: "linux-5.5",
        release: Release::new(5, 5),
        read: "5.5",
        proof: Proof::Source,
        summary: "CFS; wake_cap and slow path for big tasks on asymmetric machines; SIS_PROP, EAS",
        rules: LINUX_5_5,
    },
    Base {
        name: "linux-5.10",
        release: Release::new(5, 10),
        read: "5.10.262",
        proof: Proof::Kernel,
        summary: "CFS; scan for CPUs that fit task and clamps; core, CPU and thread by separate scans; EAS",
        rules: LINUX_5_10,
    },
    Base {
        name: "linux-5.15",
        release: Release::new(5, 15),
        read: "5.15.215",
        proof: Proof::Source,
        summary: "as 5.10, but one LLC scan, SIS_UTIL; EAS prices sets with a candidate only",
        rules: LINUX_5_15,
    },
    Base {
        name: "linux-6.1",
        release: Release::new(6, 1),
        read: "6.1.192",
        proof: Proof::Kernel,
        summary: "CFS; scan for CPUs that fit task and clamps, one LLC scan, SIS_UTIL, EAS by least energy",
        rules: LINUX_6_1,
    },
    Base {
        name: "linux-6.5",
        release: Release::new(6, 5),
        read: "6.5.13",
        proof: Proof::Source,
        summary: "as 6.1; EAS counts waiting tasks in the frequency that it expects",
        rules: LINUX_6_5,
    },
    Base {
        name: "linux-6.6",
        release: Release::new(6, 6),
        read: "6.6.87",
        proof: Proof::Source,
        summary: "EEVDF, the first; placement as 6.5",
        rules: LINUX_6_6,
    },
    Base {
        name: "linux-6.8",
        release: Release::new(6, 8),
        read: "6.8.12",
        proof: Proof::Source,
        summary: "EEVDF, as in Ubuntu 24.04; clusters, util_est of one value, clamped performance",
        rules: LINUX_6_8,
    },
    Base {
        name: "linux-6.12",
        release: Release::new(6, 12),
        read: "6.12.118",
        proof: Proof::Kernel,
        summary: "EEVDF with delayed dequeue and slices of tasks; fair server, average hardware pressure",
        rules: LINUX_6_12,
    },
    Base {
        name: "linux-6.18",
        release: Release::new(6, 18),
        read: "6.18.15",
        proof: Proof::Kernel,
        summary: "as 6.12; protection of slices by time",
        rules: LINUX_6_18,
    },
    Base {
        name: "linux-7.0",
        release: Release::new(7, 0),
        read: "7.0.14",
        proof: Proof::Kernel,
        summary: "as 6.18; lazy preemption, whole sums of load",
        rules: LINUX_7_0,
    },
    Base {
        name: "linux-7.1",
        release: Release::new(7, 1),
        read: "7.1.13",
        proof: Proof::Kernel,
        summary: "as 7.0; a SCHED_IDLE CPU is idle for normal tasks only; slices ended by timers",
        rules: LINUX_7_1,
    },
    Base {
        name: "linux-7.2",
        release: Release::new(7, 2),
        read: "7.2.13",
        proof: Proof::Kernel,
        summary: "EEVDF; clusters, idle cores on asymmetric machines, EAS by performance states",
        rules: LINUX_7_2,
    },
    Base {
        name: "linux-7.3",
        release: Release::new(7, 3),
        read: "7.3.4",
        proof: Proof::Kernel,
        summary: "placement as 7.2; tasks of all groups in one EEVDF queue a CPU, groups weigh as their tasks need",
        rules: LINUX_7_3,
    },
];

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
    em_power: rule::POWER_MW,
    load: rule::LOAD_RUNNABLE,
    sched_idle: rule::SCHED_IDLE_LAST,
    sibling: rule::SIBLING_SEPARATE,
    smt_beyond_domain: 1,
    scan_needs_llc: 1,
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

/// Changes of 5.5: load includes blocked tasks, fork goes by how full groups are, estimates rise
/// at once. Clamps count as from 5.6 on, because the published comparisons with 5.5 had that.
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

/// Changes up to 5.10, read in 5.10.262.
const LINUX_5_10: Params = Params {
    wake_cap: 0,
    sched_idle: rule::SCHED_IDLE_AVAIL,
    sched_idle_balance: 1,
    kthread_stacks: 1,
    smt_beyond_domain: 0,
    lean_scan: 1,
    asym: rule::ASYM_FITS,
    fit: rule::FIT_CLAMPS_ALL,
    pressure: rule::PRESSURE_THERMAL,
    em_power: rule::POWER_MW_SCALED,
    idlest_load_inverted: 0,
    idlest_weight_unset: 0,
    idlest_tie_util: 1,
    idlest_runnable: 1,
    idlest_misfit_cpus: 1,
    idlest_allowed_only: 1,
    est_lsb: 0,
    est_keeps_last: 1,
    sums: rule::SUMS_AVERAGED_BUT_LOAD,
    package_pct: 117,
    ..LINUX_5_5
};

/// Changes up to 5.15, read in 5.15.215: stable updates added SIS_UTIL and the fit by clamps.
const LINUX_5_15: Params = Params {
    eas: rule::EAS_SIXTEENTH_OF_SOME,
    performance: rule::PERFORMANCE_UTIL,
    affine_prev_idle: 1,
    sibling: rule::SIBLING_ONE_SCAN,
    recent_always: 1,
    recent_by_prev: 1,
    lean_scan: 0,
    sis_prop: 0,
    sis_util: 1,
    idlest_numa_imbalance: rule::NUMA_QUARTER,
    sums: rule::SUMS_AVERAGED,
    asym_partial: 1,
    ..LINUX_5_10
};

/// Changes up to 6.1, read in 6.1.192.
const LINUX_6_1: Params = Params {
    eas: rule::EAS_DELTA,
    recent_by_prev: 0,
    scan_needs_llc: 0,
    fit: rule::FIT_CLAMPS,
    em_power: rule::POWER_UW,
    skip_inefficient: 1,
    idlest_numa_imbalance: rule::NUMA_IMB_NR,
    sums: rule::SUMS_CUT,
    cluster_level: 1,
    ..LINUX_5_15
};

/// Changes up to 6.5, read in 6.5.13; they also undo fixes of 6.1.192 that 6.5.13 lacks.
const LINUX_6_5: Params = Params {
    util_boost: rule::BOOST_QUEUE,
    asym_from_next: 1,
    smt_beyond_domain: 1,
    idlest_allowed_only: 0,
    ..LINUX_6_1
};

/// Changes up to 6.6, read in 6.6.87.
const LINUX_6_6: Params = Params {
    current_cpu: 1,
    asym_from_next: 0,
    smt_beyond_domain: 0,
    ..LINUX_6_5
};

/// Changes up to 6.8, read in 6.8.12 of Ubuntu (6.8.0-151), the kernel of Ubuntu 24.04. It has
/// fixes of 6.12.y that the last stable release of 6.8 lacks.
const LINUX_6_8: Params = Params {
    util_boost: rule::BOOST_TASK,
    performance: rule::PERFORMANCE_CLAMPED,
    cluster_scan: 1,
    idlest_allowed_only: 1,
    est_keeps_last: 0,
    est_single: 1,
    est_held: 1,
    ..LINUX_6_6
};

/// Changes up to 6.12, read in 6.12.118.
const LINUX_6_12: Params = Params {
    state_by_performance: 1,
    delayed_dequeue: 1,
    pressure: rule::PRESSURE_AVERAGE,
    fork_util_inflated: 0,
    est_early: 1,
    ..LINUX_6_8
};

/// Changes up to 6.18, read in 6.18.15, which lacks two fixes that 6.12.118 has.
const LINUX_6_18: Params = Params {
    util_boost: rule::BOOST_QUEUE,
    idlest_allowed_only: 0,
    est_held: 0,
    ..LINUX_6_12
};

/// Changes up to 7.0, read in 7.0.14; 7.0.13 still makes its estimates as 6.18 does.
const LINUX_7_0: Params = Params {
    util_boost: rule::BOOST_TASK,
    idlest_allowed_only: 1,
    sums: rule::SUMS_BOUNDED_JOIN,
    est_early: 0,
    ..LINUX_6_18
};

/// Changes up to 7.1, read in 7.1.13.
const LINUX_7_1: Params = Params {
    sched_idle: rule::SCHED_IDLE_NORMAL,
    empty_scan_tells_nothing: 1,
    idlest_eas_spares: 1,
    ..LINUX_7_0
};

/// Changes up to 7.2, read in 7.2.13.
const LINUX_7_2: Params = Params {
    asym: rule::ASYM_CORES,
    shared_by_asym: 1,
    ..LINUX_7_1
};

/// Changes up to 7.3, read in 7.3.4: one line of `sd_init` and the beginning of `reweight_entity`,
/// but no function of placement.
const LINUX_7_3: Params = Params {
    same_weight_ends: 1,
    unlike_spread: 1,
    ..LINUX_7_2
};
