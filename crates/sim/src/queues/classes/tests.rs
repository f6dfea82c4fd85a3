// SPDX-License-Identifier: GPL-2.0-only
//! Tests of real-time tasks: which task runs where and when, beside and among them. Ticks come
//! every 4 ms, and all costs are 0.

use crate::dispatch::Sim;
use crate::testbed::{Given, MS, Record, US, begin, begin_under, machine, task, workload};
use alight_machine::Governor;
use alight_workload::program::{Attributes, Op, Policy, Workload};

const SECOND: u64 = 1000 * MS;

fn run(ms: u64) -> Op {
    Op::Run { ns: ms * MS }
}

fn sleep(ms: u64) -> Op {
    Op::Sleep { ns: ms * MS }
}

/// A task of a real-time policy.
fn realtime(policy: Policy, priority: u32, start_ns: u64, ops: &[Op]) -> Given {
    let mut given = task(start_ns, ops).policy(policy);
    given.attributes.rt_priority = Some(priority);
    given
}

fn fifo(priority: u32, start_ns: u64, ops: &[Op]) -> Given {
    realtime(Policy::Fifo, priority, start_ns, ops)
}

fn round_robin(priority: u32, start_ns: u64, ops: &[Op]) -> Given {
    realtime(Policy::RoundRobin, priority, start_ns, ops)
}

/// Runs `test` on `cpus` equal CPUs under the rules of `base`.
fn of_kernel<R>(base: &str, cpus: usize, tasks: &[Given], test: impl FnOnce(&mut Sim) -> R) -> R {
    begin_under(
        (base, Governor::Performance),
        &machine(cpus, cpus),
        &workload(tasks),
        &mut Record::default(),
        test,
    )
}

/// Where and when each task was switched to until `until`.
fn runs(cpus: usize, tasks: &[Given], until: u64) -> Vec<Vec<(u64, usize)>> {
    runs_of_kernel("linux-5.5", cpus, tasks, until)
}

fn runs_of_kernel(base: &str, cpus: usize, tasks: &[Given], until: u64) -> Vec<Vec<(u64, usize)>> {
    let mut record = Record::default();
    let rules = (base, Governor::Performance);
    begin_under(
        rules,
        &machine(cpus, cpus),
        &workload(tasks),
        &mut record,
        |sim| sim.until(until),
    );
    (0..tasks.len()).map(|task| record.runs_of(task)).collect()
}

/// A real-time task runs at once and until it sleeps; the fair one has the rest.
#[test]
fn a_realtime_task_goes_before_fair_ones() {
    let runs = runs(
        1,
        &[
            task(0, &[run(100)]),
            fifo(1, 10 * MS, &[run(30), sleep(5), run(1)]),
        ],
        60 * MS,
    );
    assert_eq!(runs[1], [(10 * MS, 0), (45 * MS, 0)]);
    assert_eq!(runs[0], [(0, 0), (40 * MS, 0), (46 * MS, 0)]);
}

/// The higher priority preempts; the preempted task goes on before its equals.
#[test]
fn priorities_among_themselves() {
    let runs = runs(
        1,
        &[
            fifo(10, 0, &[run(20)]),
            fifo(10, MS, &[run(20)]),
            fifo(20, 2 * MS, &[run(5)]),
            fifo(5, 3 * MS, &[run(1)]),
        ],
        100 * MS,
    );
    assert_eq!(runs[2], [(2 * MS, 0)]);
    assert_eq!(runs[0], [(0, 0), (7 * MS, 0)], "head of its list");
    assert_eq!(runs[1], [(25 * MS, 0)]);
    assert_eq!(runs[3], [(45 * MS, 0)]);
}

/// FIFO has no slice, RR one of 100 ms: 25 ticks. One that is alone runs on.
#[test]
fn slices() {
    let of = |make: fn(u32, u64, &[Op]) -> Given| {
        begin(
            &machine(1, 1),
            &workload(&[make(7, 0, &[run(300)]), make(7, MS, &[run(300)])]),
            |sim| {
                sim.until(450 * MS);
                [sim.ran(0), sim.ran(1)]
            },
        )
    };
    assert_eq!(of(fifo), [300 * MS, 150 * MS]);
    let [first, second] = of(round_robin);
    assert_eq!(first + second, 450 * MS);
    let slice = |ran: u64| (ran / (4 * MS)) * 4 * MS;
    // 100, 100, 100, 100, and half of the fifth.
    assert!((248 * MS..=252 * MS).contains(&first), "{first}");
    assert!((196 * MS..=204 * MS).contains(&slice(second)), "{second}");
}

