// SPDX-License-Identifier: GPL-2.0-only
//! What kind of sleep a timer ended: a recording of system calls says so. Without them it is guessed
//! from the lengths of sleeps, which takes all pauses of this recording for points in time.
//!
//! `recordings/calls-four-7.2.alight` is of `crates/live/tests/workload.c` with 30 rounds, recorded
//! with `--calls` on four CPUs of a stock kernel.

use std::collections::BTreeMap;
use std::path::Path;

use alight_recording::Reader;
use alight_recording::workload::{Call, Item, MACHINE, What, WorkloadReader};
use alight_replay::{Options, load};
use alight_workload::program::Op;

/// Of a task: calls, or operations.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Sleeps {
    /// Until points in time.
    points: usize,
    /// For lengths.
    pauses: usize,
}

fn open(path: &Path) -> WorkloadReader<impl std::io::BufRead> {
    WorkloadReader::new(Reader::open(path).expect("a recording")).expect("of a workload")
}

/// Calls by which each task sleeps.
fn called(path: &Path) -> BTreeMap<u32, Sleeps> {
    let mut all: BTreeMap<u32, Sleeps> = BTreeMap::new();
    let mut reader = open(path);
    while let Some(item) = reader.next_item().expect("it is whole") {
        if let Item::Event(event) = item
            && let What::CallBegin { pid, call, .. } = event.what
        {
            match call {
                Call::SleepUntil => all.entry(pid).or_default().points += 1,
                Call::Sleep => all.entry(pid).or_default().pauses += 1,
                _ => {}
            }
        }
    }
    all
}

/// The same as the replay has it.
fn replayed(path: &Path) -> BTreeMap<u32, Sleeps> {
    let mut reader = open(path);
    let text = reader.header().facts[MACHINE].clone();
    let machine = alight_machine::parse("recorded", &text).and_then(|draft| draft.resolve());
    let machine = machine.expect("its own machine").machine;
    let replay = load(&mut reader, &machine, &Options::default()).expect("it can be replayed");
    let programs = replay.workload.programs.iter().zip(&replay.tasks);
    programs
        .map(|(program, task)| {
            let count = |is: fn(&Op) -> bool| program.ops.iter().filter(|op| is(op)).count();
            let sleeps = Sleeps {
                points: count(|op| matches!(op, Op::SleepUntil { .. })),
                pauses: count(|op| matches!(op, Op::SleepFor { .. })),
            };
            (task.pid, sleeps)
        })
        .collect()
}

#[test]
fn a_task_sleeps_as_it_called_for() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recordings/calls-four-7.2.alight");
    let (called, replayed) = (called(&path), replayed(&path));
    let [mut points, mut pauses] = [0, 0];
    for (pid, calls) in &called {
        let kept = replayed[pid];
        // Of a time that has passed there is no sleep. Other waits may look like pauses.
        let wrong = match (calls.points, calls.pauses) {
            (0, _) => kept.points,
            (_, 0) => kept.pauses,
            _ => panic!("{pid} does both: {calls:?}"),
        };
        assert_eq!(wrong, 0, "{pid}: called {calls:?}, replayed {kept:?}");
        points += kept.points;
        pauses += kept.pauses;
    }
    assert!(
        points > 20 && pauses > 100,
        "{points} points, {pauses} pauses"
    );
}
