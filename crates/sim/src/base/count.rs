// SPDX-License-Identifier: GPL-2.0-only
//! A number that only reports read.

use std::ops::AddAssign;

/// A count of a run. Any part of the simulator may add to it; only the room `observe` reads it (a test holds
/// that), so that no decision can depend on what is counted, or on when counts start anew.
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
    /// For a report.
    pub fn reported(self) -> u64 {
        self.0
    }

    /// For a test.
    #[cfg(test)]
    pub fn seen(self) -> u64 {
        self.0
    }
}
