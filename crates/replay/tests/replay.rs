// SPDX-License-Identifier: GPL-2.0-only
//! What programs are made of recordings.

mod common;

use alight_recording::workload::{Capability, TaskFact};
use alight_replay::{NotReplayable, Options, Resample};
use alight_workload::program::{Op, Program};
use common::{all, free_machine, programs, replay};

/// Events, and the programs that are made of them.
const CASES: &[(&str, &str, &str)] = &[
    (
        "a task that another wakes waits for it; the waker waits until it sleeps",
        "0 0 switch 8 S 7
         100 0 waking 8 by 7
         150 0 switch 7 S 8
         190 0 switch 8 S 0",
        "pid-8 @0: await, run 40
         pid-7 @0: run 100, wake pid-8 1, run 50",
    ),
    (
        "a waking before the switch-out of its task ends that sleep, and its waker does not wait",
        "0 0 switch 0 R 8
         0 1 switch 0 R 7
         90 1 waking 8 by 7
         100 0 switch 8 S 0
         110 0 wakeup 8
         120 0 switch 0 R 8
         130 0 switch 8 S 0
         140 1 switch 7 S 0",
        "pid-8 @0: run 100, await, run 10
         pid-7 @0: run 90, wake pid-8 1 early, run 50",
    ),
    (
        "a task that is woken while it looks whether to sleep does not sleep",
        "0 0 switch 0 R 8
         0 1 switch 0 R 7
         90 1 waking 8 by 7
         91 1 wakeup 8
         200 0 switch 8 S 0
         300 1 waking 8 by 7
         310 0 switch 0 R 8
         320 0 switch 8 S 0",
        "pid-8 @0: run 200, await, run 10
         pid-7 @0: run 90, run 0, run 210, wake pid-8 1, run 20",
    ),
    (
        "what a waker does until its wakeup is done is not its work",
        "0 0 switch 8 S 7
         100 0 waking 8 by 7
         105 0 wakeup 8
         120 0 woken 8
         150 0 switch 7 S 8
         190 0 switch 8 S 0",
        "pid-8 @0: await, run 40
         pid-7 @0: run 100, wake pid-8 1, run 30",
    ),
    (
        "calls on a pipe are what they are: its reader sleeps if it finds nothing",
        "0 0 switch 0 R 8
         0 1 switch 0 R 7
         10 0 read 8 5 100
         30 0 switch 8 S 0
         50 1 write 7 5 100
         70 1 waking 8 by 7
         80 1 wrote 7 100
         90 0 switch 0 R 8
         95 0 got 8 100
         100 1 write 7 5 60
         110 1 wrote 7 60
         115 0 read 8 5 100
         120 0 got 8 60
         130 0 switch 8 S 0
         140 1 switch 7 S 0",
        "pid-8 @0: run 10, read 0 100, run 20, read 0 60, run 10
         pid-7 @0: run 50, write 0 100, run 20, write 0 60, run 30",
    ),
    (
        "of a pipe that somebody else writes too the wakings are replayed",
        "0 0 switch 0 R 8
         0 1 switch 0 R 7
         10 0 read 8 5 100
         30 0 switch 8 S 0
         50 1 write 7 5 100
         70 1 waking 8 by 7
         80 1 wrote 7 100
         90 0 switch 0 R 8
         95 0 got 8 200
         140 0 switch 8 S 0
         140 1 switch 7 S 0",
        "pid-8 @0: run 30, await, run 50
         pid-7 @0: run 70, wake pid-8 1, run 70",
    ),
    (
        "a reader that is woken on its way to sleep was woken by the call, too",
        "0 0 switch 0 R 8
         0 1 switch 0 R 7
         10 0 read 8 5 100
         50 1 write 7 5 100
         70 1 waking 8 by 7
         75 0 switch 8 S 0
         80 1 wrote 7 100
         85 0 wakeup 8
         90 0 switch 0 R 8
         95 0 got 8 100
         130 0 switch 8 S 0
         140 1 switch 7 S 0",
        "pid-8 @0: run 10, read 0 100, run 35
         pid-7 @0: run 50, write 0 100, run 60",
    ),
    (
        "tasks that each read one byte of a pipe wait at a gate",
        "0 0 switch 0 R 8
         0 1 switch 0 R 9
         0 2 switch 0 R 7
         10 0 read 8 5 1
         10 1 read 9 5 1
         20 0 switch 8 S 0
         20 1 switch 9 S 0
         50 2 write 7 5 2
         60 2 waking 8 by 7
         61 2 waking 9 by 7
         70 2 wrote 7 2
         80 0 switch 0 R 8
         80 1 switch 0 R 9
         90 0 got 8 1
         90 1 got 9 1
         100 0 switch 8 S 0
         110 1 switch 9 S 0
         120 2 switch 7 S 0",
        "pid-8 @0: run 10, read 0 1, run 10
         pid-9 @0: run 10, read 0 1, run 20
         pid-7 @0: run 50, write 0 2, run 50",
    ),
    (
        "work within a call on a futex is the kernel's; who waited looks whether to give way",
        "0 0 switch 0 R 7
         0 1 switch 0 R 8
         10 1 fwait 8 5
         30 1 switch 8 S 0
         50 0 fwake 7 5
         60 0 waking 8 by 7
         70 0 fwoke 7 1
         90 1 switch 0 R 8
         95 1 fwaited 8 0
         120 0 switch 7 S 0
         140 1 switch 8 S 0",
        "pid-7 @0: run 50, enter 10, wake pid-8 1, enter 10, run 50
         pid-8 @0: run 10, enter 20, await, enter 5, enter 0, run 45",
    ),
    (
        "who releases a lock, on which it waits at other times, waits for nobody",
        "0 0 switch 0 R 7
         0 1 switch 0 R 8
         10 0 fwait 7 5
         20 0 fwaited 7 11
         30 1 fwait 8 5
         40 1 switch 8 S 0
         50 0 fwake 7 5
         50 0 waking 8 by 7
         50 0 fwoke 7 1
         60 0 switch 7 S 0
         60 1 switch 0 R 8
         60 1 fwaited 8 0
         70 1 switch 8 S 0",
        "pid-7 @0: run 10, enter 10, enter 0, run 30, wake pid-8 1 early, run 10
         pid-8 @0: run 30, enter 10, await, enter 0, run 10",
    ),
    (
        "a call to poll may find something, and one to wake nobody",
        "0 0 switch 0 R 7
         10 0 poll 7 5
         20 0 polled 7 1
         50 0 fwake 7 5
         60 0 fwoke 7 0
         70 0 switch 7 S 0",
        "pid-7 @0: run 10, enter 10, enter 0, run 30, enter 10, run 10",
    ),
    (
        "what the scheduler does before a switch is nobody's work",
        "0 0 switch 0 R 8
         100 0 schedule 8
         180 0 switch 8 S 0
         300 0 begin irq
         305 0 waking 8 by hard
         310 0 end irq
         320 0 switch 0 R 8
         330 0 switch 8 S 0",
        "pid-8 @0: run 100, complete 200 on 0, run 10",
    ),
    (
        "a task that the scheduler brings late comes late again",
        "0 0 switch 0 R 7
         100 0 schedule 7
         110 0 switch 7 R+ 8
         150 0 switch 8 S 7
         170 0 switch 7 S 0",
        "pid-7 @0: run 120
         pid-8 @0: run 50",
    ),
    (
        "an interrupt that wakes while another task runs is not that task's doing",
        "0 0 switch 0 R 7
         0 1 switch 8 S 0
         100 0 begin irq
         105 0 waking 8 by hard
         110 0 end irq
         120 1 switch 0 R 8
         130 1 switch 8 S 0
         200 0 switch 7 S 0",
        "pid-7 @0: run 190
         pid-8 @0: complete 100 on 0, run 10",
    ),
    (
        "a timer ends a sleep at a point in time",
        "0 0 switch 8 S 0
         400 0 begin hrtimer
         400 0 waking 8 by hard
         402 0 end hrtimer
         410 0 switch 0 R 8
         500 0 switch 8 S 0",
        "pid-8 @0: until 400, run 90",
    ),
    (
        "a timer was due before its interrupt came",
        "0 0 switch 8 S 0
         400 0 begin hrtimer 30000
         405 0 waking 8 by hard
         408 0 end hrtimer
         410 0 switch 0 R 8
         500 0 switch 8 S 0",
        "pid-8 @0: until 370, run 90",
    ),
    (
        "a timer that expires in the interrupt of the tick has slack, and comes behind it",
        "0 0 switch 8 S 0
         400 0 begin tick
         402 0 end tick
         402 0 begin hrtimer 2000
         405 0 waking 8 by hard
         408 0 end hrtimer
         410 0 switch 0 R 8
         500 0 switch 8 S 0",
        "pid-8 @0: until 400+1, run 90",
    ),
    (
        "preemption adds nothing, and a yield stands where it was called",
        "0 0 switch 0 R 7
         100 0 switch 7 R+ 8
         300 0 yield 8
         310 0 switch 8 R 7
         350 0 switch 7 S 8
         360 0 switch 8 S 0",
        "pid-7 @0: run 140
         pid-8 @0: run 200, yield, run 20",
    ),
    (
        "a child is born where its parent forks, and ends",
        "0 0 switch 0 R 7
         50 0 fork 7 9
         80 0 switch 7 S 9
         100 0 switch 9 X 0
         100 0 waking 7 by 9
         200 0 switch 0 R 7
         300 0 switch 7 S 0",
        "pid-7 @0: run 50, fork pid-9, run 30, await, run 100
         pid-9 @forked: run 20, wake pid-7 1",
    ),
    (
        "work on a slower clock is less work",
        "0 0 khz 0 500000
         0 0 switch 0 R 7
         0 1 khz 1 1000000
         0 1 switch 0 R 8
         100 0 switch 7 S 0
         100 1 switch 8 S 0",
        "pid-7 @0: run 50
         pid-8 @0: run 100",
    ),
];

