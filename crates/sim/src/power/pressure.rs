// SPDX-License-Identifier: GPL-2.0-only
//! Frequency limits that change during a run, and what the scheduler learns of them.
//!
//! An administrator (`scaling_max_freq`) and the thermal framework's cooling device
//! (`cpufreq_set_cur_state()`) limit a policy; the lower limit counts. The frequency follows at
//! once if a thread calls the driver, else at the governor's next update. How the scheduler learns
//! that a CPU cannot give its full capacity depends on the version:
//!
//! - up to 5.6: not at all;
//! - 5.7 to 6.9: of the cooling device's limit, as thermal pressure. Placement uses its present
//!   value (`arch_scale_thermal_pressure()`). The capacity left for fair tasks uses its average
//!   (`thermal_load_avg()`, averaged as load is);
//! - from 6.10 on: of either limit, as the policy's pressure (`cpufreq_get_pressure()`), which is
//!   not averaged.
//!
//! Not modelled: firmware that limits without the kernel and reports it by an interrupt
//! (`arch_update_hw_pressure()`).

use crate::face::changes::Limit;
use crate::power::Power;
use crate::power::cpufreq::{FreqState, lowest_at_least};
use crate::world::World;
use alight_machine::{CpuSet, FreqDomain, Governor, Opp};
use alight_policy::abi::{Pelt, rule};
use alight_policy::pelt;

/// Highest frequencies that a policy may use, kHz; [`u32::MAX`]: no limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    administrator: u32,
    cooling_device: u32,
}

impl Limits {
    pub const NONE: Limits = Limits {
        administrator: u32::MAX,
        cooling_device: u32::MAX,
    };

    fn set(&mut self, by: Limit, khz: u32) {
        match by {
            Limit::Administrator => self.administrator = khz,
            Limit::CoolingDevice => self.cooling_device = khz,
        }
    }

    /// Index of the highest operating point that is allowed.
    fn highest(self, opps: &[Opp]) -> u32 {
        highest_within(opps, self.administrator.min(self.cooling_device))
    }
}

/// Index of the highest operating point of at most `khz`, the lowest if there is none
/// (`CPUFREQ_RELATION_H`, `cpufreq_frequency_table_verify`).
fn highest_within(opps: &[Opp], khz: u32) -> u32 {
    (opps.partition_point(|opp| opp.khz <= khz) as u32).saturating_sub(1)
}

/// The part of `capacity` that a policy lacks if its highest frequency is `khz` instead of `top`.
fn lack(capacity: u32, khz: u32, top: u32) -> u16 {
    let left = u64::from(capacity) * u64::from(khz.min(top)) / u64::from(top.max(1));
    (u64::from(capacity) - left) as u16
}

/// Thermal pressure over time.
#[derive(Debug)]
pub(crate) struct Pressure {
    /// Limits change in this run and the base's scheduler learns of it; else nothing here is used.
    pub used: bool,
    /// `rq->avg_thermal` of each CPU.
    average: Box<[Pelt]>,
}

impl Pressure {
    /// `limited`: limits change in this run; `rule`: [`alight_policy::Params::pressure`].
    pub fn new(limited: bool, rule: u32, cpus: usize) -> Self {
        let used = limited && rule != rule::PRESSURE_NONE;
        let nr = if used { cpus } else { 0 };
        Pressure {
            used,
            average: vec![Pelt::default(); nr].into(),
        }
    }
}

impl Power<'_> {
    /// Limits the policies of `cpus` to `khz` from now on.
    pub fn limit_frequency(&mut self, cpus: &CpuSet, by: Limit, khz: u32) {
        for domain in 0..self.freq.len() {
            let domain_cpus = &self.machine.freq_domains[domain].cpus;
            if domain_cpus.intersects(cpus) {
                self.freq[domain].limits.set(by, khz);
                self.limits_changed(domain);
            }
        }
    }

    /// `cpufreq_set_policy` with new limits, and the pressure that follows from them.
    fn limits_changed(&mut self, domain: usize) {
        let machine = self.machine;
        let opps = &machine.freq_domains[domain].opps;
        let limits = self.freq[domain].limits;
        let highest = limits.highest(opps);
        self.cpufreq_limit(domain, highest);
        let top = opps[opps.len() - 1].khz;
        let cooled = opps[highest_within(opps, limits.cooling_device) as usize].khz;
        for cpu in machine.freq_domains[domain].cpus.iter() {
            let world = self.world();
            let view = &mut world.core.cpus[cpu];
            let capacity = view.capacity_orig;
            match world.core.params.pressure {
                // `topology_update_thermal_pressure` counts in MHz.
                rule::PRESSURE_THERMAL => {
                    view.hw_pressure = lack(capacity, cooled / 1000, top / 1000);
                }
                rule::PRESSURE_AVERAGE => {
                    let khz = opps[highest as usize].khz;
                    view.cpufreq_pressure = lack(capacity, khz, top);
                }
                _ => {}
            }
        }
    }

    /// Updates the average of thermal pressure (`update_thermal_load_avg`, at ticks and with
    /// blocked load). True if it may have changed.
    pub fn pressure_refresh(&mut self, cpu: usize) -> bool {
        let view = &mut self.world.core.cpus[cpu];
        let average = &mut self.pressure.average[cpu];
        let changed = pelt::accumulate(average, view.clock, view.hw_pressure.into(), 0, 0);
        if changed {
            pelt::average(average, 1);
            view.hw_load_avg = average.load_avg as u16;
        }
        changed
    }
}

impl World<'_> {
    /// Notes whether limits leave `cpu` less capacity than a CPU of at most its size has. On
    /// 5.10.262 and 5.15.215 clamps then treat it as that small (`update_cpu_capacity`).
    pub fn note_inversion(&mut self, cpu: usize) {
        if self.core.params.fit != rule::FIT_CLAMPS_ALL || !self.energy_aware() {
            return;
        }
        let capacity = |cpu: usize| {
            let view = &self.core.cpus[cpu];
            let left = view.capacity_orig.saturating_sub(view.hw_load_avg.into());
            (view.capacity_orig, left)
        };
        let (orig, left) = capacity(cpu);
        let others = (self.core.perf.iter()).filter(|domain| !domain.span.contains(cpu as u32));
        let inverted = others
            .filter_map(|domain| domain.span.iter().next())
            .any(|other| {
                let (other_orig, other_left) = capacity(other as usize);
                match orig.cmp(&other_orig) {
                    std::cmp::Ordering::Less => false,
                    std::cmp::Ordering::Equal => other_left > left,
                    std::cmp::Ordering::Greater => other_orig > left,
                }
            });
        self.core.cpus[cpu].capacity_inverted = if inverted { left as u16 } else { 0 };
    }
}

impl FreqState {
    /// Index of the operating point of a governor that ignores utilization; `None`: schedutil.
    pub(crate) fn fixed(governor: Governor, domain: &FreqDomain, highest: u32) -> Option<u32> {
        match governor {
            Governor::Performance => Some(highest),
            Governor::Powersave => Some(0),
            Governor::Schedutil => None,
            // Rounded up to an operating point, within the limits (`cpufreq_userspace_policy_limits`).
            Governor::Userspace { khz } => {
                Some((lowest_at_least(&domain.opps, khz) as u32).min(highest))
            }
        }
    }
}

#[cfg(test)]
mod tests;
