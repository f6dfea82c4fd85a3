// SPDX-License-Identifier: GPL-2.0-only
//! Tests of programs: the effect of each operation, and when the next one begins.

use crate::dispatch::Sim;
use crate::dispatch::exec::TIMER_SLACK;
use crate::observe::results::MeasureSpec;
use crate::testbed::{
    Given, MS, Record, US, begin, begin_recorded, child, machine, task, workload,
};
use crate::world::state::Life;
use alight_workload::program::{
    Better, Deal, MeasureSource, Op, OptionalId, TimerMode, TimerOrigin,
};

const END: u64 = 10_000 * MS;

fn run(ms: u64) -> Op {
    Op::Run { ns: ms * MS }
}

fn mark(mark: u32) -> Op {
    Op::Mark { mark }
}

fn timer(mode: TimerMode, origin: TimerOrigin) -> Op {
    Op::Timer {
        slot: 0,
        period_ns: 10 * MS,
        mode,
        origin,
        histogram: OptionalId::some(0),
    }
}

/// Runs `tasks` to their end on one CPU; all costs are 0.
fn on_one_cpu(tasks: &[Given], test: impl FnOnce(&mut Sim)) {
    begin(&machine(1, 1), &workload(tasks), |sim| {
        sim.until(END);
        test(sim);
    });
}

fn histogram_us(sim: &Sim, source: MeasureSource) -> f64 {
    let measure = MeasureSpec {
        name: "late_us".into(),
        unit: "us",
        better: Some(Better::Lower),
        source,
    };
    sim.results(&[measure])[0].value
}

#[test]
fn operations_follow_each_other() {
    let ops = [
        run(1),
        run(2),
        mark(0),
        Op::Sleep { ns: 4 * MS },
        mark(1),
        run(8),
        mark(2),
    ];
    on_one_cpu(&[task(0, &ops)], |sim| {
        assert_eq!(
            [0, 1, 2].map(|id| sim.passed(id).0),
            [3 * MS, 7 * MS + TIMER_SLACK, 15 * MS + TIMER_SLACK]
        );
        assert_eq!(sim.tasks[0].life, Life::Dead);
        assert_eq!(sim.workloads[0].alive, 0);
    });
}

/// A zero-length Run does not change the operations that follow it.
#[test]
fn no_work_is_not_the_work_behind_it() {
    for nothing in [&[][..], &[run(0)], &[run(0), run(0)]] {
        let then = |op: Op| [nothing, &[op], nothing, &[mark(0)]].concat();
        for (op, takes) in [(run(5), 5), (Op::RunWall { ns: 5 * MS }, 5)] {
            on_one_cpu(&[task(0, &then(op))], |sim| {
                assert_eq!(sim.passed(0).0, takes * MS, "{op:?} behind {nothing:?}");
            });
        }
    }
}

/// Work is calibrated on the biggest CPU at its top clock: half of the capacity
/// takes twice as long.
#[test]
fn work_takes_as_long_as_the_clock_lets_it() {
    let mut slow = machine(1, 1);
    slow.freq_domains[0].opps[0].capacity = 512;
    begin(&slow, &workload(&[task(0, &[run(3), mark(0)])]), |sim| {
        sim.until(END);
        assert_eq!(sim.passed(0).0, 6 * MS);
    });
}

#[test]
fn loops_count_and_nest() {
    let ops = [
        Op::LoopBegin {
            slot: 0,
            count: 3,
            end: 7,
        },
        Op::Count { counter: 0 },
        Op::LoopBegin {
            slot: 1,
            count: 4,
            end: 6,
        },
        run(1),
        Op::Count { counter: 1 },
        Op::LoopEnd { slot: 1, begin: 3 },
        Op::LoopEnd { slot: 0, begin: 1 },
        Op::LoopBegin {
            slot: 2,
            count: 0,
            end: 10,
        },
        Op::Count { counter: 2 },
        Op::LoopEnd { slot: 2, begin: 8 },
        mark(0),
    ];
    on_one_cpu(&[task(0, &ops)], |sim| {
        assert_eq!([0, 1, 2].map(|id: usize| sim.counters()[id]), [3, 12, 0]);
        assert_eq!(sim.passed(0).0, 12 * MS);
    });
}

