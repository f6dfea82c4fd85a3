// SPDX-License-Identifier: GPL-2.0-only
//! Tests of task groups: shares of CPUs, signals, turns, and tasks that move.

use super::*;
use crate::dispatch::Sim;
use crate::testbed::{Given, MS, begin_grouped, machine, task, workload};
use alight_workload::program::Op;

const BASES: [&str; 13] = [
    "linux-5.5",
    "linux-5.10",
    "linux-5.15",
    "linux-6.1",
    "linux-6.5",
    "linux-6.6",
    "linux-6.8",
    "linux-6.12",
    "linux-6.18",
    "linux-7.0",
    "linux-7.1",
    "linux-7.2",
    "linux-7.3",
];

fn group(name: &str, weight: u32) -> Cgroup {
    Cgroup {
        weight,
        ..Cgroup::new(name)
    }
}

/// A task that never sleeps; in `group`, if that is not the root.
fn hog(group: &str) -> Given {
    let mut given = task(0, &[Op::Run { ns: 3_600_000 * MS }]);
    given.attributes.group = Some(group.to_owned());
    given
}

/// Percent of `cpus` CPUs that the tasks of each group had in the second after the first.
fn shares(base: &str, cpus: usize, groups: &[Cgroup], tasks: &[Given]) -> Vec<f64> {
    let given = workload(tasks);
    let limits = (groups, &[][..]);
    begin_grouped(limits, base, &machine(cpus, cpus), &given, |sim| {
        let ran = |sim: &mut Sim| -> Vec<u64> {
            for cpu in 0..cpus {
                sim.clock(cpu);
                sim.update_curr(cpu);
            }
            (sim.tasks.iter().take(tasks.len()))
                .map(|t| t.sum_exec)
                .collect()
        };
        sim.until(1000 * MS);
        let before = ran(sim);
        sim.until(3000 * MS);
        let after = ran(sim);
        groups
            .iter()
            .map(|group| {
                let own = |at: &usize| tasks[*at].attributes.group.as_ref() == Some(&group.name);
                let ns: u64 = (0..tasks.len())
                    .filter(own)
                    .map(|t| after[t] - before[t])
                    .sum();
                ns as f64 * 100.0 / (2000 * MS) as f64 / cpus as f64
            })
            .collect()
    })
}

#[test]
fn groups_share_a_cpu_by_their_weights_whatever_their_tasks_are() {
    let groups = [group("/a", 100), group("/b", 300)];
    for base in BASES {
        for (a, b) in [(1, 1), (1, 4), (6, 1), (3, 3)] {
            let mut tasks = vec![hog("/a").on(&[0]); a];
            tasks.extend(vec![hog("/b").on(&[0]); b]);
            let found = shares(base, 1, &groups, &tasks);
            let near = (found[0] - 25.0).abs() < 1.0 && (found[1] - 75.0).abs() < 1.0;
            assert!(near, "{base}, {a} and {b} tasks: {found:?} %");
        }
    }
}

fn near(found: &[f64], expected: &[f64], percent: f64) -> bool {
    (found.iter().zip(expected)).all(|(found, expected)| (found - expected).abs() < percent)
}

/// A nice value changes a task's share of its group, not the group's share.
#[test]
fn a_nice_value_counts_within_the_group() {
    let groups = [group("/a", 100), group("/b", 100)];
    for base in BASES {
        let tasks = [
            hog("/a").nice(-10).on(&[0]),
            hog("/b").on(&[0]),
            hog("/b").on(&[0]),
        ];
        let found = shares(base, 1, &groups, &tasks);
        assert!(near(&found, &[50.0, 50.0], 1.0), "{base}: {found:?} %");
    }
}

/// A task without a group has its own weight, a group of weight 100 that of a task at nice 0.
#[test]
fn a_group_of_weight_100_weighs_as_one_task_does() {
    for base in BASES {
        let tasks = [hog("/a").on(&[0]), hog("/a").on(&[0]), hog("/").on(&[0])];
        let found = shares(base, 1, &[group("/a", 100)], &tasks);
        assert!(near(&found, &[50.0], 1.0), "{base}: {found:?} %");
    }
}

