// SPDX-License-Identifier: GPL-2.0-only
//! The energy model that the kernel places tasks by, and whether it does
//! (`kernel/sched/topology.c`: `build_perf_domains()`, `sched_is_eas_possible()`).
//!
//! Energy-aware scheduling needs all of:
//!
//! - a base that knows it: 5.0 and later;
//! - CPUs that differ in capacity, none with SMT siblings;
//! - schedutil on every CPU, which is the caller's to know;
//! - a power figure for every operating point;
//! - up to 6.6, a model that is not too complex.

use alight_policy::abi::{MAX_PERF_DOMAINS, Mask, rule};
use alight_policy::energy::{BadEnergyModel, OperatingPoint, perf_domain};
use alight_policy::{Core, NONE, Params, PerfDomain, Store};

use crate::{CpuSet, FreqDomain, Machine, kernel};

/// CPUs that share a clock, and what they take at each of its speeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clock {
    /// Its CPUs.
    pub cpus: CpuSet,
    /// Rising in frequency; `None`: a power is more than can be said.
    pub points: Option<Vec<OperatingPoint>>,
}

/// Why tasks are not placed by energy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Off {
    /// The base came before.
    #[error("the base does not know it")]
    Unknown,
    /// Equal CPUs.
    #[error("all CPUs have the same capacity")]
    Symmetric,
    /// Threads.
    #[error("there are SMT siblings")]
    Smt,
    /// A CPU without power figures.
    #[error("there is no energy model of CPU {0}")]
    NoModel(usize),
    /// Power figures that are none.
    #[error("the energy model of CPUs {cpus}: {error}")]
    Points {
        /// CPUs of the clock, as a list.
        cpus: String,
        /// What is wrong.
        error: BadEnergyModel,
    },
    /// More power than fits.
    #[error("the energy model of CPUs {0} has a power above 4294 W or a frequency above 4 THz")]
    TooMuch(String),
    /// More clocks than the core holds.
    #[error("{0} clocks; at most {MAX_PERF_DOMAINS} are possible")]
    TooMany(usize),
    /// Kernels up to 6.6 have a limit.
    #[error("clocks times CPUs and operating points are {found}, more than {most}")]
    Complex {
        /// What it comes to.
        found: usize,
        /// `EM_MAX_COMPLEXITY`.
        most: usize,
    },
}

/// `EM_MAX_COMPLEXITY`: performance domains, times operating points and CPUs together, above
/// which it stays off; without limit from 6.7 on (5b77261c5510).
fn most_complex(params: &Params) -> Option<usize> {
    (params.state_by_performance == 0).then_some(2048)
}

/// The clocks of a machine file. What a busy core takes by the file is what the kernel is told
/// by the device tree or the firmware; the shared part of a cluster is not known to it.
pub fn clocks_of_machine(machine: &Machine) -> Vec<Clock> {
    machine.freq_domains.iter().map(clock_of).collect()
}

/// One of them.
pub fn clock_of(domain: &FreqDomain) -> Clock {
    Clock {
        cpus: domain.cpus,
        points: (domain.opps.iter())
            .map(|opp| point(opp.khz.into(), opp.em_power_uw))
            .collect(),
    }
}

/// The clocks of the running kernel's energy model.
pub fn clocks_of_kernel(domains: &[kernel::PerfDomain]) -> Vec<Clock> {
    let points = |domain: &kernel::PerfDomain| {
        // A model of costs alone (artificial, without power): cost is power over performance.
        let costs_alone = domain.states.iter().all(|state| state.power == 0);
        let power = |state: &kernel::PerfState| match state.performance {
            Some(performance) if costs_alone => state.cost.saturating_mul(performance),
            _ => domain.microwatts_of(state),
        };
        (domain.states.iter())
            .map(|state| point(state.frequency, power(state)))
            .collect()
    };
    (domains.iter())
        .map(|domain| Clock {
            cpus: domain.cpus,
            points: points(domain),
        })
        .collect()
}

fn point(khz: u64, power_uw: u64) -> Option<OperatingPoint> {
    Some(OperatingPoint {
        frequency_khz: u32::try_from(khz).ok()?,
        power_uw: u32::try_from(power_uw).ok()?,
    })
}

/// The energy model of a machine of which these CPUs are online: one performance domain a
/// clock. The list begins with the domain found last, since the kernel puts each at its head.
///
/// # Errors
/// Why energy does not decide.
pub fn model<S: Store>(
    core: &Core<S>,
    online: &Mask,
    clocks: &[Clock],
) -> Result<Vec<PerfDomain>, Off> {
    if core.params.eas == rule::EAS_NONE {
        return Err(Off::Unknown);
    }
    if core.places.iter().all(|place| place.asym_domain == NONE) {
        return Err(Off::Symmetric);
    }
    if core.topology.smt != 0 {
        return Err(Off::Smt);
    }
    let has = |cpu: u32| clocks.iter().any(|clock| clock.cpus.contains(cpu as usize));
    if let Some(cpu) = online.iter().find(|&cpu| !has(cpu)) {
        return Err(Off::NoModel(cpu as usize));
    }
    let there = |clock: &&Clock| clock.cpus.iter().any(|cpu| online.contains(cpu as u32));
    let mut there: Vec<&Clock> = clocks.iter().filter(there).collect();
    if there.len() > MAX_PERF_DOMAINS {
        return Err(Off::TooMany(there.len()));
    }
    let points = |clock: &&Clock| clock.points.as_ref().map_or(0, Vec::len);
    let points: usize = there.iter().map(points).sum();
    let found = there.len() * (online.len() as usize + points);
    if let Some(most) = most_complex(&core.params).filter(|&most| found > most) {
        return Err(Off::Complex { found, most });
    }
    there.sort_by_key(|clock| clock.cpus.first());
    let of = |clock: &&Clock| domain_of(core, online, clock);
    there.iter().rev().map(of).collect()
}

fn domain_of<S: Store>(core: &Core<S>, online: &Mask, clock: &Clock) -> Result<PerfDomain, Off> {
    let span: Mask = (clock.cpus.iter().map(|cpu| cpu as u32))
        .filter(|&cpu| online.contains(cpu))
        .collect();
    let capacity = span
        .iter()
        .next()
        .map_or(0, |cpu| core.cpus[cpu as usize].capacity_orig);
    let points = clock
        .points
        .as_deref()
        .ok_or_else(|| Off::TooMuch(clock.cpus.to_string()))?;
    perf_domain(&core.params, span, capacity, points).map_err(|error| Off::Points {
        cpus: clock.cpus.to_string(),
        error,
    })
}
