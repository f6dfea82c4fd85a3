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

impl Cached {
    /// The CPU that the task was on last.
    pub fn cpu(&self) -> Option<usize> {
        self.cpu
    }
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
        of_kernel(ns, self.machine.cpus[cpu].speed())
    }

    /// How long a switch takes that begins now, ns. Half of it lies behind its event.
    pub fn switch_ns(&self, cpu: usize, speeds: &Speeds<'_>) -> u64 {
        speeds.takes_ns(cpu, self.work(cpu, self.costs(cpu).switch_ns.into()))
    }

    /// What a task that was woken does for its sleep.
    pub fn block(&self, cpu: usize) -> Work {
        self.work(cpu, self.costs(cpu).block_ns.into())
    }

    /// Its end: the half of the switch to the next task that lies before its event.
    pub fn turn_ends(&self, cpu: usize) -> Work {
        self.work(cpu, u64::from(self.costs(cpu).switch_ns) / 2)
    }

    /// The choice of a CPU for a task that is woken from `cpu`.
    pub fn selection(&self, cpu: usize) -> Work {
        self.work(cpu, self.costs(cpu).select_ns.into())
    }

    /// What a wakeup takes on `cpu` beside the choice. `by_list`: the target does the rest itself
    /// (`ttwu_queue_wakelist()`); `elsewhere`: the target is another CPU.
    pub fn wakeup(&self, cpu: usize, by_list: bool, elsewhere: bool) -> Work {
        let costs = self.costs(cpu);
        let ipi = if elsewhere { costs.ipi_send_ns } else { 0 };
        let own = match by_list {
            true => [costs.wakelist_ns, 0, 0],
            false => [costs.wakeup_ns, costs.lock_ns, costs.lock_hold_ns],
        };
        let ns: u64 = own.iter().chain([&ipi]).map(|&ns| u64::from(ns)).sum();
        self.work(cpu, ns)
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

    /// `sched_setattr()`.
    pub fn attributes(&self, cpu: usize) -> Work {
        self.work(cpu, self.costs(cpu).futex_ns.into())
    }

    /// `sched_yield()`.
    pub fn yields(&self, cpu: usize) -> Work {
        self.work(cpu, self.costs(cpu).yield_ns.into())
    }

    /// A task comes to a CPU: how long it waits for its working set, ns (`Sim::refill`).
    pub fn comes(&mut self, cpu: usize, cached: Cached) -> u64 {
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
        bytes / 64 * u64::from(line) / u64::from(memory.refill_mlp.max(1))
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
