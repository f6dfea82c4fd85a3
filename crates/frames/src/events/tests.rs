// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::small::{A, lines, switch, trace, wakeup};

#[test]
fn every_kind_has_a_table() {
    let trace = trace(&[(10, 0, wakeup(A, 1)), (20, 1, switch(0, 0, A))]);
    for name in EVENTS {
        let table = trace.event(name).unwrap();
        assert_eq!(table.columns()[0].name, "Time", "{name}");
        assert_eq!(table.columns()[1].name, "__cpu", "{name}");
        let rows = usize::from(matches!(name, "sched_wakeup" | "sched_switch"));
        assert_eq!(table.rows(), rows, "{name}");
    }
    assert_eq!(
        lines(&trace.event("sched_switch").unwrap()),
        [
            "Time __cpu prev_comm prev_pid prev_prio prev_state next_comm next_pid next_prio",
            "20 1 swapper 0 120 0 a 100 120"
        ]
    );
}

#[test]
fn leaving_idle_has_the_number_of_the_tracepoint() {
    let idle = |state| What::Idle { state };
    let trace = trace(&[(10, 0, idle(Some(2))), (20, 0, idle(None))]);
    assert_eq!(
        lines(&trace.event("cpu_idle").unwrap()),
        ["Time __cpu cpu_id state", "10 0 0 2", "20 0 0 4294967295"]
    );
}

#[test]
fn an_event_that_is_not_there_is_refused_with_the_reason() {
    let mut trace = trace(&[]);
    trace.untold = [("cpu_idle", "it was not asked for".to_owned())].into();
    assert_eq!(
        trace.event("cpu_idle").unwrap_err().to_string(),
        "the trace has no event `cpu_idle`: it was not asked for"
    );
    let unknown = trace.event("sched_swich").unwrap_err().to_string();
    assert!(unknown.starts_with("no event `sched_swich`; expected sched_switch, "));
    assert!(!trace.available().contains(&"cpu_idle"));
    assert_eq!(trace.available().len(), EVENTS.len() - 1);
}
