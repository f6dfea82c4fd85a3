// SPDX-License-Identifier: GPL-2.0-only
//! What is asked of a machine must be possible there: CPUs that it has, frequencies that it
//! can run at, times at which the run goes on. A kernel clamps some of this in silence; here a
//! value that can only be a slip, such as MHz where kHz are meant, is refused with what
//! there is.

use crate::api::Error;
use crate::changes::{Action, Change};
use alight_machine::{CpuSet, FreqDomain, Governor, Machine};

/// A time with the unit that suits it: `5 s`, `32 ms`, `17 us`, `250 ns`; exact.
pub fn time(ns: u64) -> String {
    for (unit, size) in [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)] {
        if ns >= size && ns.is_multiple_of(size) {
            return format!("{} {unit}", ns / size);
        }
    }
    format!("{ns} ns")
}

/// The same of a time that nobody typed, to the microsecond.
pub fn about(ns: u64) -> String {
    time((ns + 500) / 1000 * 1000)
}

/// Can all of `changes` be done on `machine`, in a run that ends at `end_ns` if that is known?
///
/// # Errors
/// The first that cannot: no such CPU, none left, a limit below all operating points, or
/// nothing runs any more by then.
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
                "at {at} the last CPU of machine '{}' would go offline; one has to stay",
                machine.name
            )));
        }
    }
    Ok(())
}

/// A limit leaves each CPU some operating point.
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

/// Can any CPU of `machine` run as `governor` has it?
///
/// # Errors
/// If the speed of userspace lies outside of all CPUs' operating points.
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

/// CPUs that cannot run at the speed of userspace and take their nearest operating point, with
/// its frequency, kHz.
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
mod tests {
    use super::*;
    use crate::pressure::Limit;

    fn set(cpus: &str) -> CpuSet {
        cpus.parse().expect("a list of CPUs")
    }

    fn off(at_ns: u64, cpus: &str) -> Change {
        Change {
            at_ns,
            action: Action::Offline(set(cpus)),
        }
    }

    fn on(at_ns: u64, cpus: &str) -> Change {
        Change {
            at_ns,
            action: Action::Online(set(cpus)),
        }
    }

    fn limit(at_ns: u64, cpus: &str, khz: u32) -> Change {
        let (cpus, by) = (set(cpus), Limit::Administrator);
        Change {
            at_ns,
            action: Action::Limit { cpus, by, khz },
        }
    }

    fn refusal(changes: &[Change], machine: &Machine, end: Option<u64>) -> String {
        match check_changes(changes, machine, end) {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn what_cannot_be_done_is_refused_with_what_there_is() {
        let machine = Machine::load("juno-r0").expect("built in");
        for (changes, end, why) in [
            (vec![off(1, "0-4")], None, ""),
            (
                vec![off(20_000_000, "9")],
                None,
                "at 20 ms CPU 9 is to go off; machine 'juno-r0' has CPUs 0 to 5",
            ),
            (vec![off(7000, "0-5")], None, "at 7 us the last CPU"),
            // In the order of time, not in that of the list.
            (vec![off(5, "1-5"), off(9, "0"), on(7, "2")], None, ""),
            (
                vec![off(5, "1-5"), off(9, "0"), on(11, "2")],
                None,
                "at 9 ns",
            ),
            (vec![off(SECOND - 1, "1")], Some(SECOND), ""),
            (
                vec![off(SECOND, "1")],
                Some(SECOND),
                "at 1 s CPUs 1 are to go off; the run ends at 1 s",
            ),
            (
                vec![Change {
                    at_ns: 2 * SECOND,
                    action: Action::CountAnew,
                }],
                Some(SECOND),
                "at 2 s counts are to start anew; the run ends at 1 s",
            ),
            (vec![limit(0, "0", 450_000)], None, ""),
            (vec![limit(0, "0", u32::MAX)], None, ""),
            (
                vec![limit(SECOND, "3-5", 1200)],
                None,
                "at 1 s CPU 3 is to be limited to 1200 kHz; its lowest operating point on \
                 machine 'juno-r0' is 450000 kHz",
            ),
        ] {
            let found = refusal(&changes, &machine, end);
            assert_eq!(found.is_empty(), why.is_empty(), "{changes:?}: {found}");
            assert!(found.contains(why), "{changes:?}: {found}");
        }
        // Of each CPU by itself: the big ones begin at 1200 MHz.
        let machine = Machine::load("rk3588").expect("built in");
        let found = refusal(&[limit(0, "0-7", 1_008_000)], &machine, None);
        assert!(found.contains("CPU 4 is to be limited"), "{found}");
    }

    #[test]
    fn a_speed_is_one_that_some_cpu_has_between_its_ends() {
        let machine = Machine::load("juno-r0").expect("built in");
        let asked = |khz| check_governor(Governor::Userspace { khz }, &machine);
        for khz in [450_000, 500_000, 1_100_000] {
            assert!(asked(khz).is_ok(), "{khz}");
        }
        for khz in [800, 449_999, 1_100_001] {
            let why = asked(khz).expect_err("refused").to_string();
            assert!(why.contains("from 450000 to 1100000 kHz"), "{why}");
        }
        // The LITTLE CPUs end at 850 MHz.
        let clamped = |khz| clamped_by_range(Governor::Userspace { khz }, &machine);
        assert_eq!(clamped(500_000), []);
        assert_eq!(clamped(1_000_000), [(set("0,3-5"), 850_000)]);
        assert_eq!(clamped_by_range(Governor::Schedutil, &machine), []);
    }
}
