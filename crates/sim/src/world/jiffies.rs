// SPDX-License-Identifier: GPL-2.0-only
//! The number of ticks (`jiffies`). All CPUs tick together, as without `skew_tick`.

use crate::world::World;

impl World<'_> {
    /// Ticks since the start of the run.
    #[inline]
    pub fn jiffies(&mut self) -> u64 {
        self.catch_up_ticks();
        self.jiffy
    }

    /// Time of the next tick strictly after now, ns.
    #[inline]
    pub fn next_tick(&mut self) -> u64 {
        self.catch_up_ticks();
        self.jiffy_end
    }

    /// Brings the number of ticks up to now.
    #[inline]
    fn catch_up_ticks(&mut self) {
        if self.now >= self.jiffy_end {
            let passed = (self.now - self.jiffy_end) / self.tunables.tick + 1;
            self.jiffy += passed;
            self.jiffy_end += passed * self.tunables.tick;
        }
    }
}
