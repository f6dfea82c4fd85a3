// SPDX-License-Identifier: GPL-2.0-only
//! Threads of a core slow each other while both execute tasks (SMT).
//!
//! Each then runs at the share of its speed that its core type states
//! ([`alight_machine::CoreType::smt_percent`]); of more than two, all together get done what two do.
//! The scheduler knows nothing of it: a CPU's capacity and the scale of utilization stay what they
//! are, and a slowed task looks busier. Work that is charged already keeps its length, and so does
//! the wait for memory, which is what the other thread makes use of.
//!
//! A thread that an interrupt finds idle executes from when it is out of its idle state.
//!
//! The CPUs of a guest that has one processor ([`alight_machine::Machine::one_processor`]) are threads of
//! one core, of which two get done what one does.

use crate::power::Power;
use crate::world::state::Phase;
use alight_machine::{Cpu, Machine};

/// The threads of all cores.
#[derive(Debug)]
pub(crate) struct Smt {
    /// Some slow each other: else nothing here is looked at.
    pub used: bool,
    /// Of each CPU, its core.
    core_of: Box<[u32]>,
    cores: Box<[Core]>,
    /// Of each CPU, whether it executes.
    executes: Box<[bool]>,
}

#[derive(Debug, Clone, Default)]
struct Core {
    threads: Vec<u32>,
    /// How many of them execute.
    executing: u32,
    /// Since when so many do.
    since: u64,
    percent: u32,
}

/// Two threads at half of their speed get done what one does: they take turns.
const TURNS_PERCENT: u32 = 50;

impl Core {
    /// Of `speed`, what each thread that executes has.
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
    /// The clock of `cpu` changes to `speed` units a ns, if no other thread of its core executes.
    pub fn set_speed(&mut self, cpu: usize, speed: u64) {
        self.cpus[cpu].speed = speed;
        self.share_core(cpu);
    }

    /// `cpu` executes from now on, if it does not yet.
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

    /// Counts the time that threads of all cores executed beside each other up to now.
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

    /// Brings the rate of `cpu` to what its core leaves it.
    #[inline]
    fn share_core(&mut self, cpu: usize) {
        let mut rate = self.cpus[cpu].speed;
        if self.smt.used && self.smt.executes[cpu] {
            rate = self.smt.cores[self.smt.core_of[cpu] as usize].share(rate);
        }
        self.set_rate(cpu, rate);
    }

    /// What is wrong with the count of threads that execute.
    pub fn broken_smt(&self) -> Option<String> {
        if !self.smt.used {
            return None;
        }
        let wrong = self.smt.cores.iter().position(|core| {
            let executes = |cpu: &&u32| self.smt.executes[**cpu as usize];
            let may = |&cpu: &u32| match self.cpus[cpu as usize].phase {
                Phase::Running => executes(&&cpu),
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
