// SPDX-License-Identifier: GPL-2.0-only
//! Tests of SCHED_DEADLINE: which task runs when and where. Ticks come every 4 ms, and all
//! costs are 0.

use crate::dispatch::Sim;
use crate::face::changes::{Action, Change};
use crate::testbed::{
    Given, MS, Record, begin_changed, begin_under, big_little, machine, task, workload,
};
use alight_machine::{Governor, Machine};
use alight_workload::program::{Attributes, Op, Policy};

/// Bases with this class.
const BASES: [&str; 5] = [
    "linux-5.4",
    "linux-5.5",
    "linux-6.1",
    "linux-6.5",
    "linux-7.2",
];

fn run(ms: u64) -> Op {
    Op::Run { ns: ms * MS }
}

fn sleep(ms: u64) -> Op {
    Op::Sleep { ns: ms * MS }
}

/// `runtime` in each `period`, within `deadline` of its begin; ms.
fn dl(runtime: u64, deadline: u64, period: u64) -> Attributes {
    Attributes {
        policy: Some(Policy::Deadline),
        slice_ns: Some(runtime * MS),
        dl_period_deadline_ns: Some((period * MS, deadline * MS)),
        ..Attributes::default()
    }
}

fn deadline(params: (u64, u64, u64), start_ns: u64, ops: &[Op]) -> Given {
    let mut given = task(start_ns, ops);
    given.attributes = dl(params.0, params.1, params.2);
    given
}

fn fifo(start_ns: u64, ops: &[Op]) -> Given {
    let mut given = task(start_ns, ops).policy(Policy::Fifo);
    given.attributes.rt_priority = Some(99);
    given
}

fn on_machine<R>(
    base: &str,
    machine: &Machine,
    tasks: &[Given],
    test: impl FnOnce(&mut Sim) -> R,
) -> R {
    let rules = (base, Governor::Performance);
    let given = workload(tasks);
    begin_under(rules, machine, &given, &mut Record::default(), test)
}

/// Runs `test` on `cpus` equal CPUs.
fn of_kernel<R>(base: &str, cpus: usize, tasks: &[Given], test: impl FnOnce(&mut Sim) -> R) -> R {
    on_machine(base, &machine(cpus, cpus), tasks, test)
}

/// Where and when each task was switched to until `until`.
fn runs(base: &str, cpus: usize, tasks: &[Given], until: u64) -> Vec<Vec<(u64, usize)>> {
    let mut record = Record::default();
    let rules = (base, Governor::Performance);
    let given = workload(tasks);
    begin_under(rules, &machine(cpus, cpus), &given, &mut record, |sim| {
        sim.until(until);
    });
    (0..tasks.len()).map(|task| record.runs_of(task)).collect()
}

/// The task with the nearest deadline runs, in any order of arrival. Real-time tasks come after
/// all deadline tasks, fair ones last.
#[test]
fn the_nearest_deadline_goes_first() {
    let tasks = [
        deadline((10, 100, 100), 0, &[run(5)]),
        deadline((10, 50, 50), 2 * MS, &[run(5)]),
        deadline((10, 200, 200), 2 * MS, &[run(5)]),
        fifo(0, &[run(5)]),
        task(0, &[run(5)]),
    ];
    for base in BASES {
        let runs = runs(base, 1, &tasks, 40 * MS);
        assert_eq!(runs[0], [(0, 0), (7 * MS, 0)], "{base}");
        assert_eq!(runs[1], [(2 * MS, 0)], "{base}");
        assert_eq!(runs[2], [(10 * MS, 0)], "{base}");
        assert_eq!(runs[3], [(15 * MS, 0)], "{base}");
        assert_eq!(runs[4], [(20 * MS, 0)], "{base}");
    }
}

/// A task that does not sleep gets its runtime in each period. Its next runtime is shorter by
/// the overrun, which is up to a tick.
#[test]
fn a_hog_gets_its_runtime_a_period() {
    for base in BASES {
        let tasks = [
            deadline((10, 100, 100), 0, &[run(5000)]),
            task(0, &[run(5000)]),
        ];
        of_kernel(base, 1, &tasks, |sim| {
            // Ticks every 4 ms: 12 ms, then 8 ms are left of 10 ...
            sim.until(99 * MS);
            let first = sim.ran(0);
            assert!((10 * MS..14 * MS).contains(&first), "{base}: {first}");
            sim.until(2000 * MS);
            let all = sim.ran(0);
            assert!(all.abs_diff(200 * MS) <= 4 * MS, "{base}: {all}");
            assert_eq!(sim.ran(1), 2000 * MS - all, "{base}");
        });
    }
}

