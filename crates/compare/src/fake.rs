// SPDX-License-Identifier: GPL-2.0-only
//! Outcomes for tests, made without a simulator.

use std::num::NonZeroU32;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use alight_machine::{Calibration, Machine, Trust};
use alight_policy::Scheduler;
use alight_sim::{Metric, Outcome, Scenario};
use alight_workload::program::Better;

use crate::compare::{Comparison, Question, compare};
use crate::header::Conditions;
use crate::rests::RestsOn;
use crate::spread::Spread;

/// A metric.
pub fn metric(name: &str, unit: &'static str, better: Option<Better>, value: f64) -> Metric {
    Metric {
        name: name.to_owned(),
        unit,
        better,
        value,
    }
}

/// What a run of `seed` could give: more events with a larger seed.
pub fn outcome(seed: u64) -> Outcome {
    let x = seed as f64;
    Outcome {
        hash: seed,
        end_ns: 5_000_000_000,
        results: vec![metric(
            "events",
            "",
            Some(Better::Higher),
            1000.0 + 10.0 * x,
        )],
        energy: vec![metric("energy_j", "j", Some(Better::Lower), 2.0 + 0.01 * x)],
        mechanism: vec![
            metric("cpu_migrations", "", None, 40.0 + x),
            metric("idle_found_percent", "percent", Some(Better::Higher), 50.0),
        ],
        // Those of the oldest search only: a step that is added later changes no golden.
        steps: std::array::from_fn(|step| if step < 19 { 3 } else { 0 }),
        events: 100,
        interrupted: false,
        figures: vec![],
    }
}

/// The same with half as many events again, and fewer migrations.
pub fn better_outcome(seed: u64) -> Outcome {
    let mut outcome = outcome(seed);
    outcome.hash += 1_000_000;
    outcome.results[0].value = outcome.results[0].value * 1.5 + (seed % 3) as f64;
    outcome.mechanism[0].value = 4.0;
    let slow_idle = std::mem::take(&mut outcome.steps[12]);
    outcome.steps[9] += slow_idle;
    outcome
}

/// The base's outcome, or what `other` gives.
fn of(scenario: &Scenario<'_>, other: fn(u64) -> Outcome) -> Outcome {
    match scenario.scheduler.params.features {
        0 => outcome(scenario.seed),
        _ => other(scenario.seed),
    }
}

/// What the base and a better scheduler give.
pub fn better(scenario: &Scenario<'_>) -> Outcome {
    of(scenario, better_outcome)
}

/// A comparison of 4 runs without a simulator: `other` gives the second scheduler's outcomes.
pub fn comparison(other: fn(u64) -> Outcome) -> Comparison {
    let mut comparison = compare(
        &question(&machine(), &schedulers(), 4),
        &|scenario: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| Ok(of(scenario, other)),
        Spread::QUIET,
        &AtomicBool::new(false),
    )
    .expect("the runs do not fail");
    comparison.header.machine = "board".to_owned();
    comparison.header.description = "two clusters".to_owned();
    comparison.header.workloads = vec!["sysbench --test=threads run".to_owned()];
    comparison
}

/// A machine to be named in questions.
pub fn machine() -> Machine {
    alight_machine::load("juno-r0")
        .expect("a built-in machine")
        .machine
}

/// How far its figures can be trusted.
pub fn trust() -> &'static Trust {
    static TRUST: LazyLock<Trust> = LazyLock::new(|| {
        let sheet = alight_machine::load("juno-r0").expect("a built-in machine");
        let mut trust = sheet.trust();
        // Reports of nobody's machine do not change with a board's file.
        trust.machine = "board".to_owned();
        trust.hash = 0x0123_4567_89ab_cdef;
        trust.costs.calibration = Some(Calibration {
            machine: "board".to_owned(),
            rows: vec!["a row".to_owned()],
            factors: None,
            matches: true,
        });
        trust
    });
    &TRUST
}

/// The base and one feature.
pub fn schedulers() -> Vec<Scheduler> {
    ["linux-5.5", "linux-5.5+asym-capacity"]
        .map(|name| Scheduler::parse(name).expect("a valid name"))
        .to_vec()
}

/// Seeds from 1, nothing running.
pub fn question<'a>(machine: &'a Machine, schedulers: &'a [Scheduler], runs: u32) -> Question<'a> {
    Question {
        scenario: Scenario::new(machine, &[], &schedulers[0]),
        trust: trust(),
        schedulers,
        runs: NonZeroU32::new(runs).expect("at least one run"),
        command: "alight compare -m board ...".to_owned(),
    }
}

/// A run of the base.
pub fn conditions() -> Conditions {
    Conditions {
        command: "alight simulate -m board ...".to_owned(),
        machine: "board".to_owned(),
        governor: "schedutil".into(),
        idle_governor: None,
        workloads: vec!["sysbench --test=threads run".to_owned()],
        scheduler: "linux-5.5".to_owned(),
        seed: 1,
        duration_ns: None,
        rests: RestsOn {
            trust: trust().clone(),
            left_out: vec!["the moon".to_owned()],
        },
    }
}
