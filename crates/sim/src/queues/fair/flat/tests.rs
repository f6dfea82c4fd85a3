// SPDX-License-Identifier: GPL-2.0-only
//! Tests of groups of 7.3: the weights of their tasks, when these change, and functions that
//! groups no longer have.

use crate::dispatch::Sim;
use crate::face::api::Cgroup;
use crate::queues::fair::eevdf::tests::{go, hogs, put};
use crate::testbed::{Given, MS, US, begin_grouped, machine, task, workload};
use alight_workload::program::Op;

/// Weight of nice 0, and of a group of weight 100, in the finer unit.
const ONE: u64 = 1 << 20;

fn group(name: &str, weight: u32) -> Cgroup {
    Cgroup {
        weight,
        ..Cgroup::new(name)
    }
}

fn of(given: &Given, group: &str) -> Given {
    let mut given = given.clone();
    given.attributes.group = Some(group.to_owned());
    given
}

/// Tasks 0 and 1 of `/a`, of this weight, and task 2 of none, on one CPU.
fn on_one_cpu(base: &str, weight: u32, nice: i32, test: impl FnOnce(&mut Sim)) {
    let mut tasks = hogs(3);
    tasks[0] = of(&tasks[0], "/a");
    tasks[1] = of(&tasks[1], "/a").nice(nice);
    let groups = [group("/a", weight)];
    let limits = (&groups[..], &[][..]);
    begin_grouped(limits, base, &machine(1, 1), &workload(&tasks), test);
}

/// __calc_prop_weight(): a task's part of its queue, of the group's entity.
#[test]
fn a_task_weighs_what_its_group_leaves_it() {
    for (weight, nice, expected) in [
        (100, 0, [ONE / 2, ONE / 2]),
        (300, 0, [3 * ONE / 2, 3 * ONE / 2]),
        // 3121 beside 1024.
        (100, -5, [ONE * 1024 / 4145, ONE * 3121 / 4145]),
    ] {
        on_one_cpu("linux-7.3", weight, nice, |sim| {
            (0..3).for_each(|task| put(sim, task, 0));
            let found = [0, 1].map(|task| sim.weight_at_root(0, task));
            assert_eq!(found, expected, "weight {weight}, nice {nice}");
            assert_eq!(sim.weight_at_root(0, 2), ONE, "it has no group");
        });
    }
}

/// enqueue_task_fair(), set_next_task_fair(), task_tick_fair(): the weight of a task changes only
/// when it joins, when it is switched to and at its ticks.
#[test]
fn a_queued_task_keeps_its_weight_until_its_turn() {
    on_one_cpu("linux-7.3", 100, 0, |sim| {
        put(sim, 2, 0);
        go(sim);
        put(sim, 0, 0);
        put(sim, 1, 0);
        let weights = |sim: &Sim| [0, 1].map(|task| sim.exact_weight(task));
        assert_eq!(weights(sim), [ONE, ONE / 2], "it was alone as it joined");
        // The first of the group's tasks that is switched to.
        while sim.cpus[0].curr != 0 {
            let next = sim.now + MS / 10;
            sim.until(next);
        }
        assert_eq!(weights(sim), [ONE / 2, ONE / 2]);
    });
}

/// reweight_eevdf(): lag, the rest of the turn and of the protection are twice as long in the
/// time of half the weight.
#[test]
fn what_is_left_of_a_turn_stays_the_same_time() {
    on_one_cpu("linux-7.3", 100, 0, |sim| {
        put(sim, 0, 0);
        go(sim);
        put(sim, 2, 0);
        put(sim, 1, 0);
        assert_eq!(sim.cpus[0].curr, 0);
        sim.entity_mut(0).protected_until = sim.entity(0).vruntime + 300 * US;
        let (lag, mean) = (sim.lag(0, 0), sim.mean_vruntime(0));
        let before = *sim.entity(0);
        sim.weigh(0, 0);
        let after = *sim.entity(0);
        assert_eq!(sim.exact_weight(0), ONE / 2);
        assert_eq!(after.vruntime, mean.wrapping_sub(2 * lag as u64));
        for (was, is) in [
            (before.deadline, after.deadline),
            (before.protected_until, after.protected_until),
        ] {
            assert_eq!(is.wrapping_sub(mean), 2 * was.wrapping_sub(mean));
        }
    });
}