/// `cpu.idle`: weight 3 of 1024 + 3.
#[test]
fn an_idle_group_gets_what_is_left() {
    let idle = Cgroup {
        idle: true,
        ..group("/b", 10_000)
    };
    for base in ["linux-6.1", "linux-6.5", "linux-7.2", "linux-7.3"] {
        let tasks = [hog("/a").on(&[0]), hog("/b").on(&[0]), hog("/b").on(&[0])];
        let found = shares(base, 1, &[group("/a", 100), idle.clone()], &tasks);
        assert!(near(&found, &[99.7, 0.3], 0.3), "{base}: {found:?} %");
    }
}

/// Each CPU has tasks of both groups: each group divides its weight evenly among the CPUs.
#[test]
fn groups_share_many_cpus_by_their_weights() {
    let groups = [group("/a", 100), group("/b", 300)];
    for base in BASES {
        let pair = |cpu| [hog("/a").on(&[cpu]), hog("/b").on(&[cpu])];
        let tasks: Vec<Given> = (0..4).flat_map(pair).collect();
        let found = shares(base, 4, &groups, &tasks);
        assert!(near(&found, &[25.0, 75.0], 1.5), "{base}: {found:?} %");
    }
}

/// `/a` has a task on each of four CPUs, `/b` all four of its on CPU 0. There `/a`
/// weighs a quarter of its weight, as its load lies on four CPUs: 1 to 4.
#[test]
fn a_groups_weight_lies_where_its_load_is() {
    let groups = [group("/a", 100), group("/b", 100)];
    for base in BASES {
        let mut tasks: Vec<Given> = (0..4).map(|cpu| hog("/a").on(&[cpu])).collect();
        tasks.extend((0..4).map(|_| hog("/b").on(&[0])));
        let found = shares(base, 4, &groups, &tasks);
        // CPU 0: a fifth for /a, four fifths for /b.
        assert!(near(&found, &[80.0, 20.0], 1.0), "{base}: {found:?} %");
    }
}

/// The utilization of a CPU's queue contains all its tasks, in any group.
#[test]
fn utilization_of_a_cpu_contains_that_of_groups() {
    for base in BASES {
        let tasks = [hog("/a").on(&[0]), hog("/b").on(&[0]), hog("/").on(&[1])];
        let given = workload(&tasks);
        let groups = [group("/a", 100), group("/b", 300)];
        let limits = (&groups[..], &[][..]);
        begin_grouped(limits, base, &machine(2, 2), &given, |sim| {
            sim.until(2000 * MS);
            let [grouped, alone] = [0, 1].map(|cpu| sim.core.cpus[cpu].cfs);
            assert!(alone.util_avg > 1000, "{base}: {alone:?}");
            assert!(
                grouped.util_avg.abs_diff(alone.util_avg) < 25,
                "{base}: {grouped:?}"
            );
            // 1024 for the first, thrice that for the second.
            assert!(grouped.load_avg.abs_diff(4096) < 100, "{base}: {grouped:?}");
            // Balancing sees a task's part of its group's load.
            let [a, b] = [0, 1].map(|task| sim.task_h_load(task));
            assert!(
                a.abs_diff(1024) < 30 && b.abs_diff(3072) < 60,
                "{base}: {a}, {b}"
            );
        });
    }
}

/// The signals of a task that moves leave the CPU's own queue at once, although the task is in its
/// group's queue (`propagate_entity_load_avg`).
#[test]
fn what_leaves_a_groups_queue_leaves_the_cpus() {
    use alight_workload::program::Attributes;
    let ops = [
        Op::Run { ns: 1000 * MS },
        Op::SetAttributes { attributes: 0 },
        Op::Run { ns: 1000 * MS },
    ];
    let mut moves = task(0, &ops).on(&[0]);
    moves.attributes.group = Some("/a".to_owned());
    for base in BASES {
        let given = alight_workload::program::Workload {
            attributes: vec![Attributes {
                affinity: Some(vec![1]),
                ..Attributes::default()
            }],
            ..workload(&[moves.clone()])
        };
        let limits = (&[group("/a", 100)][..], &[][..]);
        begin_grouped(limits, base, &machine(2, 2), &given, |sim| {
            sim.until(1000 * MS);
            let signals = |sim: &Sim, cpu: usize| {
                let cfs = &sim.core.cpus[cpu].cfs;
                (cfs.util_avg, cfs.runnable_avg, cfs.load_avg)
            };
            let [(util, run, load), stays] = [1, 0].map(|cpu| signals(sim, cpu));
            assert!(
                util.min(run) > 950 && load > 950,
                "{base}: {util} {run} {load}"
            );
            let (util, run, load) = stays;
            assert!(
                util.max(run) < 50 && load < 50,
                "{base}: {util} {run} {load}"
            );
        });
    }
}

