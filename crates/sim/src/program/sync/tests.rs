// SPDX-License-Identifier: GPL-2.0-only
//! Tests of locks, conditions, semaphores and barriers: which task goes on when.

use crate::base::timeline::NONE;
use crate::dispatch::Sim;
use crate::testbed::{Given, MS, begin, machine, task, workload};
use alight_workload::program::Op;

const END: u64 = 10_000 * MS;
const LOCK: Op = Op::Lock { mutex: 0 };
const UNLOCK: Op = Op::Unlock { mutex: 0 };
const WAIT: Op = Op::Wait {
    condition: 0,
    mutex: None,
};
const SIGNAL: Op = Op::Signal { condition: 0 };
const BROADCAST: Op = Op::Broadcast { condition: 0 };
const POST: Op = Op::SemPost { semaphore: 0 };
const DOWN: Op = Op::SemWait { semaphore: 0 };
const BARRIER: Op = Op::Barrier { barrier: 0 };

fn run(ms: u64) -> Op {
    Op::Run { ns: ms * MS }
}

fn mark(mark: u32) -> Op {
    Op::Mark { mark }
}

/// Runs each task on a CPU of its own; all costs are 0.
fn apart(tasks: &[Given], test: impl FnOnce(&mut Sim)) {
    let tasks: Vec<Given> = tasks
        .iter()
        .zip(0..)
        .map(|(task, cpu)| task.clone().on(&[cpu]))
        .collect();
    let mut workload = workload(&tasks);
    workload.barriers = vec![3];
    begin(&machine(4, 4), &workload, |sim| {
        sim.until(END);
        test(sim);
    });
}

fn passes<const N: usize>(sim: &Sim) -> [u64; N] {
    std::array::from_fn(|id| sim.passed(id).0 / MS)
}

#[test]
fn a_mutex_keeps_others_out() {
    let holder = task(0, &[LOCK, run(10), UNLOCK, mark(0)]);
    let other = task(MS, &[LOCK, mark(1), run(5), UNLOCK, mark(2)]);
    apart(&[holder, other], |sim| {
        assert_eq!(passes(sim), [10, 10, 15]);
        assert_eq!(sim.stats.mutex_waits.seen(), 1);
        assert_eq!(sim.mutexes[0].owner, NONE);
    });
}

/// Unlocking wakes a waiter but does not hand the mutex over: the first task that comes takes it,
/// and that is the one that is running (futexes of glibc).
#[test]
fn a_mutex_is_not_handed_off() {
    let holder = task(0, &[LOCK, run(10), UNLOCK, LOCK, mark(0), run(10), UNLOCK]);
    let other = task(MS, &[LOCK, mark(1), UNLOCK]);
    apart(&[holder, other], |sim| {
        assert_eq!(passes(sim), [10, 20], "the unlocker retakes it");
        assert_eq!(
            sim.stats.mutex_waits.seen(),
            2,
            "woken in vain, the other waits again"
        );
    });
}

#[test]
fn waiters_of_a_mutex_are_woken_in_their_order() {
    let waiter = |at: u64, id| task(at * MS, &[LOCK, mark(id), run(1), UNLOCK]);
    let holder = task(0, &[LOCK, run(10), UNLOCK]);
    apart(&[holder, waiter(3, 0), waiter(1, 1), waiter(2, 2)], |sim| {
        assert_eq!(passes(sim), [12, 10, 11]);
    });
}

/// A program may unlock a mutex that it does not hold; that wakes and blocks no task.
#[test]
fn unlocking_what_nobody_holds_is_nothing() {
    apart(
        &[task(
            0,
            &[UNLOCK, UNLOCK, LOCK, UNLOCK, UNLOCK, LOCK, run(1), mark(0)],
        )],
        |sim| {
            assert_eq!(passes(sim), [1]);
            assert_eq!(sim.stats.wakeups.seen(), 0);
        },
    );
}