/// Runtime counts at the top speed of the biggest CPU (`update_curr_dl`): half a
/// CPU takes twice as long to use it up.
#[test]
fn runtime_is_scaled() {
    let tasks = [deadline((50, 500, 500), 0, &[run(5000)])];
    let mut small = big_little(2);
    small.cpus.truncate(2);
    on_machine("linux-5.5", &small, &tasks, |sim| {
        assert_eq!(sim.core.cpus[0].capacity_orig, 512);
        sim.until(499 * MS);
        let ran = sim.ran(0);
        assert!(ran.abs_diff(100 * MS) <= 4 * MS, "{ran}");
    });
}

/// A sleeper that wakes with more left than its share of the time to its deadline
/// begins a new period; with less it goes on with what it has (`update_dl_entity`).
#[test]
fn a_wakeup_keeps_or_renews() {
    for (asleep, deadline_ms) in [(1, 100), (60, 102 + 60 - 2)] {
        let tasks = [deadline(
            (20, 100, 100),
            0,
            &[run(2), sleep(asleep), run(5)],
        )];
        of_kernel("linux-6.1", 1, &tasks, |sim| {
            sim.until((2 + asleep) * MS);
            // 18 of 20 ms for 97 of 100 ms is less; for 38 ms it is more.
            let expected = if asleep == 1 { 100 } else { deadline_ms + 2 };
            assert_eq!(sim.deadline(0), expected * MS, "asleep for {asleep} ms");
        });
    }
}

/// One whose deadline lies before its period's end waits for the next period if it
/// wakes between the two (`dl_check_constrained_dl`).
#[test]
fn a_constrained_task_waits_for_its_period() {
    let tasks = [deadline((5, 20, 100), 0, &[run(2), sleep(30), run(1)])];
    for base in BASES {
        let runs = runs(base, 1, &tasks, 300 * MS);
        assert_eq!(runs[0], [(0, 0), (100 * MS, 0)], "{base}");
    }
}

/// `sched_yield` gives the rest of the runtime away until the next period.
#[test]
fn yield_ends_the_period() {
    let tasks = [deadline((10, 50, 50), 0, &[run(2), Op::Yield, run(1)])];
    for base in BASES {
        assert_eq!(
            runs(base, 1, &tasks, 90 * MS)[0],
            [(0, 0), (50 * MS, 0)],
            "{base}"
        );
    }
}

/// A task that has to wait is pushed to a CPU without such tasks, idle or not, and
/// stays there; a third one waits for the CPU with the latest deadline.
#[test]
fn waiting_tasks_find_a_cpu() {
    let tasks = [
        deadline((20, 100, 100), 0, &[run(10)]),
        deadline((20, 110, 110), 0, &[run(10)]),
        deadline((5, 50, 50), MS, &[sleep(1), run(3)]),
    ];
    for base in BASES {
        let runs = runs(base, 2, &tasks, 50 * MS);
        let cpu = |task: usize| runs[task][0].1;
        assert_ne!(cpu(0), cpu(1), "{base}: {runs:?}");
        let last = runs[2].last().expect("it ran");
        assert_eq!(last.0, 2 * MS, "{base}: it preempts at once");
        assert_eq!(
            runs[1].last().map(|r| r.0),
            Some(5 * MS),
            "{base}: {runs:?}"
        );
    }
}

/// From 5.8 on a task does not wake on a CPU too small for its density.
#[test]
fn small_cpus_do_not_fit_all() {
    // The task needs 60 % of the biggest CPU; a small one has half of that one's capacity.
    let tasks = [deadline((30, 50, 50), 0, &[run(1), sleep(20), run(1)])];
    for (base, capacity) in [("linux-5.5", 512), ("linux-6.1", 1024), ("linux-7.2", 1024)] {
        on_machine(base, &big_little(4), &tasks, |sim| {
            sim.until(40 * MS);
            let cpu = sim.views[0].prev_cpu as usize;
            assert_eq!(sim.core.cpus[cpu].capacity_orig, capacity, "{base}");
        });
    }
}

