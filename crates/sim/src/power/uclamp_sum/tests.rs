// SPDX-License-Identifier: GPL-2.0-only
//! Clamped sums over time. The scenarios are those of the published series, on the board of its
//! tests: Juno r2, CPUs 0 to 3 little (383), 4 and 5 big.

use super::*;
use crate::dispatch::Sim;
use crate::power::cpuidle::tests::stated;
use crate::testbed::{Given, MS, Record, begin_under, big_little, machine, task, workload};
use alight_machine::{Governor, Machine};
use alight_workload::Mode;
use alight_workload::program::{Attributes, Op, Workload};

const MAX: &str = "linux-6.5";
const FORMS: [&str; 3] = [
    "linux-6.5+uclamp-sum",
    "linux-6.5+uclamp-sum=v2",
    "linux-6.5+uclamp-sum=bias",
];
const NEWER: [&str; 2] = ["linux-7.2+uclamp-sum", "linux-7.2+uclamp-sum=bias"];

/// Runs for `ms` from `start_ns` on, within clamps.
fn clamped(start_ns: u64, ms: u64, min: u32, max: u32) -> Given {
    let mut given = task(start_ns, &[Op::Run { ns: ms * MS }]).on(&[0]);
    given.attributes.uclamp_min = Some(min);
    given.attributes.uclamp_max = Some(max);
    given
}

// ---- mechanism ----

#[test]
fn a_queue_has_no_clamps_of_its_own() {
    for scheduler in FORMS {
        let rules = (scheduler, Governor::Performance);
        let tasks = [clamped(0, 20, 100, 300), clamped(10 * MS, 20, 50, 700)];
        let mut record = Record::default();
        let tasks = workload(&tasks);
        begin_under(rules, &machine(1, 1), &tasks, &mut record, |sim| {
            for ms in [5, 15, 60] {
                sim.until(ms * MS);
                let queue = &sim.core.cpus[0];
                let clamps = (queue.uclamp_min, queue.uclamp_max);
                assert_eq!(clamps, (0, 1024), "{scheduler} at {ms} ms");
            }
        });
    }
}

#[test]
fn a_capped_hog_counts_its_cap_while_it_uses_everything() {
    for scheduler in FORMS {
        let rules = (scheduler, Governor::Performance);
        let tasks = workload(&[clamped(0, 1000, 0, 200)]);
        let mut record = Record::default();
        begin_under(rules, &machine(1, 1), &tasks, &mut record, |sim| {
            sim.until(400 * MS);
            let view = &sim.core.cpus[0];
            assert!(view.cfs.util_avg > 1000, "{scheduler}");
            let found = rq::cpu_util_clamped(&sim.core.params, view, false);
            assert_eq!(found, 200, "{scheduler}");
            assert_eq!(sim.weighed().cpu_util(view) == 200, sim.weighed().summed());
        });
    }
}

#[test]
fn a_clamp_changed_on_the_way_counts_from_then_on() {
    let asks = [
        Op::Run { ns: 200 * MS },
        Op::SetAttributes { attributes: 0 },
        Op::Run { ns: 500 * MS },
    ];
    let tasks = Workload {
        attributes: vec![Attributes {
            uclamp_max: Some(300),
            ..Attributes::default()
        }],
        ..workload(&[task(0, &asks).on(&[0])])
    };
    for scheduler in FORMS {
        let rules = (scheduler, Governor::Performance);
        let mut record = Record::default();
        begin_under(rules, &machine(1, 1), &tasks, &mut record, |sim| {
            let util = |sim: &Sim| rq::cpu_util_clamped(&sim.core.params, &sim.core.cpus[0], false);
            sim.until(199 * MS);
            assert!(util(sim) > 950 && !sim.clamps_add_up(), "{scheduler}");
            sim.until(600 * MS);
            assert_eq!(util(sim), 300, "{scheduler}");
        });
    }
}

#[test]
fn overutilized_is_who_does_not_fit_as_clamped() {
    // A small CPU has 512, of which 409 fit: used, clamped, overutilized with sums and with biases
    for (util, clamped, sums, biases) in [
        (500, 200, false, false),
        (200, 500, true, false), // the utilization fits; a boost alone does not overutilize
        (500, 500, true, true),
    ] {
        for scheduler in FORMS {
            let rules = (scheduler, Governor::Schedutil);
            let mut record = Record::default();
            begin_under(rules, &big_little(2), &workload(&[]), &mut record, |sim| {
                sim.core.root.uclamp_used = 1;
                let view = &mut sim.core.cpus[0];
                view.cfs.util_avg = util;
                view.root_cfs_util_uclamp = clamped;
                view.cfs.uclamp = clamped as i32 - util as i32;
                let expected = if scheduler.ends_with("bias") {
                    biases
                } else {
                    sums
                };
                sim.overutilized_update(0);
                let found = sim.core.root.overutilized != 0;
                assert_eq!(found, expected, "{scheduler}: {clamped} of {util}");
            });
        }
    }
}

