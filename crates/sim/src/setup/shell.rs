// SPDX-License-Identifier: GPL-2.0-only
//! What a shell hands down to the workloads that it starts: its `wakee_flips`, how often it woke
//! another task than the time before.
//!
//! A login leaves 6 to 52 behind. What the shell then wakes halves that from second to second, and adds
//! to it: whoever reads what it prints, and those that interrupts wake while it runs, since they count as
//! woken by the task that is interrupted.

use crate::base::rng::{Purpose, below};

/// What hackbench had where it first forked, which bash started again and again, from the eighth second
/// of each script on: the tenths' middles of 117 starts on Linux 6.1.192 and 7.2.13 (docs/workloads.md).
const MEASURED: [u32; 10] = [0, 1, 1, 2, 2, 3, 4, 5, 7, 12];

/// What the workloads' first tasks begin with, in the run of this seed.
pub(crate) fn wakee_flips(stated: Option<u32>, seed: u64) -> u32 {
    stated.unwrap_or_else(|| {
        let tenth = below(seed, 0, Purpose::Shell, MEASURED.len() as u64);
        MEASURED[tenth as usize]
    })
}

#[cfg(test)]
mod tests;
