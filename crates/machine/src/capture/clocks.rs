// SPDX-License-Identifier: GPL-2.0-only
//! What the running kernel says about clocks: cpufreq, and the operating points of its energy model.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::facts::{Capacity, Gatherer};
use crate::cpuset::CpuSet;
use crate::error::Error;
use crate::schema::{KHZ, TIME_US};

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
    /// From the energy model, where they do not follow from the frequencies.
    pub capacity: Option<Vec<u64>>,
    pub switch_us: Option<u64>,
    pub fast_switch: bool,
    pub rate_limit_us: Option<u64>,
    /// Frequencies were read, not assumed.
    pub known: bool,
}

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
                let facts = self.freq(span.first().unwrap_or(0), capacity)?;
                domains.entry((capacity, facts)).or_default().push(span);
            }
        }
        if domains.keys().any(|(_, facts)| !facts.known) {
            self.note("the frequencies are not known: one frequency is used");
        }
        let assumed = (domains.iter()).filter(|((_, facts), _)| facts.power_uw.is_none());
        let assumed: Vec<CpuSet> = assumed.flat_map(|(_, spans)| spans.clone()).collect();
        self.note_unknown_powers(&assumed);
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

    fn freq(&mut self, cpu: usize, capacity: u64) -> Result<FreqFacts, Error> {
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
        let (khz, power_uw, capacity) = match self.energy_model(cpu, capacity)? {
            Some(points) => (points.khz, Some(points.power_uw), points.capacity),
            None => (self.frequencies(cpu)?, None, None),
        };
        let known = !khz.is_empty();
        Ok(FreqFacts {
            khz: if known {
                khz
            } else {
                vec![self.nominal_khz(cpu)?]
            },
            power_uw,
            capacity,
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
        if khz.iter().all(|&khz| khz == 0) {
            khz = self.limits(cpu)?;
        }
        khz.retain(|&khz| khz > 0);
        khz.sort_unstable();
        khz.dedup();
        Ok(khz)
    }

    /// What is known of the frequencies without a table of them.
    fn limits(&mut self, cpu: usize) -> Result<Vec<u64>, Error> {
        let read = |name: &str| {
            let path = self.cpu_file(cpu, &format!("cpufreq/{name}"));
            Ok::<_, Error>(self.number(&path, &CLOCK_KHZ)?.filter(|&khz| khz > 0))
        };
        let (lowest, highest) = (read("cpuinfo_min_freq")?, read("cpuinfo_max_freq")?);
        let base = match read("base_frequency")? {
            Some(khz) => Some(khz),
            None => self.nominal(cpu)?,
        };
        let between =
            |khz: &u64| lowest.is_some_and(|l| l < *khz) && highest.is_some_and(|h| *khz < h);
        let known = [
            ("lowest", lowest),
            ("base", base.filter(between)),
            ("highest", highest),
        ];
        let known = known
            .into_iter()
            .filter_map(|(what, khz)| Some((what, khz?)));
        let (what, khz): (Vec<&str>, Vec<u64>) = known.unzip();
        match what[..] {
            [] => {}
            [only] => self.note(&format!(
                "there is no frequency table: the {only} frequency is used"
            )),
            [ref before @ .., last] => self.note(&format!(
                "there is no frequency table: the {} and {last} frequencies are used",
                before.join(", ")
            )),
        }
        Ok(khz)
    }

    /// The frequency that the firmware calls nominal, kHz.
    fn nominal(&self, cpu: usize) -> Result<Option<u64>, Error> {
        let file = self.cpu_file(cpu, "acpi_cppc/nominal_freq");
        let mhz = self.number(&file, &NOMINAL_MHZ)?;
        Ok(mhz.filter(|&mhz| mhz > 0).map(|mhz| mhz * 1000))
    }

    /// The one frequency of a machine without cpufreq.
    fn nominal_khz(&mut self, cpu: usize) -> Result<u64, Error> {
        if let Some(khz) = self.nominal(cpu)? {
            return Ok(khz);
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