#[test]
fn a_task_fits_as_clamped() {
    for (util, clamped, fits) in [(900, 409, true), (900, 410, false), (10, 410, false)] {
        for scheduler in FORMS {
            let rules = (scheduler, Governor::Performance);
            let tasks = workload(&[clamped_hog()]);
            let mut record = Record::default();
            begin_under(rules, &big_little(2), &tasks, &mut record, |sim| {
                sim.core.root.uclamp_used = 1;
                let mut view = sim.views[0];
                view.pelt.util_avg = util;
                let bias = i32::from(scheduler.ends_with("bias")) * util as i32;
                view.pelt.uclamp = clamped - bias;
                // Up to 409 of 512.
                assert_eq!(sim.task_fits(&view, 0), fits, "{scheduler}");
            });
        }
    }
}

fn clamped_hog() -> Given {
    clamped(0, 1000, 0, 200)
}

// ---- the scenarios of the series ----

/// Use of CPUs and frequencies of juno-r2 between two times.
struct Seen {
    /// Time that each CPU was busy, of 1000.
    busy: Vec<u64>,
    /// Highest frequency of the little and of the big CPUs, MHz.
    highest: [u32; 2],
    /// Number of frequency changes of the big CPUs.
    changes: u32,
    /// Number of tasks by their last CPU.
    tasks: Vec<usize>,
    /// Share of samples in which some CPU was overutilized, of 1000.
    overutilized: u64,
}

/// The workload of this file under this scheduler, sampled every ms of a time range. The board is as its
/// file states it, without what was fitted.
fn seen(scheduler: &str, file: &str, ms: std::ops::Range<u64>) -> Seen {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/");
    let given = Workload::load(&format!("{folder}{file}.json"), Mode::Workgen).expect("readable");
    let juno = stated("juno-r2");
    let rules = (scheduler, Governor::Schedutil);
    let mut record = Record::default();
    begin_under(rules, &juno, &given.workload, &mut record, |sim| {
        let busy_ns = |sim: &Sim| -> Vec<u64> {
            let cpus = sim.cpus.iter();
            cpus.map(|c| c.stats.busy_ns).collect()
        };
        sim.until(ms.start * MS);
        let before = busy_ns(sim);
        let clocks = |sim: &Sim| [0, 1].map(|at| sim.freq[at].opp(sim.machine, at).khz / 1000);
        let mut seen = Seen {
            busy: vec![],
            highest: clocks(sim),
            changes: 0,
            tasks: vec![0; before.len()],
            overutilized: 0,
        };
        let mut last = clocks(sim)[1];
        for at in ms.clone() {
            sim.until((at + 1) * MS);
            let now = clocks(sim);
            seen.changes += u32::from(now[1] != last);
            last = now[1];
            for (highest, now) in seen.highest.iter_mut().zip(now) {
                *highest = now.max(*highest);
            }
            seen.overutilized += u64::from(sim.core.root.overutilized);
        }
        let (after, span) = (busy_ns(sim), ms.end - ms.start);
        let pairs = after.iter().zip(&before);
        seen.busy = pairs.map(|(a, b)| (a - b) / 1000 / span).collect();
        seen.overutilized = seen.overutilized * 1000 / span;
        for task in sim.tasks.iter() {
            seen.tasks[task.cpu as usize] += 1;
        }
        seen
    })
}

impl Seen {
    /// Busy time of the big CPUs, of 2000.
    fn big(&self) -> u64 {
        self.busy[4] + self.busy[5]
    }

    fn figures(&self, scheduler: &str) -> String {
        format!(
            "{scheduler}: busy {:?}, tasks {:?}, up to {:?} MHz, {} changes, overutilized {}",
            self.busy, self.tasks, self.highest, self.changes, self.overutilized
        )
    }
}

