// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::events::What;
use crate::small::{A, B, lines, switch, trace, wakeup as woken};

type Of = fn(&Trace, &TaskId) -> Result<Table, NoTable>;

#[test]
fn waits_are_counted_from_the_wakeup_or_the_preemption() {
    let events: &[(u64, u32, What)] = &[
        (100, 0, woken(A, 1)),
        (150, 1, switch(0, 0, A)),
        (200, 1, switch(A, 0, B)),
        (230, 1, switch(B, 1, A)),
        // Woken on its way to sleep: the run goes on until the switch.
        (250, 0, woken(A, 1)),
        (260, 1, switch(A, 1, 0)),
        (300, 0, woken(A, 0)),
        (310, 0, switch(0, 0, A)),
    ];
    let trace = trace(events);
    let cases: [(Of, &[&str]); 4] = [
        (
            wakeup,
            &[
                "Time wakeup_latency cpu target_cpu",
                "100 5e-8 0 1",
                "300 1e-8 0 0",
            ],
        ),
        (preemption, &["Time preempt_latency cpu", "200 3e-8 1"]),
        (
            activations,
            &[
                "Time activation_interval",
                "100 -",
                "250 1.5e-7",
                "300 5e-8",
            ],
        ),
        (
            runtimes,
            &["Time curr_state running_time", "200 0 5e-8", "260 1 8e-8"],
        ),
    ];
    for (of, expected) in cases {
        assert_eq!(lines(&of(&trace, &TaskId::pid(A)).unwrap()), expected);
        assert!(of(&trace, &TaskId::pid(7)).is_err());
    }
}

#[test]
fn a_task_without_events_has_empty_tables() {
    let trace = trace(&[]);
    for of in [wakeup, preemption, activations, runtimes] as [Of; 4] {
        assert_eq!(of(&trace, &TaskId::pid(A)).unwrap().rows(), 0);
    }
}
