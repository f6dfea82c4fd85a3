// SPDX-License-Identifier: GPL-2.0-only
//! What is asked of a machine may be possible and yet do nothing: a CPU that is off goes off, a limit is
//! where no operating point is above it. The kernel takes that in silence; here it is told, for it is
//! rarely what was meant.

use std::collections::BTreeMap;

use crate::changes::{Action, Change};
use crate::feasible::time;
use crate::pressure::Limit;
use alight_machine::{CpuSet, Machine};

/// Sentences on `changes`, which are done in the order of their times: of those that do nothing on
/// `machine`, why, and of those that stand behind a later one, when they are done.
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

/// The machine as the changes so far leave it.
#[derive(Default)]
struct Found {
    /// CPUs that are off, and since when, ns.
    off: BTreeMap<usize, u64>,
    /// Limits that are in force, by frequency domain and by who sets them, kHz.
    limits: BTreeMap<(usize, bool), u32>,
}

impl Found {
    /// Makes the change; says why it does nothing, if for no CPU of it.
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
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn set(cpus: &str) -> CpuSet {
        cpus.parse().expect("a list of CPUs")
    }

    /// `(ms, "off" or "on", CPUs)`
    fn hotplug(&(at, what, cpus): &(u64, &str, &str)) -> Change {
        let action = match what {
            "off" => Action::Offline(set(cpus)),
            _ => Action::Online(set(cpus)),
        };
        Change {
            at_ns: at * MS,
            action,
        }
    }

    fn limit(&(at, cpus, by, khz): &(u64, &str, Limit, u32)) -> Change {
        let cpus = set(cpus);
        Change {
            at_ns: at * MS,
            action: Action::Limit { cpus, by, khz },
        }
    }

    #[test]
    fn cpus_that_are_off_already_or_back_already_are_told() {
        let machine = Machine::load("juno-r0").expect("built in");
        type Case<'a> = (&'a [(u64, &'a str, &'a str)], &'a [&'a str]);
        let cases: [Case; 6] = [
            (&[(1, "off", "2-3"), (2, "on", "2"), (3, "on", "3")], &[]),
            (
                &[(1, "off", "2-3"), (2, "off", "3-4")],
                &["at 2 ms CPU 3 is off already, since 1 ms"],
            ),
            (&[(5, "on", "1-2")], &["at 5 ms CPUs 1-2 are not off"]),
            (
                &[(1, "off", "1"), (2, "on", "1"), (3, "on", "1")],
                &["at 3 ms CPU 1 is not off"],
            ),
            (
                &[(9, "on", "2"), (4, "off", "2")],
                &[
                    "the change at 4 ms is listed after the one at 9 ms; changes are made in the order of their times",
                ],
            ),
            // Of one instant, in the order given.
            (&[(1, "off", "2"), (1, "on", "2")], &[]),
        ];
        for (changes, expected) in cases {
            let changes: Vec<Change> = changes.iter().map(hotplug).collect();
            assert_eq!(without_effect(&changes, &machine), expected, "{changes:?}");
        }
    }

    /// The big CPUs of a Juno r0 are 1 and 2, and end at 1100 MHz.
    #[test]
    fn limits_that_limit_nothing_are_told() {
        use Limit::{Administrator, CoolingDevice};
        let machine = Machine::load("juno-r0").expect("built in");
        type Case<'a> = (&'a [(u64, &'a str, Limit, u32)], &'a [&'a str]);
        let cases: [Case; 6] = [
            (
                &[
                    (1, "1", Administrator, 450_000),
                    (2, "1", Administrator, u32::MAX),
                ],
                &[],
            ),
            (
                &[(1, "1", Administrator, u32::MAX)],
                &["at 1 ms CPU 1 is not limited"],
            ),
            (
                &[(1, "1-2", Administrator, 1_100_000)],
                &[
                    "at 1 ms a limit of 1100000 kHz changes nothing on CPUs 1-2: they are limited to that \
                   already, or have no operating point above it",
                ],
            ),
            (
                &[
                    (1, "1", Administrator, 450_000),
                    (2, "1", Administrator, 450_000),
                ],
                &[
                    "at 2 ms a limit of 450000 kHz changes nothing on CPUs 1: they are limited to that \
                   already, or have no operating point above it",
                ],
            ),
            // CPUs of one clock.
            (
                &[
                    (1, "1", Administrator, 450_000),
                    (2, "2", Administrator, 450_000),
                ],
                &[
                    "at 2 ms a limit of 450000 kHz changes nothing on CPUs 2: they are limited to that \
                   already, or have no operating point above it",
                ],
            ),
            // Two that limit, each for itself.
            (
                &[
                    (1, "1", Administrator, 450_000),
                    (2, "1", CoolingDevice, 450_000),
                ],
                &[],
            ),
        ];
        for (changes, expected) in cases {
            let changes: Vec<Change> = changes.iter().map(limit).collect();
            assert_eq!(without_effect(&changes, &machine), expected, "{changes:?}");
        }
    }
}