#[test]
fn programs_follow_from_events() {
    let mut machine = free_machine();
    for domain in &mut machine.freq_domains {
        domain.opps.last_mut().unwrap().khz = 1_000_000;
    }
    for (name, events, expected) in CASES {
        let made = replay(&machine, events, &[], &all(), &Options::default()).unwrap();
        let expected: String = (expected.lines())
            .map(|line| line.trim().to_owned() + "\n")
            .collect();
        assert_eq!(programs(&made), expected, "{name}");
        made.workload.check().unwrap();
    }
}

const LEFT_OUT: &str = "0 0 switch 8 S 7
     100 0 waking 8 by 7
     150 0 switch 7 S 8
     190 0 switch 8 S 0";

#[test]
fn a_task_that_is_left_out_becomes_a_device() {
    let recorder = TaskFact {
        pid: 7,
        recorder: Some(true),
        ..TaskFact::default()
    };
    let options = Options::default();
    let made = replay(&free_machine(), LEFT_OUT, &[recorder], &all(), &options).unwrap();
    assert_eq!(programs(&made), "pid-8 @0: complete 100 on 0, run 40\n");
    assert_eq!(made.health.by_left_out, 1);
}

#[test]
fn background_is_left_out_on_request() {
    let chosen = TaskFact {
        pid: 8,
        comm: Some("app".into()),
        chosen: Some(true),
        ..TaskFact::default()
    };
    let with = |background| {
        let options = Options {
            background,
            ..Options::default()
        };
        let made = replay(
            &free_machine(),
            LEFT_OUT,
            std::slice::from_ref(&chosen),
            &all(),
            &options,
        );
        programs(&made.unwrap())
    };
    assert_eq!(
        with(true),
        "app @0: await, run 40\npid-7 @0: run 100, wake app 1, run 50\n"
    );
    assert_eq!(with(false), "app @0: complete 100 on 0, run 40\n");
}

