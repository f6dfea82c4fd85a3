// SPDX-License-Identifier: GPL-2.0-only
//! Intel machines with unlike cores and without SMT, as the base sees them: by priorities, or by
//! capacities and costs (drivers/cpufreq/intel_pstate.c).

use crate::kernel::{Hybrids, Kernel};
use alight_machine::views::energy::{Clock, clocks_of_machine};
use alight_machine::{Cpu, CpuSet, ItmtDriver, Machine};
use alight_policy::energy::OperatingPoint;

/// Capacity of the biggest CPU.
const CAPACITY_SCALE: u32 = 1024;

/// The "frequencies" of `hybrid_active_power`: 40, 60, 80 and 100 % of the capacity.
const STATES: std::ops::RangeInclusive<u64> = 2..=5;

/// How `kernel` treats the machine; `None`: it is no such machine.
pub(crate) fn hybrids(machine: &Machine, kernel: &Kernel) -> Option<Hybrids> {
    let itmt = machine.itmt.as_ref()?;
    let cores = machine.cpus.iter().map(|cpu| cpu.core).max()? + 1;
    let unlike = (machine.cpus.iter()).any(|cpu| cpu.capacity_orig != CAPACITY_SCALE);
    let is_one = itmt.driver == ItmtDriver::IntelPstate && cores == machine.cpus.len() && unlike;
    let rules = kernel.balance.itmt;
    is_one.then(|| rules.map_or(Hybrids::Alike, |rules| rules.hybrids))
}

/// The machine as `kernel` sees it; `None`: as in its file. Kernels before 6.12 treat all CPUs as
/// equal; their speeds stay.
pub(crate) fn seen(machine: &Machine, kernel: &Kernel) -> Option<Machine> {
    if hybrids(machine, kernel)? != Hybrids::Alike {
        return None;
    }
    let mut seen = machine.clone();
    for domain in &mut seen.freq_domains {
        let top = domain.opps.last().map_or(1, |opp| opp.capacity.max(1));
        for opp in &mut domain.opps {
            opp.capacity = (opp.capacity * CAPACITY_SCALE / top).max(1);
        }
    }
    for cpu in &mut seen.cpus {
        cpu.stated_speed = Some(cpu.speed());
        cpu.capacity_orig = CAPACITY_SCALE;
    }
    Some(seen)
}

/// The input of `kernel`'s energy model; `None`: it has no model of such a machine.
pub(crate) fn clocks(machine: &Machine, kernel: &Kernel) -> Option<Vec<Clock>> {
    let by_scaling = match hybrids(machine, kernel) {
        None => return Some(clocks_of_machine(machine)),
        Some(Hybrids::Alike | Hybrids::Capacities) => return None,
        Some(Hybrids::CostByScaling) => true,
        Some(Hybrids::CostByClass) => false,
    };
    let fastest = machine.cpus.iter().max_by_key(|cpu| cpu.speed())?;
    let slowest = machine.cpus.iter().min_by_key(|cpu| cpu.speed())?;
    let of_cpu = |(number, cpu): (usize, &Cpu)| {
        let is_p = cpu.core_type == fastest.core_type;
        let has_l3 = cpu.llc == fastest.llc;
        let add = match (by_scaling, is_p) {
            (true, true) => level_ratio(machine, fastest, slowest) + if has_l3 { 2 } else { 0 },
            (true, false) => 100 + if has_l3 { 2 } else { 0 },
            (false, true) => 2,
            (false, false) => u64::from(has_l3),
        };
        Clock {
            cpus: CpuSet::single(number),
            points: STATES.map(|state| point(state, state + add)).collect(),
        }
    };
    Some(machine.cpus.iter().enumerate().map(of_cpu).collect())
}

/// `hybrid_get_cost` of 6.17: work of a P-core per clock cycle, in percent of an E-core's.
fn level_ratio(machine: &Machine, p_core: &Cpu, e_core: &Cpu) -> u64 {
    let top = |cpu: &Cpu| {
        let opps = &machine.freq_domains[cpu.freq_domain].opps;
        opps.last().map_or(1, |opp| u64::from(opp.khz.max(1)))
    };
    let speed = |cpu: &Cpu| u64::from(cpu.speed().max(1));
    100 * top(e_core) * speed(p_core) / (speed(e_core) * top(p_core))
}

/// An operating point of this cost. Its power is not real: the cost follows from power per
/// frequency.
fn point(state: u64, cost: u64) -> Option<OperatingPoint> {
    Some(OperatingPoint {
        frequency_khz: u32::try_from(state * 1000).ok()?,
        power_uw: u32::try_from(state * cost * 1000).ok()?,
    })
}

#[cfg(test)]
mod tests;
