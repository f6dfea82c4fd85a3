// SPDX-License-Identifier: GPL-2.0-only
//! Tests of explanations on small machines where the base chooses another CPU: both answers, the
//! steps that gave them, and the states of the two CPUs.

use super::{Explainer, Wants};
use crate::face::answers::{Answers, Decision, Distance, Tally, Watch};
use crate::testbed::{Given, MS, Record, begin_under, machine, task, workload};
use alight_machine::{Governor, Machine};
use alight_policy::{STEPS, Scheduler};
use alight_workload::program::{Op, Policy};

/// When the wakee is woken.
const WOKEN_AT: u64 = 100 * MS;

/// Explains the wakeups and forks of t0 from shortly before [`WOKEN_AT`] on.
fn found(name: &str, machine: &Machine, tasks: &[Given], wants: Wants) -> (Vec<Decision>, Answers) {
    let scheduler = Scheduler::parse(name).expect("a scheduler");
    let watch = Watch {
        comm: Some("t0".into()),
        at_ns: Some(WOKEN_AT - MS),
    };
    let rules = (name, Governor::Performance);
    let (tasks, mut record) = (workload(tasks), Record::default());
    begin_under(rules, machine, &tasks, &mut record, |sim| {
        let explainer = Explainer::new(&scheduler, sim, &watch, wants);
        sim.explain_by(explainer.expect("a machine"));
        sim.until(WOKEN_AT + 50 * MS);
        sim.explainer.take().expect("put there").found()
    })
}

fn decision(name: &str, machine: &Machine, tasks: &[Given]) -> Decision {
    let (mut decisions, _) = found(name, machine, tasks, Wants::Decisions(1));
    decisions.pop().expect("it is woken")
}

fn step(decision: &crate::face::answers::Choice) -> &'static str {
    STEPS[decision.answer.step as usize].0
}

/// t0 runs on CPU 0 (linux-5.4: 1) and sleeps; then t1 comes to CPU 0 and stays, and t2 wakes t0
/// from CPU 1.
fn the_previous_cpu_has_work(hog: Given) -> [Given; 3] {
    let wakee = [
        Op::Run { ns: MS },
        Op::SemWait { semaphore: 0 },
        Op::Run { ns: MS },
    ];
    let waker = [Op::SemPost { semaphore: 0 }, Op::Run { ns: 10 * MS }];
    [
        task(0, &wakee),
        hog.on(&[0]),
        task(WOKEN_AT, &waker).on(&[1]),
    ]
}

fn hog() -> Given {
    task(10 * MS, &[Op::Run { ns: 300 * MS }])
}

/// The base looks for an idle CPU; bias-prev stays on a busy one whose estimate leaves room.
#[test]
fn bias_prev_stays_where_the_base_moves() {
    let tasks = the_previous_cpu_has_work(hog());
    let found = decision("linux-6.5+bias-prev", &machine(4, 4), &tasks);
    let (chosen, base) = (&found.chosen, &found.base);
    assert_eq!((found.prev_cpu, found.this_cpu), (0, 1));
    assert_eq!((chosen.answer.cpu, step(chosen)), (0, "bias_prev"));
    assert_eq!((base.answer.cpu, step(base)), (2, "llc_scan"));
    assert_eq!(chosen.cpu.running.as_deref(), Some("t1"));
    assert!(!chosen.cpu.idle() && base.cpu.idle());
    assert_eq!(chosen.cpu.from_prev, Distance::Same);
    assert_eq!(base.cpu.from_prev, Distance::Cache);
    assert_eq!(base.cpu.idle_state, Some(("WFI".to_owned(), 0)));
    assert_eq!(found.latency_ns, Some(0), "a sleeper preempts the hog");
}

/// A scan meets a CPU that runs SCHED_IDLE only before an idle one: 5.4 goes on, sched-idle takes
/// the first.
#[test]
fn sched_idle_takes_what_the_base_keeps_in_reserve() {
    let [wakee, prev, waker] = the_previous_cpu_has_work(hog());
    let background = hog().on(&[2]).policy(Policy::Idle);
    let tasks = [wakee, prev, waker, background];
    let found = decision("linux-5.4+sched-idle", &machine(4, 4), &tasks);
    let (chosen, base) = (&found.chosen, &found.base);
    assert_eq!((chosen.answer.cpu, step(chosen)), (2, "llc_scan"));
    assert_eq!((base.answer.cpu, step(base)), (3, "llc_scan"));
    assert!(chosen.cpu.sched_idle && !base.cpu.sched_idle);
    assert_eq!(base.answer.looked_near, chosen.answer.looked_near + 1);
}