/// The bandwidth of tasks counts in the demand for frequency (`cpu_bw_dl`) while they
/// run, and up to the 0-lag time of a sleeper.
#[test]
fn bandwidth_counts_up_to_the_zero_lag_time() {
    let tasks = [deadline((20, 100, 100), 0, &[run(5), sleep(300), run(1)])];
    for base in BASES {
        of_kernel(base, 1, &tasks, |sim| {
            sim.until(2 * MS);
            assert_eq!(
                sim.core.cpus[0].dl_bandwidth, 204,
                "{base}: a fifth of 1024"
            );
            // 15 ms are left for the deadline at 100 ms: the claim ends at 25 ms.
            sim.until(24 * MS);
            assert_eq!(sim.core.cpus[0].dl_bandwidth, 204, "{base}");
            sim.until(26 * MS);
            assert_eq!(sim.core.cpus[0].dl_bandwidth, 0, "{base}");
            sim.until(306 * MS);
            assert_eq!(sim.core.cpus[0].dl_bandwidth, 204, "{base}");
        });
    }
}

/// `avg_dl` reduces the capacity for fair tasks.
#[test]
fn time_of_the_class_is_tracked() {
    for base in BASES {
        let tasks = [
            deadline((50, 100, 100), 0, &[run(5000)]),
            task(0, &[run(5000)]),
        ];
        of_kernel(base, 1, &tasks, |sim| {
            sim.until(2030 * MS);
            let util = sim.core.cpus[0].dl_util;
            assert!((400..700).contains(&util), "{base}: {util}");
        });
    }
}

/// Together tasks get 95 % of the CPUs, from 5.8 on of their capacity; with 7.2
/// 100 % less 5 % for each CPU's fair server (`sched_dl_overflow`).
#[test]
fn admission() {
    let refusal = |base: &str, machine: &Machine, shares: &[u64]| {
        let tasks: Vec<Given> = (shares.iter())
            .map(|&ms| deadline((ms, 100, 100), 0, &[run(1), sleep(50)]))
            .collect();
        on_machine(base, machine, &tasks, |sim| {
            sim.until(MS);
            sim.classes.refusal.take()
        })
    };
    let (two, mixed) = (machine(2, 2), big_little(2));
    for base in BASES {
        assert_eq!(refusal(base, &two, &[94, 94]), None, "{base}");
        let why = refusal(base, &two, &[94, 97]).expect("too much");
        assert!(
            why.contains("191 % of a CPU") || why.contains("190 %"),
            "{why}"
        );
        assert!(why.contains("task 't1'"), "{why}");
        let by_capacity = base >= "linux-6.1";
        let why = refusal(base, &mixed, &[90, 60]);
        assert_eq!(why.is_some(), by_capacity, "{base}: 150 % of 1.5 CPUs");
    }
}

/// A task that leaves the class, ends in it or stays asleep keeps its bandwidth until its 0-lag
/// time (`task_non_contending`, `inactive_task_timer`): others are admitted only then. If the task
/// comes back earlier, the test for admission still counts its old bandwidth
/// (`sched_dl_overflow` tests with an old bandwidth of 0).
#[test]
fn bandwidth_is_given_back_at_the_zero_lag_time() {
    let set = |attributes| Op::SetAttributes { attributes };
    let normal = Attributes {
        policy: Some(Policy::Normal),
        ..Attributes::default()
    };
    // 10 of 60 ms are used: the rest claims 83 of the 100 ms up to the deadline.
    let (ends, leaves) = (vec![run(10)], vec![run(10), set(0), run(500)]);
    let comes_back = |after: u64| vec![run(10), set(0), run(after), set(1), run(1)];
    let second = |at: u64| Some(deadline((60, 100, 100), at * MS, &[run(1)]));
    for base in BASES {
        for (what, first, second, admitted) in [
            ("ends", ends.clone(), second(15), false),
            ("ends", ends.clone(), second(18), true),
            ("leaves", leaves.clone(), second(15), false),
            ("leaves", leaves.clone(), second(18), true),
            ("comes back", comes_back(5), None, false),
            ("comes back", comes_back(8), None, true),
        ] {
            let mut tasks = vec![deadline((60, 100, 100), 0, &first)];
            tasks.extend(second);
            let mut given = workload(&tasks);
            given.attributes = vec![normal.clone(), dl(60, 100, 100)];
            let rules = (base, Governor::Performance);
            let mut record = Record::default();
            let one = machine(1, 1);
            let refusal = begin_under(rules, &one, &given, &mut record, |sim| {
                sim.until(60 * MS);
                sim.classes.refusal.take()
            });
            assert_eq!(refusal.is_none(), admitted, "{base}: {what}: {refusal:?}");
        }
    }
}