#[test]
fn a_loss_cuts_and_the_longer_part_is_replayed() {
    let events = "0 0 switch 0 R 7
         100 0 switch 7 S 0
         100 0 lost 5
         300 0 switch 0 R 8
         400 0 switch 8 S 7
         500 0 waking 8 by 7
         510 0 switch 7 S 8
         520 0 switch 8 S 0";
    let made = replay(&free_machine(), events, &[], &all(), &Options::default()).unwrap();
    assert_eq!(
        programs(&made),
        "pid-8 @0: run 100, await, run 10\npid-7 @0: run 100, wake pid-8 1, run 10\n"
    );
    assert_eq!((made.health.windows, made.health.lost), (2, Some(5)));
}

#[test]
fn without_context_causes_are_assumed_and_counted() {
    let events = "0 0 switch 8 S 7
         100 0 waking 8 by ?7
         150 0 switch 7 S 8
         190 0 switch 8 S 0";
    let told = [Capability::Wakings];
    let made = replay(&free_machine(), events, &[], &told, &Options::default()).unwrap();
    assert_eq!(made.health.by_tasks_assumed, 1);
    assert_eq!(made.health.assumed_percent(), 100);
    assert!(made.health.lacks.contains(&Capability::Context));
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let machine = free_machine();
    let options = Options::default();
    let refused = |events: &str, told: &[Capability]| -> NotReplayable {
        replay(&machine, events, &[], told, &options).unwrap_err()
    };
    let none = refused("", &all());
    assert!(matches!(none, NotReplayable::Empty), "{none}");
    let idle = refused("0 0 khz 0 1000", &all());
    assert!(matches!(idle, NotReplayable::NoTask), "{idle}");
    let other = refused("0 9 switch 8 S 0", &all());
    let name = &machine.name;
    assert_eq!(
        other.to_string(),
        format!(
            "was recorded on a machine that has a CPU 9; the machine '{name}' has {} CPUs, from 0: \
             name the recorded one",
            machine.cpus.len()
        )
    );
    let blind = refused(LEFT_OUT, &[Capability::Context]);
    assert_eq!(
        blind.to_string(),
        "does not tell wakings: who woke whom is unknown: a replay cannot keep the order; record \
         again with this event"
    );
}