/// Of several features, those are a reason without which another CPU would have been chosen.
#[test]
fn a_difference_is_because_of_the_features_that_make_it() {
    let [wakee, prev, waker] = the_previous_cpu_has_work(hog());
    let background = hog().on(&[2]).policy(Policy::Idle);
    let tasks = [wakee, prev, waker, background];
    let table: [(&str, Option<u32>, &[&str]); 4] = [
        ("linux-5.4+bias-prev", None, &["bias-prev"]),
        ("linux-5.4+sched-idle", Some(2), &["sched-idle"]),
        // The previous CPU is chosen before any scan.
        ("linux-5.4+sched-idle+bias-prev", None, &["bias-prev"]),
        // Here only an idle CPU is accepted, and the scan goes on.
        (
            "linux-5.4+sched-idle+bias-prev:select",
            Some(2),
            &["sched-idle"],
        ),
    ];
    for (name, cpu, because) in table {
        let found = decision(name, &machine(4, 4), &tasks);
        let expected = cpu.unwrap_or(found.prev_cpu);
        assert_eq!(found.chosen.answer.cpu, expected, "{name}");
        assert_eq!(found.because, because, "{name}");
    }
}

/// The same wakeup counted: one row with the chosen CPU and the one that the base would choose.
#[test]
fn a_wakeup_is_counted_on_both_sides() {
    let tasks = the_previous_cpu_has_work(hog());
    let (_, answers) = found(
        "linux-6.5+bias-prev",
        &machine(4, 4),
        &tasks,
        Wants::Answers,
    );
    let [row] = &answers.rows[..] else {
        panic!("one step answered: {answers:?}")
    };
    assert_eq!(STEPS[row.step as usize].0, "bias_prev");
    let scanned = STEPS.iter().position(|(name, _)| *name == "llc_scan");
    assert_eq!(row.instead_of, [(scanned.unwrap() as u32, 1)]);
    assert_eq!(row.because, [("bias-prev", 1)]);
    let sums = &row.other;
    assert_eq!(
        (sums.count, sums.new_tasks, sums.latency.samples),
        (1, 0, 1)
    );
    assert_eq!((sums.chosen.idle, sums.base.idle), (0, 1));
    assert_eq!((sums.chosen.moved, sums.base.moved), (0, 1));
    assert_eq!((sums.chosen.capacity, sums.base.capacity), (1024, 1024));
    assert_eq!(sums, &row.all);
    assert_eq!(answers.total.all, row.all);
}

/// A CPU that is still in its idle state while a task is on its way there is not idle.
#[test]
fn only_idle_cpus_have_an_exit_latency() {
    let (mut decisions, _) = found(
        "linux-6.5+bias-prev",
        &machine(4, 4),
        &the_previous_cpu_has_work(hog()),
        Wants::Decisions(1),
    );
    let mut choice = decisions.remove(0).base;
    choice.cpu.idle_state = Some(("cpu-sleep".to_owned(), 300));
    for (nr_running, expected) in [(0, (1, 300)), (1, (0, 0))] {
        choice.cpu.nr_running = nr_running;
        let mut tally = Tally::default();
        tally.count(&choice, &choice, &[], 0, false);
        let chosen = tally.answers().total.all.chosen;
        assert_eq!((chosen.idle, chosen.exit_latency_ns), expected);
    }
}

/// A base is its own base; naming a feature that a base has merged does not change it.
#[test]
fn without_a_feature_that_acts_there_is_no_difference() {
    let tasks = the_previous_cpu_has_work(hog());
    for name in [
        "linux-5.5",
        "linux-6.5",
        "linux-6.5+sched-idle",
        "linux-7.2+asym-capacity",
    ] {
        let (_, answers) = found(name, &machine(4, 4), &tasks, Wants::Answers);
        let total = &answers.total;
        assert_eq!((total.all.count, total.other.count), (1, 0), "{name}");
        assert_eq!(total.all.chosen, total.all.base, "{name}");
    }
}

/// With uclamp-sum, queues keep no clamps. The base reads them: it gets the largest of the queued
/// tasks, as in a run of its own.
#[test]
fn the_base_sees_clamps_that_the_run_does_not_keep() {
    let mut hog = hog();
    hog.attributes.uclamp_min = Some(300);
    hog.attributes.uclamp_max = Some(700);
    let (machine, tasks) = (machine(2, 2), workload(&the_previous_cpu_has_work(hog)));
    let clamps = |cpu: &alight_policy::Cpu| (cpu.uclamp_min, cpu.uclamp_max, cpu.uclamp_idle);
    let expected = (300, 700, 0);
    let base = ("linux-6.5", Governor::Performance);
    begin_under(base, &machine, &tasks, &mut Record::default(), |sim| {
        sim.until(WOKEN_AT - MS);
        assert_eq!(clamps(&sim.core.cpus[0]), expected);
    });
    let name = "linux-6.5+uclamp-sum";
    let scheduler = Scheduler::parse(name).expect("a scheduler");
    let watch = Watch {
        comm: None,
        at_ns: None,
    };
    let with = (name, Governor::Performance);
    begin_under(with, &machine, &tasks, &mut Record::default(), |sim| {
        let mut explainer = Explainer::new(&scheduler, sim, &watch, Wants::Answers).expect("built");
        sim.until(WOKEN_AT - MS);
        sim.others_follow(&mut explainer);
        let queues: Vec<_> = explainer.others[0].cpus.iter().map(clamps).collect();
        assert_eq!(queues, [expected, (0, 1024, 1)]);
        let kept: Vec<_> = sim.core.cpus.iter().map(clamps).collect();
        assert_eq!(kept[0], kept[1], "the run keeps none");
    });
}
