// SPDX-License-Identifier: GPL-2.0-only
//! Time in interrupts, where the kernel counts it apart from that of tasks
//! (`CONFIG_IRQ_TIME_ACCOUNTING`; [`alight_machine::Machine::irq_time_accounting`]).
//!
//! A queue has two clocks then: that of the wall, and one that stands while its CPU
//! handles interrupts, timers, ticks and what follows them as softirq (`rq->clock_task`,
//! `update_rq_clock_task`). Tasks are charged by the second and load is tracked by it,
//! so it is what [`alight_policy::Cpu::clock`] holds. Time that it stood is averaged
//! (`avg_irq`, from 4.19 on; before as time of real-time tasks), and taken off the
//! capacity for fair tasks and added to the demand for frequency.
//!
//! The handlers' work is charged ahead of the clock ([`crate::world::state::Cpu::steal`]): as in the
//! kernel, of two looks at the clock none takes more than the time between them.
//!
//! Not modelled: time that a hypervisor takes (`steal_time`), which goes the same way.

use crate::kernel::RtSignal;
use crate::power::Power;
use alight_policy::abi::Pelt;
use alight_policy::{pelt, rq};

/// Time in interrupts in a run.
#[derive(Debug)]
pub(crate) struct IrqTime {
    /// It is counted apart: else nothing here is looked at.
    pub used: bool,
    cpus: Box<[CpuIrqTime]>,
}

/// That of a CPU, ns.
#[derive(Debug, Clone, Copy, Default)]
struct CpuIrqTime {
    /// What the clock of tasks stood for in all: it lies so far behind the wall's (`prev_irq_time`).
    stood: u64,
    /// What it will stand for beyond.
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
    /// When the clock of the queue of `cpu` was last read, by the wall (`rq_clock`).
    #[inline]
    pub fn rq_time(&self, cpu: usize) -> u64 {
        let clock = self.core.cpus[cpu].clock;
        match self.irq_time.used {
            true => clock + self.irq_time.cpus[cpu].stood,
            false => clock,
        }
    }

    /// The clock of the tasks of `cpu`, which is current (`rq_clock_task`).
    #[inline]
    pub fn clock_task(&self, cpu: usize) -> u64 {
        debug_assert_eq!(self.rq_time(cpu), self.now, "CPU {cpu}");
        self.core.cpus[cpu].clock
    }

    /// Where that clock would be if it were current.
    pub fn clock_task_now(&self, cpu: usize) -> u64 {
        let passed = self.now - self.rq_time(cpu);
        self.core.cpus[cpu].clock + passed - self.stands(cpu, passed)
    }

    /// Brings the clocks of the queue of `cpu` to now; how long that of tasks stood meanwhile, ns.
    pub fn irq_clock(&mut self, cpu: usize) -> u64 {
        let stands = self.stands(cpu, self.now - self.rq_time(cpu));
        let irq = &mut self.irq_time.cpus[cpu];
        irq.ahead -= stands;
        irq.stood += stands;
        let clock = self.world.now - irq.stood;
        rq::clock(&mut self.world.core.cpus[cpu], clock);
        stands
    }

    /// How much of the `passed` ns since it was read the clock of tasks stood.
    fn stands(&self, cpu: usize, passed: u64) -> u64 {
        match self.irq_time.used {
            true => self.irq_time.cpus[cpu].ahead.min(passed),
            false => 0,
        }
    }

    /// Interrupts have taken `ns` on `cpu`.
    #[cold]
    pub fn spent_in_irq(&mut self, cpu: usize, ns: u64) {
        self.irq_time.cpus[cpu].ahead += ns;
    }

    /// Brings `avg_irq` up to date; `ns`: spent in interrupts since the last time
    /// (`update_irq_load_avg`). True if it may have changed.
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
