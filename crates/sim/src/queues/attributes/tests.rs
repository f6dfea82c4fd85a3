// SPDX-License-Identifier: GPL-2.0-only
//! Tests of a running task that changes its nice value, its policy or its CPUs.

use crate::dispatch::Sim;
use crate::testbed::{Given, MS, Record, begin_recorded, machine, task, workload};
use alight_policy::abi::class;
use alight_workload::program::{Attributes, Op, Policy};

const SET: Op = Op::SetAttributes { attributes: 0 };

fn run(ms: u64) -> Op {
    Op::Run { ns: ms * MS }
}

/// Runs `tasks` for half a second; [`SET`] sets `attributes`.
fn with(attributes: Attributes, tasks: &[Given], test: impl FnOnce(&mut Sim)) -> Record {
    let mut workload = workload(tasks);
    workload.attributes = vec![attributes];
    let mut record = Record::default();
    begin_recorded(&machine(2, 2), &workload, &mut record, |sim| {
        sim.until(500 * MS);
        test(sim);
    });
    record
}

/// reweight_entity(): load is runnable time times weight, so it changes with the
/// weight at once; utilization is as it was.
#[test]
fn a_new_nice_value_rescales_the_load() {
    for (nice, weight) in [(5, 335), (-5, 3121), (0, 1024)] {
        let attributes = Attributes {
            nice: Some(nice),
            ..Attributes::default()
        };
        let hog = |set| task(0, &[run(400), set, run(200)]).on(&[0]);
        let seen = |set, attributes| {
            let mut seen = (0, 0, 0, 0);
            with(attributes, &[hog(set)], |sim| {
                let (task, rq) = (&sim.views[0], &sim.core.cpus[0]);
                assert_eq!(rq.weight, task.weight);
                seen = (
                    task.weight,
                    task.pelt.load_avg,
                    task.pelt.util_avg,
                    rq.cfs.load_avg,
                );
            });
            seen
        };
        let (_, load_before, util_before, _) =
            seen(Op::Count { counter: 0 }, Attributes::default());
        let (new, load, util, rq_load) = seen(SET, attributes);
        assert_eq!(new, weight);
        let expected = load_before * weight / 1024;
        assert!(
            load.abs_diff(expected) <= expected / 50 + 1,
            "nice {nice}: {load}, not {expected}"
        );
        assert_eq!(util, util_before, "nice {nice}");
        assert!(
            rq_load.abs_diff(load) <= load / 20 + 2,
            "the queue's: {rq_load}, the task's: {load}"
        );
    }
}

/// From the change on the CPU is shared by the new weights.
#[test]
fn a_new_weight_shares_the_cpu_anew() {
    let attributes = Attributes {
        nice: Some(10),
        ..Attributes::default()
    };
    let kinder = task(0, &[run(100), SET, run(1000)]).on(&[0]);
    let other = task(0, &[run(1000)]).on(&[0]);
    with(attributes, &[kinder, other], |sim| {
        // Half of 200 ms, then 110 of 1134 parts of 300 ms.
        let ran = sim.ran(0) as f64 / MS as f64;
        assert!((ran - 129.1).abs() < 5.0, "{ran} ms");
    });
}

#[test]
fn a_new_policy_changes_class_and_weight() {
    let attributes = Attributes {
        policy: Some(Policy::Idle),
        ..Attributes::default()
    };
    with(attributes, &[task(0, &[run(10), SET, run(600)])], |sim| {
        assert_eq!((sim.views[0].class, sim.views[0].weight), (class::IDLE, 3));
        let cpu = sim.tasks[0].cpu as usize;
        assert_eq!(sim.core.cpus[cpu].h_nr_idle, 1);
    });
}

/// Clamps belong to the task; one that is not given stays.
#[test]
fn what_is_not_given_stays() {
    let attributes = Attributes {
        uclamp_min: Some(300),
        ..Attributes::default()
    };
    with(attributes, &[task(0, &[SET, run(600)]).nice(3)], |sim| {
        let view = &sim.views[0];
        assert_eq!(
            (view.uclamp_min, view.uclamp_max, view.weight),
            (300, 1024, 526)
        );
    });
}

/// __set_cpus_allowed_ptr(): a task that may not stay moves at once, and the
/// rest of its program runs there.
#[test]
fn a_new_affinity_moves_a_running_task() {
    let attributes = Attributes {
        affinity: Some(vec![1]),
        ..Attributes::default()
    };
    let mover = task(0, &[run(10), SET, run(20), Op::Mark { mark: 0 }]).on(&[0]);
    let record = with(attributes, &[mover], |sim| {
        assert_eq!(sim.passed(0).0, 30 * MS);
        assert_eq!(sim.views[0].nr_cpus_allowed, 1);
        assert_eq!(sim.stats.migrations.seen(), 1);
    });
    assert_eq!(record.runs_of(0), [(0, 0), (10 * MS, 1)]);
}

/// A task that may stay on its CPU stays.
#[test]
fn an_affinity_that_allows_this_cpu_moves_nothing() {
    let attributes = Attributes {
        affinity: Some(vec![0, 1]),
        ..Attributes::default()
    };
    let record = with(
        attributes,
        &[task(0, &[run(10), SET, run(20)]).on(&[0])],
        |sim| {
            assert_eq!(sim.views[0].nr_cpus_allowed, 2);
        },
    );
    assert_eq!(record.runs_of(0), [(0, 0)]);
}

/// A task that may run anywhere again moves: here, away from a hog.
#[test]
fn a_lifted_affinity_allows_all_cpus() {
    let attributes = Attributes {
        lift_affinity: true,
        ..Attributes::default()
    };
    let lifted = task(0, &[run(10), SET, Op::Sleep { ns: 10 * MS }, run(20)]).on(&[0]);
    let hog = task(0, &[run(600)]).on(&[0]);
    let record = with(attributes, &[lifted, hog], |sim| {
        assert_eq!(sim.views[0].nr_cpus_allowed, 2)
    });
    let cpus: Vec<usize> = record.runs_of(0).iter().map(|run| run.1).collect();
    assert_eq!(cpus.last(), Some(&1));
}
