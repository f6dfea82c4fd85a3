// SPDX-License-Identifier: GPL-2.0-only
//! Tests of pipes that get room or bytes: one that another writer filled while its reader waits for
//! the first writer; one whose bytes another reader took.

use crate::testbed::{MS, begin, machine, task, workload};
use crate::world::state::Life;
use alight_workload::program::{ChannelKind, Op, Repeats};

/// The fast writer fills the pipe; the slow one writes as well, then lets the reader read.
#[test]
fn a_pipe_in_which_all_would_wait_gets_room() {
    let write = |bytes| Op::Write { channel: 0, bytes };
    let wake = Op::Wake {
        task: 2,
        nth: 1,
        hand_off: true,
        sync: false,
    };
    let reader = [
        Op::Await,
        Op::Read {
            channel: 0,
            bytes: 70_000,
        },
        Op::Mark { mark: 0 },
    ];
    let tasks = [
        task(0, &[write(65_536)]),
        task(0, &[Op::Run { ns: 10 * MS }, write(4_464), wake]),
        task(0, &reader),
    ];
    let mut given = workload(&tasks);
    given.channels = vec![ChannelKind::Pipe];
    given.repeats = Some(Repeats::default());
    begin(&machine(3, 3), &given, |sim| {
        sim.until(20 * MS);
        assert_eq!(sim.tasks[1].life, Life::Asleep, "the pipe is full");
        assert!(sim.make_room());
        assert!(!sim.make_room(), "nobody else waits for room");
        sim.until(40 * MS);
        let ended = [0, 1, 2].map(|task| sim.tasks[task].life);
        assert_eq!(ended, [Life::Dead; 3]);
    });
}

/// The second reader would have written the byte for the first, whose byte it waits for.
#[test]
fn a_pipe_whose_bytes_another_reader_took_gets_some() {
    let byte = |channel| Op::Read { channel, bytes: 1 };
    let write = Op::Write {
        channel: 0,
        bytes: 1,
    };
    let tasks = [
        task(0, &[write]),
        task(0, &[byte(0)]),
        task(0, &[Op::Run { ns: 10 * MS }, byte(0), write]),
    ];
    let mut given = workload(&tasks);
    given.channels = vec![ChannelKind::Pipe];
    given.repeats = Some(Repeats::default());
    begin(&machine(3, 3), &given, |sim| {
        sim.until(20 * MS);
        assert_eq!(sim.tasks[2].life, Life::Asleep, "the pipe is empty");
        assert!(sim.make_room());
        assert!(!sim.make_room(), "nobody else waits");
        sim.until(40 * MS);
        let ended = [0, 1, 2].map(|task| sim.tasks[task].life);
        assert_eq!(ended, [Life::Dead; 3]);
    });
}
