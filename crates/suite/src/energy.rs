// SPDX-License-Identifier: GPL-2.0-only
//! What a placement costs by the energy model, and what the cheapest one would:
//! LISA's `EnergyModel.estimate_from_cpu_util()` and `get_optimal_placements()`.
//!
//! Clocks and idle states are ideal: every clock stands at the lowest operating
//! point that holds the busiest CPU of its domain, and what is idle takes nothing.

use super::platform::{Clock, Platform};

/// What of a CPU's capacity a placement may use, percent: above it the kernel
/// calls the machine overutilized (`fits_capacity()`, 1280 / 1024).
const USABLE_PERCENT: u32 = 80;

/// CPUs of one clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domain {
    /// Its CPUs.
    pub cpus: Vec<usize>,
    /// Capacity (0..=1024) and power of a busy CPU (uW), rising.
    pub points: Vec<(u32, u64)>,
}

impl Domain {
    /// Power of the domain in nW, its CPUs used so much (0..=1024 each).
    fn power_nw(&self, utils: &[u32]) -> u64 {
        let mine = || self.cpus.iter().map(|&cpu| utils[cpu]);
        let busiest = mine().max().unwrap_or(0);
        let enough = self.points.iter().find(|point| point.0 >= busiest);
        let Some(&(capacity, uw)) = enough.or(self.points.last()) else {
            return 0;
        };
        let sum: u64 = mine().map(u64::from).sum();
        uw * 1000 * sum / u64::from(capacity.max(1))
    }

    fn usable(&self) -> u32 {
        self.points.last().map_or(0, |top| top.0) * USABLE_PERCENT / 100
    }
}

/// The domains of a machine, without the operating points that cost no less than
/// a faster one: kernels skip them (EM_PERF_STATE_INEFFICIENT), and without them
/// power never falls with use.
pub fn domains(platform: &Platform) -> Vec<Domain> {
    let of = |clock: &Clock| {
        let mut points: Vec<(u32, u64)> = Vec::new();
        for point in clock.points.iter().rev() {
            let cheaper = |&(capacity, uw): &(u32, u64)| {
                point.uw * u64::from(capacity) < uw * u64::from(point.capacity)
            };
            if points.last().is_none_or(cheaper) {
                points.push((point.capacity, point.uw));
            }
        }
        points.reverse();
        Domain {
            cpus: clock.cpus.clone(),
            points,
        }
    };
    platform.clocks.iter().map(of).collect()
}

/// Power in nW with the CPUs used so much.
pub fn power_nw(domains: &[Domain], utils: &[u32]) -> u64 {
    domains.iter().map(|domain| domain.power_nw(utils)).sum()
}

/// The least power in nW that tasks of these utilizations can have; `None` if
/// every placement overutilizes some CPU.
///
/// Exact. Power never falls when a task is added, so that a branch that costs
/// as much as the best known ends. CPUs of one clock that hold as much are the
/// same choice. Tasks of one size are too: each goes to the CPU of the one before
/// or to a later one.
pub fn optimum_nw(domains: &[Domain], tasks: &[u32]) -> Option<u64> {
    let cpus = domains.iter().flat_map(|domain| &domain.cpus).max()? + 1;
    let mut sorted = tasks.to_vec();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let mut search = Search {
        domains,
        utils: vec![0; cpus],
        best: None,
    };
    search.place(&sorted, 0);
    search.best
}

struct Search<'a> {
    domains: &'a [Domain],
    utils: Vec<u32>,
    best: Option<u64>,
}

impl Search<'_> {
    /// Places the tasks, the first of them on CPUs from number `from` on: numbers
    /// count through the domains.
    fn place(&mut self, tasks: &[u32], from: usize) {
        let power = power_nw(self.domains, &self.utils);
        if self.best.is_some_and(|best| power >= best) {
            return;
        }
        let Some((&task, rest)) = tasks.split_first() else {
            self.best = Some(power);
            return;
        };
        let domains = self.domains;
        let mut number = 0;
        for domain in domains {
            let mut tried = Vec::with_capacity(domain.cpus.len());
            for &cpu in &domain.cpus {
                let mine = number;
                number += 1;
                let before = self.utils[cpu];
                if mine < from || tried.contains(&before) || before + task > domain.usable() {
                    continue;
                }
                tried.push(before);
                self.utils[cpu] += task;
                let same = rest.first() == Some(&task);
                self.place(rest, if same { mine } else { 0 });
                self.utils[cpu] = before;
            }
        }
    }
}

#[cfg(test)]
mod tests;
