// SPDX-License-Identifier: GPL-2.0-only
//! Checks that a request is possible on a machine: it has the CPUs, it can run at the frequencies,
//! and the run lasts until the times. A kernel clamps some of this silently. Here a value that can
//! only be a slip, such as MHz instead of kHz, is refused with a message that names the possible
//! values.

use crate::face::api::Error;
use crate::face::changes::{Action, Change};
use alight_machine::{CpuSet, FreqDomain, Governor, Machine};

/// A time in the largest unit that is exact: `5 s`, `32 ms`, `17 us`, `250 ns`.
pub fn time(ns: u64) -> String {
    for (unit, size) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)] {
        if ns >= size && ns.is_multiple_of(size) {
            return format!("{} {unit}", ns / size);
        }
    }
    format!("{ns} ns")
}

/// A computed time in the same form, rounded to the microsecond.
pub fn about(ns: u64) -> String {
    time((ns + 500) / 1000 * 1000)
}

/// Can all of `changes` be done on `machine`, in a run that ends at `end_ns` (`None`: not known)?
///
/// # Errors
/// The first change that is impossible: no such CPU, no CPU left online, a limit below all
/// operating points, or a time at or after the end of the run.
pub fn check_changes(
    changes: &[Change],
    machine: &Machine,
    end_ns: Option<u64>,
) -> Result<(), Error> {
    let mut changes: Vec<&Change> = changes.iter().collect();
    changes.sort_by_key(|change| change.at_ns);
    let nr = machine.cpus.len();
    let mut online = CpuSet::first_n(nr);
    for Change { at_ns, action } in changes {
        let (cpus, at) = (action.cpus(), time(*at_ns));
        let what = match action {
            Action::Offline(_) => "go off",
            Action::Online(_) => "come back",
            Action::Limit { .. } => "be limited",
            Action::CountAnew => "be counted",
        };
        if let Some(cpu) = cpus.iter().find(|&cpu| cpu >= nr) {
            return Err(Error::Refused(format!(
                "at {at} CPU {cpu} is to {what}; machine '{}' has CPUs 0 to {}",
                machine.name,
                nr - 1
            )));
        }
        if let Some(end) = end_ns.filter(|end| at_ns >= end) {
            let end = time(end);
            let what = match action {
                Action::CountAnew => "counts are to start anew".to_owned(),
                _ => format!("CPUs {cpus} are to {what}"),
            };
            return Err(Error::Refused(format!(
                "at {at} {what}; the run ends at {end}"
            )));
        }
        match action {
            Action::Offline(_) => online = online.difference(cpus),
            Action::Online(_) => online = online.union(cpus),
            Action::Limit { khz, .. } => check_limit(&at, cpus, *khz, machine)?,
            Action::CountAnew => {}
        }
        if online.is_empty() {
            return Err(Error::Refused(format!(
                "at {at} the last CPU of machine '{}' would go offline; one CPU must stay online",
                machine.name
            )));
        }
    }
    Ok(())
}

/// Checks that a limit leaves each CPU at least one operating point.
fn check_limit(at: &str, cpus: &CpuSet, khz: u32, machine: &Machine) -> Result<(), Error> {
    for cpu in cpus.iter() {
        let lowest = range(&machine.freq_domains[machine.cpus[cpu].freq_domain]).0;
        if khz < lowest {
            return Err(Error::Refused(format!(
                "at {at} CPU {cpu} is to be limited to {khz} kHz; its lowest operating point on \
                 machine '{}' is {lowest} kHz (frequencies are in kHz)",
                machine.name
            )));
        }
    }
    Ok(())
}

/// Can some CPU of `machine` run at the frequency that `governor` sets?
///
/// # Errors
/// If the frequency of the governor userspace is outside of all CPUs' operating points.
pub fn check_governor(governor: Governor, machine: &Machine) -> Result<(), Error> {
    let Governor::Userspace { khz } = governor else {
        return Ok(());
    };
    let ranges = || machine.freq_domains.iter().map(range);
    let lowest = ranges().map(|range| range.0).min().unwrap_or(0);
    let highest = ranges().map(|range| range.1).max().unwrap_or(0);
    if (lowest..=highest).contains(&khz) {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "governor userspace asks for {khz} kHz; the operating points of machine '{}' go from \
         {lowest} to {highest} kHz (frequencies are in kHz)",
        machine.name
    )))
}

/// CPUs that cannot run at the frequency of the governor userspace and take their nearest operating
/// point, with its frequency, kHz.
pub fn clamped_by_range(governor: Governor, machine: &Machine) -> Vec<(CpuSet, u32)> {
    let Governor::Userspace { khz } = governor else {
        return vec![];
    };
    let clamped = |domain: &FreqDomain| {
        let (lowest, highest) = range(domain);
        let nearest = khz.clamp(lowest, highest);
        (nearest != khz).then_some((domain.cpus, nearest))
    };
    machine.freq_domains.iter().filter_map(clamped).collect()
}

/// Lowest and highest frequency, kHz.
fn range(domain: &FreqDomain) -> (u32, u32) {
    let khz = || domain.opps.iter().map(|opp| opp.khz);
    (khz().min().unwrap_or(0), khz().max().unwrap_or(0))
}

#[cfg(test)]
mod tests;
