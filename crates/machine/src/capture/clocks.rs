// SPDX-License-Identifier: GPL-2.0-only
//! What the running kernel says about clocks and their power: cpufreq and the
//! energy model.

use std::collections::BTreeMap;

use super::facts::Gatherer;
use crate::cpuset::CpuSet;
use crate::error::Error;
use crate::kernel::PerfDomain;

/// cpufreq drivers that can change the clock from the scheduler's context.
const FAST_SWITCH_DRIVERS: [&str; 6] = [
    "acpi-cpufreq",
    "amd-pstate",
    "cppc_cpufreq",
    "intel_cpufreq",
    "qcom-cpufreq-hw",
    "scmi",
];

/// Drivers whose governor `powersave` follows the load.
const SELF_GOVERNED_DRIVERS: [&str; 2] = ["intel_pstate", "amd-pstate-epp"];

/// What clocks of one kind have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FreqFacts {
    pub khz: Vec<u64>,
    /// From the energy model, uW.
    pub power_uw: Option<Vec<u64>>,
    pub switch_us: Option<u64>,
    pub fast_switch: bool,
    pub rate_limit_us: Option<u64>,
    /// Frequencies were read, not assumed.
    pub known: bool,
}

/// Frequencies (kHz) and powers (uW) of the kernel's energy model.
type EnergyModel = (Vec<u64>, Vec<u64>);

