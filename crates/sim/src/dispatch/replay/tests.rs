// SPDX-License-Identifier: GPL-2.0-only
//! Tests of recorded wakeups, and of the sleeps that they end.

mod beginnings;
mod sleeps;

use crate::dispatch::Sim;
use crate::testbed::{Given, MS, Record, begin_recorded, machine, task, workload};
use crate::world::state::Life;
use alight_machine::{Costs, Machine};
use alight_trace::{Called, Detail, PrevState, Waker};
use alight_workload::program::{Op, Policy};

const END: u64 = 10_000 * MS;

fn run(ms: u64) -> Op {
    Op::Run { ns: ms * MS }
}

fn mark(mark: u32) -> Op {
    Op::Mark { mark }
}

/// A wakeup that does not wait.
fn wake(task: u32, nth: u32) -> Op {
    Op::Wake {
        task,
        nth,
        hand_off: false,
        sync: false,
    }
}

/// A wakeup that waits for the sleep that it ends.
fn hand_off(task: u32, nth: u32) -> Op {
    Op::Wake {
        task,
        nth,
        hand_off: true,
        sync: false,
    }
}

/// Runs these programs to their end, each on a CPU of its own; all costs are 0 but those that
/// `costs` sets.
fn on_own_cpus(costs: Costs, programs: &[&[Op]], test: impl FnOnce(&mut Sim)) -> Record {
    let mut machine: Machine = machine(programs.len(), programs.len());
    machine.core_types[0].costs = costs;
    let on = |(cpu, ops): (usize, &&[Op])| task(0, ops).on(&[cpu as u32]);
    let tasks: Vec<Given> = programs.iter().enumerate().map(on).collect();
    let mut record = Record {
        wants_details: true,
        ..Record::default()
    };
    begin_recorded(&machine, &workload(&tasks), &mut record, |sim| {
        sim.until(END);
        test(sim);
    });
    record
}

/// When marks 0, 1 ... were passed first, ms, if all costs are 0.
fn passed<const N: usize>(programs: &[&[Op]]) -> [u64; N] {
    let mut times = [0; N];
    on_own_cpus(Costs::default(), programs, |sim| {
        assert_eq!(sim.workloads[0].alive, 0, "some task waits for ever");
        times = std::array::from_fn(|id| sim.passed(id).0 / MS);
    });
    times
}

#[test]
fn a_wakeup_ends_the_sleep_that_it_names_and_no_other() {
    // The operations of the waker, and when the two sleeps of the other task end.
    let cases: [(&[Op], [u64; 2]); 6] = [
        (&[run(1), wake(1, 1), run(1), wake(1, 2)], [1, 2]),
        // The wakeup for the second sleep comes before the first sleep has ended.
        (&[run(1), wake(1, 2), run(1), wake(1, 1)], [2, 2]),
        // Before the first has begun, which is not at 0: the sleeper computes.
        (&[wake(1, 1), wake(1, 2), run(1)], [0, 0]),
        (&[wake(1, 2), wake(1, 1)], [0, 0]),
        // Twice: the second one finds the task awake, or in another sleep.
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
        assert_eq!(passed(&[waker, &sleeper]), expected, "{waker:?}");
    }
}

#[test]
fn an_early_wakeup_is_remembered_and_spares_the_sleep() {
    let waker = [wake(1, 3), wake(1, 1), wake(1, 2), mark(0)];
    let sleeper = [run(3), Op::Await, Op::Await, run(1), Op::Await, mark(1)];
    let record = on_own_cpus(Costs::default(), &[&waker, &sleeper], |sim| {
        assert_eq!([0, 1].map(|id| sim.passed(id).0 / MS), [0, 4]);
    });
    assert_eq!(record.left, [(0, PrevState::Dead), (1, PrevState::Dead)]);
    assert!(record.wakings.is_empty(), "nobody slept");
}

