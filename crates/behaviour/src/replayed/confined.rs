// SPDX-License-Identifier: GPL-2.0-only
//! A replay whose tasks may use other CPUs than the recorded ones could.

use alight_machine::CpuSet;

use super::Taken;

/// Why a list names no CPUs of the machine.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("affinity '{list}': expected CPUs 0 to {last}, like 0-1,3")]
pub struct BadAffinity {
    list: String,
    last: usize,
}

impl Taken {
    /// The recording, with the workload's tasks replayed on these CPUs only, whatever affinity they
    /// had or took: a list like `0-1,3`. Tasks beside the workload keep theirs, unless they change it
    /// during the recording: then they are confined, too.
    ///
    /// # Errors
    /// The list is none, or names a CPU that the machine has not.
    pub fn confined(&self, list: &str) -> Result<Self, BadAffinity> {
        let nr_cpus = self.machine.cpus.len();
        let bad = || BadAffinity {
            list: list.to_owned(),
            last: nr_cpus.saturating_sub(1),
        };
        let cpus = cpus(list, nr_cpus).ok_or_else(bad)?;
        let mut taken = self.clone();
        let workload = &mut taken.replay.workload;
        let members = (workload.tasks.iter_mut().zip(&taken.replay.tasks))
            .filter(|(_, recorded)| recorded.member);
        for (number, (spec, _)) in (0..).zip(members) {
            spec.attributes.affinity = Some(cpus.clone());
            spec.attributes.lift_affinity = false;
            if let Some(begins) = spec.begins.as_mut().filter(|it| !cpus.contains(&it.cpu)) {
                let spread: usize = number;
                begins.cpu = cpus[spread % cpus.len()];
            }
        }
        // What tasks set later does not say whose it is.
        for attributes in &mut workload.attributes {
            if attributes.affinity.is_some() || attributes.lift_affinity {
                attributes.affinity = Some(cpus.clone());
                attributes.lift_affinity = false;
            }
        }
        Ok(taken)
    }
}

/// The CPUs of a list, in rising order, if all of them are of the machine.
fn cpus(list: &str, nr_cpus: usize) -> Option<Vec<u32>> {
    let set: CpuSet = list.parse().ok()?;
    let cpus: Vec<u32> = set.iter().map(|cpu| cpu as u32).collect();
    (cpus.last())
        .is_some_and(|last| (*last as usize) < nr_cpus)
        .then_some(cpus)
}

#[cfg(test)]
mod tests;
