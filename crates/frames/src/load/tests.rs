// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::small::{A, B, lines, trace};

fn small() -> Trace {
    let task = |pid, util| What::Task {
        pid,
        util,
        load: 2 * util,
        enqueued: util + 1,
        ewma: util + 2,
    };
    let queue = |util| What::Queue { util, load: util };
    trace(&[
        (10, 0, task(A, 500)),
        (10, 0, queue(500)),
        (20, 1, task(B, 600)),
        (20, 1, queue(600)),
        (30, 1, What::Capacity { value: 900 }),
    ])
}

#[test]
fn signals_of_tasks_are_told_by_name() {
    for (signal, expected) in [
        ("util", [500, 600]),
        ("load", [1000, 1200]),
        ("enqueued", [501, 601]),
        ("ewma", [502, 602]),
        ("required_capacity", [512, 1024]),
    ] {
        assert_eq!(
            lines(&tasks_signal(&small(), signal, None).unwrap()),
            [
                format!("Time comm cpu pid {signal}"),
                format!("10 a 0 100 {}", expected[0]),
                format!("20 b 1 101 {}", expected[1]),
            ]
        );
        let one = tasks_signal(&small(), signal, Some(&TaskId::pid(B))).unwrap();
        assert_eq!(one.rows(), 1);
    }
}

#[test]
fn signals_of_cpus_are_told_by_name() {
    for (signal, cpus, expected) in [
        ("util", None, vec!["10 0 500", "20 1 600"]),
        ("load", Some(&[1][..]), vec!["20 1 600"]),
        ("capacity", None, vec!["30 1 900"]),
    ] {
        let table = cpus_signal(&small(), signal, cpus).unwrap();
        assert_eq!(lines(&table)[1..], expected, "{signal}");
    }
}

#[test]
fn an_unknown_signal_is_refused_with_those_that_there_are() {
    let refused = cpus_signal(&small(), "utl", None).unwrap_err().to_string();
    assert_eq!(refused, "no signal `utl`; expected util, load, capacity");
    assert!(tasks_signal(&small(), "capacity", None).is_err());
}
