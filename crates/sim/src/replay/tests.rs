// SPDX-License-Identifier: GPL-2.0-only
//! Recorded wakeups, and what they end.

use crate::state::Sim;
use crate::testbed::{Given, MS, Record, begin_recorded, machine, task, workload};
use alight_workload::program::Op;

const END: u64 = 10_000 * MS;

fn run(ms: u64) -> Op {
    Op::Run { ns: ms * MS }
}

fn mark(mark: u32) -> Op {
    Op::Mark { mark }
}

/// A wakeup that comes when it comes.
fn wake(task: u32, nth: u32) -> Op {
    Op::Wake {
        task,
        nth,
        hand_off: false,
        sync: false,
    }
}

/// Runs `tasks` to their end on CPUs where nothing costs anything.
fn on_cpus(cpus: usize, tasks: &[Given], test: impl FnOnce(&mut Sim)) -> Record {
    let mut record = Record::default();
    begin_recorded(&machine(cpus, cpus), &workload(tasks), &mut record, |sim| {
        sim.until(END);
        test(sim);
    });
    record
}

/// When marks 0, 1 ... were passed first, ms, with `tasks` each on a CPU of its own.
fn passed(tasks: &[&[Op]], marks: usize) -> Vec<u64> {
    let on = |(cpu, ops): (usize, &&[Op])| task(0, ops).on(&[cpu as u32]);
    let tasks: Vec<Given> = tasks.iter().enumerate().map(on).collect();
    let mut times = vec![];
    on_cpus(tasks.len(), &tasks, |sim| {
        assert_eq!(sim.workloads[0].alive, 0, "some task waits for ever");
        times = (0..marks).map(|id| sim.passed(id).0 / MS).collect();
    });
    times
}

#[test]
fn a_wakeup_ends_the_sleep_that_it_names_and_no_other() {
    // What the waker does, and when the two sleeps of the other end.
    let cases: [(&[Op], [u64; 2]); 6] = [
        (&[run(1), wake(1, 1), run(1), wake(1, 2)], [1, 2]),
        // That of the second sleep comes before the first has ended.
        (&[run(1), wake(1, 2), run(1), wake(1, 1)], [2, 2]),
        // Before the first has begun.
        (&[wake(1, 1), wake(1, 2), run(1)], [0, 0]),
        (&[wake(1, 2), wake(1, 1)], [0, 0]),
        // Twice: the second one finds the task awake, or in a sleep that it is not for.
        (
            &[run(1), wake(1, 1), wake(1, 1), run(1), wake(1, 2)],
            [1, 2],
        ),
        (
            &[run(1), wake(1, 1), run(1), wake(1, 1), run(1), wake(1, 2)],
            [1, 3],
        ),
    ];
    for (waker, expected) in cases {
        let sleeper = [Op::Await, mark(0), Op::Await, mark(1)];
        assert_eq!(passed(&[waker, &sleeper], 2), expected, "{waker:?}");
    }
}
