// SPDX-License-Identifier: GPL-2.0-only
//! Energy: the power of each core and of the shared part of each cluster, integrated exactly.
//!
//! A core takes the power of its operating point while it executes, enters or leaves an idle state,
//! and the state's power in the state. The shared part of a cluster takes its busy power while any
//! of its cores is active, its off power in the cluster state, else its idle power. SMT siblings
//! are one core: it is busy while one of them is, and the shallowest of their states counts.
//!
//! Energy is counted in uW * ns = 1e-15 J, in 128 bits.

use crate::base::queue::NEVER;
use crate::base::table::Table;
use crate::face::api::{Metric, snake};
use crate::power::Power;
use crate::power::cpuidle::CpuIdle;
use crate::world::World;
use alight_machine::Cluster;
use alight_workload::program::Better;

/// Joules per uW * ns.
const JOULES: f64 = 1e-15;

/// A consumer of power: busy while any of its users is active, quiet from `quiet_from` on after the
/// last has stopped.
#[derive(Debug, Clone, Default)]
struct Supply {
    /// Energy up to `since`, uW * ns.
    energy: u128,
    since: u64,
    /// Time with active users up to `since`, ns.
    active_ns: u64,
    /// Time at which the last entry into an idle state is complete.
    quiet_from: u64,
    /// Users that execute, or enter or leave an idle state.
    active: u32,
    busy_uw: u64,
    quiet_uw: u64,
    /// Power in the cluster state.
    deep_uw: u64,
}

impl Supply {
    /// Integrates up to `to`; the cluster is in the cluster state from `deep_from` on.
    #[inline]
    fn advance(&mut self, to: u64, deep_from: u64) {
        if to <= self.since {
            return;
        }
        let product = |power_uw: u64, ns: u64| u128::from(power_uw) * u128::from(ns);
        if self.active != 0 {
            self.energy += product(self.busy_uw, to - self.since);
            self.active_ns += to - self.since;
        } else {
            let quiet = self.quiet_from.clamp(self.since, to);
            let deep = deep_from.clamp(quiet, to);
            self.energy += product(self.busy_uw, quiet - self.since)
                + product(self.quiet_uw, deep - quiet)
                + product(self.deep_uw, to - deep);
        }
        self.since = to;
    }

    /// One more user is active from `at` on.
    #[inline]
    fn start(&mut self, at: u64) {
        if self.active == 0 {
            self.advance(at, NEVER);
        }
        self.active += 1;
    }

    /// One user stops at `at` and is quiet from `quiet_from` on; true if it was the last active
    /// one.
    #[inline]
    fn stop(&mut self, at: u64, quiet_from: u64) -> bool {
        debug_assert!(self.active != 0);
        self.quiet_from = self.quiet_from.max(quiet_from);
        if self.active == 1 {
            self.advance(at, NEVER);
        }
        self.active -= 1;
        self.active == 0
    }
}

/// The idle state of a CPU, for the meters.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rest {
    /// Power of its core, uW.
    pub core_uw: u64,
    /// Power of its core in the cluster state, uW.
    pub deep_uw: u64,
    /// End of the entry into the state.
    pub quiet_from: u64,
    /// It polls, which keeps the cluster busy.
    pub spins: bool,
}

/// A physical core.
#[derive(Debug, Clone, Default)]
struct CoreMeter {
    supply: Supply,
    /// Its CPUs.
    threads: Box<[u32]>,
}

/// A cluster: its shared part, its cores, and the votes on its state.
#[derive(Debug, Clone)]
pub(crate) struct ClusterMeter {
    supply: Supply,
    cores: Table<CoreMeter>,
    pub cpus: Box<[u32]>,
    /// Frequency domains of its CPUs.
    domains: Box<[u32]>,
    /// Number of CPUs that requested the cluster state.
    votes: u32,
    /// The cluster is in the cluster state from this time on, [`NEVER`] if it is not.
    deep_from: u64,
    /// Time at which the cluster is up after it left the cluster state.
    pub up_at: u64,
    /// Index of the domain state that the last CPU has chosen, 0 for the shallowest.
    pub depth: u32,
}

