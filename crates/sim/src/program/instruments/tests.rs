// SPDX-License-Identifier: GPL-2.0-only
//! Tests of stopwatches, counters of late frames and rates; of desks and the locks of CPUs.

use crate::dispatch::Sim;
use crate::dispatch::exec::TIMER_SLACK;
use crate::face::tally::Tally;
use crate::testbed::{Given, MS, US, begin, machine, task, workload};
use alight_workload::program::{
    Attributes, Instruments, Lateness, Observation, Op, OptionalId, TimerMode, TimerOrigin,
};

const END: u64 = 10_000 * MS;

fn run(ms: u64) -> Op {
    Op::Run { ns: ms * MS }
}

fn sleep(ms: u64) -> Op {
    Op::Sleep { ns: ms * MS }
}

fn observe(observation: Observation) -> Op {
    Op::Observe(observation)
}

/// Latenesses of more than 1 ms, 2 ms …; each holds for 3 ms.
fn lateness() -> Vec<Lateness> {
    let after = |ms| Lateness {
        limit_ns: ms * MS,
        hold_us: 3000,
    };
    (1..=6).map(after).collect()
}

/// Runs the tasks, each on the CPU given with it; all costs are 0.
fn on(tasks: &[(u32, Given)], test: impl FnOnce(&mut Sim)) {
    where_a_call_costs(0, tasks, test);
}

fn where_a_call_costs(futex_ms: u32, tasks: &[(u32, Given)], test: impl FnOnce(&mut Sim)) {
    let mut machine = machine(4, 4);
    machine.core_types[0].costs.futex_ns = futex_ms * 1_000_000;
    let tasks: Vec<Given> = tasks
        .iter()
        .map(|(cpu, task)| task.clone().on(&[*cpu]))
        .collect();
    let mut workload = workload(&tasks);
    workload.lateness = lateness();
    workload.instruments = Instruments {
        stamps: 2,
        tallies: 2,
        desks: 1,
    };
    begin(&machine, &workload, |sim| {
        sim.until(END);
        test(sim);
    });
}

/// Runs a task that may switch to these attributes.
fn with_attributes(attributes: &[Attributes], ops: &[Op], test: impl FnOnce(&mut Sim)) {
    let mut workload = workload(&[task(0, ops).on(&[0])]);
    workload.attributes = attributes.to_vec();
    workload.lateness = lateness();
    workload.instruments.stamps = 2;
    begin(&machine(4, 4), &workload, |sim| {
        sim.until(END);
        test(sim);
    });
}

fn samples(tally: &Tally) -> Vec<(u64, u64)> {
    tally.buckets().collect()
}

#[test]
fn a_lapse_is_the_difference_of_two_times_cut_to_microseconds() {
    // Starts at 1.0009 us: from 1 us to 2 us counts as 1, although hardly any time passes.
    let ops = [
        observe(Observation::Stamp { stamp: 0 }),
        Op::Run { ns: 200 },
        observe(Observation::Lapse { stamp: 0, tally: 0 }),
        observe(Observation::Stamp { stamp: 0 }),
        Op::Run { ns: 300 },
        observe(Observation::Lapse { stamp: 0, tally: 0 }),
        observe(Observation::LapseAboveZero { stamp: 0, tally: 1 }),
        observe(Observation::AddLapse {
            stamp: 1,
            counter: 0,
        }),
    ];
    on(&[(0, task(1_900, &ops))], |sim| {
        assert_eq!(samples(&sim.instruments.tallies[0]), [(0, 1), (1, 1)]);
        assert_eq!(sim.instruments.tallies[1].count(), 0);
        assert_eq!(sim.counters[0], 2, "since 0");
    });
}

#[test]
fn a_timers_point_is_what_it_waited_for() {
    let timer = Op::Timer {
        slot: 0,
        period_ns: 10 * MS,
        mode: TimerMode::SkipMissed,
        origin: TimerOrigin::FirstUse,
        histogram: OptionalId::NONE,
    };
    let ops = [
        timer,
        run(4),
        observe(Observation::StampTimer { stamp: 0, slot: 0 }),
        observe(Observation::Lapse { stamp: 0, tally: 0 }),
    ];
    on(&[(0, task(0, &ops))], |sim| {
        assert_eq!(samples(&sim.instruments.tallies[0])[0].1, 1);
        let slack = TIMER_SLACK / US;
        assert_eq!(sim.instruments.tallies[0].last(), 4000 + slack);
    });
}

#[test]
fn late_is_more_than_the_limit() {
    let late = |ms: u16| {
        observe(Observation::CountLate {
            stamp: 0,
            lateness: ms - 1,
            counter: 0,
        })
    };
    let ops = [
        observe(Observation::Stamp { stamp: 0 }),
        run(5),
        late(4),
        late(5),
        late(6),
    ];
    on(&[(0, task(0, &ops))], |sim| {
        assert_eq!(sim.counters[0], 1);
    });
}

