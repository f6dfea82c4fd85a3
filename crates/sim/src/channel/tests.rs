// SPDX-License-Identifier: GPL-2.0-only
//! Pipes and sockets: what they hold, and who is woken when.

use super::*;
use crate::testbed::{Given, MS, Record, begin_recorded, machine, task, with_channels};
use alight_workload::program::Op;

const END: u64 = 10_000 * MS;
const READ: Op = Op::Read {
    channel: 0,
    bytes: 100,
};
const WRITE: Op = Op::Write {
    channel: 0,
    bytes: 100,
};

fn run(ms: u64) -> Op {
    Op::Run { ns: ms * MS }
}

fn mark(mark: u32) -> Op {
    Op::Mark { mark }
}

/// `op`, `n` times.
fn times(n: usize, op: Op) -> Vec<Op> {
    vec![op; n]
}

/// Runs each task on a CPU of its own to the end; all must end.
fn apart(kind: ChannelKind, tasks: &[Given], test: impl FnOnce(&mut Sim)) -> Record {
    let tasks: Vec<Given> = tasks
        .iter()
        .zip(0..)
        .map(|(task, cpu)| task.clone().on(&[cpu]))
        .collect();
    let mut record = Record::default();
    let workload = with_channels(&[kind], &tasks);
    begin_recorded(&machine(4, 4), &workload, &mut record, |sim| {
        sim.until(END);
        assert_eq!(sim.workloads[0].alive, 0, "some task waits for ever");
        test(sim);
    });
    record
}

/// 40 messages of 100 bytes to a page, 640 to a pipe.
#[test]
fn a_pipe_holds_640_messages_of_100_bytes() {
    let mut pipe = Channel::new(ChannelKind::Pipe);
    let mut n = 0;
    while pipe.put(100) == 100 {
        n += 1;
    }
    assert_eq!(n, 640);
    for _ in 0..39 {
        assert_eq!(pipe.get(100), 100);
        assert!(pipe.is_full(), "a page is free only when it is empty");
    }
    pipe.get(100);
    assert!(!pipe.is_full());
}

/// 768 bytes of memory for 100 bytes of message: 278 until the buffer is full.
#[test]
fn a_socket_holds_as_many_messages_as_its_send_buffer_pays_for() {
    assert_eq!(truesize(100), 768);
    let mut socket = Channel::new(ChannelKind::Socket);
    let mut n = 0;
    while socket.put(100) == 100 {
        n += 1;
    }
    assert_eq!(n, 278);
}

/// Memory of a message is given back when its last byte is read.
#[test]
fn a_socket_is_charged_for_messages_not_read_to_their_end() {
    let mut socket = Channel::new(ChannelKind::Socket);
    for _ in 0..4 {
        socket.put(100);
    }
    for (bytes, left) in [(60, 4), (40, 3), (150, 2), (49, 2), (1, 1), (100, 0)] {
        socket.get(bytes);
        assert_eq!(socket.charged, left * 768, "after another {bytes} bytes");
    }
}

#[test]
fn a_large_write_spreads_over_pages() {
    let mut pipe = Channel::new(ChannelKind::Pipe);
    assert_eq!(pipe.put(100_000), 65_536);
    assert_eq!(pipe.get(100_000), 65_536);
    assert_eq!(pipe.get(1), 0);
}

/// pipe_write(), 5.5: a reader is woken when the pipe was empty, and not for what
/// comes while it is on its way; a socket's reader at each message if it waits.
#[test]
fn a_reader_is_woken_by_what_it_waits_for() {
    for kind in [ChannelKind::Pipe, ChannelKind::Socket] {
        let reader = task(0, &times(3, READ));
        let writer = task(MS, &[WRITE, WRITE, run(5), WRITE]);
        let record = apart(kind, &[reader, writer], |sim| {
            assert_eq!(sim.stats.messages, 3)
        });
        assert_eq!(record.wakings_of(0), [MS, 6 * MS], "{kind:?}");
    }
}

/// What comes while the pipe is not empty wakes nobody: the reader on its way
/// passes it on. On a socket each message wakes a reader.
#[test]
fn the_second_message_wakes_no_second_reader_of_a_pipe() {
    for (kind, woken_from) in [(ChannelKind::Pipe, 0), (ChannelKind::Socket, 2)] {
        let reader = task(0, &[READ]);
        let writer = task(MS, &[WRITE, WRITE]);
        let record = apart(kind, &[reader.clone(), reader, writer], |_| {});
        let from = record.wakings.iter().find(|waking| waking.2 == 1);
        assert_eq!(from, Some(&(MS, woken_from, 1)), "{kind:?}");
    }
}

