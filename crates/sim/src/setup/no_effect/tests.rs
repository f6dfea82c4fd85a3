// SPDX-License-Identifier: GPL-2.0-only
//! Reports of changes without effect.

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
        // At one instant the order of the list counts.
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
        // CPUs of one frequency domain.
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
        // Two sources, each with its own limit.
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