#[test]
fn a_clamp_holds_for_some_time_after_what_was_late() {
    let hold = |limit: u16| {
        observe(Observation::HoldIfLate {
            stamp: 0,
            lateness: limit - 1,
            until: 1,
        })
    };
    let set = Op::SetAttributesUntil {
        until: 1,
        before: 0,
        after: 1,
    };
    // Late by its 4 ms: 3 ms later the first of these clamps is over.
    for (limit, then, expected) in [(4, 1, 512), (4, 4, 60), (6, 1, 60)] {
        let ops = [
            observe(Observation::Stamp { stamp: 0 }),
            run(5),
            hold(limit),
            run(then),
            set,
            run(1),
        ];
        let clamp = |clamp| Attributes {
            uclamp_min: Some(clamp),
            ..Attributes::default()
        };
        with_attributes(&[clamp(512), clamp(60)], &ops, |sim| {
            assert_eq!(sim.views[0].uclamp_min, expected, "late after {limit}");
        });
    }
}

#[test]
fn shares_rates_and_forgetting() {
    let count = Op::Count { counter: 0 };
    let rate = observe(Observation::Rate {
        counter: 0,
        tally: 0,
    });
    let ops = [
        rate,
        count,
        count,
        count,
        run(500),
        rate,
        observe(Observation::TakeShare {
            counter: 0,
            parts: 2,
            tally: 1,
        }),
    ];
    on(&[(0, task(0, &ops))], |sim| {
        assert_eq!(samples(&sim.instruments.tallies[0]), [(0, 1), (6, 1)]);
        assert_eq!(samples(&sim.instruments.tallies[1]), [(1, 1)]);
        assert_eq!(sim.counters[0], 0);
    });
    let forgets = [&ops[..], &[observe(Observation::Clear { tally: 0 })]].concat();
    on(&[(0, task(0, &forgets))], |sim| {
        assert_eq!(sim.instruments.tallies[0].count(), 0);
        assert_eq!(sim.instruments.tallies[1].count(), 1);
    });
}

/// Two workers call while the server is busy: it answers both at once, and their stamps hold that
/// time.
#[test]
fn a_desk_answers_all_who_wait() {
    let call = |stamp| Op::Call { desk: 0, stamp };
    let worker = |stamp, mark| [call(stamp), run(1), Op::Mark { mark }, call(stamp)];
    let server = [
        run(10),
        Op::Serve { desk: 0, done: 4 },
        run(100),
        Op::Serve { desk: 0, done: 4 },
        Op::Mark { mark: 2 },
    ];
    let tasks = [
        (0, task(0, &server)),
        (1, task(MS, &worker(0, 0))),
        (2, task(2 * MS, &worker(1, 1))),
    ];
    on(&tasks, |sim| {
        let passed: Vec<u64> = (0..2).map(|mark| sim.passed(mark).0 / MS).collect();
        assert_eq!(passed, [11, 11]);
        assert_eq!(sim.instruments.stamps, [110 * MS, 110 * MS]);
        assert_eq!(sim.workloads[0].alive, 0, "everybody went on");
    });
}

/// The caller comes while the server is on its way to sleep, and is served on its own way.
#[test]
fn at_a_desk_who_is_woken_within_its_call_does_not_sleep() {
    let server = [Op::Serve { desk: 0, done: 1 }, Op::Mark { mark: 0 }];
    let caller = [Op::Call { desk: 0, stamp: 0 }, Op::Mark { mark: 1 }];
    let tasks = [(0, task(0, &server)), (1, task(30 * MS, &caller))];
    where_a_call_costs(100, &tasks, |sim| {
        let passed: Vec<u64> = (0..2).map(|mark| sim.passed(mark).0 / MS).collect();
        assert_eq!(passed, [100 + 100, 30 + 100 + 100]);
        assert_eq!(sim.stats.wakeups.seen(), 0);
    });
}

#[test]
fn a_closed_desk_keeps_nobody_waiting() {
    let server = [Op::Serve { desk: 0, done: 1 }, Op::Mark { mark: 0 }];
    let closer = [sleep(20), Op::Close { desk: 0 }];
    let late = [Op::Call { desk: 0, stamp: 0 }, Op::Mark { mark: 1 }];
    let tasks = [
        (0, task(0, &server)),
        (1, task(0, &closer)),
        (2, task(30 * MS, &late)),
    ];
    on(&tasks, |sim| {
        assert_eq!(sim.passed(0).0 / MS, 20);
        assert_eq!(sim.passed(1).0 / MS, 30);
        assert_eq!(sim.workloads[0].alive, 0);
    });
}

/// The server waits for the first, sleeps, and answers the two that are there by then: the second
/// came meanwhile.
#[test]
fn who_attends_a_desk_answers_nobody_yet() {
    let server = [
        Op::Attend { desk: 0, stamp: 1 },
        sleep(10),
        Op::Serve { desk: 0, done: 3 },
    ];
    let caller = |mark| [Op::Call { desk: 0, stamp: 0 }, Op::Mark { mark }];
    let tasks = [
        (0, task(0, &server)),
        (1, task(20 * MS, &caller(0))),
        (2, task(25 * MS, &caller(1))),
    ];
    on(&tasks, |sim| {
        let passed: Vec<u64> = (0..2).map(|mark| sim.passed(mark).0 / MS).collect();
        assert_eq!(passed, [30, 30]);
        assert_eq!(sim.workloads[0].alive, 0);
    });
}

