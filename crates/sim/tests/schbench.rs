// SPDX-License-Identifier: GPL-2.0-only
//! What the forms of schbench come to, by figures that follow from their options alone.

mod common;

use common::{Run, load, machine, metric};

fn figure(line: &str, name: &str) -> f64 {
    let (machine, workloads) = (machine("juno-r0"), [load(line)]);
    let outcome = Run::new(&machine, &workloads).go();
    metric(
        &outcome.unwrap_or_else(|error| panic!("{line}: {error}")),
        name,
    )
}

/// On a machine with room for them so many requests are done as are handed out; a worker with more to
/// do than it can has no more than 129 of them, of which the last are done behind the end.
#[test]
fn so_many_requests_are_done_as_are_handed_out() {
    for (line, least, most) in [
        ("schbench -m 1 -t 4 -R 40 -n 1 -r 3", 40.0, 40.0),
        ("schbench -m 2 -t 2 -R 41 -n 1 -r 3", 40.0, 40.0),
        // A request takes 3.5 ms at least: a worker does 285 a second, and up to 129 more at the end.
        ("schbench -m 1 -t 1 -R 5000 -n 1 -r 2", 129.0, 285.0 + 65.0),
    ] {
        let done = figure(line, "requests_per_s");
        assert!((least..=most).contains(&done), "{line}: {done}");
    }
}

/// A round is 100 ms of spinning and 10 to 12.5 ms until the message thread answers: 8.9 to 9.1 a
/// second, of 4 s up to one more. Two message threads have twice as many workers.
#[test]
fn rounds_of_the_old_tool_take_their_spin_and_their_sleep() {
    for (line, least, most) in [
        ("schbench -m 1 -t 1 -s 10000 -c 100000 -r 4", 8.75, 9.25),
        ("schbench -m 2 -t 1 -s 10000 -c 100000 -r 4", 17.5, 18.5),
        ("schbench -m 1 -t 1 -s 0 -c 100000 -r 4", 9.75, 10.25),
    ] {
        let rounds = figure(line, "requests_per_s");
        assert!((least..=most).contains(&rounds), "{line}: {rounds}");
    }
}

/// Both ends write the bytes: sixteen times as many take longer; and each round ends with a wakeup.
#[test]
fn a_larger_transfer_takes_longer() {
    let rounds = |options: &str| {
        figure(
            &format!("schbench -m 1 -t 1 -r 1 {options}"),
            "transfers_per_s",
        )
    };
    for (small, large) in [("-p 4096", "-p 65536"), ("-c 0 -p 4096", "-c 0 -p 65536")] {
        let (small, large) = (rounds(small), rounds(large));
        assert!(large > 100.0 && small > 2.0 * large, "{small} {large}");
    }
}
