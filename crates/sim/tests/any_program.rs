// SPDX-License-Identifier: GPL-2.0-only
//! Programs drawn at random, on machines drawn at random, with the invariants
//! proved after every event: nothing panics, nothing is lost, everything ends.
//!
//! The programs cannot wait for each other in a circle: locks are taken one at a
//! time and given back, and who waits for something that another task gives
//! waits for a task of a lower number, in the order in which it gives.

mod common;

use alight_machine::Machine;
use alight_sim::hotplug_torture;
use alight_workload::program::{
    Attributes, ChannelKind, Op, OptionalId, Policy, TimerMode, TimerOrigin, Workload,
};
use common::{Run, given, machine};
use proptest::prelude::*;

/// Machines small enough that their checks take no time.
const MACHINES: [&str; 8] = [
    "ca9x4",
    "gs101",
    "hikey620",
    "juno-r0",
    "rk3588",
    "sdm845-phantom",
    "tc2",
    "threads",
];
/// Every base, and clamps otherwise: what differs between them is in these programs' way.
const SCHEDULERS: [&str; 11] = [
    "linux-3.9",
    "linux-5.4",
    "linux-5.5",
    "linux-5.5+asym-capacity",
    "linux-5.5+uclamp-sum=v2",
    "linux-6.1",
    "linux-6.5",
    "linux-6.5+uclamp-sum",
    "linux-7.2",
    "linux-7.2+uclamp-sum",
    "linux-7.2+uclamp-sum=bias:fix",
];
const US: u64 = 1000;

/// What a task does by itself.
#[derive(Debug, Clone)]
enum Step {
    Plain(Vec<Op>),
    /// Some of it under a lock.
    Locked(u32, Vec<Op>),
    /// Again and again.
    Repeated(u64, Vec<Op>),
    /// Gives to a task of a higher number, which takes: (which, how, how much).
    Handed(prop::sample::Index, Handover, u32),
}

/// How something is handed over.
#[derive(Debug, Clone, Copy)]
enum Handover {
    Semaphore,
    Pipe,
    Socket,
}