#[test]
fn the_model_takes_its_charges_off_the_work() {
    let mut machine = free_machine();
    for core in &mut machine.core_types {
        core.costs.wakeup_ns = 10_000;
        core.costs.switch_ns = 2_000;
        core.costs.block_ns = 3_000;
    }
    let made = replay(&machine, LEFT_OUT, &[], &all(), &Options::default()).unwrap();
    // Half a switch at each end of a turn; 8 pays for what it did to sleep, too.
    assert_eq!(
        programs(&made),
        "pid-8 @0: await, run 35\npid-7 @0: run 99, wake pid-8 1, run 39\n"
    );
}

/// A task that a timer wakes each ms while 7 has the CPU, and 7 is said to have woken it.
#[test]
fn a_timer_that_is_booked_on_a_busy_task_is_suspect() {
    let with = |by: &str| {
        let mut events = "0 0 switch 8 S 7\n".to_owned();
        for k in 1..=20 {
            let at = k * 1000;
            events += &format!(
                "{at} 0 begin hrtimer\n{at} 0 waking 8 by {by}\n{} 0 end hrtimer\n\
                 {} 0 switch 7 R 8\n{} 0 switch 8 S 7\n",
                at + 1,
                at + 5,
                at + 100
            );
        }
        let made = replay(&free_machine(), &events, &[], &all(), &Options::default());
        let health = made.unwrap().health;
        (health.by_timers, health.suspect)
    };
    assert_eq!(with("hard"), (20, 0));
    assert_eq!(with("7"), (0, 19));
}

#[test]
fn a_recording_is_cut_into_blocks_where_no_task_is_born_or_ends() {
    let mut events = "0 0 switch 8 S 7\n".to_owned();
    for k in 1..=40 {
        let at = k * 1000;
        events += &format!(
            "{at} 0 waking 8 by 7\n{} 0 switch 7 S 8\n{} 0 waking 7 by 8\n{} 0 switch 8 S 7\n",
            at + 10,
            at + 20,
            at + 30
        );
        if k == 5 {
            events += &format!("{} 0 fork 7 9\n", at + 40);
        }
    }
    let resample = |block_ms: u64, length_ms: Option<u64>| Options {
        resample: Some(Resample {
            block_ns: block_ms * 1_000_000,
            length_ns: length_ms.map(|ms| ms * 1_000_000),
        }),
        ..Options::default()
    };
    let machine = free_machine();
    let made = replay(&machine, &events, &[], &all(), &resample(4, None)).unwrap();
    let blocks = made.workload.blocks.as_ref().unwrap();
    // The block from 4 to 8 ms has a birth; that from 40 ms on is not whole.
    assert_eq!((blocks.first, blocks.last, blocks.drawn), (2, 10, 8));
    let recorded: Vec<usize> = (0..blocks.times.len() - 1).collect();
    let whole = replay(&machine, &events, &[], &all(), &Options::default()).unwrap();
    assert_eq!(
        waits(&blocks.programs(&recorded)),
        waits(&whole.workload.programs)
    );
    let drawn = blocks.programs(&blocks.order(|k, many| k * 7 % many));
    assert_eq!(waits(&drawn), waits(&whole.workload.programs));

    let longer = replay(&machine, &events, &[], &all(), &resample(4, Some(100))).unwrap();
    assert_eq!(longer.workload.blocks.unwrap().drawn, 25);
    let refused = replay(&machine, &events, &[], &all(), &resample(20, None)).unwrap_err();
    assert!(
        matches!(refused, NotReplayable::TooShort { blocks: 1, .. }),
        "{refused}"
    );
}

/// How often each program waits and wakes.
fn waits(programs: &[Program]) -> Vec<(usize, usize)> {
    let count = |ops: &[Op], wanted: fn(&Op) -> bool| ops.iter().filter(|op| wanted(op)).count();
    (programs.iter())
        .map(|Program { ops }| {
            let awaits = count(ops, |op| matches!(op, Op::Await));
            (awaits, count(ops, |op| matches!(op, Op::Wake { .. })))
        })
        .collect()
}
