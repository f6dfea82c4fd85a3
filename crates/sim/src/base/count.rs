// SPDX-License-Identifier: GPL-2.0-only
//! Counters that only reports read.

use std::ops::AddAssign;

/// A counter of a run. Any part of the simulator may add to it. Only the room `observe` reads it,
/// which `tests/arrows.rs` checks: so no decision can depend on what is counted, or on
/// `--count-from`.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Count(u64);

impl AddAssign<u64> for Count {
    #[inline(always)]
    fn add_assign(&mut self, more: u64) {
        self.0 += more;
    }
}

impl AddAssign<Count> for Count {
    #[inline(always)]
    fn add_assign(&mut self, more: Count) {
        self.0 += more.0;
    }
}

impl Count {
    /// The count, for a report.
    pub fn reported(self) -> u64 {
        self.0
    }

    /// The count, for a test.
    #[cfg(test)]
    pub fn seen(self) -> u64 {
        self.0
    }
}
