// SPDX-License-Identifier: GPL-2.0-only
//! What the running kernel says about clocks and their power: cpufreq and the
//! energy model.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::facts::{Capacity, Gatherer};
use crate::cpuset::CpuSet;
use crate::error::Error;
use crate::kernel::{ENERGY_MODEL, PerfDomain};
use crate::schema::{KHZ, POWER_UW, TIME_US};

/// A clock of 0 kHz is one that is not known.
const CLOCK_KHZ: RangeInclusive<u64> = 0..=*KHZ.end();
const NOMINAL_MHZ: RangeInclusive<u64> = 0..=*KHZ.end() / 1000;

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
        capacities: &[Capacity],
    ) -> Result<BTreeMap<(u64, FreqFacts), Vec<CpuSet>>, Error> {
        let mut policies = Vec::new();
        for cpu in 0..self.online.len() {
            let policy = self.policy(cpu)?;
            // SMT siblings have one clock, whatever their policies are.
            let siblings = core.iter().filter(|core| core.intersects(&policy));
            policies.push(siblings.fold(policy, |whole, core| whole.union(core)));
        }
        let spans = self.settled("a clock", core, |_, cpu| policies[cpu]);
        let mut domains: BTreeMap<(u64, FreqFacts), Vec<CpuSet>> = BTreeMap::new();
        for clock in spans {
            let of_one_capacity = by_capacity(clock, capacities);
            if of_one_capacity.len() > 1 {
                self.note(&format!(
                    "the CPUs {} share a clock but differ in capacity: each capacity gets a clock \
                     of its own",
                    self.theirs(&clock)
                ));
            }
            for (capacity, span) in of_one_capacity {
                let facts = self.freq(span.first().unwrap_or(0))?;
                domains.entry((capacity, facts)).or_default().push(span);
            }
        }
        if domains.keys().any(|(_, facts)| !facts.known) {
            self.note("the frequencies are not known: one frequency is used");
        }
        if domains.keys().any(|(_, facts)| facts.power_uw.is_none()) {
            self.note("no energy model can be read: powers are assumed");
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
        let number = |name: &str, range| self.number(&self.cpu_file(cpu, &file(name)), range);
        // The kernel says "unknown" with the largest number of 32 bits.
        let known = |latency: &u64| *latency < u64::from(u32::MAX);
        let switch_us = number("cpuinfo_transition_latency", &(0..=u64::MAX))?
            .filter(known)
            .map(|ns| ns / 1000);
        let rate_limit_us = number("schedutil/rate_limit_us", &TIME_US)?;
        let driver = self
            .tree
            .text(&self.cpu_file(cpu, &file("scaling_driver")))?;
        let fast_switch = driver.is_some_and(|d| FAST_SWITCH_DRIVERS.contains(&d.as_str()));
        let (khz, power_uw) = match self.energy_model(cpu)? {
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
            khz.extend(self.tree.numbers(&path, &CLOCK_KHZ)?.unwrap_or_default());
        }
        if khz.is_empty() {
            for name in ["cpuinfo_min_freq", "base_frequency", "cpuinfo_max_freq"] {
                let path = self.cpu_file(cpu, &format!("cpufreq/{name}"));
                khz.extend(self.number(&path, &CLOCK_KHZ)?);
            }
            if !khz.is_empty() {
                self.note(
                    "there is no frequency table: the lowest, base and highest frequency \
                    are used",
                );
            }
        }
        khz.retain(|&khz| khz > 0);
        khz.sort_unstable();
        khz.dedup();
        Ok(khz)
    }

    /// The one frequency of a machine without cpufreq.
    fn nominal_khz(&mut self, cpu: usize) -> Result<u64, Error> {
        let nominal = self.number(&self.cpu_file(cpu, "acpi_cppc/nominal_freq"), &NOMINAL_MHZ)?;
        if let Some(mhz) = nominal.filter(|&mhz| mhz > 0) {
            return Ok(mhz * 1000);
        }
        let cpuinfo = self.tree.text("proc/cpuinfo")?.unwrap_or_default();
        let mhz = cpuinfo
            .lines()
            .find_map(|line| line.strip_prefix("cpu MHz")?.split_once(':'))
            .and_then(|(_, mhz)| mhz.trim().split('.').next()?.parse::<u64>().ok());
        match mhz.filter(|mhz| *mhz > 0 && NOMINAL_MHZ.contains(mhz)) {
            Some(mhz) => Ok(mhz * 1000),
            None => {
                self.note("the clock is not known: 1 GHz is assumed");
                Ok(1_000_000)
            }
        }
    }

    /// The energy model of `cpu`, its frequencies rising.
    fn energy_model(&mut self, cpu: usize) -> Result<Option<EnergyModel>, Error> {
        let number = self.online[cpu];
        let holds = |domain: &&PerfDomain| domain.cpus.contains(number);
        let Some(domain) = self.energy_model.iter().find(holds) else {
            return Ok(None);
        };
        let (artificial, first) = (domain.artificial, domain.cpus.first().unwrap_or(number));
        let mut points: Vec<(u64, u64)> = (domain.states.iter())
            .map(|state| (state.frequency, domain.microwatts_of(state)))
            .collect();
        points.dedup_by_key(|(khz, _)| *khz);
        if let Some(&(khz, uw)) =
            (points.iter()).find(|(khz, uw)| !KHZ.contains(khz) || !POWER_UW.contains(uw))
        {
            return Err(Error::Captured {
                path: self
                    .tree
                    .path(&format!("{ENERGY_MODEL}/cpu{first}/ps:{khz}")),
                found: format!("{uw} uW at {khz} kHz"),
                expected: format!("up to {} uW at 1 to {} kHz", POWER_UW.end(), KHZ.end()),
            });
        }
        let mut highest = 0;
        for (khz, uw) in &mut points {
            if *uw < highest {
                self.note(&format!(
                    "the energy model has {uw} uW at {khz} kHz and {highest} uW at a lower \
                     frequency: {highest} uW is taken"
                ));
            }
            highest = highest.max(*uw);
            *uw = highest;
        }
        if artificial {
            self.note(
                "the energy model gives powers in an abstract unit: only their ratios have a \
                 meaning",
            );
        }
        Ok(Some(points.into_iter().unzip()))
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
                self.note("there is no cpufreq: `performance` is assumed");
                None
            }
        })
    }
}

/// The CPUs of a clock by their capacity.
fn by_capacity(clock: CpuSet, capacities: &[Capacity]) -> BTreeMap<u64, CpuSet> {
    let mut spans: BTreeMap<u64, CpuSet> = BTreeMap::new();
    for cpu in &clock {
        let (capacity, _) = capacities[cpu];
        spans.entry(capacity).or_default().insert(cpu);
    }
    spans
}
