// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::small::{lines, trace};

fn small() -> Trace {
    let idle = |state| What::Idle { state };
    let clock = |khz| What::Frequency { khz };
    trace(&[
        (0, 0, clock(1000)),
        (100, 0, idle(None)),
        (200, 0, clock(2000)),
        (200, 1, clock(500)),
        (300, 0, idle(Some(0))),
        (400, 0, idle(None)),
        (500, 0, clock(1000)),
        (600, 0, clock(1000)),
    ])
}

#[test]
fn frequencies_are_told_by_cpu() {
    assert_eq!(
        lines(&cpus_frequency(&small(), Some(1)).unwrap()),
        ["Time cpu frequency", "200 1 500"]
    );
    assert_eq!(cpus_frequency(&small(), None).unwrap().rows(), 5);
}

#[test]
fn residency_is_split_by_idle_states() {
    assert_eq!(
        lines(&cpu_frequency_residency(&small(), 0).unwrap()),
        [
            "frequency total_time active_time",
            // 0 to 200 of which 100 are known to be awake, and 500 to 1000.
            "1000 7e-7 6e-7",
            // 200 to 500, asleep from 300 to 400.
            "2000 3e-7 2e-7",
        ]
    );
}

#[test]
fn a_frequency_that_is_told_again_is_no_transition() {
    assert_eq!(
        lines(&cpu_frequency_transitions(&small(), 0).unwrap()),
        ["frequency transitions", "1000 2", "2000 1"]
    );
}
