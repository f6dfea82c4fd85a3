// SPDX-License-Identifier: GPL-2.0-only
//! Time in interrupts, if the kernel accounts it separately from that of tasks
//! (`CONFIG_IRQ_TIME_ACCOUNTING`; [`alight_machine::Machine::irq_time_accounting`]).
//!
//! A runqueue then has two clocks. One is the wall clock (`rq->clock`). The other stands still
//! while the CPU handles interrupts, timers, ticks and their softirqs (`rq->clock_task`,
//! `update_rq_clock_task`). Tasks are charged and load is tracked by the second clock, so
//! [`alight_policy::Cpu::clock`] holds it. The time that it stood still is averaged (`avg_irq` from
//! 4.19 on; before, as time of real-time tasks). It reduces the capacity for fair tasks and adds to
//! the demand for frequency.
//!
//! The handlers' work is charged ahead of the clock ([`crate::world::state::Cpu::steal`]). As in
//! the kernel, no update takes more interrupt time than has passed since the last update.
//!
//! Not modelled: time that a hypervisor takes (`steal_time`), which the kernel treats alike.

use crate::kernel::RtSignal;
use crate::power::Power;
use alight_policy::abi::Pelt;
use alight_policy::{pelt, rq};

/// Time in interrupts in a run.
#[derive(Debug)]
pub(crate) struct IrqTime {
    /// It is accounted separately; else nothing here is used.
    pub used: bool,
    cpus: Box<[CpuIrqTime]>,
}

/// Time in interrupts of a CPU, ns.
#[derive(Debug, Clone, Copy, Default)]
struct CpuIrqTime {
    /// Total time that the task clock stood still, its lag behind the wall clock (`prev_irq_time`).
    stood: u64,
    /// Time that it will stand still beyond now.
    ahead: u64,
    /// `rq->avg_irq`.
    avg: Pelt,
}

impl IrqTime {
    pub fn new(used: bool, cpus: usize) -> Self {
        let nr = if used { cpus } else { 0 };
        IrqTime {
            used,
            cpus: vec![CpuIrqTime::default(); nr].into(),
        }
    }
}

impl Power<'_> {
    /// Wall time of the last clock update of the queue of `cpu` (`rq_clock`).
    #[inline]
    pub fn rq_time(&self, cpu: usize) -> u64 {
        let clock = self.core.cpus[cpu].clock;
        match self.irq_time.used {
            true => clock + self.irq_time.cpus[cpu].stood,
            false => clock,
        }
    }

    /// The task clock of `cpu`, whose clocks must be up to date (`rq_clock_task`).
    #[inline]
    pub fn clock_task(&self, cpu: usize) -> u64 {
        debug_assert_eq!(self.rq_time(cpu), self.now, "CPU {cpu}");
        self.core.cpus[cpu].clock
    }

    /// The task clock of `cpu` if it were updated now.
    pub fn clock_task_now(&self, cpu: usize) -> u64 {
        let passed = self.now - self.rq_time(cpu);
        self.core.cpus[cpu].clock + passed - self.stands(cpu, passed)
    }

    /// Updates the clocks of the queue of `cpu`. Returns the time that the task clock stood still,
    /// ns.
    pub fn irq_clock(&mut self, cpu: usize) -> u64 {
        let stands = self.stands(cpu, self.now - self.rq_time(cpu));
        let irq = &mut self.irq_time.cpus[cpu];
        irq.ahead -= stands;
        irq.stood += stands;
        let clock = self.world.now - irq.stood;
        rq::clock(&mut self.world.core.cpus[cpu], clock);
        stands
    }

    /// The part of the `passed` ns since the last update that the task clock stood still, ns.
    fn stands(&self, cpu: usize, passed: u64) -> u64 {
        match self.irq_time.used {
            true => self.irq_time.cpus[cpu].ahead.min(passed),
            false => 0,
        }
    }

    /// Books `ns` of interrupt time on `cpu`.
    #[cold]
    pub fn spent_in_irq(&mut self, cpu: usize, ns: u64) {
        self.irq_time.cpus[cpu].ahead += ns;
    }

    /// Updates `avg_irq`; `ns`: interrupt time since the last update (`update_irq_load_avg`). True
    /// if it may have changed.
    pub fn irq_signal(&mut self, cpu: usize, ns: u64) -> bool {
        if self.kernel.rt.signal != RtSignal::Pelt {
            return false;
        }
        let now = self.rq_time(cpu);
        let view = &mut self.world.core.cpus[cpu];
        let avg = &mut self.irq_time.cpus[cpu].avg;
        let scaled = (ns * u64::from(view.freq_scale)) >> 10;
        let scaled = (scaled * u64::from(view.capacity_orig)) >> 10;
        let idle = pelt::accumulate(avg, now - scaled, 0, 0, 0);
        let busy = pelt::accumulate(avg, now, 1, 1, 1);
        if idle || busy {
            pelt::average(avg, 1);
            view.irq_util = avg.util_avg as u16;
        }
        idle || busy
    }
}

#[cfg(test)]
mod tests;
