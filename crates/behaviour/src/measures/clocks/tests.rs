// SPDX-License-Identifier: GPL-2.0-only
//! Time at clocks, told event by event.

use std::collections::BTreeMap;

use alight_trace::{Event, PrevState, Sink, TaskRef};

use crate::measures::{Gathered, Window};

const OURS: u32 = 10;
const OTHER: u32 = 11;

/// juno-r0: CPU 0 has 450 to 850 MHz, CPU 1 up to 1100 MHz.
#[test]
fn time_is_booked_at_the_clock_that_is_known() {
    let machine = alight_machine::load("juno-r0").unwrap().machine;
    let khz = |cpu: usize, at: usize| {
        let domain = machine.cpus[cpu].freq_domain;
        machine.freq_domains[domain].opps[at].khz
    };
    let (low, high) = (khz(0, 0), khz(0, 1));
    let switch = |prev, next| Event::Switch {
        prev: TaskRef {
            pid: prev,
            prio: 120,
        },
        prev_state: PrevState::Sleeping,
        next: TaskRef {
            pid: next,
            prio: 120,
        },
    };
    let story = [
        // Its clock is not known yet.
        (0, switch(0, OURS)),
        (100, Event::Frequency { khz: low + 1 }),
        (400, switch(OURS, OTHER)),
        (500, switch(OTHER, OURS)),
        (600, Event::Frequency { khz: high - 1 }),
        (1000, switch(OURS, 0)),
        // Behind the window.
        (1200, switch(0, OURS)),
    ];
    let mut gathered = Gathered::default();
    for (at, event) in story {
        gathered.event(at, 0, event).unwrap();
    }
    let window = Window {
        from: 50,
        to: 900,
        tasks: 1,
    };
    let (by_mhz, slices) = gathered.clocks_of(&[OURS].into(), window, &machine);
    let expected = BTreeMap::from([(low / 1000, 300 + 100), (high / 1000, 300)]);
    assert_eq!((by_mhz, slices), (expected, 2));
}