fn plain() -> impl Strategy<Value = Op> {
    let mode = prop::sample::select(vec![
        TimerMode::Relative,
        TimerMode::Absolute,
        TimerMode::SkipMissed,
    ]);
    prop_oneof![
        4 => (0..3000u64).prop_map(|us| Op::Run { ns: us * US }),
        2 => (0..8000u64).prop_map(|us| Op::Sleep { ns: us * US }),
        2 => Just(Op::Yield),
        1 => (0..2000u64).prop_map(|us| Op::RunWall { ns: us * US }),
        1 => (0..100_000u64).prop_map(|bytes| Op::Memory { bytes }),
        1 => (1..5000u64, mode).prop_map(|(us, mode)| Op::Timer {
            slot: 0,
            period_ns: us * US,
            mode,
            origin: TimerOrigin::FirstUse,
            histogram: OptionalId::some(0),
        }),
        1 => (0..6u32).prop_map(|attributes| Op::SetAttributes { attributes }),
        1 => Just(Op::Unlock { mutex: 3 }),
        1 => Just(Op::Signal { condition: 0 }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let some = || prop::collection::vec(plain(), 1..5);
    let how = prop::sample::select(vec![Handover::Semaphore, Handover::Pipe, Handover::Socket]);
    prop_oneof![
        3 => some().prop_map(Step::Plain),
        2 => (0..3u32, some()).prop_map(|(mutex, ops)| Step::Locked(mutex, ops)),
        1 => (0..6u64, some()).prop_map(|(count, ops)| Step::Repeated(count, ops)),
        3 => (any::<prop::sample::Index>(), how, 1..200_000u32)
            .prop_map(|(to, how, bytes)| Step::Handed(to, how, bytes)),
    ]
}

/// Lower and upper clamp that a task begins with.
type Clamps = (Option<u32>, Option<u32>);

/// Of some tasks, most often of none.
fn clamps() -> impl Strategy<Value = Vec<Clamps>> {
    let clamp = || {
        prop_oneof![
            3 => Just((None, None)),
            1 => (0..=1024u32).prop_map(|max| (None, Some(max))),
            1 => (0..=1024u32).prop_map(|min| (Some(min), None)),
        ]
    };
    prop_oneof![
        2 => Just(vec![]),
        1 => prop::collection::vec(clamp(), 24),
    ]
}

/// The tasks' programs in one workload; each handover has a resource of its own.
/// `realtime`: priority of those that start in that class; empty: nobody ever is in it.
fn compile(
    tasks: &[Vec<Step>],
    niceness: &[i32],
    clamps: &[Clamps],
    realtime: &[Option<u32>],
) -> Workload {
    let mut programs: Vec<Vec<Op>> = vec![vec![]; tasks.len()];
    let mut takes: Vec<Vec<Op>> = vec![vec![]; tasks.len()];
    let mut channels = vec![];
    let mut semaphores = 0;
    for (at, steps) in tasks.iter().enumerate() {
        // First what lower tasks hand over: whatever those wait for comes from lower ones still.
        programs[at].append(&mut takes[at]);
        for step in steps {
            match step {
                Step::Plain(ops) => programs[at].extend(ops),
                Step::Locked(mutex, ops) => {
                    programs[at].push(Op::Lock { mutex: *mutex });
                    programs[at].extend(ops);
                    programs[at].push(Op::Unlock { mutex: *mutex });
                }
                Step::Repeated(count, ops) => {
                    let begin = programs[at].len() as u32 + 1;
                    let end = begin + ops.len() as u32 + 1;
                    programs[at].push(Op::LoopBegin {
                        slot: 0,
                        count: *count,
                        end,
                    });
                    programs[at].extend(ops);
                    programs[at].push(Op::LoopEnd { slot: 0, begin });
                }
                Step::Handed(to, how, bytes) => {
                    let higher = tasks.len() - at - 1;
                    if higher == 0 {
                        continue;
                    }
                    let to = at + 1 + to.index(higher);
                    let channel = channels.len() as u32;
                    let (give, take) = match how {
                        Handover::Semaphore => {
                            semaphores += 1;
                            let semaphore = semaphores - 1;
                            (Op::SemPost { semaphore }, Op::SemWait { semaphore })
                        }
                        Handover::Pipe | Handover::Socket => {
                            channels.push(match how {
                                Handover::Pipe => ChannelKind::Pipe,
                                _ => ChannelKind::Socket,
                            });
                            let bytes = *bytes;
                            (Op::Write { channel, bytes }, Op::Read { channel, bytes })
                        }
                    };
                    programs[at].push(give);
                    takes[to].push(take);
                }
            }
        }
    }
    let mut workload = given(programs);
    workload.channels = channels;
    workload.semaphores = semaphores;
    workload.histograms = vec!["late".into()];
    let some = Attributes::default;
    workload.attributes = vec![
        Attributes {
            nice: Some(10),
            ..some()
        },
        Attributes {
            policy: Some(Policy::Idle),
            nice: Some(0),
            ..some()
        },
        Attributes {
            policy: Some(Policy::Normal),
            uclamp_max: Some(400),
            affinity: Some(vec![0, 3]),
            ..some()
        },
        Attributes {
            policy: Some(Policy::Batch),
            lift_affinity: true,
            uclamp_min: Some(200),
            ..some()
        },
        Attributes {
            policy: Some(Policy::Normal),
            ..some()
        },
        Attributes {
            policy: Some(Policy::Normal),
            nice: Some(-5),
            ..some()
        },
    ];
    let of = |policy, priority| Attributes {
        policy: Some(policy),
        rt_priority: Some(priority),
        ..some()
    };
    if !realtime.is_empty() {
        workload.attributes[4] = of(Policy::Fifo, 20);
        workload.attributes[5] = of(Policy::RoundRobin, 20);
    }
    for (task, priority) in workload.tasks.iter_mut().zip(realtime) {
        if let Some(priority) = *priority {
            let policy = match priority % 2 {
                0 => Policy::Fifo,
                _ => Policy::RoundRobin,
            };
            task.attributes.policy = Some(policy);
            task.attributes.rt_priority = Some(priority);
        }
    }
    for (task, nice) in workload.tasks.iter_mut().zip(niceness) {
        task.attributes.nice = Some(*nice);
    }
    for (task, clamps) in workload.tasks.iter_mut().zip(clamps) {
        (task.attributes.uclamp_min, task.attributes.uclamp_max) = *clamps;
    }
    workload
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_ends(
        tasks in prop::collection::vec(prop::collection::vec(step(), 0..6), 1..24),
        niceness in prop::collection::vec(-20..20i32, 24),
        clamps in clamps(),
        realtime in prop_oneof![
            Just(vec![]),
            prop::collection::vec(prop::option::weighted(0.4, 18..23u32), 24),
        ],
        on in prop::sample::select(&MACHINES[..]),
        irq_time_accounting in any::<bool>(),
        scheduler in prop::sample::select(&SCHEDULERS[..]),
        seed in any::<u64>(),
    ) {
        let machine = Machine { irq_time_accounting, ..machine(on) };
        let workloads = [compile(&tasks, &niceness, &clamps, &realtime)];
        let run = Run { scheduler, seed, ..Run::new(&machine, &workloads) };
        let outcome = run.go();
        prop_assert!(outcome.is_ok(), "{on} {irq_time_accounting}, {scheduler}: {}", outcome.unwrap_err());
    }

    /// The same while CPUs go and come every few hundred microseconds, with tasks of
    /// SCHED_DEADLINE that ask for 4 % of a CPU, as many as the smallest CPU admits alone.
    #[test]
    fn everything_ends_on_a_machine_that_changes(
        tasks in prop::collection::vec(prop::collection::vec(step(), 0..6), 1..24),
        niceness in prop::collection::vec(-20..20i32, 24),
        clamps in clamps(),
        realtime in prop::collection::vec(prop::option::weighted(0.4, 18..23u32), 24),
        deadlines in prop::collection::vec(prop::bool::weighted(0.3), 24),
        on in prop::sample::select(&MACHINES[..]),
        irq_time_accounting in any::<bool>(),
        scheduler in prop::sample::select(&SCHEDULERS[..]),
        seed in any::<u64>(),
    ) {
        let machine = Machine { irq_time_accounting, ..machine(on) };
        let mut workload = compile(&tasks, &niceness, &clamps, &realtime);
        // 95 % of its capacity, less the 5 % of a fair server, at 4 % a task.
        let smallest = machine.cpus.iter().map(|cpu| cpu.capacity_orig).min().expect("CPUs");
        let admitted = (smallest * 95 / 1024 - 5) / 4;
        let drawn = workload.tasks.iter_mut().zip(deadlines).filter(|(_, deadline)| *deadline);
        for (task, _) in drawn.take(admitted as usize) {
            if !scheduler.starts_with("linux-3.9") {
                task.attributes = Attributes {
                    policy: Some(Policy::Deadline),
                    slice_ns: Some(20_000),
                    dl_period_deadline_ns: Some((500_000, 400_000)),
                    ..Attributes::default()
                };
            }
        }
        let mut changes = hotplug_torture(machine.cpus.len(), 60, seed);
        for change in &mut changes {
            change.at_ns /= 200;
        }
        let workloads = [workload];
        let run = Run { scheduler, seed, changes: &changes, ..Run::new(&machine, &workloads) };
        let outcome = run.go();
        prop_assert!(outcome.is_ok(), "{on} {irq_time_accounting}, {scheduler}: {}", outcome.unwrap_err());
    }
}
