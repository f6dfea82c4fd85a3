// SPDX-License-Identifier: GPL-2.0-only

use std::sync::Mutex;

use alight_sim::{Outcome, Scenario};

use super::*;
use crate::fake;
use crate::report::{Extent, Form, Style, render};

/// Events of the other scheduler are 10 % more, give or take `scatter` by turns.
fn outcome(scenario: &Scenario<'_>, scatter: f64) -> Outcome {
    let mut outcome = fake::outcome(scenario.seed);
    if scenario.scheduler.params.features != 0 {
        let sign = if scenario.seed.is_multiple_of(2) {
            1.0
        } else {
            -1.0
        };
        outcome.hash += 1_000_000;
        outcome.results[0].value *= 1.1 + sign * scatter;
    }
    outcome
}

fn ask(most: u32, target: &str, scatter: f64) -> (Result<Comparison, NoComparison>, usize) {
    let (machine, schedulers) = (fake::machine(), fake::schedulers());
    let question = fake::question(&machine, &schedulers, most);
    let seeds = Mutex::new(vec![]);
    let run = |scenario: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| {
        seeds.lock().expect("no panic").push(scenario.seed);
        Ok(outcome(scenario, scatter))
    };
    let target: Target = target.parse().expect("a target");
    let cancel = AtomicBool::new(false);
    let found = compare_until(&question, &target, &run, Spread::QUIET, &cancel);
    let seeds = seeds.into_inner().expect("no panic");
    (found, seeds.len())
}

#[test]
fn runs_end_when_the_difference_is_known() {
    for (most, target, scatter, runs, known) in [
        (80, "1%", 0.0001, 5, true),
        (80, "1%", 0.01, 20, true),
        (80, "1%", 0.03, 80, true),
        (20, "1%", 0.03, 20, false),
        (3, "1%", 0.0001, 3, true),
        (80, "energy_j=1%", 0.03, 5, true),
        (1, "1%", 0.0, 1, false),
    ] {
        let (found, ran) = ask(most, target, scatter);
        let found = found.unwrap_or_else(|error| panic!("{target}: {error}"));
        let stopped = found.stopped.as_ref().expect("how it ended");
        let case = format!("{most} {target} {scatter}: {stopped:?}");
        assert_eq!((stopped.runs, stopped.known), (runs, known), "{case}");
        assert_eq!(
            (ran, found.seeds.len()),
            (2 * runs as usize, runs as usize),
            "{case}"
        );
        assert!(!found.interrupted(), "{case}");
        if known {
            assert!(
                stopped.half_width_percent.is_some_and(|half| half <= 1.0),
                "{case}"
            );
        }
    }
}

#[test]
fn every_report_says_how_it_ended() {
    let found = ask(80, "1%", 0.01).0.expect("a comparison");
    let words = found.stopped.as_ref().expect("how it ended").words();
    assert!(
        words.starts_with("stopped at 20 of at most 80 runs: half-width 0."),
        "{words}"
    );
    assert!(words.ends_with("% of events"), "{words}");
    for style in [Style::Table, Style::Markdown] {
        for extent in [Extent::Short, Extent::Full] {
            let form = Form {
                style,
                extent,
                samples: false,
            };
            let text = render(&found, form);
            assert!(text.contains(&words), "{text}");
        }
    }
    let form = Form {
        style: Style::Json,
        extent: Extent::Full,
        samples: false,
    };
    let json: serde_json::Value = serde_json::from_str(&render(&found, form)).expect("JSON");
    assert_eq!(json["until"]["runs"], 20);
    assert_eq!(json["until"]["most_runs"], 80);
    let unknown = ask(20, "1%", 0.03).0.expect("a comparison").stopped;
    let words = unknown.expect("how it ended").words();
    assert!(
        words.starts_with("20 of at most 20 runs: half-width "),
        "{words}"
    );
    assert!(words.ends_with("; 1 % was asked for"), "{words}");
}

#[test]
fn a_number_that_no_run_has_is_named() {
    let (found, ran) = ask(80, "speed=1%", 0.0);
    let error = found.expect_err("no such number").to_string();
    assert_eq!(
        (error.as_str(), ran),
        ("--until speed=1%: no run has this number", 10)
    );
}

#[test]
fn what_was_complete_before_an_interruption_is_compared() {
    let (machine, schedulers) = (fake::machine(), fake::schedulers());
    let question = fake::question(&machine, &schedulers, 80);
    let cancel = AtomicBool::new(false);
    let run = |scenario: &Scenario<'_>, cancel: &AtomicBool, _: &dyn Fn(u32)| {
        cancel.store(scenario.seed >= 8, Ordering::Relaxed);
        Ok(outcome(scenario, 0.5))
    };
    let target: Target = "1%".parse().expect("a target");
    let found = compare_until(&question, &target, &run, Spread::QUIET, &cancel);
    let found = found.expect("a comparison");
    assert!(
        found.interrupted() && found.seeds.len() >= 7,
        "{:?}",
        found.seeds
    );
    assert_eq!((found.stopped, found.header.runs), (None, 80));
}
