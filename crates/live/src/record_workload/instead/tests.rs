// SPDX-License-Identifier: GPL-2.0-only
//! Tests of missing rights, and of the command lines of other tools.

use super::*;
use alight_arguments::record::{Arguments, What};
use clap::Parser;

#[test]
fn rights_that_are_missing_are_named() {
    for (effective, expected) in [
        ("000001ffffffffff", None),
        ("0000000000200000", None),
        ("000000c000000000", None),
        ("0000000000000000", Some("CAP_BPF and no CAP_PERFMON")),
        ("0000008000000000", Some("CAP_PERFMON")),
        ("0000004000000000", Some("CAP_BPF")),
    ] {
        let status = format!("Name:\tx\nCapEff:\t{effective}\n");
        assert_eq!(lacking(&status).as_deref(), expected, "{effective}");
    }
    assert_eq!(lacking(""), None);
}

fn asked(words: &[&str]) -> Workload {
    let words = ["alight-record", "workload"].iter().chain(words);
    match Arguments::try_parse_from(words).unwrap().what {
        What::Workload(workload) => workload,
        other => panic!("{other:?}"),
    }
}

#[test]
fn other_tools_get_the_same_command() {
    let text = instead(&asked(&[
        "-o",
        "my app.alight",
        "--",
        "./run.sh",
        "it's",
        "-x",
    ]));
    for part in [
        "perf sched record -k CLOCK_MONOTONIC -o perf.data -e sched:sched_wakeup ",
        r" -e syscalls:sys_enter_sched_yield -- ./run.sh 'it'\''s' -x",
        "trace-cmd record -C mono -o trace.dat -e sched:sched_switch ",
        r" -e syscalls:sys_enter_sched_yield ./run.sh 'it'\''s' -x",
        "alight import trace.dat -o 'my app.alight'",
    ] {
        assert!(text.contains(part), "{part}\nnot in\n{text}");
    }
}

#[test]
fn a_running_process_is_recorded_for_a_time() {
    for (words, expected) in [
        (
            &["--pid", "7"][..],
            "-- sleep 10\n  alight import perf.data --pid 7 -o workload.alight",
        ),
        (&["--pid", "7", "--duration", "3"], "-- sleep 3\n"),
        (
            &["--cgroup", "app", "--duration", "3"],
            "-- sleep 3\n  alight import perf.data --cgroup /app -o workload.alight",
        ),
    ] {
        let text = instead(&asked(words));
        assert!(text.contains(expected), "{text}");
    }
}