/// A Run that ends a loop's round is one segment with the next operation; the number of rounds
/// does not change.
#[test]
fn work_at_the_end_of_a_loop_counts() {
    let ops = [
        Op::LoopBegin {
            slot: 0,
            count: 3,
            end: 5,
        },
        Op::LoopBegin {
            slot: 1,
            count: 2,
            end: 4,
        },
        run(1),
        Op::LoopEnd { slot: 1, begin: 2 },
        Op::LoopEnd { slot: 0, begin: 1 },
        mark(0),
    ];
    on_one_cpu(&[task(0, &ops)], |sim| assert_eq!(sim.passed(0).0, 6 * MS));
}

/// Numbers are dealt to the tasks that come, up to the limit, or until the time since
/// the workload's start is over.
#[test]
fn a_shared_counter_deals_numbers() {
    let worker = || {
        let take = Op::Take { deal: 0, done: 5 };
        let endless = Op::LoopBegin {
            slot: 0,
            count: u64::MAX,
            end: 5,
        };
        let ops = [
            endless,
            take,
            run(2),
            Op::Count { counter: 1 },
            Op::LoopEnd { slot: 0, begin: 1 },
            run(0),
            mark(0),
        ];
        // Not at the start of the run: the time counts from the workload's.
        task(30 * MS, &ops)
    };
    for (limit, until_ns, dealt, because) in [
        (10, u64::MAX, 10, "ten in all, not each"),
        (
            u64::MAX,
            15 * MS,
            15,
            "two CPUs, 2 ms each, begun before 15 ms",
        ),
        (4, 15 * MS, 4, "whichever comes first"),
    ] {
        let tasks = [worker().on(&[0]), worker().on(&[1])];
        let mut given = workload(&tasks);
        given.deals = vec![Deal {
            counter: 0,
            modulo: 3,
            limit,
            until_ns,
        }];
        begin(&machine(2, 2), &given, |sim| {
            sim.until(END);
            let (taken, done) = (sim.counters()[0], sim.counters()[1]);
            assert_eq!(taken, done);
            assert!(taken.abs_diff(dealt) <= 1, "{because}: {taken}");
            let registers = [sim.tasks[0].register, sim.tasks[1].register];
            let last = ((taken - 1) % 3) as u32;
            assert!(registers.contains(&last), "the last number modulo 3");
        });
    }
}

/// rt-app's `timer` modes, and cyclictest's: after a turn of 25 ms the points at
/// 20 and 30 ms are missed.
#[test]
fn missed_timer_points() {
    let passes = |mode| {
        let t = timer(mode, TimerOrigin::FirstUse);
        let ops = [t, mark(0), run(25), t, mark(1), t, mark(2), t, mark(3)];
        let mut passed = [0; 4];
        on_one_cpu(&[task(0, &ops)], |sim| {
            passed = [0, 1, 2, 3].map(|id| sim.passed(id).0 / MS)
        });
        passed
    };
    assert_eq!(
        passes(TimerMode::Relative),
        [10, 35, 45, 55],
        "again from now"
    );
    assert_eq!(passes(TimerMode::Absolute), [10, 35, 35, 40], "catches up");
    assert_eq!(
        passes(TimerMode::SkipMissed),
        [10, 40, 50, 60],
        "keeps the beat"
    );
}

#[test]
fn a_timer_counts_from_its_origin() {
    for (origin, expected) in [(TimerOrigin::FirstUse, 14), (TimerOrigin::TaskStart, 10)] {
        let ops = [run(4), timer(TimerMode::Absolute, origin), mark(0)];
        on_one_cpu(&[task(0, &ops)], |sim| {
            assert_eq!(sim.passed(0).0, expected * MS + TIMER_SLACK)
        });
    }
}

