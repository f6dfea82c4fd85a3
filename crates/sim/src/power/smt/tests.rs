// SPDX-License-Identifier: GPL-2.0-only
//! SMT: the speed of threads that execute beside each other.

use crate::dispatch::Sim;
use crate::face::changes::{Action, Change, Limit};
use crate::testbed::{
    Given, MS, Record, begin, begin_changed, begin_recorded, machine, task, workload,
};
use alight_machine::{CpuSet, Governor, Machine, MachineLevel, Opp};
use alight_workload::program::Op;

/// Two cores of `threads` threads each. A thread alone does 1000 units per ns, or 500 at half the
/// frequency.
fn cores_of(threads: usize, smt_percent: u32) -> Machine {
    let mut machine = machine(2 * threads, 2 * threads);
    for (number, cpu) in machine.cpus.iter_mut().enumerate() {
        cpu.core = number / threads;
    }
    machine.core_types[0].smt_percent = smt_percent;
    let opp = |khz, capacity| Opp {
        khz,
        capacity,
        ..machine.freq_domains[0].opps[0]
    };
    machine.freq_domains[0].opps = vec![opp(500_000, 500), opp(1_000_000, 1000)];
    let cores = MachineLevel {
        name: "SMT".into(),
        spans: vec![(0..threads).collect(), (threads..2 * threads).collect()],
        power_gated: false,
    };
    machine.levels.insert(0, cores);
    machine
}

/// Work in ms of a CPU of 1000, and the CPUs where it may run.
type Hog<'a> = (u64, &'a [u32]);

