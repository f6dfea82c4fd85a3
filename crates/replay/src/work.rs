// SPDX-License-Identifier: GPL-2.0-only
//! Work that CPUs got done: the time that they executed tasks, by their speed.
//!
//! The speed of a CPU is that at its top frequency, less where its clock is below the top and less where other
//! threads of its core execute. The simulator turns work into time by the same rules
//! (`crates/sim/src/power/smt.rs`, `cpufreq.rs`), so that a replay on the same machine takes as long.
//!
//! [`Work`] counts ns of a CPU of capacity 1, in which the simulator counts, too: what a CPU gets
//! done in a ns is a whole number.

use alight_machine::{Machine, Opp};

/// An amount of work, in ns of a CPU of capacity 1.
pub(crate) type Work = u64;

/// Capacity of the biggest CPU of a machine.
const BIGGEST: u64 = 1024;
/// Two CPUs of one processor take turns at it.
const TURNS_PERCENT: u64 = 50;

/// Whole ns of the biggest CPU.
pub(crate) fn to_ns(work: Work) -> u64 {
    work / BIGGEST
}

/// Work of so many ns of kernel work at the top frequency of a CPU of this speed.
pub(crate) fn of_kernel(ns: u64, speed: u32) -> Work {
    ns * u64::from(speed)
}

/// What all CPUs have got done, and at which speed they go on.
#[derive(Debug)]
pub(crate) struct Speeds<'a> {
    machine: &'a Machine,
    cpus: Vec<Cpu>,
    cores: Vec<Core>,
}

#[derive(Debug, Clone)]
struct Cpu {
    core: usize,
    /// What it can do at its clock, if no other thread of its core executes.
    speed: u64,
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

impl<'a> Speeds<'a> {
    /// All CPUs are idle, at their top frequency, from `now` on.
    pub fn new(machine: &'a Machine, now: u64) -> Self {
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
            cpus.push(Cpu {
                core,
                speed: cpu.speed().into(),
                executes: false,
                done: 0,
                since: now,
                rate: 0,
            });
        }
        let mut speeds = Speeds {
            machine,
            cpus,
            cores,
        };
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

    /// Time that this work takes on `cpu` at its present speed, ns, as the simulator rounds it
    /// (`Sim::ns`).
    pub fn takes_ns(&self, cpu: usize, work: Work) -> u64 {
        let ns_per_unit = (1u64 << 32).div_ceil(self.cpus[cpu].rate.max(1));
        ((u128::from(work) * u128::from(ns_per_unit)) >> 32) as u64
    }

    /// Whether the CPU has more than one clock.
    pub fn has_clocks(&self, cpu: usize) -> bool {
        self.opps(cpu).len() > 1
    }

    /// Whether the CPU executes a task.
    pub fn executes(&self, cpu: usize) -> bool {
        self.cpus[cpu].executes
    }

    /// The CPUs whose speed depends on whether `cpu` executes.
    pub fn sharers(&self, cpu: usize) -> &[usize] {
        let core = &self.cores[self.cpus[cpu].core];
        match core.percent {
            100 => &[],
            _ => &core.threads,
        }
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
        let opps = self.opps(cpu);
        let known = opps.iter().find(|opp| opp.khz == khz);
        let this = &self.machine.cpus[cpu];
        let at_top = u64::from(this.speed());
        self.cpus[cpu].speed = match (known, opps.last()) {
            (Some(opp), _) => this.speed_at(opp.capacity).into(),
            (None, Some(top)) => at_top * u64::from(khz) / u64::from(top.khz.max(1)),
            (None, None) => at_top,
        };
        self.set_rate(cpu);
    }

    fn opps(&self, cpu: usize) -> &'a [Opp] {
        &self.machine.freq_domains[self.machine.cpus[cpu].freq_domain].opps
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
        let speed = cpu.speed.max(1);
        cpu.rate = match (core.percent, core.executing) {
            (100, _) | (_, 0 | 1) => speed,
            (percent, threads) => (speed * percent * 2 / (100 * threads)).max(1),
        };
    }
}

#[cfg(test)]
mod tests;
