// SPDX-License-Identifier: GPL-2.0-only
//! Blocks in another order.

use super::*;

fn run(ns: u64) -> Op {
    Op::Run { ns }
}

fn wake(task: u32, nth: u32) -> Op {
    Op::Wake {
        task,
        nth,
        hand_off: true,
        sync: false,
    }
}

fn cut(op: u32, awaits: u32, asleep: bool) -> Cut {
    Cut { op, awaits, asleep }
}

/// Two tasks in three blocks of 100 ns: 0 works and wakes 1 once in the first block, twice in the
/// second; 1 sleeps over the first cut, and has a timer in the last block.
fn blocks() -> Blocks {
    let waker = Pieces {
        ops: vec![
            run(10),
            wake(1, 1),
            run(20),
            wake(1, 2),
            wake(1, 3),
            run(30),
        ],
        cuts: vec![
            cut(0, 0, false),
            cut(2, 0, false),
            cut(5, 0, false),
            cut(6, 0, false),
        ],
    };
    let until = Op::SleepUntil {
        ns: 250,
        slack_ns: 0,
    };
    let sleeper = Pieces {
        ops: vec![
            Op::Await,
            run(1),
            Op::Await,
            run(2),
            Op::Await,
            run(3),
            until,
            run(4),
        ],
        cuts: vec![
            cut(0, 0, false),
            cut(3, 1, true),
            cut(6, 3, false),
            cut(8, 3, false),
        ],
    };
    Blocks {
        tasks: vec![waker, sleeper],
        times: vec![0, 100, 200, 300],
        first: 0,
        last: 3,
        drawn: 3,
    }
}

#[test]
fn the_recorded_order_gives_the_recorded_programs() {
    let blocks = blocks();
    let programs = blocks.programs(&[0, 1, 2]);
    assert_eq!(programs[0].ops, blocks.tasks[0].ops);
    assert_eq!(programs[1].ops, blocks.tasks[1].ops);
}

#[test]
fn wakeups_find_their_sleeps_in_any_order() {
    let until = |ns| Op::SleepUntil { ns, slack_ns: 0 };
    let programs = blocks().programs(&[1, 1, 0, 2]);
    let twice = [
        run(20),
        wake(1, 1),
        wake(1, 2),
        run(20),
        wake(1, 3),
        wake(1, 4),
    ];
    let once = [run(10), wake(1, 5), run(30)];
    assert_eq!(programs[0].ops, [&twice[..], &once[..]].concat());
    let sleeps = [Op::Await, run(2), Op::Await, run(3)];
    // It goes to sleep at the end of block 0, and block 2 finds it awake: it goes on.
    let last = [Op::Await, run(1), until(350), run(4)];
    assert_eq!(
        programs[1].ops,
        [&sleeps[..], &sleeps[..], &last[..]].concat()
    );
}

#[test]
fn blocks_at_the_ends_stay() {
    let blocks = Blocks {
        first: 1,
        last: 2,
        drawn: 3,
        ..blocks()
    };
    assert_eq!(blocks.order(|_, many| many - 1), [0, 1, 1, 1, 2]);
}

#[test]
fn each_await_has_its_wakeup_in_any_order() {
    let blocks = blocks();
    for code in 0..81 {
        let order: Vec<usize> = (0..4).map(|k| code / 3_usize.pow(k) % 3).collect();
        let programs = blocks.programs(&order);
        let awaits = programs[1]
            .ops
            .iter()
            .filter(|op| **op == Op::Await)
            .count() as u32;
        let woken: Vec<u32> = (programs[0].ops.iter())
            .filter_map(|op| match op {
                Op::Wake { nth, .. } => Some(*nth),
                _ => None,
            })
            .collect();
        assert_eq!(woken, (1..=awaits).collect::<Vec<_>>(), "{order:?}");
    }
}