impl ClusterMeter {
    /// A CPU requests the cluster state; true if it is the last of the cluster.
    #[inline]
    pub fn vote(&mut self) -> bool {
        self.votes += 1;
        self.votes as usize == self.cpus.len()
    }

    /// All CPUs have voted and stopped: the cluster state begins when the last is in its state.
    #[inline]
    pub fn deepen(&mut self) {
        debug_assert!(self.supply.active == 0);
        self.deep_from = self.supply.quiet_from;
    }

    /// Sets the power of an idle core in the domain's state to `power_uw`. Its threads are of one
    /// core type, so all of them set the same value.
    pub fn core_follows(&mut self, slot: u32, power_uw: u64) {
        self.cores[slot as usize].supply.deep_uw = power_uw;
    }

    /// Integrates the cores and the shared part up to `to`.
    fn advance(&mut self, to: u64) {
        self.supply.advance(to, self.deep_from);
        for core in &mut self.cores {
            core.supply.advance(to, self.deep_from);
        }
    }

    /// Time that some of its CPUs executed, ns.
    pub fn active_ns(&self) -> u64 {
        self.supply.active_ns
    }

    /// Restarts the counters of energy and times.
    pub fn reset(&mut self) {
        let cores = self.cores.iter_mut().map(|core| &mut core.supply);
        for supply in cores.chain(std::iter::once(&mut self.supply)) {
            (supply.energy, supply.active_ns) = (0, 0);
        }
    }

    fn energy(&self) -> u128 {
        self.supply.energy
            + self
                .cores
                .iter()
                .map(|core| core.supply.energy)
                .sum::<u128>()
    }
}

/// The meters of a machine's clusters.
pub(super) fn meters_of(world: &World<'_>) -> Table<ClusterMeter> {
    let machine = world.machine;
    let of_cluster = |cluster: &Cluster| {
        let cpus: Box<[u32]> = cluster.cpus.iter().map(|cpu| cpu as u32).collect();
        let mut domains: Vec<u32> = cpus
            .iter()
            .map(|&cpu| world.cpus[cpu as usize].freq_domain)
            .collect();
        domains.sort_unstable();
        domains.dedup();
        let supply = Supply {
            active: cpus.len() as u32,
            quiet_uw: cluster.idle_power_uw,
            deep_uw: cluster.off_power_uw,
            ..Supply::default()
        };
        ClusterMeter {
            supply,
            cores: cores(machine, &cpus),
            cpus,
            domains: domains.into(),
            votes: 0,
            deep_from: NEVER,
            up_at: 0,
            depth: 0,
        }
    };
    let meters: Vec<_> = machine.clusters.iter().map(of_cluster).collect();
    // SAFETY: indexed by the clusters of CPUs, which are numbered over these clusters.
    unsafe { Table::new(meters) }
}

impl World<'_> {
    /// Does the machine file state powers?
    pub fn powered(&self) -> bool {
        let mut opps = (self.machine.freq_domains.iter()).flat_map(|domain| &domain.opps);
        opps.any(|opp| opp.core_power_uw != 0)
    }
}

