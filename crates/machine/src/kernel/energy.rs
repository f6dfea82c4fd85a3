// SPDX-License-Identifier: GPL-2.0-only
//! The kernel's energy model, as its debugfs shows it, and the switches of
//! energy-aware scheduling.

use serde::Serialize;
use std::path::Path;

use super::{CPU, Tree};
use crate::cpuset::CpuSet;
use crate::error::Error;

pub(crate) const ENERGY_MODEL: &str = "sys/kernel/debug/energy_model";

/// `EM_PERF_DOMAIN_MICROWATTS` and `EM_PERF_DOMAIN_ARTIFICIAL` of Linux 6.5
/// `include/linux/energy_model.h`.
const MICROWATTS: u64 = 1;
const ARTIFICIAL: u64 = 4;

/// `EM_MAX_POWER` (7.2 `include/linux/energy_model.h`). intel_pstate states it as the power of each
/// point, because it has none: "No power information" (7.2 `hybrid_active_power()`).
const NO_POWER: u64 = 64_000_000;

/// CPUs that share a frequency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PerfDomain {
    /// Its CPUs.
    pub cpus: CpuSet,
    /// Rising in frequency; at least one.
    pub states: Vec<PerfState>,
    /// Power is in a unit of its own: only ratios mean anything.
    #[serde(skip)]
    pub artificial: bool,
    /// Power is in uW, else in mW.
    #[serde(skip)]
    pub microwatts: bool,
}

/// One operating point (`struct em_perf_state`), in the kernel's units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PerfState {
    /// In kHz.
    pub frequency: u64,
    /// Of one busy CPU.
    pub power: u64,
    /// What the kernel compares (`em_compute_costs()`); trees that were copied without it: 0.
    pub cost: u64,
    /// Capacity at this point, since 6.9.
    pub performance: Option<u64>,
    /// A faster one costs no more.
    pub inefficient: bool,
}

impl PerfDomain {
    /// Are there powers in this model? That of a hybrid x86 has costs alone: there the frequencies
    /// of its points are 2 to 5, for 40 to 100 % of the capacity, and no clocks either.
    pub fn has_powers(&self) -> bool {
        let none = |state: &PerfState| state.power == NO_POWER;
        self.microwatts || !self.states.iter().all(none)
    }

    /// Power of a state of this domain, uW.
    pub fn microwatts_of(&self, state: &PerfState) -> u64 {
        let factor = if self.microwatts { 1 } else { 1000 };
        state.power.saturating_mul(factor)
    }
}

/// The performance domains in the `sys` of the folder `root`, in the order of their first
/// CPUs; empty if the kernel has no energy model, or no debugfs that can be read.
///
/// # Errors
/// [`Error::Captured`] when a file says something unusable.
pub fn energy_model(root: &Path) -> Result<Vec<PerfDomain>, Error> {
    read(&Tree::new(root))
}

pub(crate) fn read(tree: &Tree) -> Result<Vec<PerfDomain>, Error> {
    let mut domains = Vec::new();
    for first in tree.numbered(ENERGY_MODEL, "cpu")? {
        let folder = format!("{ENERGY_MODEL}/cpu{first}");
        let mut states = Vec::new();
        for step in tree.numbered(&folder, "ps:")? {
            states.extend(state(tree, &format!("{folder}/ps:{step}"), step)?);
        }
        states.sort_by_key(|state| state.frequency);
        if states.is_empty() {
            continue;
        }
        let flags = tree.register(&format!("{folder}/flags"))?.unwrap_or(0);
        // Copies of such trees were made that lack it: then the clock's CPUs are meant.
        let cpus = match tree.cpus(&format!("{folder}/cpus"))? {
            Some(cpus) => Some(cpus),
            None => tree.cpus(&format!("{CPU}/cpu{first}/cpufreq/related_cpus"))?,
        };
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        domains.push(PerfDomain {
            cpus: cpus
                .unwrap_or_else(|| (first < CpuSet::MAX).then_some(first).into_iter().collect()),
            states,
            artificial: flags & ARTIFICIAL != 0,
            microwatts: flags & MICROWATTS != 0,
        });
    }
    domains.sort_by_key(|domain| domain.cpus.first());
    Ok(domains)
}

fn state(tree: &Tree, folder: &str, step: u64) -> Result<Option<PerfState>, Error> {
    let number = |name: &str| tree.number(&format!("{folder}/{name}"));
    let Some(power) = number("power")? else {
        return Ok(None);
    };
    Ok(Some(PerfState {
        frequency: number("frequency")?.unwrap_or(step),
        power,
        cost: number("cost")?.unwrap_or(0),
        performance: number("performance")?,
        inefficient: number("inefficient")?.unwrap_or(0) != 0,
    }))
}

/// What the kernel asks before it uses an energy model (`sched_is_eas_possible()`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnergySwitches {
    /// `/proc/sys/kernel/sched_energy_aware`; `None`: the kernel has no such switch.
    pub wanted: Option<bool>,
    /// The first online CPU whose governor is not schedutil, and its governor; `None`: none,
    /// or there is no cpufreq to ask.
    pub other_governor: Option<(usize, String)>,
    /// An online CPU has no cpufreq policy.
    pub no_cpufreq: bool,
}

/// Reads the switches in the `sys` and `proc` of the folder `root`.
///
/// # Errors
/// [`Error::Captured`] when a file says something unusable.
pub fn energy_switches(root: &Path, online: &CpuSet) -> Result<EnergySwitches, Error> {
    let tree = Tree::new(root);
    let wanted = tree.number("proc/sys/kernel/sched_energy_aware")?;
    let mut switches = EnergySwitches {
        wanted: wanted.map(|value| value != 0),
        other_governor: None,
        no_cpufreq: false,
    };
    for cpu in online {
        match tree.text(&format!("{CPU}/cpu{cpu}/cpufreq/scaling_governor"))? {
            Some(governor) if governor == "schedutil" => {}
            Some(governor) => {
                switches.other_governor = Some((cpu, governor));
                break;
            }
            None => switches.no_cpufreq = true,
        }
    }
    Ok(switches)
}
