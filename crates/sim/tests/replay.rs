// SPDX-License-Identifier: GPL-2.0-only
//! Whole replays: whatever was recorded comes to its end, on any machine under any scheduler; and
//! what waits for ever says for whom.
//!
//! A recording is drawn as the order in which its operations were carried out. Programs are what
//! each task did in it; no run of them repeats that order by itself.

mod common;

use alight_sim::Error;
use alight_trace::{Detail, Event, Sink, Waker};
use alight_workload::program::{
    Attributes, Begins, ChannelKind, Op, Policy, Repeats, TaskId, TaskSpec, Workload,
};
use common::{Run, given, machine};

const MACHINES: [&str; 6] = [
    "ca9x4",
    "juno-r0",
    "rk3588",
    "sdm845-phantom",
    "tc2",
    "threads",
];
const SCHEDULERS: [&str; 7] = [
    "linux-3.9",
    "linux-5.4",
    "linux-5.5+asym-capacity",
    "linux-6.1",
    "linux-6.5+uclamp-sum",
    "linux-5.5",
    "linux-7.2",
];
const US: u64 = 1000;
const MS: u64 = 1000 * US;

/// Draws numbers (splitmix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    fn one_in(&mut self, parts: u64) -> bool {
        self.below(parts) == 0
    }

    /// One of them, if there are any.
    fn pick(&mut self, of: &[usize]) -> Option<usize> {
        (!of.is_empty()).then(|| of[self.below(of.len() as u64) as usize])
    }
}

/// Where a recorded task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unborn,
    Awake,
    /// Awake; the wakeup for its next await was recorded before that.
    Raced,
    Asleep,
    Dead,
}

/// A recording as it comes about.
struct Recording {
    draw: Draw,
    tasks: Vec<Vec<Op>>,
    states: Vec<State>,
    awaits: Vec<u32>,
    time: u64,
    /// Bytes in the pipe that task 0 reads, and in the socket that task 1 reads.
    bytes: [u64; 2],
}

impl Recording {
    /// The first task is there from the start, of the others some are forked later.
    fn new(seed: u64) -> Self {
        let mut draw = Draw(seed);
        let tasks = 2 + draw.below(8) as usize;
        let states = (0..tasks).map(|task| match task != 0 && draw.one_in(4) {
            true => State::Unborn,
            false => State::Awake,
        });
        Recording {
            states: states.collect(),
            draw: Draw(seed ^ 0xa11c_e5ed),
            tasks: vec![vec![]; tasks],
            awaits: vec![0; tasks],
            time: 0,
            bytes: [0; 2],
        }
    }

    fn those(&self, state: State) -> Vec<usize> {
        let all = 0..self.tasks.len();
        all.filter(|&task| self.states[task] == state).collect()
    }

    fn wake(&mut self, waker: usize, task: usize, nth: u32, hand_off: bool) {
        let sync = self.draw.one_in(3);
        self.tasks[waker].push(Op::Wake {
            task: task as TaskId,
            nth,
            hand_off,
            sync,
        });
    }

    /// The next thing that one of the tasks does.
    fn goes_on(&mut self) {
        let mut awake = self.those(State::Awake);
        awake.extend(self.those(State::Raced));
        let Some(task) = self.draw.pick(&awake) else {
            unreachable!("the last one awake does not sleep")
        };
        let ns = self.draw.below(400) * US;
        self.time += ns / 4;
        match self.draw.below(15) {
            0..=2 => self.tasks[task].push(Op::Run { ns }),
            3 => self.tasks[task].push(Op::Yield),
            4 => {
                let early = self.draw.below(MS);
                let ns = (self.time + MS / 2).saturating_sub(early);
                self.tasks[task].push(Op::SleepUntil { ns, slack_ns: 0 });
            }
            5 => {
                let cpu = self.draw.below(12) as u32;
                self.tasks[task].push(Op::Complete { ns, cpu });
            }
            6..=7 => self.sleeps(task, awake.len()),
            8..=9 => {
                if let Some(other) = self.draw.pick(&self.those(State::Asleep)) {
                    let hand_off = !self.draw.one_in(4);
                    self.wake(task, other, self.awaits[other], hand_off);
                    self.states[other] = State::Awake;
                }
            }
            10 => self.races_or_misses(task),
            12..=13 => self.writes(task),
            14 => self.reads(task),
            _ => {
                if let Some(other) = self.draw.pick(&self.those(State::Unborn)) {
                    self.tasks[task].push(Op::Fork {
                        task: other as TaskId,
                    });
                    self.states[other] = State::Awake;
                }
            }
        }
    }

    fn writes(&mut self, task: usize) {
        let channel = self.draw.below(2) as usize;
        let bytes = 1 + self.draw.below(60_000);
        if task != channel {
            self.bytes[channel] += bytes;
            self.tasks[task].push(Op::Write {
                channel: channel as u32,
                bytes: bytes as u32,
            });
        }
    }

