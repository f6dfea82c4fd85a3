// SPDX-License-Identifier: GPL-2.0-only
//! The clocks of a queue if interrupt time is counted separately (`update_rq_clock_task`).

use crate::queues::Queues;

impl Queues<'_> {
    /// Brings the clocks of the queue of `cpu` to now.
    #[cold]
    pub fn rq_clock_beside_irq(&mut self, cpu: usize) {
        let stood = self.irq_clock(cpu);
        if stood != 0 {
            self.rt_window(cpu, stood);
            self.irq_signal(cpu, stood);
        }
    }
}
