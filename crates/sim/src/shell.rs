// SPDX-License-Identifier: GPL-2.0-only
//! What a shell hands down to the workloads that it starts: its `wakee_flips`, how often it woke
//! another task than the time before.
//!
//! A login leaves 6 to 52 behind. What the shell then wakes halves that from second to second, and adds
//! to it: whoever reads what it prints, and those that interrupts wake while it runs, since they count as
//! woken by the task that is interrupted.

use crate::rng::{Purpose, below};

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
mod tests {
    use super::*;

    #[test]
    fn runs_begin_with_what_is_stated_or_as_often_with_each_tenth() {
        assert_eq!(wakee_flips(Some(33), 1), 33);
        let often = |flips| {
            let runs = (0..10_000).filter(|seed| wakee_flips(None, *seed) == flips);
            (runs.count() + 500) / 1000
        };
        let expected = [
            (0, 1),
            (1, 2),
            (2, 2),
            (3, 1),
            (4, 1),
            (5, 1),
            (7, 1),
            (12, 1),
            (6, 0),
        ];
        for (flips, tenths) in expected {
            assert_eq!(often(flips), tenths, "{flips}");
        }
    }
}
