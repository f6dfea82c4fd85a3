// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::fake;
use std::num::NonZeroUsize;
use std::sync::Mutex;

type Ran = Result<Outcome, alight_sim::Error>;

fn ask(
    runs: u32,
    run: impl Fn(&Scenario<'_>, &AtomicBool, &dyn Fn(u32)) -> Ran + Sync,
    cancel: &AtomicBool,
) -> Result<Comparison, NoComparison> {
    let (machine, schedulers) = (fake::machine(), fake::schedulers());
    let question = fake::question(&machine, &schedulers, runs);
    compare(&question, &run, Spread::QUIET, cancel)
}

#[test]
fn every_scheduler_runs_every_seed_once() {
    let asked = Mutex::new(Vec::new());
    let run = |scenario: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| {
        let name = scenario.scheduler.name.clone();
        asked.lock().unwrap().push((scenario.seed, name));
        Ok(fake::outcome(scenario.seed))
    };
    let comparison = ask(3, run, &AtomicBool::new(false)).unwrap();
    let mut asked = asked.into_inner().unwrap();
    asked.sort();
    let expected: Vec<(u64, String)> = [1, 2, 3]
        .iter()
        .flat_map(|seed| fake::schedulers().into_iter().map(|s| (*seed, s.name)))
        .collect();
    assert_eq!(asked, expected);
    assert_eq!(comparison.seeds, [1, 2, 3]);
    assert!(!comparison.interrupted());
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    let (machine, schedulers) = (fake::machine(), fake::schedulers());
    let question = fake::question(&machine, &schedulers, 9);
    let run = |scenario: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| -> Ran {
        std::thread::sleep(std::time::Duration::from_micros(100 * (9 - scenario.seed)));
        Ok(fake::better_outcome(scenario.seed))
    };
    let with = |threads| {
        let how = Spread {
            threads: NonZeroUsize::new(threads),
            ..Spread::QUIET
        };
        compare(&question, &run, how, &AtomicBool::new(false)).unwrap()
    };
    assert_eq!(with(1), with(5));
}

#[test]
fn samples_and_deltas_are_those_of_the_seeds() {
    let comparison = fake::comparison(fake::better_outcome);
    let base = comparison.base().series("events").unwrap();
    let other = comparison.others()[0].series("events").unwrap();
    assert_eq!(base.samples, [1010.0, 1020.0, 1030.0, 1040.0].map(Some));
    assert_eq!(other.samples, [1516.0, 1532.0, 1545.0, 1561.0].map(Some));
    assert_eq!(base.delta, None);
    let delta = other.delta.unwrap();
    // Differences 506, 512, 515, 521 against a mean of 1025.
    assert_eq!(delta.delta_percent, Some(100.0 * 513.5 / 1025.0));
    assert!(delta.significant);
    let same = comparison.others()[0].series("idle_found_percent").unwrap();
    assert_eq!(same.delta.unwrap().delta_percent, Some(0.0));
    assert!(!same.delta.unwrap().significant);
}

#[test]
fn a_number_that_some_runs_lack_is_compared_over_the_others() {
    let comparison = fake::comparison(|seed| {
        let mut outcome = fake::outcome(seed);
        if seed == 2 {
            outcome.results[0].value = f64::NAN;
        }
        outcome
    });
    let events = comparison.others()[0].series("events").unwrap();
    assert_eq!(
        events.samples,
        [Some(1010.0), None, Some(1030.0), Some(1040.0)]
    );
    assert_eq!(events.delta.unwrap().delta_percent, Some(0.0));
}

#[test]
fn an_interruption_keeps_the_seeds_that_all_schedulers_finished() {
    let cancel = AtomicBool::new(false);
    let run = |scenario: &Scenario<'_>, cancel: &AtomicBool, _: &dyn Fn(u32)| {
        let last = scenario.seed == 3 && scenario.scheduler.params.features != 0;
        cancel.fetch_or(last, Ordering::Relaxed);
        Ok(Outcome {
            interrupted: last,
            ..fake::outcome(scenario.seed)
        })
    };
    let (machine, schedulers) = (fake::machine(), fake::schedulers());
    let question = fake::question(&machine, &schedulers, 10);
    let how = Spread {
        threads: NonZeroUsize::new(1),
        ..Spread::QUIET
    };
    let comparison = compare(&question, &run, how, &cancel).unwrap();
    assert_eq!(comparison.seeds, [1, 2]);
    assert!(comparison.interrupted());
}

#[test]
fn an_interruption_before_the_first_pair_leaves_nothing_to_compare() {
    let never =
        |_: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| -> Ran { panic!("must not run") };
    let error = ask(5, never, &AtomicBool::new(true)).unwrap_err();
    assert!(matches!(error, NoComparison::Interrupted), "{error}");
}

#[test]
fn questions_without_sense_are_refused_before_anything_runs() {
    let never =
        |_: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| -> Ran { panic!("must not run") };
    let (machine, schedulers) = (fake::machine(), fake::schedulers());
    let cancel = AtomicBool::new(false);
    let alone = fake::question(&machine, &schedulers[..1], 1);
    let mut late = fake::question(&machine, &schedulers, 2);
    late.scenario.seed = u64::MAX;
    for (question, message) in [
        (alone, "a comparison needs two schedulers or more, found 1"),
        (
            late,
            "seed 18446744073709551615 with 2 runs: the last seed exceeds 18446744073709551615; use a smaller seed",
        ),
    ] {
        let error = compare(&question, &never, Spread::QUIET, &cancel).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}

#[test]
fn a_run_that_fails_is_told() {
    let run = |_: &Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| {
        Err(alight_sim::Error::Refused("CPU 9 is not there".to_owned()))
    };
    let error = ask(3, run, &AtomicBool::new(false)).unwrap_err();
    assert_eq!(error.to_string(), "CPU 9 is not there");
}

#[test]
fn the_hash_tells_runs_and_their_order_apart() {
    let hash = |list: &[u64]| combine(list.iter().copied());
    assert_ne!(hash(&[1, 2]), hash(&[2, 1]));
    assert_ne!(hash(&[1]), hash(&[1, 1]));
    assert_eq!(hash(&[]), 0xcbf2_9ce4_8422_2325);
}