#[test]
fn four_capped_hogs_take_a_little_cpu_each() {
    let at = 1000..3000;
    let max = seen(MAX, "juno-r2/capped-hogs", at.clone());
    assert_eq!(
        max.tasks,
        [2, 1, 1, 0, 0, 0],
        "a CPU that is always busy looks full"
    );
    assert_eq!(max.busy[3], 0);
    for scheduler in FORMS.iter().chain(&NEWER) {
        let sum = seen(scheduler, "juno-r2/capped-hogs", at.clone());
        let figures = sum.figures(scheduler);
        assert_eq!(sum.tasks, [1, 1, 1, 1, 0, 0], "{figures}");
        assert!(sum.busy[..4].iter().all(|&busy| busy > 980), "{figures}");
        assert_eq!((sum.big(), sum.overutilized), (0, 0), "{figures}");
    }
}

#[test]
fn two_tasks_that_share_a_cpu_get_the_clock_for_both() {
    let at = 1000..3000;
    let max = seen(MAX, "juno-r2/wide-tasks", at.clone());
    assert_eq!(max.highest[1], 600, "the clock for the largest of them");
    for scheduler in FORMS.iter().chain(&NEWER) {
        let sum = seen(scheduler, "juno-r2/wide-tasks", at.clone());
        let figures = sum.figures(scheduler);
        assert_eq!(sum.highest[1], 1200, "{figures}");
        // The two biggest CPUs have no idle time left.
        assert!(sum.busy[4..].iter().sum::<u64>() > 2 * 970, "{figures}");
        assert!(sum.busy[4..].iter().all(|&busy| busy > 960), "{figures}");
    }
    for scheduler in FORMS {
        let sum = seen(scheduler, "juno-r2/wide-tasks", at.clone());
        let figures = sum.figures(scheduler);
        assert!(sum.busy[4..].iter().all(|&busy| busy > 980), "{figures}");
    }
}

#[test]
fn a_small_task_without_clamps_does_not_lift_the_cap_of_its_neighbour() {
    let at = 1100..2900;
    for (scheduler, at_least) in [(MAX, 20), ("linux-7.2", 100)] {
        let max = seen(scheduler, "juno-r2/capped-pair", at.clone());
        let figures = max.figures(scheduler);
        assert!(
            max.changes >= at_least && max.highest[1] == 1200,
            "{figures}"
        );
    }
    for scheduler in FORMS.iter().chain(&NEWER) {
        let sum = seen(scheduler, "juno-r2/capped-pair", at.clone());
        let figures = sum.figures(scheduler);
        assert_eq!((sum.changes, sum.highest[1]), (0, 600), "{figures}");
        assert_eq!((sum.busy[5], sum.overutilized), (1000, 0), "{figures}");
    }
}

#[test]
fn eight_capped_hogs_pack_on_the_little_cpus_two_each() {
    let at = 2000..4000;
    let max = seen(MAX, "juno-r2/capped-eight", at);
    assert_eq!(max.tasks, [5, 1, 1, 1, 0, 0], "full ones are all alike");
    // A hog that sleeps briefly may return to a big CPU for a while, until all have settled. That
    // takes the first form nine seconds on 7.2.
    for (scheduler, at) in [
        (FORMS[0], 5000..7000),
        (FORMS[2], 5000..7000),
        (NEWER[0], 10_000..12_000),
        (NEWER[1], 5000..7000),
    ] {
        let sum = seen(scheduler, "juno-r2/capped-eight", at.clone());
        let figures = sum.figures(scheduler);
        assert_eq!(sum.tasks, [2, 2, 2, 2, 0, 0], "{figures}");
        assert_eq!((sum.big(), sum.overutilized), (0, 0), "{figures}");
    }
}

// ---- off ----

#[test]
fn while_nobody_uses_a_clamp_a_run_is_the_bases() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/");
    let given = Workload::load(&format!("{folder}periodic-mix.json"), Mode::Workgen);
    let workloads = [given.expect("readable").workload];
    let juno = Machine::load("juno-r2").expect("built in");
    let hash = |name: &str| {
        let scheduler = alight_policy::Scheduler::parse(name).expect("a scheduler");
        let scenario = crate::Scenario {
            duration_ns: Some(500 * MS),
            check: true,
            ..crate::Scenario::new(&juno, &workloads, &scheduler)
        };
        let outcome = crate::run(&scenario, None, &false.into());
        outcome.unwrap_or_else(|e| panic!("{name}: {e}")).hash
    };
    for base in ["linux-5.5", "linux-6.5", "linux-7.2"] {
        let alone = hash(base);
        for form in ["v1", "v2", "bias", "bias:fix"] {
            let name = format!("{base}+uclamp-sum={form}");
            assert_eq!(hash(&name), alone, "{name}");
        }
    }
}