    /// A reader reads some of what was written.
    fn reads(&mut self, task: usize) {
        let Some(&there) = self.bytes.get(task).filter(|&&there| there > 0) else {
            return;
        };
        let bytes = 1 + self.draw.below(there);
        self.bytes[task] -= bytes;
        self.tasks[task].push(Op::Read {
            channel: task as u32,
            bytes: bytes as u32,
        });
    }

    fn sleeps(&mut self, task: usize, awake: usize) {
        let raced = self.states[task] == State::Raced;
        if raced || awake > 1 {
            self.tasks[task].push(Op::Await);
            self.awaits[task] += 1;
            self.states[task] = match raced {
                true => State::Awake,
                false => State::Asleep,
            };
        }
    }

    /// A wakeup that is recorded before the sleep that it ends, or for one that nobody begins.
    fn races_or_misses(&mut self, task: usize) {
        let mut others = self.those(State::Awake);
        others.retain(|&other| other != task);
        if let Some(dead) = self.draw.pick(&self.those(State::Dead)) {
            let hand_off = self.draw.one_in(2);
            self.wake(task, dead, self.awaits[dead] + 1, hand_off);
        } else if let Some(other) = self.draw.pick(&others) {
            self.wake(task, other, self.awaits[other] + 1, false);
            self.states[other] = State::Raced;
        }
    }

    /// All are woken and forked, and end; some did before.
    fn ends(&mut self) {
        while let Some(other) = self.draw.pick(&self.those(State::Asleep)) {
            let awake = self.those(State::Awake);
            let raced = self.those(State::Raced);
            let waker = self.draw.pick(&awake).or(raced.first().copied());
            let hand_off = !self.draw.one_in(4);
            self.wake(
                waker.expect("one is awake"),
                other,
                self.awaits[other],
                hand_off,
            );
            self.states[other] = State::Awake;
        }
        for other in self.those(State::Unborn) {
            self.tasks[0].push(Op::Fork {
                task: other as TaskId,
            });
        }
    }

    /// One that is awake ends, if others are left.
    fn one_ends(&mut self) {
        let awake = self.those(State::Awake);
        if awake.len() > 1
            && let Some(task) = self.draw.pick(&awake[1..])
        {
            self.states[task] = State::Dead;
        }
    }

    /// The workload that repeats it.
    fn workload(mut self, cpus: u64) -> Workload {
        let born = self.those(State::Unborn);
        for step in 0..30 + self.draw.below(120) {
            self.goes_on();
            if step % 40 == 39 {
                self.one_ends();
            }
        }
        self.ends();
        let mut workload = given(self.tasks);
        workload.channels = vec![ChannelKind::Pipe, ChannelKind::Socket];
        workload.repeats = Some(Repeats {
            first_tick_ns: Some(1 + self.draw.below(4 * MS)),
        });
        for (task, spec) in workload.tasks.iter_mut().enumerate() {
            spec.attributes = attributes(&mut self.draw, cpus);
            spec.start_ns = (!born.contains(&task)).then_some(0);
            spec.begins = self.draw.one_in(2).then(|| Begins {
                cpu: self.draw.below(10) as u32,
                util_avg: self.draw.below(1100) as u32,
                wakee_flips: self.draw.below(40) as u32,
                vruntime_ahead: match self.draw.one_in(2) {
                    true => Some(self.draw.below(8 * MS) as i64 - 4 * MS as i64),
                    false => None,
                },
            });
        }
        workload
    }
}

fn attributes(draw: &mut Draw, cpus: u64) -> Attributes {
    let of_class = match draw.below(8) {
        0 => Attributes {
            policy: Some(Policy::Fifo),
            rt_priority: Some(1 + draw.below(90) as u32),
            ..Attributes::default()
        },
        1 => Attributes {
            policy: Some(Policy::RoundRobin),
            rt_priority: Some(50),
            ..Attributes::default()
        },
        2 => Attributes {
            policy: Some(Policy::Deadline),
            slice_ns: Some(MS / 2),
            dl_period_deadline_ns: Some((10 * MS, 10 * MS)),
            ..Attributes::default()
        },
        3 => Attributes {
            policy: Some(Policy::Idle),
            ..Attributes::default()
        },
        4 => Attributes {
            nice: Some(draw.below(40) as i32 - 20),
            ..Attributes::default()
        },
        _ => Attributes::default(),
    };
    // A task of SCHED_DEADLINE may not be bound.
    let bound = of_class.policy != Some(Policy::Deadline) && draw.one_in(4);
    Attributes {
        affinity: bound.then(|| vec![draw.below(cpus) as u32]),
        ..of_class
    }
}