#[test]
fn a_hand_off_waits_until_the_sleep_has_begun() {
    // When the waker goes on, and when the sleeper does.
    let cases: [(&[Op], &[Op], [u64; 2]); 5] = [
        // The waker comes first, or last.
        (
            &[hand_off(1, 1), mark(0)],
            &[run(3), Op::Await, mark(1)],
            [3, 3],
        ),
        (
            &[run(5), hand_off(1, 1), mark(0)],
            &[run(3), Op::Await, mark(1)],
            [5, 5],
        ),
        // The wakeup is for the second sleep: another wakeup ends the first, or none is needed.
        (
            &[wake(1, 1), hand_off(1, 2), mark(0)],
            &[run(3), Op::Await, run(4), Op::Await, mark(1)],
            [7, 7],
        ),
        // Two wakeups in a row: each waits for its sleep.
        (
            &[hand_off(1, 1), hand_off(1, 2), mark(0)],
            &[run(3), Op::Await, run(4), Op::Await, mark(1)],
            [7, 7],
        ),
        // Its own sleep cannot have begun.
        (&[hand_off(0, 1), Op::Await, mark(0)], &[mark(1)], [0, 0]),
    ];
    for (waker, sleeper, expected) in cases {
        assert_eq!(passed(&[waker, sleeper]), expected, "{waker:?}");
    }
}

#[test]
fn who_never_comes_to_the_sleep_is_not_waited_for() {
    let may_loop = |count| {
        [
            run(2),
            Op::LoopBegin {
                slot: 0,
                count,
                end: 4,
            },
            Op::Await,
            Op::LoopEnd { slot: 0, begin: 2 },
            run(0),
        ]
    };
    // The waker begins at 0, its target has 2 ms of work.
    let cases: [(&[Op], u64); 3] = [
        // Its program has no such await: the waker goes on at once.
        (&[run(2)], 0),
        // Its program may have one, but the task ends.
        (&may_loop(0), 2),
        // Its program has one, that many times.
        (&[run(2), Op::Await, run(3)], 2),
    ];
    for (target, goes_on) in cases {
        assert_eq!(passed(&[&[hand_off(1, 1), mark(0)], target]), [goes_on]);
    }
    let late = [run(5), hand_off(1, 1), mark(0)];
    assert_eq!(passed(&[&late, &may_loop(0)]), [5], "it has ended");
}

/// Futex, pipe and mutex calls would cost 100 us each here.
#[test]
fn only_the_wakeup_is_charged() {
    let costs = Costs {
        wakeup_ns: 1000,
        select_ns: 300,
        futex_ns: 100_000,
        mutex_ns: 100_000,
        pipe_ns: 100_000,
        ..Costs::default()
    };
    // The time that the waker's operation takes, ns.
    let cases: [(&str, Op, &[Op], u64); 5] = [
        ("who sleeps is woken", wake(1, 1), &[Op::Await], 1300),
        ("so by a hand-off", hand_off(1, 1), &[Op::Await], 1300),
        ("who is awake is not", wake(1, 1), &[run(3), Op::Await], 0),
        (
            "no time to wait for",
            Op::SleepUntil {
                ns: MS,
                slack_ns: 0,
            },
            &[],
            0,
        ),
        ("who has ended is not", hand_off(1, 1), &[], 0),
    ];
    for (name, op, target, ns) in cases {
        on_own_cpus(
            costs,
            &[&[run(1), mark(0), op, mark(1), run(1)], target],
            |sim| {
                assert_eq!(sim.passed(1).0 - sim.passed(0).0, ns, "{name}");
            },
        );
    }
    // The target that wakes its waker is not charged for that: its CPU switches at once.
    let sleeper = [run(1), mark(0), Op::Await];
    let mut at = 0;
    let record = on_own_cpus(costs, &[&[hand_off(1, 1)], &sleeper], |sim| {
        at = sim.passed(0).0;
    });
    let switch = |&(reached, name): &(u64, &str)| name == "sched_switch" && reached >= at;
    let reached = record.reached.iter().copied().find(switch);
    assert_eq!(reached, Some((at, "sched_switch")));
}

