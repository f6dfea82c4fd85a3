// SPDX-License-Identifier: GPL-2.0-only
//! Tests of pipes and sockets: how much they hold, and which tasks are woken when; under Linux
//! 5.5 unless said otherwise.

use super::*;
use crate::dispatch::Sim;
use crate::testbed::{
    Given, MS, Record, begin_recorded, begin_under, machine, task, with_channels,
};
use alight_machine::Governor;
use alight_workload::program::{Op, Policy};

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
    apart_under("linux-5.5", kind, tasks, test)
}

/// The same under another base.
fn apart_under(
    base: &str,
    kind: ChannelKind,
    tasks: &[Given],
    test: impl FnOnce(&mut Sim),
) -> Record {
    let tasks: Vec<Given> = tasks
        .iter()
        .zip(0..)
        .map(|(task, cpu)| task.clone().on(&[cpu]))
        .collect();
    let mut record = Record::default();
    let workload = with_channels(&[kind], &tasks);
    let rules = (base, Governor::Performance);
    begin_under(rules, &machine(4, 4), &workload, &mut record, |sim| {
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
    while pipe.put(100, true) == 100 {
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
    while socket.put(100, true) == 100 {
        n += 1;
    }
    assert_eq!(n, 278);
}

/// The memory of a message is freed when its last byte is read.
#[test]
fn a_socket_is_charged_for_messages_not_read_to_their_end() {
    let mut socket = Channel::new(ChannelKind::Socket);
    for _ in 0..4 {
        socket.put(100, true);
    }
    for (bytes, left) in [(60, 4), (40, 3), (150, 2), (49, 2), (1, 1), (100, 0)] {
        socket.get(bytes);
        assert_eq!(socket.charged, left * 768, "after another {bytes} bytes");
    }
}

#[test]
fn a_large_write_spreads_over_pages() {
    let mut pipe = Channel::new(ChannelKind::Pipe);
    assert_eq!(pipe.put(100_000, true), 65_536);
    assert_eq!(pipe.get(100_000), 65_536);
    assert_eq!(pipe.get(1), 0);
}

/// A write is appended to the last page only when it begins: a write that had to wait takes a page
/// of its own, and others have to wait for the next page.
#[test]
fn a_write_that_waited_takes_a_page_of_its_own() {
    let mut pipe = Channel::new(ChannelKind::Pipe);
    while pipe.put(100, true) == 100 {}
    while pipe.is_full() {
        pipe.get(100);
    }
    assert_eq!(pipe.put(100, false), 100, "the page that is free");
    assert_eq!(pipe.put(100, false), 0, "not behind that");
    assert_eq!(
        pipe.put(100, true),
        100,
        "a write that begins does go there"
    );
    // The part beyond whole pages comes first, and only if all of it fits.
    let mut pipe = Channel::new(ChannelKind::Pipe);
    pipe.put(100, true);
    assert_eq!(pipe.put(PAGE + 200, true), PAGE + 200);
    assert_eq!(
        (pipe.nr_pages, pipe.pages[0], pipe.pages[1]),
        (2, 300, 4096)
    );
    pipe.put(3800, true);
    assert_eq!((pipe.nr_pages, pipe.pages[2]), (3, 3800));
}

/// pipe_write(): up to 5.4 each write wakes the readers, later one to an empty pipe.
/// A socket's reader is woken by each message it waits for.
#[test]
fn a_reader_is_woken_by_what_it_waits_for() {
    for (base, kind) in [
        ("linux-3.9", ChannelKind::Pipe),
        ("linux-5.5", ChannelKind::Pipe),
        ("linux-7.2", ChannelKind::Pipe),
        ("linux-5.5", ChannelKind::Socket),
    ] {
        let reader = task(0, &times(3, READ));
        let writer = task(MS, &[WRITE, WRITE, run(5), WRITE]);
        let record = apart_under(base, kind, &[reader, writer], |sim| {
            assert_eq!(sim.stats.messages.seen(), 3)
        });
        assert_eq!(record.wakings_of(0), [MS, 6 * MS], "{base} {kind:?}");
    }
}

/// Two readers wait for two messages: one write wakes both, or it wakes the first, which wakes the
/// next for the rest. If both are woken, the reader that came last is first.
#[test]
fn two_messages_wake_two_readers() {
    for (base, kind, wakings, because) in [
        (
            "linux-5.4",
            ChannelKind::Pipe,
            [(2, 1), (2, 0)],
            "the first write wakes all",
        ),
        ("linux-5.5", ChannelKind::Pipe, [(2, 1), (2, 0)], "likewise"),
        (
            "linux-6.1",
            ChannelKind::Pipe,
            [(2, 0), (0, 1)],
            "the first is woken, and wakes the next",
        ),
        (
            "linux-6.1",
            ChannelKind::Socket,
            [(2, 1), (2, 0)],
            "all wait together",
        ),
    ] {
        let reader = |at| task(at, &[READ]);
        let writer = task(MS, &[WRITE, WRITE]);
        let tasks = [reader(0), reader(MS / 2), writer];
        let record = apart_under(base, kind, &tasks, |_| {});
        let found: Vec<_> = (record.wakings.iter())
            .map(|&(_, from, task)| (from, task))
            .filter(|&(_, task)| task < 2)
            .collect();
        // The start of a task is a wakeup too.
        assert_eq!(
            found[found.len() - 2..],
            wakings,
            "{base} {kind:?}: {because}"
        );
    }
}

/// A page is free when its forty messages are read. Up to 5.4 that wakes writers. From
/// 5.5 on each read of a full pipe does, but only the last one is of use; 6.14 fixed that.
#[test]
fn a_writer_is_woken_for_room() {
    for (base, in_vain) in [
        ("linux-3.9", 0),
        ("linux-5.4", 0),
        ("linux-5.5", 2),
        ("linux-6.1", 2),
        ("linux-6.5", 2),
        ("linux-7.2", 0),
    ] {
        let writer = task(
            0,
            &[&times(640, WRITE)[..], &[mark(0), WRITE, mark(1)]].concat(),
        );
        let slowly = [READ, run(1)].repeat(3);
        let reader = task(
            10 * MS,
            &[
                &times(36, READ)[..],
                &slowly,
                &[mark(2), READ],
                &times(601, READ),
            ]
            .concat(),
        );
        let record = apart_under(base, ChannelKind::Pipe, &[writer, reader], |sim| {
            assert_eq!(sim.passed(0).0, 0, "{base}: 640 fit");
            assert_eq!(sim.passed(1).0, sim.passed(2).0, "{base}: it needs a page");
        });
        let page_free = 13 * MS;
        let (last, before) = record
            .wakings_of(0)
            .split_last()
            .map_or((0, 0), |(&last, before)| {
                (last, before.iter().filter(|&&at| at > 10 * MS).count())
            });
        assert_eq!((last, before), (page_free, in_vain), "{base}");
    }
}

/// Room for one page wakes all writers, and one of them gets it; or it wakes one writer, which
/// wakes the next for the rest.
#[test]
fn all_writers_of_a_pipe_get_their_turn() {
    for (base, wakings) in [
        // The first page, and the second one for the writer that had to go on waiting.
        ("linux-5.4", [1, 2]),
        ("linux-7.2", [1, 1]),
    ] {
        let filler = task(0, &times(640, WRITE));
        let writer = |at, id| task(at, &[WRITE, mark(id)]);
        let reader = task(
            10 * MS,
            &[&times(40, READ)[..], &[run(2)], &times(602, READ)].concat(),
        );
        let tasks = [filler, writer(MS, 0), writer(2 * MS, 1), reader];
        let record = apart_under(base, ChannelKind::Pipe, &tasks, |sim| {
            let mut passed = [sim.passed(0).0, sim.passed(1).0];
            passed.sort();
            assert_eq!(passed, [10 * MS, 12 * MS], "{base}: a page each");
        });
        let found = [1, 2].map(|task| {
            record
                .wakings_of(task)
                .iter()
                .filter(|&&at| at >= 10 * MS)
                .count()
        });
        assert_eq!(found, wakings, "{base}");
    }
}

/// Readers are woken one at a time, or all at once.
#[test]
fn all_readers_of_a_pipe_get_their_turn() {
    for base in ["linux-5.4", "linux-5.5", "linux-6.1"] {
        let reader = |id| task(0, &[READ, mark(id)]);
        let writer = task(
            MS,
            &[Op::Write {
                channel: 0,
                bytes: 300,
            }],
        );
        apart_under(
            base,
            ChannelKind::Pipe,
            &[reader(0), reader(1), reader(2), writer],
            |sim| {
                assert_eq!([0, 1, 2].map(|id| sim.passed(id).0), [MS; 3], "{base}");
            },
        );
    }
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
        assert_eq!(sim.stats.messages.seen(), 1);
    });
}

/// poll() takes no bytes: one byte lets all pollers go on, and its write wakes them all. On a pipe
/// from 5.6 on they are woken before a reader that waits too.
#[test]
fn polling_is_for_all() {
    for (base, kind, expected) in [
        ("linux-5.5", ChannelKind::Pipe, [1, 2, 0]),
        ("linux-6.1", ChannelKind::Pipe, [1, 0, 2]),
        ("linux-6.1", ChannelKind::Socket, [1, 2, 0]),
    ] {
        let poll = |at, id| task(at, &[Op::Poll { channel: 0 }, mark(id)]);
        let tasks = [
            poll(0, 0),
            poll(MS / 2, 1),
            task(0, &[READ, mark(2)]),
            task(MS, &[WRITE, run(1)]),
        ];
        let record = apart_under(base, kind, &tasks, |sim| {
            let passed = [0, 1, 2].map(|id| sim.passed(id).0);
            assert_eq!(passed, [MS; 3], "{base} {kind:?}");
        });
        let woken: Vec<_> = (record.wakings.iter())
            .filter(|&&(at, from, task)| at == MS && from == 3 && task < 3)
            .map(|&(_, _, task)| task)
            .collect();
        assert_eq!(woken, expected, "{base} {kind:?}");
    }
}

/// Tasks hold the pipe's mutex one after the other, for their work with it and for the time in which
/// its cache lines come from the CPU that had them.
#[test]
fn channels_cost_their_lock_and_their_lines() {
    let mut costly = machine(3, 3);
    costly.core_types[0].costs.pipe_ns = 1_000_000;
    costly.core_types[0].costs.lock_hold_ns = 100_000;
    costly.core_types[0].costs.pipe_held_ns = 200_000;
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
        start + 1_000_000 + 200_000 + 4000,
        "behind the other, with its lines"
    );
    assert_eq!(
        cost(&[writer(0), writer(1), writer(2)], 2),
        start + 1_000_000 + 200_000 + (4000 + 200_000) + 4000,
        "behind both, and behind the lines of the second"
    );
}