/// Latency is the time from the timer's point until the task goes on. A task that comes
/// 15 or 5 ms late does not sleep, and is not woken.
#[test]
fn latency_is_from_the_point_to_the_task() {
    let t = timer(TimerMode::Absolute, TimerOrigin::FirstUse);
    let ops = [t, run(25), t, t, t];
    on_one_cpu(&[task(0, &ops)], |sim| {
        // The slack of the first and of the last.
        let mean = histogram_us(sim, MeasureSource::HistogramMean { histogram: 0 });
        let max = histogram_us(sim, MeasureSource::HistogramMax { histogram: 0 });
        assert_eq!((mean, max), (50.0, 50.0));
    });
    let mut slow = machine(1, 1);
    slow.core_types[0].costs.timer_ns = 30_000;
    slow.core_types[0].costs.switch_ns = 7_000;
    slow.core_types[0].idle_states[0].exit_ns = 200_000;
    begin(&slow, &workload(&[task(0, &[t, run(1)])]), |sim| {
        sim.until(END);
        let max = histogram_us(sim, MeasureSource::HistogramMax { histogram: 0 });
        assert_eq!(
            max, 287.0,
            "the slack, the way out of idle, the interrupt, the switch"
        );
    });
}

/// `runtime` is wall time: it contains time that other tasks run. `run` is work.
#[test]
fn wall_time_passes_for_all() {
    let hog = task(0, &[run(200)]);
    let wall = task(0, &[Op::RunWall { ns: 20 * MS }, mark(0)]);
    on_one_cpu(std::slice::from_ref(&wall), |sim| {
        assert_eq!(sim.passed(0).0, 20 * MS)
    });
    let mut record = Record::default();
    let (ended, ran) = begin_recorded(
        &machine(1, 1),
        &workload(&[wall, hog.clone()]),
        &mut record,
        |sim| {
            sim.until(END);
            (sim.passed(0).0, sim.ran(0))
        },
    );
    let began = record.runs_of(0)[0].0;
    let late = ended - (began + 20 * MS);
    assert!(
        late <= 8 * MS,
        "at once, or at its next turn: {late} ns late"
    );
    assert!(ran < 16 * MS, "it had half of the CPU");
    on_one_cpu(&[task(0, &[run(20), mark(0)]), hog], |sim| {
        let ended = sim.passed(0).0;
        assert!((36 * MS..48 * MS).contains(&ended), "{ended}");
    });
}

#[test]
fn a_parent_waits_for_its_children() {
    let ops = [
        Op::Fork { task: 1 },
        Op::Fork { task: 2 },
        Op::WaitChildren,
        mark(0),
        Op::WaitChildren,
        mark(1),
    ];
    on_one_cpu(
        &[task(0, &ops), child(&[run(5)]), child(&[run(7)])],
        |sim| {
            assert_eq!(sim.passed(0).0, 12 * MS);
            assert_eq!(sim.passed(1).0, 12 * MS, "none is left");
            assert_eq!(sim.stats.forks.seen(), 3);
        },
    );
}

/// Two wakees in turn: the child begins with the parent's count, and each counts on its own from
/// then on.
#[test]
fn a_forked_task_begins_with_its_parents_flips() {
    let post = |semaphore| Op::SemPost { semaphore };
    let wait = |semaphore| task(0, &[Op::SemWait { semaphore }; 3]);
    let fork = Op::Fork { task: 1 };
    let parent = [0, 1, 0].map(|semaphore| [post(semaphore), run(1)]);
    let parent = [parent.as_flattened(), &[fork, run(9), post(1)]].concat();
    // The first wakes the task that its parent woke last.
    let forked = child(&[run(1), post(0), run(1), post(1)]);
    let tasks = [task(5 * MS, &parent), forked, wait(0), wait(1)];
    begin(&machine(2, 2), &workload(&tasks), |sim| {
        sim.views[0].wakee_flips = 40;
        sim.until(END);
        assert_eq!([0, 1].map(|id| sim.views[id].wakee_flips), [44, 44]);
        assert_eq!([2, 3].map(|id| sim.views[id].wakee_flips), [0, 0]);
    });
}

