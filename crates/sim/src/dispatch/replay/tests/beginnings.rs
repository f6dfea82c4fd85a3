// SPDX-License-Identifier: GPL-2.0-only
//! Tests of tasks that existed before the recording began.

use super::{mark, run, wake};
use crate::dispatch::Sim;
use crate::testbed::{MS, Record, begin_on, begin_recorded, begin_under, machine, task, workload};
use crate::world::state::Life;
use alight_machine::Governor;
use alight_workload::program::{Begins, Op, Workload};

const BASES: [&str; 2] = ["linux-5.5", "linux-7.2"];

fn on(cpu: u32) -> Begins {
    Begins {
        cpu,
        util_avg: 0,
        wakee_flips: 0,
        vruntime_ahead: None,
    }
}

/// Tasks with programs of their own, and their beginnings, at 0.
fn beginning(tasks: &[(Begins, &[Op])]) -> Workload {
    let given: Vec<_> = tasks.iter().map(|(_, ops)| task(0, ops)).collect();
    let mut workload = workload(&given);
    for (spec, (begins, _)) in workload.tasks.iter_mut().zip(tasks) {
        spec.begins = Some(*begins);
    }
    workload
}

#[test]
fn it_begins_on_its_cpu_and_nobody_forks_it() {
    for base in BASES {
        let workload = beginning(&[(on(2), &[run(1)]), (on(3), &[run(1)])]);
        let mut record = Record::default();
        let rules = (base, Governor::Performance);
        begin_under(rules, &machine(4, 4), &workload, &mut record, |sim| {
            sim.until(MS / 2);
            assert_eq!(sim.stats.forks.seen(), 0);
        });
        let first = |task| record.runs_of(task)[0];
        assert_eq!([first(0), first(1)], [(0, 2), (0, 3)], "{base}");
        let forked =
            |&(_, _, name): &(u64, usize, &str)| name.contains("fork") || name.contains("new");
        assert!(!record.all.iter().any(forked), "{base}");
    }
}

#[test]
fn who_sleeps_first_is_asleep_from_the_start() {
    // The first operation, and when the task is first switched to, ms.
    let cases: [(Op, u64); 4] = [
        (Op::Await, 2),
        (
            Op::SleepUntil {
                ns: 3 * MS,
                slack_ns: 0,
            },
            3,
        ),
        (Op::Complete { ns: 4 * MS, cpu: 0 }, 4),
        // The first operation is no sleep.
        (Op::SleepUntil { ns: 0, slack_ns: 0 }, 0),
    ];
    for (op, at) in cases {
        let sleeper = [op, mark(0)];
        let workload = beginning(&[(on(0), &[run(2), wake(1, 1)]), (on(1), &sleeper)]);
        let mut record = Record::default();
        begin_recorded(&machine(2, 2), &workload, &mut record, |sim| {
            sim.until(100 * MS);
            assert_eq!(sim.workloads[0].alive, 0, "{op:?}");
        });
        assert_eq!(record.runs_of(1), [(at * MS, 1)], "{op:?}");
    }
}

/// The run no longer waits for a retired task, and does not end before the others are done.
#[test]
fn who_retires_before_its_first_sleep_is_asleep_from_the_start() {
    let retired = [mark(0), Op::Retire, Op::Await, mark(1)];
    let workload = beginning(&[(on(0), &[run(2)]), (on(1), &retired)]);
    begin_recorded(&machine(2, 2), &workload, &mut Record::default(), |sim| {
        sim.until(100 * MS);
        assert_eq!(sim.workloads[0].ended, 2 * MS);
        assert_eq!(sim.tasks[1].life, Life::Asleep);
    });
}

/// A wakeup that waits for an await with which its target begins.
#[test]
fn a_sleep_from_the_start_lets_a_hand_off_go() {
    let waker = [super::hand_off(1, 1), mark(0)];
    let mut workload = beginning(&[(on(0), &waker), (on(1), &[Op::Await, mark(1)])]);
    workload.tasks[1].start_ns = Some(5 * MS);
    begin_recorded(&machine(2, 2), &workload, &mut Record::default(), |sim| {
        sim.until(100 * MS);
        assert_eq!([0, 1].map(|id| sim.passed(id).0), [5 * MS; 2]);
    });
}

