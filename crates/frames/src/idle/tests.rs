// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::small::{lines, trace};

fn small() -> Trace {
    let idle = |state| What::Idle { state };
    trace(&[
        (100, 0, idle(Some(1))),
        (150, 1, idle(Some(0))),
        (300, 0, idle(None)),
        (700, 0, idle(Some(1))),
    ])
}

#[test]
fn idle_states_are_told_by_cpu() {
    assert_eq!(
        lines(&cpus_idle(&small(), None).unwrap()),
        [
            "Time cpu state",
            "100 0 1",
            "150 1 0",
            "300 0 -1",
            "700 0 1"
        ]
    );
    let one = cpus_idle(&small(), Some(&[1])).unwrap();
    assert_eq!(lines(&one)[1..], ["150 1 0"]);
    assert_eq!(
        lines(&cpus_wakeups(&small()).unwrap()),
        ["Time cpu", "300 0"]
    );
}

#[test]
fn residency_begins_with_the_first_event_and_ends_with_the_trace() {
    let of = |cpu| lines(&cpu_idle_state_residency(&small(), cpu).unwrap());
    assert_eq!(of(0), ["idle_state time", "-1 4e-7", "1 5e-7"]);
    assert_eq!(of(1), ["idle_state time", "0 8.5e-7"]);
    assert_eq!(of(2), ["idle_state time"]);
}