impl Gatherer<'_> {
    pub(super) fn freq_domains(
        &mut self,
        core: &[CpuSet],
    ) -> Result<BTreeMap<FreqFacts, Vec<CpuSet>>, Error> {
        let policies: Vec<CpuSet> = (0..self.online.len())
            .map(|cpu| self.policy(cpu))
            .collect::<Result<_, _>>()?;
        let spans = self.partition(|cpu| policies[cpu]);
        let spans = merge_siblings(spans, core);
        let mut domains: BTreeMap<FreqFacts, Vec<CpuSet>> = BTreeMap::new();
        for span in spans {
            let Some(cpu) = span.first() else { continue };
            let facts = self.freq(cpu)?;
            domains.entry(facts).or_default().push(span);
        }
        if domains.keys().any(|facts| !facts.known) {
            self.note("frequencies are not known: one frequency is used");
        }
        if domains.keys().any(|facts| facts.power_uw.is_none()) {
            self.note("there is no readable energy model: powers are assumed");
        }
        Ok(domains)
    }

    /// CPUs that share the clock of `cpu`.
    fn policy(&self, cpu: usize) -> Result<CpuSet, Error> {
        for file in ["cpufreq/related_cpus", "cpufreq/affected_cpus"] {
            if let Some(set) = self.tree.cpus(&self.cpu_file(cpu, file))? {
                return Ok(self.ours(&set));
            }
        }
        Ok(CpuSet::single(cpu))
    }

    fn freq(&mut self, cpu: usize) -> Result<FreqFacts, Error> {
        let file = |name: &str| format!("cpufreq/{name}");
        let number = |name: &str| self.tree.number(&self.cpu_file(cpu, &file(name)));
        // The kernel says "unknown" with the largest number of 32 bits.
        let known = |latency: &u64| *latency < u64::from(u32::MAX);
        let switch_us = number("cpuinfo_transition_latency")?
            .filter(known)
            .map(|ns| ns / 1000);
        let rate_limit_us = number("schedutil/rate_limit_us")?;
        let driver = self
            .tree
            .text(&self.cpu_file(cpu, &file("scaling_driver")))?;
        let fast_switch = driver.is_some_and(|d| FAST_SWITCH_DRIVERS.contains(&d.as_str()));
        let (khz, power_uw) = match self.energy_model(cpu) {
            Some((khz, power)) => (khz, Some(power)),
            None => (self.frequencies(cpu)?, None),
        };
        let known = !khz.is_empty();
        Ok(FreqFacts {
            khz: if known {
                khz
            } else {
                vec![self.nominal_khz(cpu)?]
            },
            power_uw,
            switch_us,
            fast_switch,
            rate_limit_us,
            known,
        })
    }

    /// The frequency table, or what is known of it: lowest, base and highest.
    fn frequencies(&mut self, cpu: usize) -> Result<Vec<u64>, Error> {
        let mut khz = Vec::new();
        for name in ["scaling_available_frequencies", "scaling_boost_frequencies"] {
            let path = self.cpu_file(cpu, &format!("cpufreq/{name}"));
            khz.extend(self.tree.numbers(&path)?.unwrap_or_default());
        }
        if khz.is_empty() {
            for name in ["cpuinfo_min_freq", "base_frequency", "cpuinfo_max_freq"] {
                let path = self.cpu_file(cpu, &format!("cpufreq/{name}"));
                khz.extend(self.tree.number(&path)?);
            }
            if !khz.is_empty() {
                self.note("there is no frequency table: lowest, base and highest are used");
            }
        }
        khz.retain(|&khz| khz > 0);
        khz.sort_unstable();
        khz.dedup();
        Ok(khz)
    }

    /// The one frequency of a machine without cpufreq.
    fn nominal_khz(&mut self, cpu: usize) -> Result<u64, Error> {
        let nominal = self
            .tree
            .number(&self.cpu_file(cpu, "acpi_cppc/nominal_freq"))?;
        if let Some(mhz) = nominal.filter(|&mhz| mhz > 0) {
            return Ok(mhz.saturating_mul(1000));
        }
        let cpuinfo = self.tree.text("proc/cpuinfo")?.unwrap_or_default();
        let mhz = cpuinfo
            .lines()
            .find_map(|line| line.strip_prefix("cpu MHz")?.split_once(':'))
            .and_then(|(_, mhz)| mhz.trim().split('.').next()?.parse::<u64>().ok());
        match mhz.filter(|&mhz| mhz > 0) {
            Some(mhz) => Ok(mhz.saturating_mul(1000)),
            None => {
                self.note("the clock is not known: 1 GHz assumed");
                Ok(1_000_000)
            }
        }
    }

    /// The energy model of the domain that begins with `cpu`.
    fn energy_model(&mut self, cpu: usize) -> Option<EnergyModel> {
        let number = self.online[cpu];
        let begins = |domain: &&PerfDomain| domain.cpus.first() == Some(number);
        let domain = self.energy_model.iter().find(begins)?;
        let states = domain.states.iter();
        let model = states
            .map(|state| (state.frequency, domain.microwatts_of(state)))
            .unzip();
        if domain.artificial {
            self.note(
                "the energy model has powers in a unit of its own: only ratios mean anything",
            );
        }
        Some(model)
    }

    /// The governor in use, as far as it is modelled; `None` without cpufreq.
    pub(super) fn governor(&mut self) -> Result<Option<&'static str>, Error> {
        let governor = self
            .tree
            .text(&self.cpu_file(0, "cpufreq/scaling_governor"))?;
        let driver = self
            .tree
            .text(&self.cpu_file(0, "cpufreq/scaling_driver"))?;
        let self_governed = driver.is_some_and(|d| SELF_GOVERNED_DRIVERS.contains(&d.as_str()));
        Ok(match governor.as_deref() {
            Some("performance") => Some("performance"),
            Some("powersave") if !self_governed => Some("powersave"),
            Some("schedutil") => Some("schedutil"),
            Some(other) => {
                self.note(&format!(
                    "the governor `{other}` is modelled as `schedutil`"
                ));
                Some("schedutil")
            }
            None => {
                self.note("there is no cpufreq: `performance` assumed");
                None
            }
        })
    }
}

/// SMT siblings have one clock, whatever their policies are.
fn merge_siblings(spans: Vec<CpuSet>, core: &[CpuSet]) -> Vec<CpuSet> {
    let mut merged: Vec<CpuSet> = Vec::new();
    for span in spans {
        let siblings = core.iter().filter(|set| set.intersects(&span));
        let whole = siblings.fold(span, |whole, set| whole.union(set));
        match merged.iter_mut().find(|known| known.intersects(&whole)) {
            Some(known) => *known = known.union(&whole),
            None => merged.push(whole),
        }
    }
    merged
}