/// `base + register`, by which sysbench deals its locks.
#[test]
fn indexed_mutexes_are_told_apart() {
    let take = Op::Take { deal: 0, done: 0 };
    let base = 1;
    let ops = [
        take,
        Op::LockIndexed { base },
        run(10),
        Op::UnlockIndexed { base },
    ];
    let worker = |id| task(0, &[&ops[..], &[mark(id)]].concat());
    apart(&[worker(0), worker(1), worker(2)], |sim| {
        let mut ends: [u64; 3] = passes(sim);
        ends.sort_unstable();
        assert_eq!(ends, [10, 10, 20], "numbers 0 and 2 share a mutex");
    });
}

/// A signal is not remembered; it wakes the first waiter, a broadcast all.
#[test]
fn conditions_wake_who_waits() {
    let waiter = |at: u64, id| task(at * MS, &[WAIT, mark(id)]);
    let signaller = task(0, &[SIGNAL, run(10), SIGNAL, run(10), BROADCAST]);
    apart(
        &[signaller, waiter(2, 0), waiter(1, 1), waiter(3, 2)],
        |sim| {
            assert_eq!(passes(sim), [20, 10, 20]);
        },
    );
}

/// `pthread_cond_wait` releases the mutex, and holds it again when it returns.
#[test]
fn a_condition_gives_its_mutex_back() {
    let wait = Op::Wait {
        condition: 0,
        mutex: Some(0),
    };
    let waiter = task(0, &[LOCK, wait, mark(0), run(5), UNLOCK]);
    let signaller = task(
        MS,
        &[
            LOCK,
            mark(1),
            run(9),
            SIGNAL,
            run(10),
            UNLOCK,
            run(1),
            LOCK,
            mark(2),
        ],
    );
    apart(&[waiter, signaller], |sim| {
        assert_eq!(
            passes(sim),
            [20, 1, 25],
            "the mutex is free while it waits; signalled at 10, it gets it at 20 and keeps it"
        );
    });
}

/// Posts are counted; as many waits pass.
#[test]
fn a_semaphore_remembers() {
    let poster = task(0, &[POST, POST, run(10), POST]);
    let waiter = task(MS, &[DOWN, DOWN, mark(0), DOWN, mark(1)]);
    apart(&[poster, waiter], |sim| {
        assert_eq!(passes(sim), [1, 10]);
        assert_eq!(sim.semaphores[0].0, 0);
    });
}

/// Suspend and resume of rt-app: two tasks pass a turn to each other.
#[test]
fn two_tasks_take_turns() {
    let (post, down) = (
        |semaphore| Op::SemPost { semaphore },
        |semaphore| Op::SemWait { semaphore },
    );
    let ping = task(
        0,
        &[
            run(1),
            post(0),
            down(1),
            mark(0),
            run(1),
            post(0),
            down(1),
            mark(1),
        ],
    );
    let pong = task(0, &[down(0), run(2), post(1), down(0), run(2), post(1)]);
    apart(&[ping, pong], |sim| assert_eq!(passes(sim), [3, 6]));
}

/// The last to arrive opens a barrier for all, again and again.
#[test]
fn a_barrier_opens_for_all_at_once() {
    let party = |ms: u64, id| {
        task(
            0,
            &[run(ms), BARRIER, mark(id), run(10 - ms), BARRIER, mark(3)],
        )
    };
    apart(&[party(2, 0), party(7, 1), party(4, 2)], |sim| {
        let (first, last) = sim.passed(3);
        assert_eq!(passes(sim), [7, 7, 7]);
        assert_eq!((first / MS, last / MS), (15, 15));
    });
}

/// The cost of a call: a mutex in user space, a futex call if a task waits.
#[test]
fn only_contention_enters_the_kernel() {
    let mut machine = machine(2, 2);
    machine.core_types[0].costs.mutex_ns = 1_000_000;
    machine.core_types[0].costs.futex_ns = 100_000_000;
    let free = task(0, &[LOCK, UNLOCK, mark(0)]).on(&[0]);
    begin(&machine, &workload(&[free]), |sim| {
        sim.until(END);
        assert_eq!(sim.passed(0).0, 2 * MS);
    });
    let holder = task(0, &[LOCK, run(499), UNLOCK, mark(0)]).on(&[0]);
    let other = task(0, &[run(100), LOCK, mark(1)]).on(&[1]);
    begin(&machine, &workload(&[holder, other]), |sim| {
        sim.until(END);
        assert_eq!(
            sim.passed(0).0 / MS,
            1 + 499 + 1 + 100,
            "it wakes the waiter"
        );
        assert!(sim.passed(1).0 / MS >= 501, "woken by that call");
    });
}

