// SPDX-License-Identifier: GPL-2.0-only
//! The differences between kernels in unlike cores on x86: which domains follow the priorities of
//! CPUs (ITMT), which idle CPU may pull by priority, and whether capacities and costs replace
//! priorities.
//!
//! Read in kernel/sched/fair.c, arch/x86/kernel/smpboot.c and itmt.c of 5.10.262, 5.15.215,
//! 6.1.192, 6.6.17, 6.12.118, 7.2.13 and 7.3.4. The rules of 6.5 and 6.8 follow from the releases
//! that introduced them.

/// The rules of asymmetric packing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Itmt {
    pub pulls: Pulls,
    /// Of groups whose CPUs have the same priority the later one is the source (up to 6.8).
    pub ties_later: bool,
    pub threads: ThreadPriority,
    pub domains: RankedDomains,
    /// Machines with several types of core have no cluster level (`x86_hybrid_topology`; read in
    /// 6.1.192, not in 6.6.17).
    pub hybrids_lack_clusters: bool,
    /// amd-pstate ranks CPUs (from 6.9 on; stable 6.6 has it).
    pub amd: bool,
    /// A move to a higher priority does not depend on cache-aware balancing
    /// (`can_migrate_llc_task`, `llc_balance`; read in 7.3.4, not in 7.2.13).
    pub before_caches: bool,
    pub hybrids: Hybrids,
}

/// What intel_pstate tells the scheduler about unlike cores without SMT
/// (`hybrid_init_cpu_capacity_scaling`). With SMT, all CPUs have the capacity 1024 and priorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hybrids {
    /// The same as with SMT (up to 6.11).
    Alike,
    /// Their capacities, instead of priorities (read in 6.12.118).
    Capacities,
    /// Capacities and costs; the costs follow from the scaling of their levels and from use of the
    /// L3 (`hybrid_get_cost`, 6.17 and 6.18).
    CostByScaling,
    /// Capacities and costs; the costs rise by class: cores without L3, E-cores, P-cores (read in
    /// 7.2.13 and 7.3.4).
    CostByClass,
}

/// When an idle CPU pulls from a group of CPUs with lower priorities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pulls {
    /// Always (up to 5.15).
    ByPriority,
    /// By the number of busy threads of the two cores (`asym_smt_can_pull_tasks`, 5.16 to 6.4).
    ByThreads,
    /// If its whole core is idle and one thread of the other core is busy
    /// (`sched_use_asym_prio`, `sched_group_asym`, from 6.5 on).
    ToIdleCore,
}

/// The priority of a core's second and further threads (`sched_set_itmt_core_prio`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ThreadPriority {
    /// Twice the core's for the first thread of two, the core's for the second (up to 5.15).
    Divided,
    /// Divided by the square of the thread's place (5.16 to 6.4).
    DividedTwice,
    /// The core's (from 6.5 on).
    OfCore,
}

/// The levels with `SD_ASYM_PACKING` (`x86_core_flags` and its like).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RankedDomains {
    /// `SMT`, `CLS` and `MC` (up to 6.4).
    ToCache,
    /// `CLS`, `MC` and `PKG` (from 6.5 on).
    AboveCores,
}

/// 5.10.262 and 5.15.215.
pub(crate) const ITMT_5_10: Itmt = Itmt {
    pulls: Pulls::ByPriority,
    ties_later: true,
    threads: ThreadPriority::Divided,
    domains: RankedDomains::ToCache,
    hybrids_lack_clusters: false,
    amd: false,
    before_caches: false,
    hybrids: Hybrids::Alike,
};

/// 6.1.192.
pub(crate) const ITMT_6_1: Itmt = Itmt {
    pulls: Pulls::ByThreads,
    threads: ThreadPriority::DividedTwice,
    hybrids_lack_clusters: true,
    ..ITMT_5_10
};

/// 6.5.
pub(crate) const ITMT_6_5: Itmt = Itmt {
    pulls: Pulls::ToIdleCore,
    threads: ThreadPriority::OfCore,
    domains: RankedDomains::AboveCores,
    ..ITMT_6_1
};

/// 6.6.87; its rules of balancing were read in 6.6.17.
pub(crate) const ITMT_6_6: Itmt = Itmt {
    hybrids_lack_clusters: false,
    amd: true,
    ..ITMT_6_5
};

/// 6.8.
pub(crate) const ITMT_6_8: Itmt = Itmt {
    amd: false,
    ..ITMT_6_6
};

/// 6.12.118.
pub(crate) const ITMT_6_12: Itmt = Itmt {
    ties_later: false,
    amd: true,
    hybrids: Hybrids::Capacities,
    ..ITMT_6_8
};

/// 6.18.15.
pub(crate) const ITMT_6_18: Itmt = Itmt {
    hybrids: Hybrids::CostByScaling,
    ..ITMT_6_12
};

/// 7.0 to 7.2; the costs were read in 7.2.13.
pub(crate) const ITMT_7_0: Itmt = Itmt {
    hybrids: Hybrids::CostByClass,
    ..ITMT_6_18
};

/// 7.3.4.
pub(crate) const ITMT_7_3: Itmt = Itmt {
    before_caches: true,
    ..ITMT_7_0
};