/// A call in a recording takes its recorded time, and wakes like a modelled call.
#[test]
fn a_call_wakes_behind_its_work_and_decides_before() {
    let costs = Costs {
        ipi_send_ns: 1000,
        ..Costs::default()
    };
    let enter = Op::Enter { ns: 2 * MS };
    let waker = [run(1), enter, wake(1, 1), mark(0), run(1), mark(1)];
    let sleeper = [Op::Await, mark(2)];
    let record = on_own_cpus(costs, &[&waker, &sleeper], |sim| {
        assert_eq!([1, 2].map(|id| sim.passed(id).0 / MS), [4, 3]);
    });
    assert_eq!(record.wakings_of(1), [MS], "decided at the begin");
    let waking = |&&(_, name): &&(u64, &str)| name == "sched_waking";
    let reached = record.reached.iter().find(waking);
    assert_eq!(reached, Some(&(3 * MS, "sched_waking")));
}

/// A task that has to give way does so after the call's work.
#[test]
fn who_is_in_a_call_keeps_its_cpu_until_the_end() {
    for (op, left) in [(run(30), 10), (Op::Enter { ns: 30 * MS }, 30)] {
        let long = task(0, &[op, mark(0)]).on(&[0]);
        let urgent = task(10 * MS, &[mark(1)]).policy(Policy::Fifo).on(&[0]);
        crate::testbed::begin(&machine(1, 1), &workload(&[long, urgent]), |sim| {
            sim.until(END);
            assert_eq!(sim.passed(1).0 / MS, left, "{op:?}");
        });
    }
}

#[test]
fn a_hand_off_leaves_no_trace_in_the_flips_of_who_sleeps() {
    let tasks = [task(0, &[hand_off(1, 1)]), task(0, &[run(1), Op::Await])];
    let mut record = Record {
        wants_details: true,
        ..Record::default()
    };
    begin_recorded(&machine(2, 2), &workload(&tasks), &mut record, |sim| {
        sim.until(END);
        assert_eq!(sim.views[1].wakee_flips, 0);
        assert_eq!(sim.views[1].last_wakee, crate::base::timeline::NONE);
        assert_eq!(sim.views[0].last_wakee, 1, "a wakeup does");
        assert_eq!(sim.tasks[1].life, Life::Dead);
    });
    let by = |&(_, _, detail): &(u64, usize, Detail)| match detail {
        Detail::Waking { by, .. } => Some(by),
        _ => None,
    };
    let wakers: Vec<Waker> = record.details.iter().filter_map(by).collect();
    assert_eq!(wakers, [Waker::HandOff, Waker::Task]);
}

/// The details that a recording of the run needs besides the events of a trace file.
#[test]
fn details_tell_wakers_yields_and_attributes() {
    let sync = Op::Wake {
        task: 1,
        nth: 1,
        hand_off: false,
        sync: true,
    };
    let waker = [
        run(1),
        sync,
        Op::Yield,
        Op::SleepUntil {
            ns: 5 * MS,
            slack_ns: 0,
        },
    ];
    let sleeper = [
        Op::Await,
        Op::Complete { ns: MS, cpu: 0 },
        Op::Yield,
        Op::Sleep { ns: MS },
    ];
    let record = on_own_cpus(Costs::default(), &[&waker, &sleeper], |_| ());
    let pid = |number: u32| crate::world::emit::FIRST_PID + number;
    let told: Vec<_> = (record.details.iter())
        .filter_map(|&(at, _, detail)| match detail {
            Detail::Waking { task, by, sync } => Some((at / MS, task.pid, Some((by, sync)))),
            Detail::Yield { task, .. } => Some((at / MS, task.pid, None)),
            _ => None,
        })
        .collect();
    assert_eq!(
        told,
        [
            (1, pid(1), Some((Waker::Task, true))),
            (1, pid(0), None),
            (2, pid(1), Some((Waker::Device, false))),
            (2, pid(1), None),
            (3, pid(1), Some((Waker::Timer, false))),
            (5, pid(0), Some((Waker::Timer, false))),
        ]
    );
}