/// Counts wakeups, and those of wakers that had to wait.
#[derive(Default)]
struct Waited {
    hand_offs: u32,
    wakeups: u32,
}

impl Sink for Waited {
    fn event(&mut self, _: u64, _: u32, _: Event<'_>) -> std::io::Result<()> {
        Ok(())
    }

    fn wants_details(&self) -> bool {
        true
    }

    fn detail(&mut self, _: u64, _: u32, detail: Detail) -> std::io::Result<()> {
        match detail {
            Detail::Waking {
                by: Waker::HandOff, ..
            } => self.hand_offs += 1,
            Detail::Waking {
                by: Waker::Task, ..
            } => self.wakeups += 1,
            _ => {}
        }
        Ok(())
    }
}

/// See "No deadlock" in src/replay.rs. That the invariants hold is proved after every event.
#[test]
fn every_recording_comes_to_its_end() {
    let machines = MACHINES.map(machine);
    let mut waited = Waited::default();
    for seed in 0..1000u64 {
        let machine = &machines[seed as usize % MACHINES.len()];
        let scheduler = SCHEDULERS[seed as usize % SCHEDULERS.len()];
        let mut workload = Recording::new(seed).workload(machine.cpus.len() as u64);
        let deadline = |task: &&mut TaskSpec| {
            scheduler == "linux-3.9" && task.attributes.policy == Some(Policy::Deadline)
        };
        // It has no such class.
        for task in workload.tasks.iter_mut().filter(deadline) {
            task.attributes = Attributes::default();
        }
        let awaits: usize = (workload.programs.iter().flat_map(|program| &program.ops))
            .filter(|op| matches!(op, Op::Await))
            .count();
        assert!(awaits < 200, "they are drawn to be short");
        let workloads = [workload];
        let run = Run {
            scheduler,
            seed,
            ..Run::new(machine, &workloads)
        };
        match run.traced(Some(&mut waited)) {
            Ok(outcome) => assert!(outcome.figures[0].over, "seed {seed}"),
            Err(error) => panic!("seed {seed}, {}: {error}", run.scheduler),
        }
    }
    // What was drawn is no idle order: about so many are early.
    assert!(waited.wakeups > 4000, "{}", waited.wakeups);
    assert!(waited.hand_offs > 1000, "{}", waited.hand_offs);
}

/// The same numbers of tasks in two workloads are different tasks.
#[test]
fn each_workload_wakes_its_own_tasks() {
    let wake = Op::Wake {
        task: 1,
        nth: 1,
        hand_off: true,
        sync: false,
    };
    let pair = || given(vec![vec![Op::Run { ns: MS }, wake], vec![Op::Await]]);
    let workloads = [pair(), pair(), pair()];
    let outcome = Run::new(&machine("juno-r0"), &workloads).go();
    let outcome = outcome.expect("all of them end");
    assert!(outcome.figures.iter().all(|figures| figures.over));
}

#[test]
fn what_is_stuck_says_who_waits_for_whom() {
    let wake = |task, nth| Op::Wake {
        task,
        nth,
        hand_off: true,
        sync: false,
    };
    // The programs, and what is said of them. No recording has such.
    let cases: [(&[&[Op]], &str); 3] = [
        (
            &[&[Op::Await], &[Op::Await]],
            "'t0' waits for its 1. wakeup, which no task owes it; \
             't1' waits for its 1. wakeup, which no task owes it",
        ),
        (
            &[&[Op::Await, wake(1, 1)], &[Op::Await, wake(0, 1)]],
            "'t0' waits for its 1. wakeup, which 't1' owes it; \
             't1' waits for its 1. wakeup, which 't0' owes it",
        ),
        (
            &[&[wake(1, 1), Op::Await], &[wake(0, 1), Op::Await]],
            "'t0' waits until 't1' begins its 1. await; it has begun 0; \
             't1' waits until 't0' begins its 1. await; it has begun 0",
        ),
    ];
    for (programs, said) in cases {
        let programs = programs.iter().map(|ops| ops.to_vec()).collect();
        let workloads = [given(programs)];
        match Run::new(&machine("juno-r0"), &workloads).go() {
            Err(Error::Refused(what)) => assert!(what.contains(said), "{what}"),
            other => panic!("not stuck: {other:?}"),
        }
    }
}

#[test]
fn wakeups_of_nothing_are_refused() {
    let wake = |task, nth| Op::Wake {
        task,
        nth,
        hand_off: false,
        sync: false,
    };
    for (op, said) in [(wake(0, 0), "counted from 1"), (wake(1, 1), "task 1")] {
        let workloads = [given(vec![vec![op]])];
        match Run::new(&machine("juno-r0"), &workloads).go() {
            Err(Error::Refused(what)) => assert!(what.contains(said), "{what}"),
            other => panic!("not refused: {other:?}"),
        }
    }
}
