// SPDX-License-Identifier: GPL-2.0-only
//! Work that CPUs got done: the time that they executed tasks, by their speed.
//!
//! The speed of a CPU is its capacity, less where its clock is below the top and less where other
//! threads of its core execute. The simulator turns work into time by the same rules
//! (`crates/sim/src/smt.rs`, `cpufreq.rs`), so that a replay on the same machine takes as long.
//!
//! [`Work`] counts 2^-20 ns of the machine's biggest CPU at its top frequency.

use alight_machine::Machine;

/// An amount of work, in 2^-20 ns of the biggest CPU.
pub(crate) type Work = u64;

/// Work of a ns at capacity 1.
const PER_CAPACITY: u64 = 1 << 10;
/// Two CPUs of one processor take turns at it.
const TURNS_PERCENT: u64 = 50;

/// Whole ns of the biggest CPU.
pub(crate) fn to_ns(work: Work) -> u64 {
    work >> 20
}

/// Work of so many ns of kernel work at the top frequency of a CPU of this capacity.
pub(crate) fn of_kernel(ns: u64, capacity: u32) -> Work {
    ns * u64::from(capacity) * PER_CAPACITY
}

/// What all CPUs have got done, and at which speed they go on.
#[derive(Debug)]
pub(crate) struct Speeds {
    cpus: Vec<Cpu>,
    cores: Vec<Core>,
}

#[derive(Debug, Clone)]
struct Cpu {
    core: usize,
    capacity: u64,
    top_khz: u64,
    khz: u64,
    has_clocks: bool,
    executes: bool,
    done: Work,
    since: u64,
    /// Work in a ns while it executes.
    rate: u64,
}

#[derive(Debug, Clone, Default)]
struct Core {
    threads: Vec<usize>,
    percent: u64,
    executing: u64,
}

impl Speeds {
    /// All CPUs are idle, at their top frequency, from `now` on.
    pub fn new(machine: &Machine, now: u64) -> Self {
        let shared = |cpu: &alight_machine::Cpu| match machine.one_processor {
            true => (0, TURNS_PERCENT),
            false => {
                let percent = machine.core_types[cpu.core_type].smt_percent;
                (cpu.core, u64::from(percent))
            }
        };
        let nr_cores = machine.cpus.iter().map(|cpu| shared(cpu).0 + 1).max();
        let mut cores = vec![Core::default(); nr_cores.unwrap_or(0)];
        let mut cpus = Vec::with_capacity(machine.cpus.len());
        for (number, cpu) in machine.cpus.iter().enumerate() {
            let (core, percent) = shared(cpu);
            cores[core].threads.push(number);
            cores[core].percent = percent;
            let opps = &machine.freq_domains[cpu.freq_domain].opps;
            let top_khz = opps.last().map_or(1, |opp| u64::from(opp.khz).max(1));
            cpus.push(Cpu {
                core,
                capacity: cpu.capacity_orig.into(),
                top_khz,
                khz: top_khz,
                has_clocks: opps.len() > 1,
                executes: false,
                done: 0,
                since: now,
                rate: 0,
            });
        }
        let mut speeds = Speeds { cpus, cores };
        for cpu in 0..speeds.cpus.len() {
            speeds.set_rate(cpu);
        }
        speeds
    }

    /// The work that `cpu` has got done until `now`.
    pub fn done(&mut self, cpu: usize, now: u64) -> Work {
        self.advance(cpu, now);
        self.cpus[cpu].done
    }

    /// The work that `cpu` gets done in so many ns at its present speed.
    pub fn in_ns(&self, cpu: usize, ns: u64) -> Work {
        self.cpus[cpu].rate.saturating_mul(ns)
    }

    /// Whether the CPU has more than one clock.
    pub fn has_clocks(&self, cpu: usize) -> bool {
        self.cpus[cpu].has_clocks
    }

    /// From `now` on the CPU executes a task, or none.
    pub fn set_executes(&mut self, cpu: usize, executes: bool, now: u64) {
        if self.cpus[cpu].executes == executes {
            return;
        }
        self.advance_core(cpu, now);
        self.cpus[cpu].executes = executes;
        let core = self.cpus[cpu].core;
        match executes {
            true => self.cores[core].executing += 1,
            false => self.cores[core].executing -= 1,
        }
        self.set_rates(core);
    }

    /// From `now` on the clock of the CPU is another.
    pub fn set_khz(&mut self, cpu: usize, khz: u32, now: u64) {
        self.advance(cpu, now);
        self.cpus[cpu].khz = khz.into();
        self.set_rate(cpu);
    }

    fn advance(&mut self, cpu: usize, now: u64) {
        let cpu = &mut self.cpus[cpu];
        if cpu.executes {
            let ns = now.saturating_sub(cpu.since);
            cpu.done = cpu.done.saturating_add(cpu.rate.saturating_mul(ns));
        }
        cpu.since = now;
    }

    fn advance_core(&mut self, cpu: usize, now: u64) {
        let core = self.cpus[cpu].core;
        for thread in 0..self.cores[core].threads.len() {
            self.advance(self.cores[core].threads[thread], now);
        }
    }

    fn set_rates(&mut self, core: usize) {
        for thread in 0..self.cores[core].threads.len() {
            self.set_rate(self.cores[core].threads[thread]);
        }
    }

    fn set_rate(&mut self, cpu: usize) {
        let core = &self.cores[self.cpus[cpu].core];
        let cpu = &mut self.cpus[cpu];
        let speed = cpu.capacity * PER_CAPACITY * cpu.khz / cpu.top_khz;
        cpu.rate = match (core.percent, core.executing) {
            (100, _) | (_, 0 | 1) => speed,
            (percent, threads) => speed * percent * 2 / (100 * threads),
        };
    }
}

#[cfg(test)]
mod tests;