impl Power<'_> {
    /// Every CPU counts as executing until its first [`Power::idle_enter`].
    pub(super) fn meters_begin(&mut self) {
        for cluster in 0..self.meters.len() {
            for slot in 0..self.meters[cluster].cores.len() {
                for i in 0..self.meters[cluster].cores[slot].threads.len() {
                    let cpu = self.meters[cluster].cores[slot].threads[i] as usize;
                    self.cpus[cpu].core_slot = slot as u32;
                    let known = &self.machine.core_types[self.cpus[cpu].core_type as usize];
                    let states = known.idle_states.len().max(1);
                    self.idle[cpu] = CpuIdle::new(states);
                }
            }
        }
        for domain in 0..self.freq.len() {
            self.meters_opp(domain);
        }
    }

    /// `cpu` stops executing now.
    #[inline]
    pub(crate) fn rest(&mut self, cpu: usize, rest: Rest) {
        let cluster = &mut self.meters[self.world.cpus[cpu].cluster as usize];
        if !rest.spins {
            cluster.supply.stop(self.world.now, rest.quiet_from);
        }
        let core = &mut cluster.cores[self.world.cpus[cpu].core_slot as usize];
        if core.supply.stop(self.world.now, rest.quiet_from) {
            (core.supply.quiet_uw, core.supply.deep_uw) = (rest.core_uw, rest.deep_uw);
            if core.threads.len() > 1 {
                self.shallower_sibling(cpu);
            }
        }
    }

    /// All threads of the core of `cpu` are idle: the shallowest state sets its power.
    fn shallower_sibling(&mut self, cpu: usize) {
        let states = &self.idle_states[self.cpus[cpu].core_type as usize];
        let cluster = &mut self.meters[self.world.cpus[cpu].cluster as usize];
        let core = &mut cluster.cores[self.world.cpus[cpu].core_slot as usize];
        for &thread in &core.threads {
            let (core_uw, deep_uw) = self.idle[thread as usize].powers(states);
            core.supply.quiet_uw = core.supply.quiet_uw.max(core_uw);
            core.supply.deep_uw = core.supply.deep_uw.max(deep_uw);
        }
    }

    /// `cpu` leaves its idle state at `at`; it has taken back its vote before.
    #[inline]
    pub(crate) fn unrest(&mut self, cpu: usize, at: u64, spins: bool) {
        let cluster = &mut self.meters[self.world.cpus[cpu].cluster as usize];
        if !spins {
            cluster.supply.start(at);
        }
        cluster.cores[self.world.cpus[cpu].core_slot as usize]
            .supply
            .start(at);
    }

    /// `cpu` takes back its vote at `at`. If that ends a cluster state, returns the time at which
    /// the state was, or will be, reached.
    pub(crate) fn cluster_up(&mut self, cpu: usize, at: u64) -> Option<u64> {
        let cluster = &mut self.meters[self.world.cpus[cpu].cluster as usize];
        cluster.votes -= 1;
        if cluster.deep_from == NEVER {
            return None;
        }
        cluster.advance(at);
        let deep_from = std::mem::replace(&mut cluster.deep_from, NEVER);
        for &member in &cluster.cpus {
            self.idle[member as usize].book(at, deep_from);
        }
        Some(deep_from)
    }

    /// The operating point of `domain` has changed now: updates the powers.
    pub(crate) fn meters_opp(&mut self, domain: usize) {
        let machine = self.machine;
        let now = self.now;
        for cpu in machine.freq_domains[domain].cpus.iter() {
            let cluster = &mut self.meters[self.world.cpus[cpu].cluster as usize];
            let core = &mut cluster.cores[self.world.cpus[cpu].core_slot as usize];
            core.supply.advance(now, cluster.deep_from);
            core.supply.busy_uw = self.freq[domain].opp(machine, domain).core_power_uw;
            cluster.supply.advance(now, cluster.deep_from);
            // If several frequency domains share a cluster, the largest power counts.
            cluster.supply.busy_uw = cluster
                .domains
                .iter()
                .map(|&d| {
                    self.freq[d as usize]
                        .opp(machine, d as usize)
                        .cluster_power_uw
                })
                .max()
                .unwrap_or(0);
        }
    }

    /// Brings meters and residencies up to now.
    pub(crate) fn meters_flush(&mut self) {
        debug_assert_eq!(self.power_check(), Ok(()));
        for cluster in &mut self.meters {
            cluster.advance(self.world.now);
            for &cpu in &cluster.cpus {
                let idle = &mut self.idle[cpu as usize];
                if idle.resting() {
                    idle.book(self.world.now, cluster.deep_from);
                }
            }
        }
    }

    /// Do meters and votes agree with what the CPUs do?
    ///
    /// # Errors
    /// The disagreement.
    pub(crate) fn power_check(&self) -> Result<(), String> {
        for (meter, cluster) in self.meters.iter().zip(&self.machine.clusters) {
            let count = |cpus: &[u32], wanted: &dyn Fn(usize) -> bool| {
                cpus.iter().filter(|&&cpu| wanted(cpu as usize)).count() as u32
            };
            let executing = |cpu: usize| !self.idle[cpu].resting();
            let active = count(&meter.cpus, &|cpu| executing(cpu) || self.idle_spins(cpu));
            let votes = count(&meter.cpus, &|cpu| !executing(cpu) && self.idle_votes(cpu));
            let name = &cluster.name;
            if meter.supply.active != active {
                return Err(format!(
                    "cluster {name} is metered with {} active CPUs, not {active}",
                    meter.supply.active
                ));
            }
            if meter.votes != votes {
                return Err(format!(
                    "cluster {name} has {} votes to sleep, not {votes}",
                    meter.votes
                ));
            }
            let all = votes as usize == meter.cpus.len();
            let free = all
                && meter
                    .cpus
                    .iter()
                    .any(|&cpu| self.idle_by_last(cpu as usize));
            if !free && (meter.deep_from != NEVER) != all {
                return Err(format!(
                    "cluster {name}: {votes} votes, asleep from {}",
                    meter.deep_from
                ));
            }
            for core in &meter.cores {
                let active = count(&core.threads, &executing);
                if core.supply.active != active {
                    return Err(format!(
                        "the core of CPU {} is metered with {} active threads, not {active}",
                        core.threads[0], core.supply.active
                    ));
                }
            }
        }
        Ok(())
    }

    /// Energy of the run and mean power, in total and per cluster. Empty if the machine file states
    /// no powers.
    pub fn energy_results(&mut self) -> Vec<Metric> {
        if !self.powered() {
            return vec![];
        }
        self.meters_flush();
        let metric = |name: String, unit, value| Metric {
            name,
            unit,
            better: Some(Better::Lower),
            value,
        };
        let joules = |energy: u128| energy as f64 * JOULES;
        let total = joules(self.meters.iter().map(ClusterMeter::energy).sum());
        let seconds = self.counted_ns() as f64 / 1e9;
        let power = |joules: f64| match seconds > 0.0 {
            true => joules / seconds,
            false => 0.0,
        };
        let mut results = vec![
            metric("energy_j".into(), "j", total),
            metric("power_w".into(), "w", power(total)),
        ];
        for (cluster, meter) in self.machine.clusters.iter().zip(&self.meters) {
            let name = format!("energy_{}_j", snake(&cluster.name));
            let energy = joules(meter.energy());
            results.push(metric(name, "j", energy));
            let name = format!("power_{}_mw", snake(&cluster.name));
            results.push(metric(name, "mw", 1000.0 * power(energy)));
        }
        results
    }
}

/// The physical cores among `cpus`, in the order of their first CPUs.
fn cores(machine: &alight_machine::Machine, cpus: &[u32]) -> Table<CoreMeter> {
    let mut cores: Vec<(usize, Vec<u32>)> = vec![];
    for &cpu in cpus {
        let core = machine.cpus[cpu as usize].core;
        match cores.iter_mut().find(|(number, _)| *number == core) {
            Some((_, threads)) => threads.push(cpu),
            None => cores.push((core, vec![cpu])),
        }
    }
    let meters: Vec<_> = cores
        .into_iter()
        .map(|(_, threads)| CoreMeter {
            supply: Supply {
                active: threads.len() as u32,
                ..Supply::default()
            },
            threads: threads.into(),
        })
        .collect();
    // SAFETY: indexed by `core_slot`, a CPU's position among these.
    unsafe { Table::new(meters) }
}

#[cfg(test)]
mod tests;
