// SPDX-License-Identifier: GPL-2.0-only
//! The order in which the kernel fills the CPUs of an x86 machine (ITMT): as its cpufreq driver ranks
//! them, if it does.

use super::facts::Gatherer;
use super::speeds::NO_RATING;
use crate::cpuset::CpuSet;
use crate::error::Error;
use crate::model::ItmtDriver;
use std::collections::BTreeMap;

/// The CPUs by their priorities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ranks {
    pub driver: ItmtDriver,
    pub cpus: BTreeMap<u64, CpuSet>,
}

/// The switch of the priorities: up to 6.12, and later (arch/x86/kernel/itmt.c).
const SWITCHES: [&str; 2] = [
    "proc/sys/kernel/sched_itmt_enabled",
    "sys/kernel/debug/x86/sched_itmt_enabled",
];

/// Whether amd-pstate gives its ranking to the scheduler. 6.12 shows the ranking either way, 7.2 does
/// not (drivers/cpufreq/amd-pstate.c, `amd_pstate_init_prefcore`, `prefcore_visibility`).
const PREFERRED_CORES: &str = "sys/devices/system/cpu/amd_pstate/prefcore";

impl Gatherer<'_> {
    /// `None`: the kernel has no priorities, or none that differ. They are kept beside unlike
    /// capacities: which of the two count, the base decides.
    pub(super) fn ranks(&mut self, core: &[CpuSet]) -> Result<Option<Ranks>, Error> {
        let Some((driver, file)) = self.ranked_by()? else {
            return Ok(None);
        };
        let mut cpus: BTreeMap<u64, CpuSet> = BTreeMap::new();
        for threads in core {
            let first = threads.first().unwrap_or(0);
            match self.tree.number(&self.cpu_file(first, file))? {
                Some(priority @ 1..NO_RATING) => {
                    let of_priority = cpus.entry(priority).or_default();
                    *of_priority = of_priority.union(threads);
                }
                _ => return Ok(None),
            }
        }
        if cpus.len() < 2 {
            return Ok(None);
        }
        if let Some(switch) = self.switched_off(driver)? {
            self.note(&format!(
                "the firmware ranks the cores, but /{switch} says that this kernel does not follow \
                 it: [itmt] is left out"
            ));
            return Ok(None);
        }
        Ok(Some(Ranks { driver, cpus }))
    }

    /// The file that says that the kernel does not follow the ranking.
    fn switched_off(&self, driver: ItmtDriver) -> Result<Option<&'static str>, Error> {
        for switch in SWITCHES {
            let on = self
                .tree
                .parsed(switch, "0, 1, N or Y", |text| match text {
                    "0" | "N" => Some(false),
                    "1" | "Y" => Some(true),
                    _ => None,
                })?;
            if on == Some(false) {
                return Ok(Some(switch));
            }
        }
        let preferred = self.tree.text(PREFERRED_CORES)?;
        let off = driver == ItmtDriver::AmdPstate && preferred.as_deref() == Some("disabled");
        Ok(off.then_some(PREFERRED_CORES))
    }

    /// The driver, and the file of a CPU with its priority.
    fn ranked_by(&self) -> Result<Option<(ItmtDriver, &'static str)>, Error> {
        let driver = self
            .tree
            .text(&self.cpu_file(0, "cpufreq/scaling_driver"))?;
        let amd = "cpufreq/amd_pstate_prefcore_ranking";
        Ok(match driver.as_deref().map(str::trim) {
            Some("intel_pstate" | "intel_cpufreq") => {
                Some((ItmtDriver::IntelPstate, "acpi_cppc/highest_perf"))
            }
            _ if self.tree.text(&self.cpu_file(0, amd))?.is_some() => {
                Some((ItmtDriver::AmdPstate, amd))
            }
            _ => None,
        })
    }
}
