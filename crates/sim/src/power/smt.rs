// SPDX-License-Identifier: GPL-2.0-only
//! SMT: threads of a core slow each other while both execute tasks.
//!
//! Each then runs at the share of its speed that its core type states
//! ([`alight_machine::CoreType::smt_percent`]). More than two threads together do the work of two.
//! The scheduler does not see it: a CPU's capacity and the scale of utilization stay the same, and
//! a slowed task looks busier. Work that is already charged keeps its duration. So does the wait
//! for memory, since the other thread uses that time.
//!
//! A thread that an interrupt finds idle executes from the end of its idle exit.
//!
//! The CPUs of a guest with one processor ([`alight_machine::Machine::one_processor`]) are threads
//! of one core; any number of them does the work of one.

use crate::power::Power;
use crate::world::state::Phase;
use alight_machine::{Cpu, Machine};

/// The threads of all cores.
#[derive(Debug)]
pub(crate) struct Smt {
    /// Some threads slow each other; else nothing here is used.
    pub used: bool,
    /// The core of each CPU.
    core_of: Box<[u32]>,
    cores: Box<[Core]>,
    /// For each CPU: does it execute?
    executes: Box<[bool]>,
}

#[derive(Debug, Clone, Default)]
struct Core {
    threads: Vec<u32>,
    /// Number of threads that execute.
    executing: u32,
    /// Time of the last change of `executing`.
    since: u64,
    percent: u32,
}

/// Two threads at half of their speed do the work of one: they take turns.
const TURNS_PERCENT: u32 = 50;

impl Core {
    /// The rate of each executing thread at a core's `speed`.
    fn share(&self, speed: u64) -> u64 {
        match (self.percent, self.executing) {
            (100, _) | (_, 0 | 1) => speed,
            (percent, threads) => {
                let of_two = speed * u64::from(percent) * 2;
                (of_two / (100 * u64::from(threads))).max(1)
            }
        }
    }
}

impl Smt {
    pub fn new(machine: &Machine) -> Self {
        let shared = |cpu: &Cpu| match machine.one_processor {
            true => (0, TURNS_PERCENT),
            false => (cpu.core, machine.core_types[cpu.core_type].smt_percent),
        };
        let nr_cores = machine.cpus.iter().map(|cpu| shared(cpu).0 + 1).max();
        let mut cores = vec![Core::default(); nr_cores.unwrap_or(0)];
        let mut core_of = Vec::with_capacity(machine.cpus.len());
        for (number, cpu) in machine.cpus.iter().enumerate() {
            let (core, percent) = shared(cpu);
            cores[core].threads.push(number as u32);
            cores[core].percent = percent;
            core_of.push(core as u32);
        }
        Smt {
            used: cores.iter().any(|core| core.percent < 100),
            core_of: core_of.into(),
            cores: cores.into(),
            executes: vec![false; machine.cpus.len()].into(),
        }
    }
}

impl Power<'_> {
    /// Sets the rate of `cpu` while no other thread of its core executes, units per ns.
    pub fn set_speed(&mut self, cpu: usize, speed: u64) {
        self.cpus[cpu].speed = speed;
        self.share_core(cpu);
    }

    /// `cpu` executes from now on.
    #[inline]
    pub fn thread_executes(&mut self, cpu: usize) {
        if self.smt.used && !std::mem::replace(&mut self.smt.executes[cpu], true) {
            self.trace_executes(cpu);
            self.core_changes(cpu, 1);
        }
    }

    /// `cpu` executes no longer.
    #[inline]
    pub fn thread_rests(&mut self, cpu: usize) {
        if self.smt.used && std::mem::replace(&mut self.smt.executes[cpu], false) {
            self.core_changes(cpu, -1);
        }
    }

    fn core_changes(&mut self, cpu: usize, by: i32) {
        let core = self.smt.core_of[cpu] as usize;
        self.count_beside(core);
        let executing = self.smt.cores[core].executing.checked_add_signed(by);
        self.smt.cores[core].executing = executing.expect("a thread that executes began to");
        self.share_core(cpu);
        for at in 0..self.smt.cores[core].threads.len() {
            let sibling = self.smt.cores[core].threads[at] as usize;
            if sibling != cpu && self.smt.executes[sibling] {
                self.progress(sibling);
                self.share_core(sibling);
                self.arm(sibling);
            }
        }
    }

    /// Brings `executed_ns` and `beside_ns` of all cores up to now.
    pub fn flush_beside(&mut self) {
        for core in 0..self.smt.cores.len() {
            self.count_beside(core);
        }
    }

    fn count_beside(&mut self, core: usize) {
        let core = &mut self.smt.cores[core];
        let ns = u64::from(core.executing) * (self.world.now - core.since);
        core.since = self.world.now;
        self.world.stats.executed_ns += ns;
        if core.executing > 1 {
            self.stats.beside_ns += ns;
        }
    }

    /// Sets the rate of `cpu` by its share of the core.
    #[inline]
    fn share_core(&mut self, cpu: usize) {
        let mut rate = self.cpus[cpu].speed;
        if self.smt.used && self.smt.executes[cpu] {
            rate = self.smt.cores[self.smt.core_of[cpu] as usize].share(rate);
        }
        self.set_rate(cpu, rate);
    }

    /// An inconsistency in the count of executing threads, if there is one.
    pub fn broken_smt(&self) -> Option<String> {
        if !self.smt.used {
            return None;
        }
        let wrong = self.smt.cores.iter().position(|core| {
            let executes = |cpu: &&u32| self.smt.executes[**cpu as usize];
            let may = |&cpu: &u32| match self.cpus[cpu as usize].phase {
                Phase::Running | Phase::Searching => executes(&&cpu),
                Phase::Waking => true,
                Phase::Idle => !executes(&&cpu),
            };
            core.threads.iter().filter(executes).count() as u32 != core.executing
                || !core.threads.iter().all(may)
        })?;
        let executing = self.smt.cores[wrong].executing;
        Some(format!(
            "core {wrong} counts {executing} threads that execute"
        ))
    }
}

#[cfg(test)]
mod tests;
