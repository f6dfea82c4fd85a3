// SPDX-License-Identifier: GPL-2.0-only
//! The load indices of a queue (`cpu_load[]`): its weight now, and averages of it over ticks. A
//! higher index is a longer average: with one, a busy CPU does not move tasks for short peaks
//! (`__update_cpu_load`, `source_load`, `target_load` of 3.9.6).

use crate::balance::Balancer;

/// Number of averages that levels use (`CPU_LOAD_IDX_MAX` is 5, but no domain has an index above
/// 3, and index i uses average i - 1).
const AVERAGES: usize = 3;
/// Number of missed ticks from which on an average is 0 (`degrade_zero_ticks`).
const FORGOTTEN: [u64; AVERAGES] = [0, 8, 32];
/// The part of average 2 that is left after 1, 2, 4, … missed ticks, of 128 (`degrade_factor`).
const LEFT: [u64; 5] = [96, 72, 40, 12, 1];

/// `rq->cpu_load[]`, and the time of its last update (`last_load_update_tick`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LoadIndex {
    load: [u64; AVERAGES],
    /// Jiffies.
    at: u64,
}

impl LoadIndex {
    /// The queue weighs `load` now; at the ticks that were missed since the last update it
    /// weighed nothing.
    fn update(&mut self, load: u64, now: u64) {
        let missed = now.saturating_sub(self.at).saturating_sub(1);
        self.at = now;
        self.load[0] = load;
        for (i, average) in self.load.iter_mut().enumerate().skip(1) {
            let old = left_of(*average, missed, i);
            // Rounded up while it rises: otherwise it would never reach `load`.
            let round = if load > old { (1 << i) - 1 } else { 0 };
            *average = (old * ((1 << i) - 1) + load + round) >> i;
        }
    }
}

/// `decay_load_missed`
fn left_of(load: u64, missed: u64, i: usize) -> u64 {
    if missed == 0 {
        return load;
    }
    if missed >= FORGOTTEN[i] {
        return 0;
    }
    if i == 1 {
        return load >> missed;
    }
    let bits = LEFT.iter().enumerate();
    bits.filter(|(bit, _)| missed >> bit & 1 != 0)
        .fold(load, |load, (_, left)| (load * left) >> 7)
}

impl Balancer<'_> {
    /// A tick of `cpu` (`update_cpu_load_active`).
    pub(in super::super) fn index_tick(&mut self, cpu: usize) {
        let now = self.jiffies();
        let weight = self.core.cpus[cpu].weight.into();
        let index = &mut self.nohz.early.cpus[cpu].index;
        // A tick is one step, even if the last one was long ago.
        index.at = now.saturating_sub(1);
        index.update(weight, now);
    }

    /// The tick of `cpu` runs again after it was stopped (`update_cpu_load_nohz`).
    pub(in super::super) fn index_goes_on(&mut self, cpu: usize) {
        let now = self.jiffies();
        let index = &mut self.nohz.early.cpus[cpu].index;
        if now != index.at {
            index.update(0, now);
        }
    }

    /// Another CPU balances for the idle `cpu` (`update_idle_cpu_load`).
    pub(super) fn index_idle(&mut self, cpu: usize) {
        if self.core.cpus[cpu].weight == 0 {
            self.index_goes_on(cpu);
        }
    }

    /// Load of `cpu` by an index; index 0 is the weight now. In the local group it is the higher
    /// of the weight now and the average, in others the lower (`target_load`, `source_load`;
    /// LB_BIAS).
    pub(super) fn indexed_load(&self, cpu: usize, index: usize, local: bool) -> u64 {
        let now = u64::from(self.core.cpus[cpu].weight);
        let Some(i) = index.checked_sub(1) else {
            return now;
        };
        let then = self.nohz.early.cpus[cpu].index.load[i];
        match local {
            true => now.max(then),
            false => now.min(then),
        }
    }
}

#[cfg(test)]
mod tests;
