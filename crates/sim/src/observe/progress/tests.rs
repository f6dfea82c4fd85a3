// SPDX-License-Identifier: GPL-2.0-only
//! Progress: the number of messages of a command, and the share done.

use super::*;
use alight_workload::Mode;

fn load(line: &str) -> Workload {
    Workload::load(line, Mode::Workgen)
        .expect("a valid command line")
        .workload
}

#[test]
fn the_messages_of_a_command_are_counted_beforehand() {
    // Each worker reports that it is ready, then the parent releases all.
    for (line, sent) in [
        ("hackbench -g 1 -f 2 -l 3", 2 * 2 * 3 + 4 + 1),
        (
            "hackbench -g 32 -f 20 -p -T -l 480000",
            6_144_000_000 + 1281,
        ),
        ("cyclictest -t 2 -q -D 1", 0),
    ] {
        assert_eq!(messages(&[load(line)]), Some(sent), "{line}");
    }
}

#[test]
fn who_writes_for_ever_has_no_number_of_messages() {
    let write = Op::Write {
        channel: 0,
        bytes: 1,
    };
    let begin = |count| Op::LoopBegin {
        slot: 0,
        count,
        end: 3,
    };
    let end = Op::LoopEnd { slot: 0, begin: 1 };
    for (ops, all) in [
        (vec![write, write], Some(2)),
        (vec![begin(5), write, end, write], Some(6)),
        (vec![begin(0), write, end], Some(0)),
        (vec![begin(u64::MAX), write, end], None),
        (vec![begin(u64::MAX), end, write], Some(1)),
    ] {
        assert_eq!(writes(&Program { ops: ops.clone() }), all, "{ops:?}");
    }
}

#[test]
fn shares_do_not_overflow_and_end_at_the_whole() {
    for (done, all, parts) in [
        (0, 0, 0),
        (1, 4, WHOLE / 4),
        (9, 3, WHOLE),
        (NEVER, NEVER, WHOLE),
        (5, u64::MAX, 0),
    ] {
        assert_eq!(share(done, all), parts, "{done} of {all}");
    }
}
