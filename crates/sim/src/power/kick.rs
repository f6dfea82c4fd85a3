// SPDX-License-Identifier: GPL-2.0-only
//! Interprocessor interrupts (`resched_curr`, `smp_send_reschedule`).

use crate::power::Power;
use crate::world::state::Phase;

impl Power<'_> {
    /// Tells `cpu`, by IPI from `from`, that it should reschedule.
    #[inline(always)]
    pub fn kick(&mut self, from: usize, cpu: usize) {
        if cpu == from {
            return;
        }
        let at = if self.cpus[cpu].phase == Phase::Idle && self.idle_polling(cpu) {
            self.reached(from)
        } else {
            let ipi_send = self.costs(from).ipi_send;
            self.charge(from, ipi_send);
            self.stats.ipis += 1;
            self.reached(from) + self.ns(cpu, self.costs(cpu).ipi_receive)
        };
        let c = &mut self.cpus[cpu];
        if at < c.ipi_at {
            c.ipi_at = at;
            if !c.phase.holds_interrupts() {
                self.queue.advance(cpu, at);
            }
        }
    }

    /// Tells an idle CPU to balance for all idle CPUs.
    pub fn kick_nohz(&mut self, from: usize, cpu: usize) {
        self.cpus[cpu].balance_kicked = true;
        self.kick(from, cpu);
    }
}