/// Two messages are kept: of a batch of five, three take new memory; of the first batch, all five.
#[test]
fn a_message_beyond_those_kept_takes_new_memory() {
    let mut costly = machine(2, 2);
    costly.core_types[0].costs.socket_new_ns = 1_000_000;
    costly.memory.messages_kept = 2;
    let batch = |n| [times(n, WRITE), times(n, READ)].concat();
    let ops = [
        vec![mark(0)],
        batch(5),
        vec![mark(1)],
        batch(5),
        vec![mark(2)],
        batch(2),
        vec![mark(3)],
    ]
    .concat();
    let took = |kind, with: u32| {
        let mut machine = costly.clone();
        machine.core_types[0].costs.socket_new_ns *= with;
        let workload = with_channels(&[kind], &[task(0, &ops).on(&[0])]);
        begin_recorded(&machine, &workload, &mut Record::default(), |sim| {
            sim.until(END);
            [1, 2, 3].map(|id| sim.passed(id).0 - sim.passed(id - 1).0)
        })
    };
    for (kind, new) in [
        (ChannelKind::Socket, [5, 3, 0]),
        (ChannelKind::Pipe, [0; 3]),
    ] {
        let (with, without) = (took(kind, 1), took(kind, 0));
        for at in 0..3 {
            assert_eq!(with[at] - without[at], new[at] * MS, "{kind:?}, batch {at}");
        }
    }
}