/// A call to wait begins before its work, and ends when its task is back; a call to wake reports
/// how many tasks it wakes. Both use the same futex.
#[test]
fn details_tell_calls_on_futexes() {
    let costs = Costs {
        futex_ns: 1_000_000,
        ..Costs::default()
    };
    let lock = |op: fn(u32) -> Op| op(0);
    let waits: [(Op, Op, &[Op]); 4] = [
        (
            Op::Wait {
                condition: 0,
                mutex: None,
            },
            Op::Broadcast { condition: 0 },
            &[],
        ),
        (
            Op::SemWait { semaphore: 0 },
            Op::SemPost { semaphore: 0 },
            &[],
        ),
        (Op::Barrier { barrier: 0 }, Op::Barrier { barrier: 0 }, &[]),
        (
            lock(|mutex| Op::Lock { mutex }),
            lock(|mutex| Op::Unlock { mutex }),
            &[Op::Lock { mutex: 0 }],
        ),
    ];
    for (wait, wake, before) in waits {
        let waker: Vec<Op> = before.iter().copied().chain([run(5), wake]).collect();
        let tasks = [task(0, &waker).on(&[0]), task(MS, &[wait]).on(&[1])];
        let mut workload = workload(&tasks);
        workload.barriers = vec![2];
        let mut machine: Machine = machine(2, 2);
        machine.core_types[0].costs = costs;
        let mut record = Record {
            wants_details: true,
            ..Record::default()
        };
        begin_recorded(&machine, &workload, &mut record, |sim| sim.until(END));
        let number = |pid: u32| pid - crate::world::emit::FIRST_PID;
        let told: Vec<_> = (record.details.iter())
            .filter_map(|&(_, _, detail)| match detail {
                Detail::CallBegin {
                    task,
                    call,
                    reached_ns,
                } => {
                    let wakes = matches!(call, Called::FutexWake(..));
                    Some((reached_ns / MS, number(task.pid), wakes, None))
                }
                Detail::CallEnd {
                    task,
                    bytes,
                    reached_ns,
                } => Some((reached_ns / MS, number(task.pid), bytes != 0, Some(bytes))),
                _ => None,
            })
            .collect();
        let expected = [
            (1, 1, false, None),
            (5, 0, true, None),
            (6, 0, true, Some(1)),
            (6, 1, false, Some(0)),
        ];
        assert_eq!(told, expected, "{wait:?}");
        let futexes = record
            .details
            .iter()
            .filter_map(|(_, _, detail)| match detail {
                Detail::CallBegin {
                    call: Called::FutexWait(on) | Called::FutexWake(on, _),
                    ..
                } => Some(on),
                _ => None,
            });
        let futexes: std::collections::BTreeSet<_> = futexes.collect();
        assert_eq!(futexes.len(), 1, "{wait:?}");
    }
}

/// The end of a child does not wake a task in another sleep that will wait for its children later.
#[test]
fn a_childs_end_is_no_wakeup_from_another_sleep() {
    let parent = [Op::Fork { task: 1 }, Op::Await, Op::WaitChildren, mark(0)];
    let child = crate::testbed::child(&[run(1)]);
    let tasks = [task(0, &parent), child, task(0, &[run(30), wake(0, 1)])];
    crate::testbed::begin(&machine(2, 2), &workload(&tasks), |sim| {
        sim.until(END);
        assert_eq!(sim.passed(0).0, 30 * MS);
        assert_eq!(sim.tasks[0].life, Life::Dead);
    });
}