/// A group goes on with its turn when one task of it follows another
/// (`put_prev_entity` and `set_next_entity` stop at the level that both share).
#[test]
fn a_switch_within_a_group_is_none_between_groups() {
    // In 7.3 groups have no turns.
    for base in &BASES[..4] {
        let tasks = [hog("/a").on(&[0]), hog("/a").on(&[0]), hog("/b").on(&[0])];
        let limits = (&[group("/a", 100), group("/b", 100)][..], &[][..]);
        begin_grouped(limits, base, &machine(1, 1), &workload(&tasks), |sim| {
            let mut at = 100 * MS;
            while sim.cpus[0].curr > 1 {
                at += MS / 10;
                sim.until(at);
            }
            // The group is charged the part of its turn that it has had.
            sim.until(at + MS / 10);
            sim.clock(0);
            sim.update_curr(0);
            // The entities of groups come after the three tasks.
            let (curr, entity) = (sim.cpus[0].curr, 3);
            let begun = sim.tasks[entity].slice_start;
            assert!(sim.tasks[entity].sum_exec > begun, "{base}: it runs");
            let waiting = sim.fair_queued(0);
            sim.switch_groups(0, 1 - curr);
            let now = (sim.tasks[entity].slice_start, sim.fair_queued(0));
            assert_eq!(now, (begun, waiting), "{base}: within the group");
            sim.switch_groups(0, 2);
            assert_eq!(sim.fair_queued(0), 1, "{base}: it waits");
            sim.switch_groups(0, curr);
            let t = &sim.tasks[entity];
            assert_eq!(t.slice_start, t.sum_exec, "{base}: another turn");
        });
    }
}

/// A weight of 100 is 1024; 0.5 % more or less is rounded. Weights that are too small or too large
/// are handled as in the kernel (`cpu_weight_write_u64`).
#[test]
fn weights_become_shares() {
    for (weight, shares) in [
        (1, 10),
        (50, 512),
        (100, 1024),
        (151, 1546),
        (10_000, 102_400),
    ] {
        assert_eq!(
            crate::kernel::weight::shares(&group("/a", weight)),
            shares,
            "weight {weight}"
        );
    }
}

/// A task that runs and sleeps for its own times for ever, under some nice value, and moves to
/// another group and back.
fn worker(nr: u64, attributes: u32) -> Given {
    let us = |ns: u64| ns * 1000;
    let ops = [
        Op::LoopBegin {
            slot: 0,
            count: u64::MAX,
            end: 8,
        },
        Op::Run {
            ns: us(100 + nr * 137 % 1900),
        },
        Op::Sleep {
            ns: us(50 + nr * 311 % 2500),
        },
        Op::SetAttributes { attributes },
        Op::Run {
            ns: us(20 + nr * 71 % 700),
        },
        Op::Yield,
        Op::SetAttributes {
            attributes: (attributes + 1 + nr as u32) % 5,
        },
        Op::LoopEnd { slot: 0, begin: 1 },
    ];
    let mut given = task(nr * 300_000, &ops).nice((nr % 7) as i32 - 3);
    given.attributes.group = ["/a", "/b", "/"]
        .get(nr as usize % 4)
        .map(|&g| g.to_owned());
    given
}