fn hogs(hogs: &[Hog<'_>]) -> Vec<Given> {
    let hog = |(mark, &(ms, cpus)): (u32, &Hog<'_>)| {
        let work = Op::Run {
            ns: ms * MS * 1000 / 1024,
        };
        task(0, &[work, Op::Mark { mark }, Op::Exit]).on(cpus)
    };
    (0..).zip(hogs).map(hog).collect()
}

/// Time at which each is done, us; rates are whole units per ns.
fn expect_done(what: &str, sim: &mut Sim<'_>, expected: &[u64]) {
    sim.until(1000 * MS);
    let done = (0..expected.len()).map(|id| sim.passed(id).0 / 1000);
    let done: Vec<u64> = done.collect();
    let near = |(done, expected): (&u64, &u64)| done.abs_diff(*expected) <= 2 + expected / 1000;
    let all_near = done.iter().zip(expected).all(near);
    assert!(all_near, "{what}: {done:?} us, expected {expected:?}");
}

/// The scheduler sees one capacity, but work is done at each CPU's own speed.
#[test]
fn a_stated_speed_is_what_work_takes_and_not_what_the_scheduler_sees() {
    let mut machine = machine(2, 2);
    machine.cpus[0].stated_speed = Some(1024);
    machine.cpus[1].stated_speed = Some(512);
    begin(
        &machine,
        &workload(&hogs(&[(10, &[0]), (10, &[1])])),
        |sim| {
            let capacities: Vec<u32> = (0..2).map(|cpu| sim.core.cpus[cpu].capacity_orig).collect();
            assert_eq!(capacities, [1024, 1024]);
            // 10 ms of a CPU of 1000 are 9.77 ms of one of 1024.
            expect_done("speeds", sim, &[9_766, 19_531]);
        },
    );
}

#[test]
fn threads_of_a_core_slow_each_other_while_both_execute() {
    // (threads a core, percent, hogs, when each is done in us)
    let table: &[(usize, u32, &[Hog<'_>], &[u64])] = &[
        (2, 60, &[(30, &[0])], &[30_000]),
        (2, 60, &[(30, &[0]), (30, &[2])], &[30_000, 30_000]),
        (2, 60, &[(30, &[0]), (30, &[1])], &[50_000, 50_000]),
        // After 50 ms together 30 of the 60 remain, which run alone.
        (2, 60, &[(30, &[0]), (60, &[1])], &[50_000, 80_000]),
        (2, 100, &[(30, &[0]), (30, &[1])], &[30_000, 30_000]),
        // Three threads do the work of two, without loss by rounding: 0.4133 each.
        (
            3,
            62,
            &[(31, &[0]), (31, &[1]), (31, &[2])],
            &[75_000, 75_000, 75_000],
        ),
        (1, 60, &[(30, &[0]), (30, &[1])], &[30_000, 30_000]),
    ];
    for &(threads, percent, tasks, expected) in table {
        let machine = cores_of(threads, percent);
        let what = format!("{threads} threads at {percent} %, {tasks:?}");
        begin(&machine, &workload(&hogs(tasks)), |sim| {
            expect_done(&what, sim, expected);
        });
    }
}

#[test]
fn what_changes_meanwhile_counts_from_then_on() {
    let cap = Action::Limit {
        cpus: CpuSet::single(0),
        by: Limit::Administrator,
        khz: 500_000,
    };
    let off = |cpus: &[usize]| Action::Offline(cpus.iter().copied().collect());
    let at = |ms: u64, action| Change {
        at_ns: ms * MS,
        action,
    };
    // At 20 ms 12 of 30 ms of each are done. (changes, time at which both are done, us)
    let table = [
        // 18 ms at half of 0.6.
        (vec![at(20, cap)], 80_000),
        // 36 ms on the remaining CPU.
        (vec![at(10, off(&[2, 3])), at(20, off(&[1]))], 56_000),
    ];
    for (changes, expected) in table {
        let tasks = workload(&hogs(&[(30, &[0]), (30, &[1])]));
        let rules = ("linux-5.5", Governor::Performance);
        let machine = cores_of(2, 60);
        let record = &mut Record::default();
        begin_changed(&changes, rules, &machine, &tasks, record, |sim| {
            sim.until(1000 * MS);
            let done = sim.passed(0).0.max(sim.passed(1).0) / 1000;
            assert!(done.abs_diff(expected) <= 2, "{changes:?}: {done} us");
        });
    }
}

/// An idle CPU leaves all of its share to the others; threads of one core and of two make no
/// difference.
#[test]
fn cpus_of_one_processor_share_it() {
    let mut machine = cores_of(2, 60);
    machine.one_processor = true;
    let table: &[(&[Hog<'_>], &[u64])] = &[
        (&[(30, &[0])], &[30_000]),
        (&[(30, &[0]), (30, &[1])], &[60_000, 60_000]),
        (&[(30, &[0]), (30, &[2])], &[60_000, 60_000]),
        (
            &[(10, &[0]), (20, &[1]), (30, &[3])],
            &[30_000, 50_000, 60_000],
        ),
    ];
    for &(tasks, expected) in table {
        begin(&machine, &workload(&hogs(tasks)), |sim| {
            expect_done(&format!("{tasks:?}"), sim, expected);
        });
    }
}

/// An idle exit takes 30.7 us at this frequency, and 51.2 us at 60 % of the speed. The other thread
/// loses 40 % of them, if the state itself is left at once.
#[test]
fn an_interrupt_that_finds_a_thread_idle_is_slowed_and_slows() {
    let latency = |exit_ns, hog: u32| {
        let mut machine = cores_of(2, 60);
        machine.core_types[0].costs.idle_exit_ns = 30_000;
        machine.core_types[0].idle_states[0].exit_ns = exit_ns;
        let mut tasks = hogs(&[(30, &[hog])]);
        let sleeper = [Op::Sleep { ns: 10 * MS }, Op::Exit];
        tasks.push(task(MS, &sleeper).on(&[1]));
        let mut record = Record::default();
        let done = begin_recorded(&machine, &workload(&tasks), &mut record, |sim| {
            sim.until(100 * MS);
            sim.passed(0).0
        });
        let runs = record.runs_of(1);
        (runs[1].0 - runs[0].0, done)
    };
    // It leaves the idle state twice: for its start, and for the timer.
    for (exit_ns, slower, lost) in [(0, 20_480, 2 * 20_480), (5_000, 0, 0)] {
        let ((beside, slowed), (alone, done)) = (latency(exit_ns, 0), latency(exit_ns, 2));
        let near = |found: u64, expected: u64| found.abs_diff(expected) <= 5;
        let found = (beside - alone, slowed - done);
        assert!(near(found.0, slower) && near(found.1, lost), "{found:?}");
    }
}

/// A core type without SMT slowdown is not slowed, even if another type is. A thread that goes idle
/// does so at full speed, however many threads of its core executed before.
#[test]
fn who_is_not_slowed() {
    let mut mixed = cores_of(3, 100);
    let mut other = mixed.core_types[0].clone();
    other.smt_percent = 60;
    mixed.core_types.push(other);
    for cpu in &mut mixed.cpus[3..] {
        cpu.core_type = 1;
    }
    let tasks: Vec<Hog<'_>> = vec![(30, &[0]), (30, &[1]), (30, &[2])];
    begin(&mixed, &workload(&hogs(&tasks)), |sim| {
        expect_done("the other type", sim, &[30_000; 3]);
    });
    let tasks: Vec<Hog<'_>> = vec![(10, &[0]), (30, &[1]), (30, &[2])];
    begin(&cores_of(3, 60), &workload(&hogs(&tasks)), |sim| {
        sim.until(50 * MS);
        assert_eq!(
            [0, 1, 2, 3].map(|cpu| sim.cpus[cpu].rate),
            [1000, 600, 600, 1000]
        );
        sim.until(100 * MS);
        assert_eq!([0, 1, 2, 3].map(|cpu| sim.cpus[cpu].rate), [1000; 4]);
    });
}

/// The kernel does not see it: a task that always runs has a CPU's full utilization, slowed or not.
#[test]
fn utilization_is_of_time_not_of_work() {
    let utilization = |other: &[u32]| {
        let tasks = hogs(&[(10_000, &[0]), (10_000, other)]);
        begin(&cores_of(2, 60), &workload(&tasks), |sim| {
            sim.until(300 * MS);
            [sim.views[0].pelt.util_avg, sim.views[1].pelt.util_avg]
        })
    };
    assert_eq!(utilization(&[1]), utilization(&[2]));
}

#[test]
fn time_beside_a_sibling_is_counted_from_when_counts_start() {
    let tasks = hogs(&[(30, &[0]), (60, &[1]), (30, &[2])]);
    begin(&cores_of(2, 60), &workload(&tasks), |sim| {
        let beside_percent = |sim: &mut Sim<'_>| {
            sim.flush_beside();
            let mut mechanism = sim.mechanism().into_iter();
            let found = mechanism.find(|m| m.name == "beside_sibling_percent");
            found.expect("it is counted").value.round()
        };
        sim.until(30 * MS);
        assert_eq!(beside_percent(sim), 67.0, "two of three");
        sim.count_anew();
        sim.until(65 * MS);
        // Both for 20 ms, then one for 15 ms.
        assert_eq!(beside_percent(sim), 73.0);
    });
}
