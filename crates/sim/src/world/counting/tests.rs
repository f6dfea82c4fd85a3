// SPDX-License-Identifier: GPL-2.0-only
//! Counters that restart during a run, and the run that stays the same.

use crate::face::api::Outcome;
use crate::face::changes::{Action, Change};
use crate::{Scenario, run};
use alight_machine::Machine;
use alight_policy::Scheduler;
use alight_workload::{Mode, Workload};
use std::sync::atomic::AtomicBool;

const SECOND: u64 = 1_000_000_000;

/// Two hogs on the big CPUs of a Juno r2 for a second, then one of them on a little one.
const MOVES: &str = r#"{
        "tasks": {
            "stays": { "cpus": [4], "run": 10000, "sleep": 10 },
            "moves": { "util_max": 1024, "phases": {
                "big": { "loop": 1, "cpus": [5], "runtime": 1000000 },
                "little": { "loop": 100000, "cpus": [0], "run": 10000, "sleep": 10 }
            } }
        },
        "global": { "duration": 2, "calibration": "CPU4" }
    }"#;

fn outcome(changes: &[Change]) -> Outcome {
    let machine = Machine::load("juno-r2").expect("built in");
    let workload = Workload::from_rtapp("moves.json", MOVES, Mode::default()).expect("valid");
    let workloads = [workload.workload];
    let scheduler = Scheduler::parse("linux-6.5").expect("a base");
    let scenario = Scenario {
        changes,
        check: true,
        ..Scenario::new(&machine, &workloads, &scheduler)
    };
    run(&scenario, None, &AtomicBool::new(false)).expect("runs")
}

fn metric(outcome: &Outcome, name: &str) -> f64 {
    let all = outcome.results.iter().chain(&outcome.mechanism);
    let mut all = all.chain(&outcome.energy);
    let found = all.find(|metric| metric.name == name);
    found.unwrap_or_else(|| panic!("no {name}")).value
}

fn anew(at_ns: u64) -> Change {
    Change {
        at_ns,
        action: Action::CountAnew,
    }
}

#[test]
fn counts_start_anew_and_the_run_stays_the_same() {
    let (whole, second) = (outcome(&[]), outcome(&[anew(SECOND)]));
    assert_eq!(whole.hash, second.hash, "counting decides nothing");
    let near = |run: &Outcome, name: &str, expected: f64, within: f64| {
        let found = metric(run, name);
        assert!((found - expected).abs() <= within, "{name}: {found}");
    };
    // CPU 5 is busy in half of the whole run, and idle in its second half.
    near(&whole, "busy_capacity_1024_percent", 75.0, 1.0);
    near(&second, "busy_capacity_1024_percent", 50.0, 1.0);
    near(&whole, "runnable_per_cpu_big", 0.75, 0.01);
    near(&second, "runnable_per_cpu_big", 0.5, 0.01);
    near(&second, "runnable_most_little", 1.0, 0.02);
    // Idle CPUs are woken for balancing, too.
    near(&whole, "active_little_percent", 58.0, 8.0);
    near(&second, "active_big_percent", 99.0, 1.0);
    near(&second, "moves_left_cluster_ms", 0.0, 10.0);
    near(&whole, "moves_on_biggest_percent", 50.0, 1.0);
    // It moved within the first 10 ms of that second.
    near(&second, "moves_on_biggest_percent", 0.5, 0.5);
    let (all, half) = (metric(&whole, "energy_j"), metric(&second, "energy_j"));
    assert!(0.2 * all < half && half < 0.6 * all, "{half} J of {all} J");
}

/// Whether a preempted task holds a pipe's mutex is drawn. The key of the draw counts from the
/// start of the run, regardless of `--count-from`.
#[test]
fn a_window_that_only_counts_leaves_a_run_of_pipes() {
    let machine = Machine::load("sdm845").expect("built in");
    let line = "hackbench -g 3 -f 4 -l 60 --pipe";
    let workload = Workload::load(line, Mode::default()).expect("valid");
    let workloads = [workload.workload];
    let scheduler = Scheduler::parse("linux-7.2").expect("a base");
    let hash = |changes: &[Change]| {
        let scenario = Scenario {
            changes,
            check: true,
            ..Scenario::new(&machine, &workloads, &scheduler)
        };
        let run = run(&scenario, None, &AtomicBool::new(false)).expect("runs");
        (run.hash, run.end_ns)
    };
    let whole = hash(&[]);
    for ms in [1, 2, 4, 8, 12, 16] {
        assert!(ms * 1_000_000 < whole.1, "the run lasts {} ns", whole.1);
        assert_eq!(hash(&[anew(ms * 1_000_000)]), whole, "from {ms} ms on");
    }
}

/// One big CPU is busy all the time, the other in the first second. The other goes offline after
/// 1.5 s and comes back 400 ms later. The time offline does not count as its time.
#[test]
fn cpus_are_busy_for_a_part_of_the_time_that_they_are_online() {
    let at = |tenths: u64, action| Change {
        at_ns: SECOND * tenths / 10,
        action,
    };
    let off = || at(15, Action::Offline([5].into_iter().collect()));
    let on = || at(19, Action::Online([5].into_iter().collect()));
    let from = |tenths| at(tenths, Action::CountAnew);
    // If counters restart while it is offline, earlier offline time is dropped.
    for (changes, expected) in [
        (vec![off(), on()], 3.0 / 3.6),
        (vec![from(10), off(), on()], 1.0 / 1.6),
        (vec![off(), from(17), on()], 0.3 / 0.4),
        (vec![off(), from(17)], 1.0),
    ] {
        let found = metric(&outcome(&changes), "busy_capacity_1024_percent");
        assert!(
            (found - 100.0 * expected).abs() <= 2.0,
            "{changes:?}: {found}"
        );
    }
}

/// A hog without clamps fills its CPU: the root domain is overutilized once its utilization
/// has grown.
#[test]
fn a_full_cpu_makes_the_root_domain_overutilized() {
    let late = outcome(&[anew(SECOND)]);
    assert_eq!(metric(&late, "overutilized_percent"), 100.0);
    let whole = metric(&outcome(&[]), "overutilized_percent");
    assert!((80.0..100.0).contains(&whole), "{whole}");
}
