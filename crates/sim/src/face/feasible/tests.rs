// SPDX-License-Identifier: GPL-2.0-only
//! Refusals of changes and governors that a machine cannot carry out.

use super::*;
use crate::face::changes::Limit;

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
        // Sorted by time, not by the list.
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
    // Each CPU is checked by itself: the big ones begin at 1200 MHz.
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
