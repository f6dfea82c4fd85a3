// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::small::{A, B, trace};

#[test]
fn tasks_are_named_as_in_lisa() {
    let id = |pid, comm: Option<&str>| TaskId {
        pid,
        comm: comm.map(str::to_owned),
    };
    for (text, expected) in [
        ("100", id(Some(100), None)),
        ("a", id(None, Some("a"))),
        ("100:a", id(Some(100), Some("a"))),
        ("[100:a]", id(Some(100), Some("a"))),
        ("[100:kworker/0:1]", id(Some(100), Some("kworker/0:1"))),
        ("kworker/0:1", id(None, Some("kworker/0:1"))),
    ] {
        assert_eq!(TaskId::parse(text), expected, "{text}");
    }
}

#[test]
fn a_task_is_found_or_the_answer_says_what_there_is() {
    let mut trace = trace(&[]);
    assert_eq!(TaskId::parse("a").find(&trace), Ok(A));
    assert_eq!(TaskId::parse("101:b").find(&trace), Ok(B));
    for (text, expected) in [
        ("c", "no task is named 'c'; the trace has: 100:a, 101:b"),
        ("7", "no task is pid 7; the trace has: 100:a, 101:b"),
        ("100:b", "no task is 100:b; the trace has: 100:a, 101:b"),
    ] {
        let error = TaskId::parse(text).find(&trace).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    trace.known.comms = (0..10).map(|pid| (pid, "w".to_owned())).collect();
    assert_eq!(
        TaskId::parse("w").find(&trace).unwrap_err().to_string(),
        "10 tasks are named 'w'; name one by its pid: 0, 1, 2, 3, 4, 5, 6, 7 and 2 more"
    );
}