/// `sched_yield` puts a task behind those of its priority, not behind lower ones.
#[test]
fn yield_goes_to_the_end_of_the_list() {
    let runs = runs(
        1,
        &[
            fifo(7, 0, &[run(2), Op::Yield, run(2)]),
            fifo(7, MS, &[run(2)]),
            fifo(6, MS, &[run(2)]),
        ],
        20 * MS,
    );
    assert_eq!(runs[0], [(0, 0), (4 * MS, 0)]);
    assert_eq!(runs[1], [(2 * MS, 0)]);
    assert_eq!(runs[2], [(6 * MS, 0)]);
}

/// A task wakes on its previous CPU, even if a fair task runs there and another CPU is idle.
#[test]
fn idle_cpus_are_not_looked_for() {
    let runs = runs(
        2,
        &[
            fifo(7, 0, &[run(1), sleep(9), run(1)]),
            task(2 * MS, &[run(50)]).on(&[0]),
        ],
        40 * MS,
    );
    assert_eq!(runs[0], [(0, 0), (10 * MS, 0)]);
}

/// If it would have to wait there, it goes to the CPU of the lowest priority.
#[test]
fn it_wakes_elsewhere_rather_than_wait() {
    let waits = [
        fifo(7, 0, &[run(1), sleep(9), run(1)]),
        fifo(8, 2 * MS, &[run(50)]).on(&[0]),
    ];
    assert_eq!(runs(2, &waits, 40 * MS)[0], [(0, 0), (10 * MS, 1)]);
    // A current task of lower priority moves instead: it is pushed.
    let pushes = [
        fifo(9, 0, &[run(1), sleep(9), run(1)]),
        fifo(8, 2 * MS, &[run(50)]),
    ];
    let moved = runs(2, &pushes, 40 * MS);
    assert_eq!(moved[0], [(0, 0), (10 * MS, 0)]);
    assert_eq!(moved[1], [(2 * MS, 0), (10 * MS, 1)]);
}

/// A CPU that has no real-time task left gets one that waits elsewhere, by a direct pull or by
/// a push.
#[test]
fn who_waits_is_pulled() {
    for base in [
        "linux-5.5",
        "linux-5.10",
        "linux-5.15",
        "linux-6.1",
        "linux-7.2",
    ] {
        let runs = runs_of_kernel(
            base,
            2,
            &[
                fifo(9, 0, &[run(30)]).on(&[0]),
                fifo(9, 0, &[run(10)]).on(&[1]),
                fifo(7, MS, &[run(5)]),
            ],
            40 * MS,
        );
        assert_eq!(runs[2], [(10 * MS, 1)], "{base}");
    }
}

/// The tasks of the highest priorities run, one on each CPU.
#[test]
fn the_highest_priorities_run() {
    for base in [
        "linux-3.9",
        "linux-5.5",
        "linux-6.1",
        "linux-6.5",
        "linux-7.2",
    ] {
        let tasks: Vec<Given> = (1..=6)
            .map(|i| fifo(i, u64::from(i) * MS, &[run(40)]))
            .collect();
        of_kernel(base, 3, &tasks, |sim| {
            sim.until(20 * MS);
            let mut current: Vec<u32> = sim.cpus.iter().map(|c| c.curr).collect();
            current.sort_unstable();
            assert_eq!(current, [3, 4, 5], "{base}");
        });
    }
}

fn hog_and_fair(base: &str, cpus: usize) -> (u64, u64) {
    let given = [
        fifo(1, 0, &[run(5000)]).on(&[0]),
        task(0, &[run(5000)]).on(&[0]),
    ];
    of_kernel(base, cpus, &given, |sim| {
        sim.until(3 * SECOND);
        (sim.ran(0), sim.ran(1))
    })
}

/// A hog runs for 950 ms of each second, to the tick. Up to 5.9 it borrows the runtime that other
/// CPUs leave: with another CPU it is never stopped. From 6.12 on the fair server leaves the other
/// task the same time.
#[test]
fn throttling() {
    for (base, cpus, share) in [
        ("linux-5.5", 1, 95),
        ("linux-5.5", 2, 100),
        ("linux-5.10", 2, 95),
        ("linux-5.15", 2, 95),
        ("linux-6.1", 1, 95),
        ("linux-6.1", 2, 95),
        ("linux-6.5", 2, 95),
        ("linux-7.2", 1, 95),
    ] {
        let (hog, fair) = hog_and_fair(base, cpus);
        assert_eq!(hog + fair, 3 * SECOND, "{base}");
        let expected = 3 * SECOND * share / 100;
        assert!(
            hog.abs_diff(expected) <= 3 * 4 * MS,
            "{base}: {hog} of {expected}"
        );
    }
}

