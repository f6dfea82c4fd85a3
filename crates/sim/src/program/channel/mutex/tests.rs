// SPDX-License-Identifier: GPL-2.0-only
//! Tests of a pipe's mutex: which tasks are preempted with it, and how the others get it, on one
//! CPU where a write or a read takes 1 ms.

use super::*;
use crate::dispatch::Sim;
use crate::testbed::{Given, MS, Record, US, begin_under, machine, task, with_channels};
use alight_machine::{Governor, Machine};
use alight_trace::PrevState;
use alight_workload::program::{ChannelKind, Policy};

const WRITE: Op = Op::Write {
    channel: 0,
    bytes: 100,
};
const READ: Op = Op::Read {
    channel: 0,
    bytes: 100,
};

fn mark(mark: u32) -> Op {
    Op::Mark { mark }
}

/// A machine on which a write or a read holds the mutex for `held` us.
fn costly(held: u64) -> Machine {
    let mut machine = machine(1, 1);
    machine.hrtick = true;
    let costs = &mut machine.core_types[0].costs;
    for cost in [
        &mut costs.pipe_ns,
        &mut costs.pipe_read_ns,
        &mut costs.socket_ns,
        &mut costs.socket_read_ns,
    ] {
        *cost = MS as u32;
    }
    costs.pipe_held_ns = (held * US) as u32;
    costs.pipe_read_held_ns = costs.pipe_held_ns;
    machine
}

fn on<T>(
    base: &str,
    channel: (ChannelKind, u64),
    tasks: &[Given],
    test: impl FnOnce(&mut Sim) -> T,
) -> T {
    on_record(&mut Record::default(), base, channel, tasks, test)
}

fn on_record<T>(
    record: &mut Record,
    base: &str,
    (kind, held): (ChannelKind, u64),
    tasks: &[Given],
    test: impl FnOnce(&mut Sim) -> T,
) -> T {
    let workload = with_channels(&[kind], tasks);
    let rules = (base, Governor::Performance);
    begin_under(rules, &costly(held), &workload, record, test)
}

/// A real-time task comes `at` us into the write of another one and writes to the same pipe,
/// which takes it 1 ms: when is it through, us? The other has `1000 - at` us left.
fn through(base: &str, channel: (ChannelKind, u64), at: u64) -> u64 {
    let holder = task(0, &[WRITE]);
    let comes = task(at * US, &[WRITE, mark(0)]).policy(Policy::Fifo);
    on(base, channel, &[holder, comes], |sim| {
        sim.until(100 * MS);
        assert_eq!(sim.workloads[0].alive, 0, "{base}: somebody waits for ever");
        let first = sim.tasks[0].started;
        (sim.passed(0).0 - first) / US
    })
}

/// mutex_lock() in pipe_write(): a task that comes while the mutex is held by a task that does not
/// run sleeps until that one has finished, at 2000 us.
#[test]
fn whoever_comes_waits_for_a_holder_that_was_preempted() {
    use ChannelKind::{Pipe, Socket};
    for (base, kind, held, at, expected) in [
        ("linux-7.2", Pipe, 1000, 50, 2000),
        ("linux-7.2", Pipe, 1000, 500, 2000),
        ("linux-7.2", Pipe, 1000, 899, 2000),
        ("linux-7.2", Pipe, 0, 500, 1500),
        // A socket's locks are spinlocks: their holders are not preempted.
        ("linux-7.2", Socket, 1000, 500, 1500),
        // PREEMPT_VOLUNTARY: not in the middle of the kernel.
        ("linux-6.1", Pipe, 1000, 500, 1500),
        ("linux-5.5", Pipe, 1000, 500, 1500),
    ] {
        let found = through(base, (kind, held), at);
        assert_eq!(found, expected, "{base}, {kind:?}, {held}, {at}");
    }
}

/// mutex_lock() sleeps as TASK_UNINTERRUPTIBLE; a reader that waits for bytes in a pipe does not.
#[test]
fn who_waits_for_the_mutex_cannot_be_interrupted() {
    use PrevState::{Dead, Preempted, Running, Sleeping, Uninterruptible};
    let holder = task(0, &[WRITE]);
    let comes = task(50 * US, &[WRITE, READ, READ, READ]).policy(Policy::Fifo);
    let mut record = Record::default();
    let pipe = (ChannelKind::Pipe, 1000);
    on_record(&mut record, "linux-7.2", pipe, &[holder, comes], |sim| {
        sim.until(100 * MS);
    });
    let expected = [
        (0, Preempted),
        (1, Uninterruptible),
        (0, Running),
        (1, Sleeping),
        (0, Dead),
    ];
    assert_eq!(record.left, expected);
}

/// A machine defines how long a call holds the mutex, not when: of 4000 tasks that are preempted in
/// the middle of a write that holds it for 260 of 1000 us, a quarter hold it.
#[test]
fn how_often_whoever_is_preempted_in_a_call_has_the_mutex() {
    let with_mutex = on(
        "linux-7.2",
        (ChannelKind::Pipe, 260),
        &[task(0, &[WRITE])],
        |sim| {
            let mut at = 0;
            while sim.cpus[0].curr == NONE {
                at += 100 * US;
                sim.until(at);
            }
            sim.until(at + 100 * US);
            let mut has = || {
                sim.preempted += 1;
                sim.channels[0].mutex.holder = NONE;
                sim.progress(0);
                sim.preempted_in_pipe(0, 0);
                sim.channels[0].mutex.holder == 0
            };
            (0..4000).filter(|_| has()).count()
        },
    );
    assert!((950..1130).contains(&with_mutex), "{with_mutex} of 4000");
}

/// Turns of 0.7 ms always end in the middle of operations of 1 ms, and a
/// real-time task cuts some of them even shorter: every task that waits for the mutex gets
/// it in the end, and all messages arrive.
#[test]
fn nobody_waits_for_ever() {
    let writer = || task(0, &[WRITE; 60]);
    let reader = || task(0, &[READ; 60]);
    let pokes: Vec<Op> = (1..200u64)
        .flat_map(|n| {
            [
                Op::Sleep {
                    ns: 830 * US + n * 7 * US,
                },
                Op::Run { ns: 90 * US },
            ]
        })
        .collect();
    let tasks = [
        writer(),
        reader(),
        writer(),
        reader(),
        writer(),
        reader(),
        task(0, &pokes).policy(Policy::Fifo),
    ];
    let (waited, handed) = on("linux-7.2", (ChannelKind::Pipe, 800), &tasks, |sim| {
        let (mut waited, mut handed) = (0, 0);
        for ms in 0..2000 {
            sim.until(ms * MS / 2);
            let mutex = &sim.channels[0].mutex;
            waited += u32::from(!mutex.lockers.is_empty());
            handed += u32::from(mutex.handoff);
        }
        assert_eq!(sim.workloads[0].alive, 0, "somebody waits for ever");
        assert!(sim.channels[0].is_unlocked());
        assert_eq!(sim.stats.messages.seen(), 180);
        (waited, handed)
    });
    assert!(waited > 20 && handed > 0, "{waited}, {handed}");
}