/// calc_concur_shares(): tasks of the group on four CPUs, each beside one without a group. A queue
/// whose tasks are always runnable reports a little less than their number (`runnable_avg`), and
/// that is rounded down.
#[test]
fn a_group_weighs_for_each_of_its_tasks() {
    let hog = |group: &str, cpu| of(&task(0, &[Op::Run { ns: u64::MAX }]), group).on(&[cpu]);
    for (base, per_cpu, cpus, percent, because) in [
        (
            "linux-7.2",
            1,
            4,
            20.0,
            "a quarter of its weight on each CPU",
        ),
        ("linux-7.2", 2, 4, 20.0, "whatever its tasks"),
        (
            "linux-7.3",
            1,
            4,
            300.0 / 7.0,
            "three weights of 1024 on four CPUs",
        ),
        ("linux-7.3", 2, 4, 50.0, "seven tasks, but four CPUs"),
        ("linux-7.2", 1, 1, 50.0, "all of it on one CPU"),
        ("linux-7.3", 1, 1, 50.0, "a task at least"),
    ] {
        let mut tasks: Vec<_> = (0..4).map(|cpu| hog("/", cpu)).collect();
        tasks.extend((0..per_cpu * cpus).map(|nr| hog("/a", nr % cpus)));
        let limits = (&[group("/a", 100)][..], &[][..]);
        begin_grouped(limits, base, &machine(4, 4), &workload(&tasks), |sim| {
            let ran = |sim: &mut Sim| (4..tasks.len()).map(|task| sim.ran(task)).sum::<u64>();
            sim.until(1000 * MS);
            let before = ran(sim);
            sim.until(3000 * MS);
            let time = 2000 * MS * u64::from(cpus);
            let share = (ran(sim) - before) as f64 * 100.0 / time as f64;
            assert!(
                (share - percent).abs() < 1.5,
                "{base}, {per_cpu} tasks on {cpus} CPUs: {share} %, not {percent}: {because}"
            );
        });
    }
}

/// wakeup_preempt_fair() compares the tasks themselves, not the `cpu.idle` of their groups.
#[test]
fn a_task_of_an_idle_group_is_no_sched_idle_task() {
    for (base, preempts) in [("linux-7.2", true), ("linux-7.3", false)] {
        let mut tasks = hogs(2);
        tasks[0] = of(&tasks[0], "/idle");
        let idle = Cgroup {
            idle: true,
            ..Cgroup::new("/idle")
        };
        let limits = (&[idle][..], &[][..]);
        begin_grouped(limits, base, &machine(1, 1), &workload(&tasks), |sim| {
            put(sim, 0, 0);
            go(sim);
            // It has had more than its share.
            put(sim, 1, -(MS as i64));
            sim.check_preempt(0, 1);
            assert_eq!(sim.cpus[0].resched_lazy, preempts, "{base}");
        });
    }
}

/// __dequeue_task(): a task may stay queued until its debt is paid; its group does not, and the
/// turn of a task that sleeps goes to no other task.
#[test]
fn groups_are_neither_delayed_nor_buddies() {
    let ops = [
        Op::LoopBegin {
            slot: 0,
            count: u64::MAX,
            end: 4,
        },
        Op::Run { ns: 700 * US },
        Op::Sleep { ns: 9 * MS },
        Op::LoopEnd { slot: 0, begin: 1 },
    ];
    let worker = of(&task(0, &ops), "/a");
    let tasks = [worker.clone(), worker, task(0, &[Op::Run { ns: u64::MAX }])];
    let limits = (&[group("/a", 100)][..], &[][..]);
    begin_grouped(
        limits,
        "linux-7.3",
        &machine(1, 1),
        &workload(&tasks),
        |sim| {
            let (entity, mut delayed, mut gone) = (3, 0, 0);
            for step in 1..2000 {
                sim.until(step * MS / 10);
                assert!(!sim.is_delayed(entity), "a group waits");
                assert_ne!(sim.fair_queue(0).next, entity, "a group is next");
                delayed += u32::from(sim.is_delayed(0));
                // Only the task without a group is left.
                gone += u32::from(sim.core.cpus[0].h_nr_running == 1);
            }
            assert!(delayed > 20 && gone > 20, "{delayed}, {gone}");
        },
    );
}