/// add_wait_queue() puts non-exclusive waiters at the head: pollers, and all waiters at a socket.
#[test]
fn who_is_woken_together_is_woken_last_first() {
    let poll = Op::Poll { channel: 0 };
    let waits = |ms: u64, op: Op| task(ms * MS, &[op]);
    let writes = task(10 * MS, &[WRITE, WRITE, WRITE]);
    for (kind, op, expected) in [
        (ChannelKind::Pipe, poll, [2, 1, 0]),
        (ChannelKind::Socket, poll, [2, 1, 0]),
        (ChannelKind::Socket, READ, [2, 1, 0]),
    ] {
        let tasks = [waits(0, op), waits(1, op), waits(2, op), writes.clone()];
        let record = apart(kind, &tasks, |_| {});
        let woken: Vec<usize> = record.wakings.iter().map(|waking| waking.2).collect();
        assert_eq!(woken, expected, "{kind:?}, {op:?}");
    }
}

/// sock_wait_for_wmem(): a writer that was woken does not wake the next, which waits for a reader
/// to empty three quarters of the buffer again.
#[test]
fn a_writer_of_a_socket_passes_nothing_on() {
    let reads = |n| times(n, READ);
    let tasks = [
        task(0, &times(278, WRITE)).on(&[0]),
        // Woken at 10 ms, but its CPU is busy until 13 ms.
        task(MS, &[WRITE]).on(&[1]),
        task(9 * MS, &[run(4)]).on(&[1]).policy(Policy::Fifo),
        // Finds the room of 209 messages, fills it, and sleeps from 11 ms on.
        task(11 * MS, &times(300, WRITE)).on(&[0]),
        task(
            10 * MS,
            &[
                &reads(209)[..],
                &[run(2)],
                &reads(10),
                &[run(8)],
                &reads(360),
            ]
            .concat(),
        )
        .on(&[2]),
    ];
    let mut record = Record::default();
    let workload = with_channels(&[ChannelKind::Socket], &tasks);
    begin_recorded(&machine(3, 3), &workload, &mut record, |sim| {
        sim.until(END);
        assert_eq!(sim.workloads[0].alive, 0, "some task waits for ever");
    });
    assert_eq!(record.wakings_of(1), [10 * MS]);
    assert_eq!(record.wakings_of(3), [20 * MS], "not at 13 ms");
}