/// Tasks that come, go, wake elsewhere, are balanced, change their weight and their
/// group: the invariants are proved after each event.
#[test]
fn whatever_tasks_do_the_books_are_right() {
    use alight_workload::program::{Attributes, Policy};
    let to = |group: &str| Attributes {
        group: Some(group.to_owned()),
        ..Attributes::default()
    };
    let nice = |nice| Attributes {
        nice: Some(nice),
        ..Attributes::default()
    };
    let idle = Attributes {
        policy: Some(Policy::Idle),
        ..Attributes::default()
    };
    for base in BASES {
        let tasks: Vec<Given> = (0..14).map(|nr| worker(nr, nr as u32 % 5)).collect();
        let given = alight_workload::program::Workload {
            attributes: vec![to("/a"), nice(5), to("/"), idle.clone(), to("/b")],
            ..workload(&tasks)
        };
        let groups = [group("/a", 100), group("/b", 30)];
        let limits = (&groups[..], &[][..]);
        begin_grouped(limits, base, &machine(4, 2), &given, |sim| {
            sim.until(400 * MS);
            assert!(
                sim.stats.migrations_wake.seen() + sim.pulled() > 20,
                "{base}: all stay"
            );
        });
    }
}

/// pick_next_entity(): the group of a task that slept within its turn goes on, if it is eligible,
/// in kernels that test PICK_BUDDY and not NEXT_BUDDY; from 6.19 on a wakeup tests it too.
#[test]
fn a_groups_leftover_turn_is_heeded_by_later_kernels() {
    let groups = [group("/a", 100), group("/b", 100)];
    for (base, at_switches, at_wakeups) in [
        ("linux-6.6", false, false),
        ("linux-6.8", true, false),
        ("linux-6.12", true, false),
        ("linux-6.18", true, false),
        ("linux-7.0", true, true),
        ("linux-7.1", true, true),
        ("linux-7.2", true, true),
    ] {
        let tasks = [hog("/a").on(&[0]), hog("/b").on(&[0])];
        let limits = (&groups[..], &[][..]);
        begin_grouped(limits, base, &machine(1, 1), &workload(&tasks), |sim| {
            sim.until(50 * MS);
            let curr = sim.groups.roots[0].curr;
            let waits = 2 * tasks.len() as u32 + 1 - curr;
            sim.queue_out(0, waits);
            for (entity, deadline) in [(curr, 2 * MS), (waits, 9 * MS)] {
                let e = sim.entity_mut(entity);
                (e.vruntime, e.deadline, e.protected_until) = (MS, deadline, MS);
            }
            sim.queue_in(0, waits);
            let pick = |buddy| if buddy { waits } else { curr };
            assert_eq!(sim.pick_at_switch(0), curr, "{base}: no buddy");
            sim.cpus[0].fair.next = waits;
            assert_eq!(sim.pick_at_switch(0), pick(at_switches), "{base}");
            assert_eq!(sim.pick_eevdf(0, true), pick(at_wakeups), "{base}");
        });
    }
}

/// update_cfs_group() of 6.6 reduces the weight of a group's entity that has become empty; 6.12
/// does not. reweight_entity(): up to 6.16 a change of weight ends protection.
#[test]
fn the_weight_of_an_empty_part_and_the_protection_of_one_that_runs() {
    let groups = [group("/a", 100)];
    for (base, keeps, protected) in [
        ("linux-6.6", false, false),
        ("linux-6.12", true, false),
        ("linux-6.18", true, true),
        ("linux-7.2", true, true),
    ] {
        let sleeps = [
            Op::Run { ns: 3 * MS },
            Op::Sleep {
                ns: 3600 * 1000 * MS,
            },
        ];
        let mut short = task(0, &sleeps).on(&[0]);
        short.attributes.group = Some("/a".to_owned());
        let tasks = [short, hog("/a").on(&[1])];
        let limits = (&groups[..], &[][..]);
        begin_grouped(limits, base, &machine(2, 2), &workload(&tasks), |sim| {
            let entity = tasks.len() as u32;
            sim.until(2 * MS);
            let before = sim.group_queue(entity).weight;
            sim.protect(0, entity);
            assert!(sim.protected(entity), "{base}");
            sim.reweight_group(0, entity, before / 2);
            assert_eq!(sim.protected(entity), protected, "{base}");
            sim.reweight_group(0, entity, before);
            sim.until(100 * MS);
            assert!(!sim.on_queue(entity), "{base}: it sleeps");
            let after = sim.group_queue(entity).weight;
            let least = before * 9 / 10;
            assert_eq!(after > least, keeps, "{base}: {before}, then {after}");
        });
    }
}
