// SPDX-License-Identifier: GPL-2.0-only
//! The instruments that tools measure with, and a spinlock for each CPU, which only schbench has.
//! Its other way of waiting, at desks, is in `desks`.
//!
//! Measuring takes no time and is no event: a run is the same with and without it.

mod desks;

use crate::base::timeline::NONE;
use crate::face::tally::Tally;
use crate::program::Programs;
use crate::program::effect::Effect;
use alight_workload::program::{Lateness, LatenessId, Observation, StampId, Workload};
use desks::Desk;

/// Interval at which a spinning task tests the lock, ns. The real tool tests all the time; here a
/// free lock is noticed late by half of this on average.
const SPIN_NS: u64 = 2_000;

/// All of the run's instruments.
#[derive(Debug, Clone, Default)]
pub(crate) struct Instruments {
    pub stamps: Vec<u64>,
    pub tallies: Vec<Tally>,
    pub desks: Vec<Desk>,
    pub lateness: Vec<Lateness>,
    /// The last sample of each rate, by its tally: value of the counter, and time, ns.
    rates: Vec<Option<(u64, u64)>>,
    /// The locks of all CPUs, for each workload; [`NONE`]: free.
    cpu_locks: Vec<u32>,
    nr_cpus: usize,
}

impl Instruments {
    /// Adds the instruments of a workload.
    pub fn add(&mut self, workload: &Workload, nr_cpus: usize) {
        let given = &workload.instruments;
        self.lateness.extend_from_slice(&workload.lateness);
        let grown = |now: usize, by: u32| now + by as usize;
        let (stamps, tallies) = (&mut self.stamps, &mut self.tallies);
        stamps.resize(grown(stamps.len(), given.stamps), 0);
        tallies.resize(grown(tallies.len(), given.tallies), Tally::default());
        self.rates.resize(tallies.len(), None);
        self.desks
            .resize(grown(self.desks.len(), given.desks), Desk::default());
        self.nr_cpus = nr_cpus;
        self.cpu_locks.resize(self.cpu_locks.len() + nr_cpus, NONE);
    }

    /// If `stamp` is late by now, the time for which that holds, us.
    fn late(&self, now: u64, stamp: StampId, lateness: LatenessId) -> Option<u32> {
        let Lateness { limit_ns, hold_us } = self.lateness[lateness as usize];
        let since = now.saturating_sub(self.stamps[stamp as usize]);
        (since > limit_ns).then_some(hold_us)
    }

    /// Makes room for as many callers as there are tasks: the loop does not allocate.
    pub fn reserve(&mut self, tasks: usize) {
        for desk in &mut self.desks {
            desk.reserve(tasks);
        }
    }
}

/// Microseconds of `gettimeofday` between two times, ns.
fn lapse_us(from: u64, to: u64) -> u64 {
    (to / 1000).saturating_sub(from / 1000)
}

impl Programs<'_> {
    pub fn observe(&mut self, task: usize, observation: Observation) {
        let now = self.now;
        let tools = &mut self.instruments;
        let since = |tools: &Instruments, stamp: u32| lapse_us(tools.stamps[stamp as usize], now);
        match observation {
            Observation::Stamp { stamp } => tools.stamps[stamp as usize] = now,
            Observation::StampTimer { stamp, slot } => {
                tools.stamps[stamp as usize] = self.balancer.tasks[task].timers[slot as usize];
            }
            Observation::Lapse { stamp, tally } => {
                let lapse = since(tools, stamp);
                tools.tallies[tally as usize].record(lapse);
            }
            Observation::LapseAboveZero { stamp, tally } => {
                let lapse = since(tools, stamp);
                if lapse != 0 {
                    tools.tallies[tally as usize].record(lapse);
                }
            }
            Observation::AddLapse { stamp, counter } => {
                self.counters[counter as usize] += since(tools, stamp);
            }
            Observation::TakeShare {
                counter,
                parts,
                tally,
            } => {
                let sum = std::mem::take(&mut self.counters[counter as usize]);
                tools.tallies[tally as usize].record(sum / u64::from(parts));
            }
            Observation::Rate { counter, tally } => {
                let count = self.counters[counter as usize];
                let last = tools.rates[tally as usize].replace((count, now));
                let rate = last.map_or(0, |(before, at)| {
                    count.saturating_sub(before) * 1_000_000 / lapse_us(at, now).max(1)
                });
                tools.tallies[tally as usize].record(rate);
            }
            Observation::CountLate {
                stamp,
                lateness,
                counter,
            } => {
                let late = tools.late(now, stamp, lateness).is_some();
                self.counters[counter as usize] += u64::from(late);
            }
            Observation::HoldIfLate {
                stamp,
                lateness,
                until,
            } => {
                if let Some(hold_us) = tools.late(now, stamp, lateness) {
                    tools.stamps[until as usize] = now + u64::from(hold_us) * 1000;
                }
            }
            Observation::Clear { tally } => tools.tallies[tally as usize].clear(),
        }
    }

    /// The time that the current task of `cpu` spins before it tests the CPU's lock again, ns; 0 if
    /// the lock is free.
    pub fn spin_ns(&self, cpu: usize, task: usize) -> u64 {
        match self.instruments.cpu_locks[self.cpu_lock(task, cpu)] {
            NONE => 0,
            _ => SPIN_NS,
        }
    }

    pub fn lock_cpu(&mut self, cpu: usize, task: usize) -> Effect {
        let lock = self.cpu_lock(task, cpu);
        let holder = &mut self.instruments.cpu_locks[lock];
        if *holder != NONE {
            return Effect::Jump(self.tasks[task].pc);
        }
        *holder = task as u32;
        self.tasks[task].register = cpu as u32;
        Effect::Done
    }

    /// Unlocks the lock that the task took, maybe on another CPU. A lock that it does not hold is
    /// not changed.
    pub fn unlock_cpu(&mut self, task: usize) -> Effect {
        let lock = self.cpu_lock(task, self.tasks[task].register as usize);
        let holder = &mut self.instruments.cpu_locks[lock];
        if *holder == task as u32 {
            *holder = NONE;
        }
        Effect::Done
    }

    fn cpu_lock(&self, task: usize, cpu: usize) -> usize {
        self.tasks[task].workload as usize * self.instruments.nr_cpus + cpu
    }
}

#[cfg(test)]
mod tests;