/// A real-time task takes half of a CPU's time: its utilization grows towards a half, and the
/// fair class gets the rest.
#[test]
fn capacity_left_for_fair_tasks() {
    let mut ops = vec![];
    for _ in 0..100 {
        ops.extend([run(5), sleep(5)]);
    }
    let given = [fifo(1, 0, &ops).on(&[0]), task(0, &[run(2000)]).on(&[0])];
    begin(&machine(2, 2), &workload(&given), |sim| {
        sim.until(800 * MS);
        let view = sim.core.cpus[0];
        assert!((460..=570).contains(&view.rt_util), "{}", view.rt_util);
        let left = 1024 - u32::from(view.rt_util);
        assert!(view.capacity.abs_diff(left) < 64, "{}", view.capacity);
        assert_eq!(sim.core.cpus[1].rt_util, 0);
    });
}

fn changes(to: &[Attributes], ops: &[Op]) -> Workload {
    let mut workload = workload(&[task(0, ops), task(0, &[run(100)])]);
    for t in &mut workload.tasks {
        t.attributes.affinity = Some(vec![0]);
    }
    workload.attributes = to.to_vec();
    workload
}

/// A task becomes a real-time one, changes its priority, and goes back.
#[test]
fn a_task_changes_its_class() {
    let fifo = |priority| Attributes {
        policy: Some(Policy::Fifo),
        rt_priority: Some(priority),
        ..Attributes::default()
    };
    let normal = Attributes {
        policy: Some(Policy::Normal),
        nice: Some(5),
        ..Attributes::default()
    };
    let set = |attributes| Op::SetAttributes { attributes };
    let ops = [run(1), set(0), run(20), set(1), run(20), set(2), run(300)];
    begin(
        &machine(1, 1),
        &changes(&[fifo(3), fifo(9), normal], &ops),
        |sim: &mut Sim| {
            sim.until(50 * MS);
            assert!((41 * MS..50 * MS).contains(&sim.ran(0)), "{}", sim.ran(0));
            assert!(!sim.is_rt(0));
            assert_eq!(sim.core.cpus[0].weight, 1024 + 335);
            sim.until(100 * MS);
            let (a, b) = (sim.ran(0), sim.ran(1));
            assert_eq!(a + b, 100 * MS);
            assert!(b > 35 * MS, "{b}");
        },
    );
}

/// Priority 99 is 0, and 1 the last before the fair class.
#[test]
fn priorities_as_the_kernel_counts_them() {
    let given = [
        fifo(99, 0, &[run(1)]),
        fifo(1, 0, &[run(1)]),
        task(0, &[run(1)]),
    ];
    begin(&machine(1, 1), &workload(&given), |sim| {
        assert_eq!(
            [0, 1, 2].map(|task| sim.rt_prio(task)),
            [Some(0), Some(98), None]
        );
    });
}

/// A pinned task that wakes precedes one of the same priority that can run elsewhere.
#[test]
fn a_movable_task_makes_way_for_a_pinned_equal() {
    let runs = runs(
        2,
        &[fifo(7, 0, &[run(20)]), fifo(7, 5 * MS, &[run(5)]).on(&[0])],
        40 * MS,
    );
    assert_eq!(runs[1], [(5 * MS, 0)]);
    assert_eq!(runs[0], [(0, 0), (5 * MS, 1)]);
    assert!(runs[0][1].0 - 5 * MS < 10 * US);
}

/// Without a clamp of its own a real-time task asks for the biggest CPUs, if CPUs differ and the
/// kernel tests capacity (from 5.6 on); with one, for the capacity of its clamp.
#[test]
fn tasks_fit_cpus() {
    let mut machine = machine(2, 2);
    machine.cpus[0].capacity_orig = 512;
    for (base, clamp, expected) in [
        ("linux-5.5", None, 0),
        ("linux-6.1", None, 1),
        ("linux-6.1", Some(500), 0),
    ] {
        let mut given = fifo(7, 0, &[run(1), sleep(9), run(1)]);
        given.attributes.uclamp_min = clamp;
        let mut record = Record::default();
        let rules = (base, Governor::Performance);
        begin_under(rules, &machine, &workload(&[given]), &mut record, |sim| {
            sim.until(40 * MS);
        });
        let cpus: Vec<usize> = record.runs_of(0).iter().map(|&(_, cpu)| cpu).collect();
        assert_eq!(cpus, [expected; 2], "{base} {clamp:?}");
    }
}