/// A child that ends wakes its parent only if that waits for children.
#[test]
fn a_child_does_not_end_its_parents_other_waits() {
    let t = timer(TimerMode::Absolute, TimerOrigin::FirstUse);
    let waits = [
        (t, 10 * MS + TIMER_SLACK),
        (Op::Sleep { ns: 9 * MS }, 9 * MS + TIMER_SLACK),
        (
            Op::Wait {
                condition: 0,
                mutex: None,
            },
            8 * MS,
        ),
    ];
    for (wait, until) in waits {
        let parent = task(
            0,
            &[
                Op::Fork { task: 1 },
                wait,
                mark(0),
                Op::WaitChildren,
                mark(1),
            ],
        );
        let signal = task(8 * MS, &[Op::Signal { condition: 0 }]);
        on_one_cpu(&[parent, child(&[run(5)]), signal], |sim| {
            assert_eq!(sim.passed(0).0, until, "{wait:?}");
            assert_eq!(sim.passed(1).0, until, "the child ended long ago");
        });
    }
}

/// Memory is read at the speed of memory, at any frequency: a stream several lines at a time, a
/// chain line by line.
#[test]
fn memory_takes_its_own_time() {
    for capacity in [1024, 256] {
        let mut slow = machine(1, 1);
        slow.freq_domains[0].opps[0].capacity = capacity;
        slow.memory.dram_line_ns = 100;
        slow.memory.refill_mlp = 4;
        slow.memory.working_set_bytes = 0;
        let bytes = 64 * 1000;
        let ops = [Op::Memory { bytes }, mark(0), Op::Chase { bytes }, mark(1)];
        begin(&slow, &workload(&[task(0, &ops)]), |sim| {
            sim.until(END);
            assert_eq!(sim.passed(0).0, 25 * US);
            assert_eq!(sim.passed(1).0, 125 * US);
        });
    }
}

/// A process copies its parent's memory map, a thread shares it.
#[test]
fn the_fork_of_a_process_costs_more_than_that_of_a_thread() {
    let mut costly = machine(1, 1);
    costly.core_types[0].costs.fork_ns = 100_000;
    costly.core_types[0].costs.fork_mm_ns = 2_000_000;
    let parent = task(0, &[Op::Fork { task: 1 }, mark(0)]);
    for (process, took) in [(0, 100 * US), (1, 2100 * US)] {
        let mut workload = workload(&[parent.clone(), child(&[run(1)])]);
        workload.tasks[1].process = process;
        begin(&costly, &workload, |sim| {
            sim.until(END);
            assert_eq!(sim.passed(0).0, took, "process {process}");
        });
    }
}

/// A task that slept pays the cost of blocking; its waker does not, nor does a task that did not
/// sleep.
#[test]
fn blocking_costs_the_sleeper() {
    let mut costly = machine(1, 1);
    costly.core_types[0].costs.block_ns = 1_000_000;
    let ops = [mark(0), Op::Sleep { ns: 9 * MS }, mark(1), run(2), mark(2)];
    begin(&costly, &workload(&[task(0, &ops)]), |sim| {
        sim.until(END);
        let woken = sim.passed(0).0 + 9 * MS + TIMER_SLACK;
        assert_eq!(sim.passed(1).0, woken + MS);
        assert_eq!(sim.passed(2).0, woken + 3 * MS);
    });
}

/// No number is too large: an operation that is longer than the range of time never ends.
#[test]
fn huge_times_are_for_ever() {
    let ns = u64::MAX;
    let bytes = u64::MAX;
    let timer = Op::Timer {
        slot: 0,
        period_ns: u64::MAX,
        mode: TimerMode::Absolute,
        origin: TimerOrigin::TaskStart,
        histogram: OptionalId::NONE,
    };
    let mut costly = machine(1, 1);
    costly.core_types[0].costs.switch_ns = 1000;
    costly.memory.dram_line_ns = 100;
    for op in [
        Op::Run { ns },
        Op::RunWall { ns },
        Op::Memory { bytes },
        Op::Chase { bytes },
        Op::Sleep { ns },
        timer,
    ] {
        let tasks = [task(0, &[run(1), op, mark(0)]), task(0, &[run(1)])];
        begin(&costly, &workload(&tasks), |sim| {
            sim.until(10 * END);
            assert_eq!(sim.marks()[0].last, None, "{op:?}");
            assert_eq!(sim.workloads[0].alive, 1, "the other task ends");
        });
    }
}
