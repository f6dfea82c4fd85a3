// SPDX-License-Identifier: GPL-2.0-only
//! `wakee_flips` of the shell that starts the workloads: how often the shell switched to another
//! wakee. The workloads' first tasks inherit it.
//!
//! A login leaves a value of 6 to 52. When the shell wakes tasks later, the value is halved every
//! second. It grows when the shell wakes the reader of its output, and at wakeups by interrupts
//! while the shell runs, since these count as wakeups by the interrupted task.

use crate::base::rng::{Purpose, below};

/// `wakee_flips` of hackbench at its first fork. bash started it again and again; values count from
/// the eighth second of each script on. The values are the middles of the tenths of 117 starts on
/// Linux 6.1.192 and 7.2.13 (docs/reference/workloads.md).
const MEASURED: [u32; 10] = [0, 1, 1, 2, 2, 3, 4, 5, 7, 12];

/// `wakee_flips` of the workloads' first tasks; `None`: drawn by `seed` from the measured values.
pub(crate) fn wakee_flips(stated: Option<u32>, seed: u64) -> u32 {
    stated.unwrap_or_else(|| {
        let tenth = below(seed, 0, Purpose::Shell, MEASURED.len() as u64);
        MEASURED[tenth as usize]
    })
}

#[cfg(test)]
mod tests;