/// pipe_read(): a writer is woken once a page is free, forty messages later.
#[test]
fn a_writer_is_woken_when_the_pipe_stops_being_full() {
    let writer = task(
        0,
        &[&times(640, WRITE)[..], &[mark(0), WRITE, mark(1)]].concat(),
    );
    let reader = task(
        10 * MS,
        &[&times(39, READ)[..], &[run(5), READ], &times(601, READ)].concat(),
    );
    let record = apart(ChannelKind::Pipe, &[writer, reader], |sim| {
        assert_eq!(sim.passed(0).0, 0, "640 fit");
        assert_eq!(sim.passed(1).0, 15 * MS, "the next needs a page");
    });
    assert_eq!(record.wakings_of(0), [15 * MS]);
}

/// One writer at a time, and it passes on what is left of the room.
#[test]
fn all_writers_of_a_pipe_get_their_turn() {
    let filler = task(0, &times(640, WRITE));
    let writer = |id| task(MS, &[WRITE, mark(id)]);
    let reader = task(10 * MS, &times(642, READ));
    let record = apart(
        ChannelKind::Pipe,
        &[filler, writer(0), writer(1), reader],
        |sim| {
            assert_eq!([sim.passed(0).0, sim.passed(1).0], [10 * MS; 2]);
        },
    );
    assert_eq!(
        (record.wakings_of(1).len(), record.wakings_of(2).len()),
        (1, 1)
    );
}

/// One reader at a time, likewise.
#[test]
fn all_readers_of_a_pipe_get_their_turn() {
    let reader = |id| task(0, &[READ, mark(id)]);
    let writer = task(
        MS,
        &[Op::Write {
            channel: 0,
            bytes: 300,
        }],
    );
    apart(
        ChannelKind::Pipe,
        &[reader(0), reader(1), reader(2), writer],
        |sim| {
            assert_eq!([0, 1, 2].map(|id| sim.passed(id).0), [MS; 3]);
        },
    );
}

/// unix_write_space(): all writers, once no more than a quarter of the buffer is
/// in use: 69 messages of 278.
#[test]
fn writers_of_a_socket_are_woken_at_a_quarter() {
    let writer = |id| task(0, &[&times(278, WRITE)[..], &[WRITE, mark(id)]].concat());
    let half = |id| task(MS, &[WRITE, mark(id)]);
    let reader = task(
        10 * MS,
        &[
            &times(278 - 70, READ)[..],
            &[run(5), READ],
            &times(71, READ),
        ]
        .concat(),
    );
    let record = apart(ChannelKind::Socket, &[writer(0), half(1), reader], |sim| {
        assert_eq!([sim.passed(0).0, sim.passed(1).0], [15 * MS; 2]);
    });
    assert_eq!(record.wakings_of(0), [15 * MS]);
    assert_eq!(record.wakings_of(1), [15 * MS]);
}

/// A message larger than the pipe goes through in parts, and is one message.
#[test]
fn messages_larger_than_the_pipe_go_through() {
    let bytes = 200_000;
    let writer = task(0, &[Op::Write { channel: 0, bytes }, mark(0)]);
    let reader = task(MS, &[Op::Read { channel: 0, bytes }, mark(1)]);
    apart(ChannelKind::Pipe, &[writer, reader], |sim| {
        assert_eq!([sim.passed(0).0, sim.passed(1).0], [MS; 2]);
        assert_eq!(sim.stats.messages, 1);
    });
}

/// poll() takes nothing away: one byte makes all pollers go on.
#[test]
fn polling_is_for_all() {
    let poll = |id| task(0, &[Op::Poll { channel: 0 }, mark(id)]);
    let writer = task(
        MS,
        &[
            Op::Write {
                channel: 0,
                bytes: 1,
            },
            run(1),
        ],
    );
    apart(
        ChannelKind::Pipe,
        &[poll(0), poll(1), poll(2), writer],
        |sim| {
            assert_eq!([0, 1, 2].map(|id| sim.passed(id).0), [MS; 3]);
        },
    );
}

/// The pipe's mutex is held one after the other, and its lines come from the
/// CPU that had them.
#[test]
fn channels_cost_their_lock_and_their_lines() {
    let mut costly = machine(3, 3);
    costly.core_types[0].costs.pipe_ns = 1_000_000;
    costly.core_types[0].costs.lock_hold_ns = 100_000;
    costly.memory.llc_line_ns = 1000;
    costly.memory.channel_lines = 4;
    let cost = |tasks: &[Given], id| {
        let workload = with_channels(&[ChannelKind::Pipe], tasks);
        begin_recorded(&costly, &workload, &mut Record::default(), |sim| {
            sim.until(END);
            sim.passed(id).0 - sim.tasks[id].started
        })
    };
    let writer = |id| task(0, &[WRITE, mark(id)]).on(&[id]);
    let start = 100_000;
    assert_eq!(cost(&[writer(0)], 0), start + 1_000_000, "alone");
    assert_eq!(
        cost(&[writer(0), writer(1)], 1),
        start + 1_000_000 + 100_000 + 4000,
        "behind the other, with its lines"
    );
}
