// SPDX-License-Identifier: GPL-2.0-only
//! What tasks begin with, and how programs end whose tasks go on at the end of a recording.

mod common;

use alight_recording::workload::TaskFact;
use alight_replay::Options;
use alight_workload::program::Op;
use common::{all, free_machine, programs, replay};

#[test]
fn a_task_begins_with_the_attributes_that_it_has_when_it_first_runs() {
    let mut machine = free_machine();
    for core in &mut machine.core_types {
        core.costs.futex_ns = 1_000_000;
    }
    let events = "0 0 fork 0 7
         20 0 switch 0 R 7
         100 0 switch 7 S 0";
    let with = |us: u64| {
        let nice = TaskFact {
            time: us * 1000,
            pid: 7,
            nice: Some(5),
            ..TaskFact::default()
        };
        let made = replay(&machine, events, &[nice], &all(), &Options::default()).unwrap();
        let begins = made.workload.tasks[0].attributes.nice;
        (begins, programs(&made))
    };
    let line = |ops: &str| format!("pid-7 @0: {ops}\n");
    assert_eq!(with(10), (Some(5), line("run 80")));
    // What it did before was the call, of which the model charges more.
    assert_eq!(with(50), (None, line("set Some(5)")));
    // A second call that states the same.
    let events = format!("{events}\n200 0 switch 0 R 7\n300 0 switch 7 S 0");
    let nice = |us: u64| TaskFact {
        time: us * 1000,
        pid: 7,
        nice: Some(5),
        ..TaskFact::default()
    };
    let facts = [nice(10), nice(250)];
    let made = replay(
        &free_machine(),
        &events,
        &facts,
        &all(),
        &Options::default(),
    );
    let expected = line("run 80, complete 100 on 0, run 50, set Some(5), run 50");
    assert_eq!(programs(&made.unwrap()), expected);
}

/// The operations of the first task, of which nothing is known any more behind `retire`.
fn kinds(events: &str) -> String {
    let made = replay(&free_machine(), events, &[], &all(), &Options::default());
    let ops = &made.unwrap().workload.programs[0].ops;
    let names = ops.iter().map(|op| match op {
        Op::Run { .. } => "run",
        Op::SleepUntil { .. } => "sleep",
        Op::Yield => "yield",
        Op::Mark { .. } => "mark",
        Op::Retire => "retire",
        Op::Exit => "exit",
        other => panic!("{other:?}"),
    });
    names.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_task_that_sleeps_at_the_end_sleeps_on_and_one_that_ended_ends() {
    let asleep = "0 0 switch 0 R 8
         400 0 switch 8 S 0";
    assert_eq!(kinds(asleep), "run mark retire sleep exit");
    let ended = "0 0 switch 0 R 8
         400 0 switch 8 X 0";
    assert_eq!(kinds(ended), "run mark exit");
}

#[test]
fn a_run_does_not_wait_until_a_task_that_waits_for_a_cpu_last_gets_it() {
    let woken = "0 0 switch 8 S 0
         400 0 begin hrtimer
         400 0 waking 8 by hard
         402 0 end hrtimer";
    let preempted = "0 0 switch 0 R 8
         400 0 switch 8 R+ 9
         410 0 switch 9 S 0";
    let yielded = "0 0 switch 0 R 8
         400 0 yield 8
         400 0 switch 8 R 9
         410 0 switch 9 S 0";
    for (events, beside, alone) in [
        (
            woken,
            "mark retire sleep run exit",
            "sleep mark retire run exit",
        ),
        // A ns of its work stands behind.
        (
            preempted,
            "run mark retire run run exit",
            "run mark retire run exit",
        ),
        (
            yielded,
            "run mark retire yield run exit",
            "run yield mark retire run exit",
        ),
    ] {
        assert_eq!(kinds(&format!("{events}\n500 1 switch 7 R 7")), beside);
        // Nobody else lasts as long.
        assert_eq!(kinds(events), alone);
    }
}
