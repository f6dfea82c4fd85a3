// SPDX-License-Identifier: GPL-2.0-only
//! Checks of the machine that a run relies on later.

use crate::face::api::Error;
use alight_machine::{CpuSet, Machine};

/// Checks that the core type, frequency domain and cluster of each CPU exist and contain it.
/// Machine files are checked when they are read, but a machine can be made in other ways.
///
/// # Errors
/// The first CPU that fails the check.
pub(super) fn check(machine: &Machine) -> Result<(), Error> {
    let refuse = |what: String| {
        Err(Error::Refused(format!(
            "machine '{}': {what}",
            machine.name
        )))
    };
    let nr = machine.cpus.len();
    let (domains, clusters) = (&machine.freq_domains, &machine.clusters);
    let sets = (domains.iter().map(|d| &d.cpus)).chain(clusters.iter().map(|c| &c.cpus));
    for set in sets {
        if let Some(cpu) = set.iter().find(|&cpu| cpu >= nr) {
            return refuse(format!("it has {nr} CPUs, none of them is CPU {cpu}"));
        }
    }
    let knows = |set: Option<&CpuSet>, cpu| set.is_some_and(|set| set.contains(cpu));
    for (cpu, at) in machine.cpus.iter().enumerate() {
        let domain = domains.get(at.freq_domain).map(|d| &d.cpus);
        let cluster = clusters.get(at.cluster).map(|c| &c.cpus);
        let claims = [
            (
                at.core_type < machine.core_types.len(),
                "core type",
                at.core_type,
            ),
            (knows(domain, cpu), "frequency domain", at.freq_domain),
            (knows(cluster, cpu), "cluster", at.cluster),
        ];
        if let Some((_, what, index)) = claims.iter().find(|(holds, ..)| !holds) {
            return refuse(format!("CPU {cpu} is in no {what} {index}"));
        }
    }
    Ok(())
}
