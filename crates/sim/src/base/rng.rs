// SPDX-License-Identifier: GPL-2.0-only
//! Random numbers by key: each number is a function of (seed, who, purpose). A draw added in one
//! place changes no other draw, and two schedulers compared at one seed meet the same conditions.

/// The purpose of a random number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Phase of the timer tick.
    TickPhase = 1,
    /// CPU on which a workload's first task is created.
    FirstCpu = 2,
    /// Delay of a workload's start.
    StartDelay = 3,
    /// Pause between two operations of hotplug torture, and its CPU.
    HotplugPause = 4,
    HotplugCpu = 5,
    /// Whether a newly idle CPU balances in a domain.
    Newidle = 6,
    /// The point of its cycle at which a background task begins.
    Stagger = 7,
    /// Whether a task that is preempted within a read or write call holds the pipe's mutex.
    PipeMutex = 8,
    /// The next block of a recording.
    Block = 10,
    /// `wakee_flips` of the shell that starts the workloads.
    Shell = 9,
}

/// A number below `bound` (which is not 0).
pub(crate) fn below(seed: u64, who: u64, purpose: Purpose, bound: u64) -> u64 {
    let mut x = seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(who.wrapping_mul(0xd1b5_4a32_d192_ed03))
        .wrapping_add((purpose as u64).wrapping_mul(0x8cb9_2ba7_2f3d_8dd7));
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    ((u128::from(x) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests;