/// Two callers are gathered; each is answered after work for it, the last one first. A caller that
/// comes meanwhile waits for the next gathering.
#[test]
fn who_is_gathered_is_answered_one_by_one() {
    let server = [
        run(10),
        Op::Gather { desk: 0, none: 6 },
        Op::LoopBegin {
            slot: 0,
            count: u64::MAX,
            end: 6,
        },
        run(5),
        Op::Answer { desk: 0, last: 6 },
        Op::LoopEnd { slot: 0, begin: 3 },
        run(20),
        Op::Gather { desk: 0, none: 9 },
        Op::Answer { desk: 0, last: 9 },
        Op::Mark { mark: 3 },
    ];
    let caller = |mark| [Op::Call { desk: 0, stamp: 0 }, Op::Mark { mark }];
    let tasks = [
        (0, task(0, &server)),
        (1, task(MS, &caller(0))),
        (2, task(2 * MS, &caller(1))),
        (3, task(12 * MS, &caller(2))),
    ];
    on(&tasks, |sim| {
        let passed: Vec<u64> = (0..3).map(|mark| sim.passed(mark).0 / MS).collect();
        assert_eq!(passed, [20, 15, 40]);
        assert_eq!(sim.workloads[0].alive, 0);
    });
}

/// Three requests are left for a worker that sleeps: it wakes once, and its stamp is the time of
/// the last one before it ran. It does all three; the fourth, left meanwhile, belongs to the next
/// gathering.
#[test]
fn a_worker_does_all_that_was_left() {
    let worker = [
        Op::Attend { desk: 0, stamp: 0 },
        observe(Observation::LapseAboveZero { stamp: 0, tally: 0 }),
        Op::Gather { desk: 0, none: 9 },
        Op::LoopBegin {
            slot: 0,
            count: u64::MAX,
            end: 7,
        },
        Op::Unqueue { desk: 0, none: 7 },
        run(10),
        Op::LoopEnd { slot: 0, begin: 4 },
        Op::Mark { mark: 0 },
        Op::Gather { desk: 0, none: 9 },
        Op::Unqueue { desk: 0, none: 10 },
        Op::Mark { mark: 1 },
    ];
    let leave = Op::Leave {
        first: 0,
        limit: 128,
        pause_ns: 0,
    };
    let giver = [leave, leave, leave, sleep(15), leave];
    on(
        &[(0, task(0, &worker)), (1, task(20 * MS, &giver))],
        |sim| {
            assert_eq!(sim.passed(0).0 / MS, 50, "three requests of 10 ms");
            assert_eq!(sim.passed(1).0 / MS, 50);
            assert_eq!(
                sim.instruments.stamps[0],
                35 * MS + TIMER_SLACK,
                "of the last one left"
            );
            assert_eq!(sim.workloads[0].alive, 0);
        },
    );
}

/// At most two may be pending before a request: the fourth is not left, and costs its task 30 ms.
#[test]
fn no_more_is_left_than_the_limit_and_one() {
    let worker = [
        sleep(100),
        Op::Gather { desk: 0, none: 6 },
        Op::LoopBegin {
            slot: 0,
            count: u64::MAX,
            end: 6,
        },
        Op::Unqueue { desk: 0, none: 6 },
        Op::Count { counter: 0 },
        Op::LoopEnd { slot: 0, begin: 3 },
        Op::Mark { mark: 0 },
    ];
    let leave = Op::Leave {
        first: 0,
        limit: 2,
        pause_ns: 30 * MS as u32,
    };
    let giver = [leave, leave, leave, leave, Op::Mark { mark: 1 }];
    on(&[(0, task(0, &worker)), (1, task(0, &giver))], |sim| {
        assert_eq!(sim.counters[0], 3);
        assert_eq!(sim.passed(1).0 / MS, 30);
    });
}

/// A task that sleeps with the lock of CPU 0 makes tasks there spin for it, and none elsewhere.
#[test]
fn the_lock_of_a_cpu_is_spun_for() {
    let work = [Op::LockCpu, run(1), Op::UnlockCpu];
    let holder = [&[Op::LockCpu, sleep(20), Op::UnlockCpu][..], &[]].concat();
    let wants = |mark| [&work[..], &[Op::Mark { mark }]].concat();
    let tasks = [
        (0, task(0, &holder)),
        (0, task(5 * MS, &wants(0))),
        (1, task(5 * MS, &wants(1))),
    ];
    on(&tasks, |sim| {
        let here = sim.passed(0).0;
        assert!((21 * MS..22 * MS).contains(&here), "{here}");
        assert_eq!(sim.passed(1).0 / MS, 6);
        let spun = sim.tasks[1].sum_exec / MS;
        assert!((15..=16).contains(&spun), "{spun} ms of running");
    });
}
