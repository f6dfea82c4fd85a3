// SPDX-License-Identifier: GPL-2.0-only
//! What the simulator charges by itself for what a recording shows. The time that a task was seen
//! on a CPU includes it, so that it is taken off the task's work.

use alight_machine::{Costs, Machine};

use crate::work::{Speeds, Work, of_kernel};

/// The costs of a machine, and what its caches hold of whom.
#[derive(Debug)]
pub(crate) struct Charges<'a> {
    machine: &'a Machine,
    /// Bytes that were brought into the cache of each CPU (`Sim::refill`).
    fills: Vec<u64>,
}

/// What a task has in caches.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cached {
    /// The CPU that it was on last.
    cpu: Option<usize>,
    /// What that CPU had brought in when the task left.
    mark: u64,
}

impl<'a> Charges<'a> {
    pub fn new(machine: &'a Machine) -> Self {
        Charges {
            machine,
            fills: vec![0; machine.cpus.len()],
        }
    }

    fn costs(&self, cpu: usize) -> &Costs {
        &self.machine.core_types[self.machine.cpus[cpu].core_type].costs
    }

    fn work(&self, cpu: usize, ns: u64) -> Work {
        of_kernel(ns, self.machine.cpus[cpu].capacity_orig)
    }

    /// A turn on a CPU, from the switch to the task until the switch to the next one.
    pub fn turn(&self, cpu: usize, woken: bool) -> Work {
        let costs = self.costs(cpu);
        let block = if woken { costs.block_ns } else { 0 };
        self.work(cpu, u64::from(costs.switch_ns) + u64::from(block))
    }

    /// A wakeup that the task on `cpu` carries out, or an interrupt in its time.
    pub fn wakeup(&self, cpu: usize, target: Option<usize>) -> Work {
        let costs = self.costs(cpu);
        let other = target.is_some_and(|target| target != cpu);
        let ipi = if other { costs.ipi_send_ns } else { 0 };
        let ns = [
            costs.wakeup_ns,
            costs.select_ns,
            costs.lock_ns,
            costs.lock_hold_ns,
            ipi,
        ];
        self.work(cpu, ns.iter().map(|&ns| u64::from(ns)).sum())
    }

    /// The interrupt of a timer.
    pub fn timer(&self, cpu: usize) -> Work {
        self.work(cpu, self.costs(cpu).timer_ns.into())
    }

    /// The ticks of so many ns.
    pub fn ticks(&self, cpu: usize, ns: u64) -> Work {
        let each = self.work(cpu, self.costs(cpu).tick_ns.into());
        let ticks = u128::from(ns) * u128::from(self.machine.hz);
        (u128::from(each) * ticks / 1_000_000_000) as Work
    }

    /// A fork of a thread, or of a process.
    pub fn fork(&self, cpu: usize, process: bool) -> Work {
        let costs = self.costs(cpu);
        let mm = if process { costs.fork_mm_ns } else { 0 };
        self.work(cpu, u64::from(costs.fork_ns) + u64::from(mm))
    }

    /// `sched_yield()`.
    pub fn yields(&self, cpu: usize) -> Work {
        self.work(cpu, self.costs(cpu).yield_ns.into())
    }

    /// A task comes to a CPU: its working set is brought there (`Sim::refill`).
    pub fn comes(&mut self, cpu: usize, cached: Cached, speeds: &Speeds) -> Work {
        let memory = &self.machine.memory;
        let l2 = self.machine.core_types[self.machine.cpus[cpu].core_type].l2_bytes;
        let set = memory.working_set_bytes.min(l2);
        let (bytes, line) = match cached.cpu {
            None => (set, memory.dram_line_ns),
            Some(same) if same == cpu => {
                let others = self.fills[cpu].saturating_sub(cached.mark);
                (others.saturating_sub(l2 - set).min(set), memory.llc_line_ns)
            }
            Some(other) => (set, self.line_ns(other, cpu)),
        };
        self.fills[cpu] += bytes;
        let stall = bytes / 64 * u64::from(line) / u64::from(memory.refill_mlp.max(1));
        speeds.in_ns(cpu, stall)
    }

    /// A task leaves a CPU.
    pub fn leaves(&self, cpu: usize) -> Cached {
        Cached {
            cpu: Some(cpu),
            mark: self.fills[cpu],
        }
    }

    fn line_ns(&self, from: usize, to: usize) -> u32 {
        let (a, b) = (&self.machine.cpus[from], &self.machine.cpus[to]);
        let memory = &self.machine.memory;
        if a.llc == b.llc {
            memory.llc_line_ns
        } else if a.node == b.node {
            memory.cross_llc_line_ns
        } else {
            memory.cross_node_line_ns
        }
    }
}
