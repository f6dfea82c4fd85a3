// SPDX-License-Identifier: GPL-2.0-only
//! The energy model that the kernel places tasks by, and whether it does
//! (`kernel/sched/topology.c`: `build_perf_domains()`, `sched_is_eas_possible()`).
//!
//! Energy-aware scheduling needs all of:
//!
//! - a base that knows it: 5.0 and later;
//! - CPUs that differ in capacity, none with SMT siblings;
//! - schedutil on every CPU;
//! - a power figure for every operating point;
//! - up to 6.6, a model that is not too complex.
//!
//! What a busy core takes by the machine file is what the kernel is told by the
//! device tree or the firmware; the shared part of a cluster is not known to it.

use crate::kernel::EnergyAware;
use crate::state::Sim;
use alight_machine::{FreqDomain, Governor, Machine};
use alight_policy::abi::{MAX_PERF_DOMAINS, Mask, PerfState, state_flag};
use alight_policy::energy::{OperatingPoint, perf_domain};
use alight_policy::{Core, NONE, Params, PerfDomain};

impl Sim<'_> {
    /// Gives the energy model to the placement core, if the kernel would use it
    /// under `governor`. Without one the machine counts as overutilized for
    /// ever, so that nothing else has to ask.
    pub fn energy_model_init(&mut self, governor: Governor) {
        let model = match self.kernel.energy_aware {
            Some(rules) if governor == Governor::Schedutil => {
                model(self.machine, &self.core, &self.hotplug.online, rules)
            }
            _ => None,
        };
        self.core.perf = model.unwrap_or_default();
        self.core.root.overutilized = self.core.perf.is_empty().into();
    }
}

/// One performance domain a frequency domain. The list begins with the domain
/// found last, since the kernel puts each at its head.
fn model(
    machine: &Machine,
    core: &Core,
    online: &Mask,
    rules: EnergyAware,
) -> Option<Vec<PerfDomain>> {
    let asymmetric = core.places.iter().any(|place| place.asym_domain != NONE);
    let there = |domain: &&FreqDomain| domain.cpus.iter().any(|cpu| online.contains(cpu as u32));
    let domains: Vec<&FreqDomain> = machine.freq_domains.iter().filter(there).collect();
    if !asymmetric || core.topology.smt != 0 || domains.len() > MAX_PERF_DOMAINS {
        return None;
    }
    let points: usize = domains.iter().map(|domain| domain.opps.len()).sum();
    let complexity = domains.len() * (online.len() as usize + points);
    if rules
        .max_complexity
        .is_some_and(|max| complexity > max as usize)
    {
        return None;
    }
    let mut in_cpu_order = domains;
    in_cpu_order.sort_by_key(|domain| domain.cpus.iter().next());
    let of = |domain: &&FreqDomain| domain_of(machine, core, online, domain);
    in_cpu_order.iter().rev().map(of).collect()
}

/// `None` if the machine file gives no usable power for some operating point.
fn domain_of(
    machine: &Machine,
    core: &Core,
    online: &Mask,
    domain: &FreqDomain,
) -> Option<PerfDomain> {
    let members = domain.cpus.iter().map(|cpu| cpu as u32);
    let span: Mask = members.filter(|&cpu| online.contains(cpu)).collect();
    let capacity = machine.cpus[domain.cpus.iter().next()?].capacity_orig;
    perf_domain(&core.params, span, capacity, &points(domain)?).ok()
}

/// Which operating points of `domain` cost no less than a faster one
/// (EM_PERF_STATE_INEFFICIENT); empty if their power is not known.
pub(crate) fn inefficient(domain: &FreqDomain, params: &Params) -> Vec<bool> {
    let capacity = domain.opps.last().map_or(0, |top| top.capacity);
    let model =
        points(domain).and_then(|points| perf_domain(params, Mask::EMPTY, capacity, &points).ok());
    model.map_or(vec![], |model| {
        let states = &model.state[..model.nr_states as usize];
        let flag = |state: &PerfState| state.flags & state_flag::INEFFICIENT != 0;
        states.iter().map(flag).collect()
    })
}

fn points(domain: &FreqDomain) -> Option<Vec<OperatingPoint>> {
    domain
        .opps
        .iter()
        .map(|opp| {
            Some(OperatingPoint {
                frequency_khz: opp.khz,
                power_uw: u32::try_from(opp.core_power_uw).ok()?,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests;