/// A call to wait tests the mutex again halfway. If it was unlocked by then, the task takes it
/// after the rest of the call; if it is unlocked later, the task does not sleep. The unlocker has
/// called to wake even if no task was queued, and so will the other one (the futex word said that a
/// task may wait).
#[test]
fn who_need_not_wait_any_more_does_not_sleep() {
    let mut machine = machine(2, 2);
    machine.core_types[0].costs.futex_ns = 100_000_000;
    // The other begins its call at 10 ms and tests at 60.
    for unlocked in [50, 80] {
        let holder = task(0, &[LOCK, run(unlocked), UNLOCK, mark(0)]).on(&[0]);
        let other = task(0, &[run(10), LOCK, mark(1), UNLOCK, mark(2)]).on(&[1]);
        begin(&machine, &workload(&[holder, other]), |sim| {
            sim.until(END);
            assert_eq!(passes(sim), [unlocked + 100, 10 + 100, 10 + 100 + 100]);
            assert_eq!(
                (sim.stats.mutex_waits.seen(), sim.stats.wakeups.seen()),
                (0, 0)
            );
        });
    }
}

/// The mutex was unlocked and locked again without contention: the futex word differs from the one
/// that the call passed.
#[test]
fn who_finds_another_owner_halfway_calls_again() {
    let mut machine = machine(3, 3);
    machine.core_types[0].costs.futex_ns = 100_000_000;
    let holder = task(0, &[LOCK, run(10), UNLOCK]).on(&[0]);
    let other = task(0, &[run(5), LOCK, mark(0)]).on(&[1]);
    let third = task(0, &[run(20), LOCK, run(100), UNLOCK]).on(&[2]);
    begin(&machine, &workload(&[holder, other, third]), |sim| {
        sim.until(END);
        // One call from 5 ms, which tests at 55, and one from 105, which tests at 155.
        assert_eq!((passes(sim), sim.stats.mutex_waits.seen()), ([205], 0));
    });
}

/// Each of these queues before its call's work is done: a wakeup meanwhile is not lost.
#[test]
fn who_is_woken_within_its_call_does_not_sleep() {
    let mut machine = machine(2, 2);
    machine.core_types[0].costs.futex_ns = 100_000_000;
    for (waits, wakes) in [
        (WAIT, SIGNAL),
        (WAIT, BROADCAST),
        (DOWN, POST),
        (BARRIER, BARRIER),
    ] {
        let waiter = task(0, &[waits, mark(0)]).on(&[0]);
        let waker = task(0, &[run(30), wakes, run(1), mark(1)]).on(&[1]);
        let mut workload = workload(&[waiter, waker]);
        workload.barriers = vec![2];
        begin(&machine, &workload, |sim| {
            sim.until(END);
            assert_eq!(passes(sim), [100, 30 + 100 + 1], "{waits:?}");
            assert_eq!(sim.stats.wakeups.seen(), 0, "{waits:?}");
        });
    }
}

/// The work of a call to wait is charged to the waiter, not to the task that runs next.
#[test]
fn who_waits_pays_for_its_call() {
    let mut machine = machine(1, 1);
    machine.core_types[0].costs.futex_ns = 100_000_000;
    for waits in [WAIT, DOWN, BARRIER] {
        let waiter = task(0, &[waits]);
        let next = task(1, &[run(10), mark(0)]);
        let mut workload = workload(&[waiter, next]);
        workload.barriers = vec![2];
        begin(&machine, &workload, |sim| {
            sim.until(END);
            let ran = [0, 1].map(|task| sim.tasks[task].sum_exec / MS);
            assert_eq!(ran, [100, 10], "{waits:?}");
        });
    }
}
