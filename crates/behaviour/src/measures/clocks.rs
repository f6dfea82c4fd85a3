// SPDX-License-Identifier: GPL-2.0-only
//! At which clocks tasks ran.

use std::collections::{BTreeMap, BTreeSet};

use alight_machine::Machine;

use super::{Gathered, IDLE, Kept, Window};

impl Gathered {
    /// The time that these tasks ran at each clock, ns by MHz, and of how many slices it is made.
    /// A clock is that of the nearest operating point of the machine. What ran before the first
    /// change of a CPU's clock is left out: that clock is not known.
    pub fn clocks_of(
        &self,
        tasks: &BTreeSet<u32>,
        window: Window,
        machine: &Machine,
    ) -> (BTreeMap<u32, u64>, u64) {
        let mut cpus = vec![Cpu::default(); machine.cpus.len()];
        let (mut by_mhz, mut slices) = (BTreeMap::new(), 0);
        for (time, cpu, event) in &self.events {
            let Some(state) = cpus.get_mut(*cpu as usize) else {
                continue;
            };
            let time = (*time).clamp(window.from, window.to);
            match *event {
                Kept::Switch { next, .. } => {
                    slices += u64::from(state.runs);
                    state.book(time, &mut by_mhz);
                    state.runs = next.pid != IDLE.pid && tasks.contains(&next.pid);
                }
                Kept::Frequency { khz } => {
                    state.book(time, &mut by_mhz);
                    state.mhz = Some(nearest(machine, *cpu as usize, khz));
                }
                _ => {}
            }
        }
        for state in &mut cpus {
            state.book(window.to, &mut by_mhz);
        }
        (by_mhz, slices)
    }
}

/// A CPU at a moment.
#[derive(Debug, Clone, Copy, Default)]
struct Cpu {
    /// One of the tasks runs.
    runs: bool,
    mhz: Option<u32>,
    /// Up to when its time is booked.
    booked: u64,
}

impl Cpu {
    /// Books what ran until now at the clock until now.
    fn book(&mut self, now: u64, by_mhz: &mut BTreeMap<u32, u64>) {
        if let (true, Some(mhz)) = (self.runs, self.mhz)
            && now > self.booked
        {
            *by_mhz.entry(mhz).or_default() += now - self.booked;
        }
        self.booked = now;
    }
}

/// The clock of the operating point that is nearest, MHz.
fn nearest(machine: &Machine, cpu: usize, khz: u32) -> u32 {
    let domain = &machine.freq_domains[machine.cpus[cpu].freq_domain];
    let points = domain.opps.iter().map(|opp| opp.khz);
    points
        .min_by_key(|point| point.abs_diff(khz))
        .unwrap_or(khz)
        / 1000
}

#[cfg(test)]
mod tests;
