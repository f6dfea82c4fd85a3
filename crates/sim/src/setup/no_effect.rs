// SPDX-License-Identifier: GPL-2.0-only
//! Changes of the machine that are possible but have no effect: a CPU that is offline goes offline,
//! or a limit is above all operating points. The kernel accepts these silently. Here they are
//! reported, since they are rarely intended.

use std::collections::BTreeMap;

use crate::face::changes::{Action, Change, Limit};
use crate::face::feasible::time;
use alight_machine::{CpuSet, Machine};

/// Sentences on `changes`, which are applied in the order of their times: why some have no effect
/// on `machine`, and which are listed after a later one.
pub fn without_effect(changes: &[Change], machine: &Machine) -> Vec<String> {
    let mut told = out_of_order(changes);
    let mut sorted: Vec<&Change> = changes.iter().collect();
    sorted.sort_by_key(|change| change.at_ns);
    let mut found = Found::default();
    let of_each = sorted.into_iter();
    told.extend(of_each.filter_map(|change| found.does_nothing(change, machine)));
    told
}

/// `CPU 1 is`, `CPUs 1-2 are`.
fn are(cpus: &CpuSet) -> String {
    match cpus.iter().count() {
        1 => format!("CPU {cpus} is"),
        _ => format!("CPUs {cpus} are"),
    }
}

fn out_of_order(changes: &[Change]) -> Vec<String> {
    let behind = |pair: &[Change]| {
        let (before, this) = (time(pair[0].at_ns), time(pair[1].at_ns));
        (pair[1].at_ns < pair[0].at_ns).then(|| {
            format!(
                "the change at {this} is listed after the one at {before}; changes are made in the order of their times"
            )
        })
    };
    changes.windows(2).filter_map(behind).collect()
}

/// The state of the machine after the changes so far.
#[derive(Default)]
struct Found {
    /// CPUs that are offline, with the time since then, ns.
    off: BTreeMap<usize, u64>,
    /// Present limits, by frequency domain and by source (true: cooling device), kHz.
    limits: BTreeMap<(usize, bool), u32>,
}

impl Found {
    /// Applies the change. Returns the reason if some of its CPUs are in that state already, or if
    /// a limit changes nothing on any of its CPUs.
    fn does_nothing(&mut self, change: &Change, machine: &Machine) -> Option<String> {
        let at = time(change.at_ns);
        match &change.action {
            Action::Offline(cpus) => {
                let idle = |cpu: &usize| self.off.contains_key(cpu);
                let already: CpuSet = cpus.iter().filter(idle).collect();
                let since = already.iter().next().map(|cpu| time(self.off[&cpu]));
                for cpu in cpus.iter() {
                    self.off.entry(cpu).or_insert(change.at_ns);
                }
                since.map(|since| format!("at {at} {} off already, since {since}", are(&already)))
            }
            Action::Online(cpus) => {
                let there = |cpu: &usize| !self.off.contains_key(cpu);
                let already: CpuSet = cpus.iter().filter(there).collect();
                self.off.retain(|&cpu, _| !cpus.contains(cpu));
                (!already.is_empty()).then(|| format!("at {at} {} not off", are(&already)))
            }
            Action::Limit { cpus, by, khz } => {
                let by_device = *by == Limit::CoolingDevice;
                let mut acts = false;
                for cpu in cpus.iter() {
                    let domain = machine.cpus[cpu].freq_domain;
                    let opps = machine.freq_domains[domain].opps.iter();
                    let top = opps.map(|opp| opp.khz).max().unwrap_or(0);
                    let new = (*khz).min(top);
                    let old = self.limits.insert((domain, by_device), new);
                    acts |= old.unwrap_or(top) != new;
                }
                (!acts).then(|| match *khz {
                    u32::MAX => format!("at {at} {} not limited", are(cpus)),
                    khz => format!(
                        "at {at} a limit of {khz} kHz changes nothing on CPUs {cpus}: they are limited to \
                         that already, or have no operating point above it"
                    ),
                })
            }
            Action::CountAnew => None,
        }
    }
}

#[cfg(test)]
mod tests;
