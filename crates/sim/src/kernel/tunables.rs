// SPDX-License-Identifier: GPL-2.0-only
//! The constants and rules of the fair class for one run: the kernel's row, with times scaled by
//! the number of CPUs.

use crate::kernel::{
    BuddiesCleared, Cfs, Division, EEVDF_7_2, Eevdf, Fair, IdleSleeper, Kernel, PickedAgain,
    SliceFloor,
};

/// The key that orders a fair runqueue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// vruntime.
    Cfs,
    /// Virtual deadline.
    Eevdf,
}

/// Kernel-wide constants of the base and the machine, ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tunables {
    pub tick: u64,
    pub order: Order,
    pub division: Division,
    /// CFS: `sysctl_sched_latency`, `_min_granularity`, `_wakeup_granularity`, `sched_nr_latency`.
    pub latency: u64,
    pub min_granularity: u64,
    pub wakeup_granularity: u64,
    pub nr_latency: u32,
    /// CFS: shortest slice, and that of a SCHED_IDLE task among others; 0: no floor.
    pub slice_floor: u64,
    pub idle_slice_floor: u64,
    /// CFS: longest slice, tested at ticks.
    pub slice_limit: u64,
    /// CFS: how far behind `min_vruntime` a task, and a SCHED_IDLE task, may wake.
    pub sleeper_credit: u64,
    pub idle_sleeper_credit: u64,
    pub picked_again: PickedAgain,
    pub buddies_cleared: BuddiesCleared,
    /// EEVDF: slice of a task without a custom slice.
    pub base_slice: u64,
    /// EEVDF: its rules; CFS ignores them.
    pub eevdf: Eevdf,
    /// EEVDF: a timer ends slices. Set only if both base and machine enable it.
    pub hrtick: bool,
}

impl Tunables {
    /// Constants for a machine of `nr_cpus` (`get_update_sysctl_factor`,
    /// SCHED_TUNABLESCALING_LOG: 1 + log2 of at most 8 CPUs).
    pub fn new(kernel: &Kernel, nr_cpus: usize, tick: u64) -> Self {
        let factor = 1 + u64::from(nr_cpus.clamp(1, 8).ilog2());
        match &kernel.fair {
            Fair::Cfs(rules) => Self::cfs(rules, factor, tick),
            Fair::Eevdf(rules) => Self::eevdf(rules, factor, tick),
        }
    }

    fn cfs(rules: &Cfs, factor: u64, tick: u64) -> Self {
        let latency = rules.latency_ns * factor;
        let min_granularity = rules.min_granularity_ns * factor;
        let (slice_floor, idle_slice_floor) = match rules.slice_floor {
            SliceFloor::None => (0, 0),
            SliceFloor::Granularity => (min_granularity, min_granularity),
            SliceFloor::GranularityUnlessIdle { idle_ns } => (min_granularity, idle_ns),
        };
        Tunables {
            tick,
            order: Order::Cfs,
            division: rules.division,
            latency,
            min_granularity,
            wakeup_granularity: rules.wakeup_granularity_ns * factor,
            nr_latency: rules.nr_latency,
            slice_floor,
            idle_slice_floor,
            slice_limit: if rules.tick_limit_is_latency {
                latency
            } else {
                u64::MAX
            },
            sleeper_credit: latency / 2,
            idle_sleeper_credit: match rules.idle_sleeper {
                IdleSleeper::HalfLatency => latency / 2,
                IdleSleeper::HalfGranularity => min_granularity / 2,
            },
            picked_again: rules.picked_again,
            buddies_cleared: rules.buddies_cleared,
            base_slice: 0,
            eevdf: EEVDF_7_2,
            hrtick: false,
        }
    }

    fn eevdf(rules: &Eevdf, factor: u64, tick: u64) -> Self {
        Tunables {
            tick,
            order: Order::Eevdf,
            division: rules.division,
            latency: 0,
            min_granularity: 0,
            wakeup_granularity: 0,
            nr_latency: 0,
            slice_floor: 0,
            idle_slice_floor: 0,
            slice_limit: 0,
            sleeper_credit: 0,
            idle_sleeper_credit: 0,
            picked_again: PickedAgain::GoesOn,
            buddies_cleared: BuddiesCleared::SwitchedTo,
            base_slice: rules.base_slice_ns * factor,
            eevdf: *rules,
            hrtick: rules.hrtick,
        }
    }
}

#[cfg(test)]
mod tests;
