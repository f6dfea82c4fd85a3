// SPDX-License-Identifier: GPL-2.0-only
//! The pair of load signals of 2013 (`runnable_avg_sum`, `runnable_avg_period`), which queues keep
//! for the feature pack.

use crate::queues::Queues;
use alight_policy::rq;

impl Queues<'_> {
    /// Brings the pair of a queue to now, if it is kept. Called before the number of runnable
    /// tasks changes (`update_rq_runnable_avg`, `idle_enter_fair`, `idle_exit_fair`).
    #[inline]
    pub fn pack_update_signals(&mut self, cpu: usize) {
        if self.signals_2013 {
            self.rq_clock(cpu);
            let world = self.world();
            rq::update13(&world.core.params, &mut world.core.cpus[cpu]);
        }
    }
}
