// SPDX-License-Identifier: GPL-2.0-only

use crate::testbed::{MS, begin, machine, task, workload};
use alight_machine::{Level, Machine};
use alight_workload::program::Op;

/// Two cores of `threads` threads each, which alone do 1000 units a us.
fn cores_of(threads: usize, smt_percent: u32) -> Machine {
    let mut machine = machine(2 * threads, 2 * threads);
    for (number, cpu) in machine.cpus.iter_mut().enumerate() {
        cpu.core = number / threads;
    }
    machine.core_types[0].smt_percent = smt_percent;
    machine.freq_domains[0].opps[0].capacity = 1000;
    let cores = Level {
        name: "SMT".into(),
        spans: vec![(0..threads).collect(), (threads..2 * threads).collect()],
        power_gated: false,
    };
    machine.levels.insert(0, cores);
    machine
}

/// Work in ms, and the CPU.
type Hog = (u64, u32);

/// When each of tasks that work for so long (ms, of a CPU of 1000) on that CPU is done, us.
fn done_at(machine: &Machine, tasks: &[Hog]) -> Vec<u64> {
    let tasks: Vec<_> = (0..)
        .zip(tasks)
        .map(|(mark, &(ms, cpu))| {
            let work = Op::Run {
                ns: ms * MS * 1000 / 1024,
            };
            task(0, &[work, Op::Mark { mark }, Op::Exit]).on(&[cpu])
        })
        .collect();
    begin(machine, &workload(&tasks), |sim| {
        sim.until(1000 * MS);
        (0..tasks.len()).map(|id| sim.passed(id).0 / 1000).collect()
    })
}

#[test]
fn threads_of_a_core_slow_each_other_while_both_execute() {
    // (threads a core, percent, tasks, when each is done in us)
    let table: &[(usize, u32, &[Hog], &[u64])] = &[
        (2, 60, &[(30, 0)], &[30_000]),
        (2, 60, &[(30, 0), (30, 2)], &[30_000, 30_000]),
        (2, 60, &[(30, 0), (30, 1)], &[50_000, 50_000]),
        // 50 ms together leave 30 of the 60, which is alone then.
        (2, 60, &[(30, 0), (60, 1)], &[50_000, 80_000]),
        (2, 100, &[(30, 0), (30, 1)], &[30_000, 30_000]),
        // Four get done what two do: 0.3 each.
        (
            4,
            60,
            &[(30, 0), (30, 1), (30, 2), (30, 3)],
            &[100_000, 100_000, 100_000, 100_000],
        ),
        (1, 60, &[(30, 0), (30, 1)], &[30_000, 30_000]),
    ];
    for &(threads, percent, tasks, expected) in table {
        let found = done_at(&cores_of(threads, percent), tasks);
        let near = |(found, expected): (&u64, &u64)| found.abs_diff(*expected) <= 2;
        assert!(
            found.iter().zip(expected).all(near),
            "{threads} threads at {percent} %, {tasks:?}: {found:?} us"
        );
    }
}

/// The kernel does not see it: who always runs has all of a CPU's utilization, slowed or not.
#[test]
fn utilization_is_of_time_not_of_work() {
    let hogs = |cpus: [u32; 2]| {
        let hog = |cpu| task(0, &[Op::Run { ns: 10_000 * MS }, Op::Exit]).on(&[cpu]);
        let tasks = cpus.map(hog);
        begin(&cores_of(2, 60), &workload(&tasks), |sim| {
            sim.until(300 * MS);
            [sim.views[0].pelt.util_avg, sim.views[1].pelt.util_avg]
        })
    };
    assert_eq!(hogs([0, 1]), hogs([0, 2]));
}

#[test]
fn time_beside_a_sibling_is_counted_from_when_counts_start() {
    let hog = |ms, cpu| {
        task(
            0,
            &[
                Op::Run {
                    ns: ms * MS * 1000 / 1024,
                },
                Op::Exit,
            ],
        )
        .on(&[cpu])
    };
    let tasks = [hog(30, 0), hog(60, 1), hog(30, 2)];
    begin(&cores_of(2, 60), &workload(&tasks), |sim| {
        let beside_percent = |sim: &mut crate::state::Sim| {
            sim.flush_beside();
            let mut mechanism = sim.mechanism().into_iter();
            let found = mechanism.find(|m| m.name == "beside_sibling_percent");
            found.expect("it is counted").value.round()
        };
        sim.until(30 * MS);
        assert_eq!(beside_percent(sim), 67.0, "two of three");
        sim.count_anew();
        sim.until(65 * MS);
        // 20 ms of both, then 15 ms of one.
        assert_eq!(beside_percent(sim), 73.0);
    });
}