/// A task whose affinity leaves a CPU out is not admitted (EPERM).
#[test]
fn all_cpus_or_none() {
    let tasks = [deadline((10, 100, 100), 0, &[run(1)]).on(&[0])];
    of_kernel("linux-6.1", 2, &tasks, |sim| {
        sim.until(MS);
        let why = sim.classes.refusal.take().expect("refused");
        assert!(why.contains("EPERM"), "{why}");
    });
}

/// A running task joins the class and leaves it again.
#[test]
fn tasks_change_class() {
    let set = |attributes| Op::SetAttributes { attributes };
    for base in BASES {
        let mut given = workload(&[
            task(
                0,
                &[run(10), set(0), run(10), set(1), run(10), set(0), run(100)],
            ),
            task(0, &[run(5000)]),
        ]);
        let normal = Attributes {
            policy: Some(Policy::Normal),
            ..Attributes::default()
        };
        given.attributes = vec![dl(20, 100, 100), normal];
        let rules = (base, Governor::Performance);
        let mut record = Record::default();
        begin_under(rules, &machine(1, 1), &given, &mut record, |sim| {
            sim.until(400 * MS);
            assert!(sim.ran(0) > 60 * MS, "{base}");
            assert!(sim.ran(1) > 150 * MS, "{base}");
            assert_eq!(sim.rt_prio(0), Some(-1), "{base}");
        });
    }
}

/// A task that leaves the class with its runtime overrun, and comes back a period
/// later, begins anew (`__dl_clear_params`).
#[test]
fn who_left_throttled_comes_back() {
    let set = |attributes| Op::SetAttributes { attributes };
    // Ticks come every 4 ms: 20 ms are overrun at the change, not before.
    let mut given = workload(&[task(
        0,
        &[set(0), run(21), set(1), run(200), set(0), run(100)],
    )]);
    let normal = Attributes {
        policy: Some(Policy::Normal),
        ..Attributes::default()
    };
    given.attributes = vec![dl(20, 100, 100), normal];
    for base in BASES {
        let rules = (base, Governor::Performance);
        let mut record = Record::default();
        begin_under(rules, &machine(1, 1), &given, &mut record, |sim| {
            sim.until(800 * MS);
            assert!(sim.ran(0) > 260 * MS, "{base}: {}", sim.ran(0));
        });
    }
}

/// A CPU that the admitted tasks need does not go offline (EBUSY). Another one may, and
/// its tasks go on elsewhere, throttled ones in their next period.
#[test]
fn hotplug_leaves_what_was_promised() {
    let off = |ms: u64, cpu: usize| Change {
        at_ns: ms * MS,
        action: Action::Offline(alight_machine::CpuSet::single(cpu)),
    };
    let changes = [off(20, 1), off(250, 2)];
    let tasks = [
        deadline((50, 100, 100), 0, &[run(5000)]),
        deadline((50, 100, 100), 0, &[run(5000)]),
        deadline((50, 100, 100), 0, &[run(5000)]),
    ];
    for base in BASES {
        let rules = (base, Governor::Performance);
        let (given, mut record) = (workload(&tasks), Record::default());
        begin_changed(
            &changes,
            rules,
            &machine(3, 3),
            &given,
            &mut record,
            |sim| {
                sim.until(1000 * MS);
                assert_eq!(sim.hotplug.online.len(), 2, "{base}");
                assert_eq!(sim.hotplug.refused, 1, "{base}");
                for task in 0..3 {
                    let ran = sim.ran(task);
                    assert!(ran.abs_diff(500 * MS) < 60 * MS, "{base}: {task} ran {ran}");
                }
            },
        );
    }
}

/// Up to 3.13 there is no such class.
#[test]
fn linux_3_9_does_not_know_it() {
    let machine = machine(1, 1);
    let given = workload(&[deadline((10, 100, 100), 0, &[run(1)])]);
    let scheduler = alight_policy::Scheduler::parse("linux-3.9").expect("a base");
    let scenario = crate::face::api::Scenario {
        check: true,
        ..crate::face::api::Scenario::new(&machine, std::slice::from_ref(&given), &scheduler)
    };
    let run = crate::run(&scenario, None, &std::sync::atomic::AtomicBool::new(false));
    let why = run.expect_err("refused").to_string();
    assert!(
        why.contains("linux-3.9 does not have (since Linux 3.14)"),
        "{why}"
    );
}