/// 32 periods of 1.024 ms halve a signal, and a period that is open does not count yet: the
/// recorded `util_avg` is part of the CPU's from the start.
#[test]
fn utilization_begins_as_recorded_and_decays() {
    for base in BASES {
        let begins = Begins {
            util_avg: 400,
            wakee_flips: 7,
            ..on(1)
        };
        let long = Op::SleepUntil {
            ns: 1000 * MS,
            slack_ns: 0,
        };
        let workload = beginning(&[(begins, &[long])]);
        begin_on(base, &machine(2, 2), &workload, |sim| {
            sim.until(0);
            let view = |sim: &Sim| (sim.views[0].pelt.util_avg, sim.core.cpus[1].cfs.util_avg);
            assert_eq!(view(sim), (400, 400), "{base}");
            assert_eq!(sim.views[0].wakee_flips, 7);
            assert_eq!(sim.tasks[0].life, Life::Asleep);
            assert_eq!(sim.core.cpus[0].cfs.util_avg, 0);
            sim.until(1000 * MS);
            assert!(sim.views[0].pelt.util_avg < 10, "{base}: {:?}", view(sim));
        });
        let workload = beginning(&[(
            begins,
            &[
                Op::SleepUntil {
                    ns: 32 * MS,
                    slack_ns: 0,
                },
                run(1),
            ],
        )]);
        begin_on(base, &machine(2, 2), &workload, |sim| {
            sim.until(32 * MS);
            let util = sim.views[0].pelt.util_avg;
            assert!((195..=210).contains(&util), "{base}: {util}");
        });
    }
}

/// Of three runnable tasks, the one that got least runs first, in any order of the workload; the
/// distances between them are kept.
#[test]
fn virtual_times_are_as_far_apart_as_recorded() {
    let aheads = [300_000, -200_000, 100_000];
    for base in BASES {
        for turn in 0..3 {
            let order: [usize; 3] = std::array::from_fn(|at| (at + turn) % 3);
            let tasks = order.map(|at| {
                let begins = Begins {
                    vruntime_ahead: Some(aheads[at]),
                    ..on(0)
                };
                (begins, [run(50)])
            });
            let workload = beginning(&tasks.each_ref().map(|(begins, ops)| (*begins, &ops[..])));
            begin_on(base, &machine(1, 1), &workload, |sim| {
                sim.until(0);
                let vruntime = |task: usize| match base {
                    "linux-5.5" => sim.tasks[task].vruntime,
                    _ => sim.vruntime_of(task as u32),
                };
                let of = |at: usize| vruntime(order.iter().position(|&o| o == at).expect("each"));
                let apart = |a, b| of(a).wrapping_sub(of(b)) as i64;
                let (far, near) = (apart(0, 1), apart(2, 1));
                assert!((far - 500_000).abs() <= 3, "{base} {order:?}: {far}");
                assert!((near - 300_000).abs() <= 3, "{base} {order:?}: {near}");
            });
        }
    }
}

/// A task whose virtual time is not known is placed like one that wakes up.
#[test]
fn an_unknown_virtual_time_is_that_of_a_wakeup() {
    for base in BASES {
        let workload = beginning(&[(on(0), &[run(20)]), (on(0), &[run(20)])]);
        begin_on(base, &machine(1, 1), &workload, |sim| {
            sim.until(100 * MS);
            assert_eq!(sim.workloads[0].alive, 0, "{base}");
        });
    }
}

/// CPUs that the machine does not have, values out of range: nothing breaks.
#[test]
fn what_does_not_fit_the_machine_begins_somewhere() {
    let odd = Begins {
        cpu: 99,
        util_avg: u32::MAX,
        wakee_flips: u32::MAX,
        vruntime_ahead: Some(i64::MIN),
    };
    let far = Begins {
        vruntime_ahead: Some(i64::MAX),
        ..on(0)
    };
    let never = std::sync::atomic::AtomicBool::new(false);
    for base in BASES {
        let workloads = [beginning(&[
            (odd, &[run(1)]),
            (far, &[run(1)]),
            (odd, &[run(1)]),
        ])];
        let scheduler = alight_policy::Scheduler::parse(base).expect("a base");
        let machine = machine(2, 2);
        let scenario = crate::Scenario {
            check: true,
            ..crate::Scenario::new(&machine, &workloads, &scheduler)
        };
        let outcome = crate::run(&scenario, None, &never).expect(base);
        assert!(outcome.end_ns > 0);
    }
}
