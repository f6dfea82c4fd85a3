// SPDX-License-Identifier: GPL-2.0-only

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// A bowl around a point.
fn bowl(at: Factors) -> impl Fn(&Factors) -> u64 {
    move |factors| {
        let parts = factors
            .iter()
            .zip(at)
            .map(|(a, b)| apart(*a as f64, b as f64));
        (parts.sum::<f64>() * 1e6) as u64
    }
}

/// Searches for the least of something.
fn least_of(misfit: impl Fn(&Factors) -> u64) -> search::Found {
    let whole = |point: &Factors| Misfit {
        value: misfit(point),
        is_whole: true,
    };
    let misfits = |points: &[Factors], _| Ok(points.iter().map(whole).collect());
    search::search::<std::convert::Infallible>(misfits, &[]).unwrap()
}

#[test]
fn the_search_comes_within_a_step_of_the_best_point() {
    for at in [
        [1000, 1000, 1000, 1000, 1000],
        [2500, 400, 1300, 900, 440],
        [7000, 150, 1000, 2000, 1000],
    ] {
        let found = least_of(bowl(at));
        for (found, at) in found.best.into_iter().zip(at) {
            let ratio = found as f64 / at as f64;
            assert!(
                (16.0 / 17.0..=17.0 / 16.0).contains(&ratio),
                "{found} for {at}"
            );
        }
        assert!(found.misfit <= found.unfitted);
    }
}

#[test]
fn the_search_stays_within_its_bounds() {
    let found = least_of(bowl([1_000_000, 1, 1000, 1000, 1000]));
    assert!(found.best[0] <= 1000 * BOUND && found.best[0] > 1000 * BOUND * 3 / 4);
    assert!(found.best[1] >= 1000 / BOUND && found.best[1] < 1000 / BOUND * 4 / 3);
}

#[test]
fn a_part_of_a_misfit_that_is_worse_already_leads_to_the_same_point() {
    let at = [600, 3000, 1000, 1700, 1000];
    let cut = |points: &[Factors], least: u64| {
        let misfit = |point: &Factors| {
            let value = bowl(at)(point);
            Misfit {
                value: value.min(least),
                is_whole: value < least,
            }
        };
        Ok(points.iter().map(misfit).collect())
    };
    let found = search::search::<std::convert::Infallible>(cut, &[]).unwrap();
    let whole = least_of(bowl(at));
    assert_eq!((found.best, found.misfit), (whole.best, whole.misfit));
    assert_eq!((found.starts, found.open), (whole.starts, whole.open));
}

#[test]
fn what_the_rows_do_not_tell_is_left_open_and_what_they_do_is_not() {
    // One row sees the product of two factors, one sees the third, none sees the last.
    let rows = |factors: &Factors| {
        let [calls, switches, wakeups, ..] = factors.map(|factor| factor as f64 / 1e3);
        ((apart(calls * switches, 1.0) + apart(wakeups, 2.0)) * 1e6) as u64
    };
    let found = least_of(rows);
    let range = |index: usize| {
        let of_it = || found.open.iter().map(|point| point[index]);
        (of_it().min().unwrap(), of_it().max().unwrap())
    };
    for open in [0, 1, 3, 4] {
        let (least, most) = range(open);
        assert!(least < 160 && most > 6300, "{open}: {least} to {most}");
    }
    // A tenth and a step of it.
    let (least, most) = range(2);
    assert!(least >= 1600 && most <= 2500, "{least} to {most}");
    for point in &found.open {
        assert!(rows(point) <= found.misfit + OPEN, "{point:?}");
    }
}

#[test]
fn each_beginning_tells_where_it_led() {
    let (near, far) = ([2000, 1000, 1000, 1000, 1000], [500, 2000, 2000, 500, 1000]);
    let found = least_of(|factors| (bowl(near)(factors) + 10_000).min(bowl(far)(factors)));
    assert_eq!(found.starts.len(), STARTS);
    assert!(found.starts.iter().any(|start| start.to == far));
    assert!(found.starts.iter().any(|start| start.to == near));
    assert_eq!(found.best, far);
}

#[test]
fn of_two_valleys_the_lower_is_found_beyond_the_higher() {
    let (near, far) = ([1500, 1000, 1000, 1000, 1000], [500, 2000, 2000, 500, 1000]);
    let valleys = |factors: &Factors| (bowl(near)(factors) + 10_000).min(bowl(far)(factors));
    assert_eq!(least_of(valleys).best, far);
}

#[test]
fn what_lies_beyond_a_ridge_that_is_left_open_is_found() {
    let pit = [1000, 1000, 1000, 1563, 1000];
    let ridge = |factors: &Factors| match factors {
        [1000, 1000, 1000, 1000, 1000] => 10_000,
        [1000, 1000, 1000, 1250, 1000] => 12_000,
        point if *point == pit => 0,
        _ => 1_000_000,
    };
    assert_eq!(least_of(ridge).best, pit);
}

#[test]
fn along_a_narrow_valley_one_factor_is_given_for_another() {
    let at = [3000, 1000, 400, 1000, 1000];
    let valley = |factors: &Factors| {
        let both = (factors[0] * factors[2]) as f64;
        bowl(at)(factors) + (apart(both, 1_200_000.0) * 1e9) as u64
    };
    let best = least_of(valley).best;
    assert!((2700..=3300).contains(&best[0]), "{best:?}");
    assert!((360..=440).contains(&best[2]), "{best:?}");
}

#[test]
fn the_rows_of_a_machine_that_has_its_costs_from_another_count_there() {
    let studies: Vec<Study> = crate::names()
        .into_iter()
        .map(|name| crate::load(name).unwrap())
        .collect();
    let of = |machine| {
        let cases = cases(machine, &studies).unwrap().into_iter();
        cases
            .map(|fitted| (fitted.study.name.as_str(), fitted.runs()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of("juno-r0"),
        [
            ("rework-load-balance-hikey", 4),
            ("juno-hackbench", RUNS),
            ("hikey-deep-idle", RUNS),
            ("hikey-preempt-idle", RUNS),
            ("juno-sysbench", SPREAD_RUNS),
        ]
    );
    let refused = cases("hikey620", &studies);
    assert!(matches!(refused, Err(NoFit::CostsOf { from, .. }) if from == "juno-r0"));
}

#[test]
fn every_cost_is_in_one_parameter() {
    let draft = alight_machine::open_bare("juno-r0").unwrap();
    for cost in draft.stated_costs() {
        let in_it = PARAMETERS
            .iter()
            .filter(|parameter| parameter.keys.contains(&cost.key));
        assert_eq!(in_it.count(), 1, "{}", cost.key);
    }
}

#[test]
fn a_row_is_as_far_as_its_statistics_are_the_mean_counting_most() {
    let model = Summary::of(&[2.0]).unwrap();
    let published = |mean, max| Published {
        mean: Some(mean),
        max: Some(max),
        ..Published::default()
    };
    assert_eq!(distance(&model, &published(2.0, 2.0)), 0.0);
    // Twice and half are as far: (2 - 1)^2 / 2.
    assert_eq!(distance(&model, &published(1.0, 1.0)), 0.5);
    assert_eq!(distance(&model, &published(4.0, 4.0)), 0.5);
    assert_eq!(
        distance(&model, &published(1.0, 2.0)),
        0.5 * MEAN_WEIGHT / (MEAN_WEIGHT + 1.0)
    );
}

#[test]
fn a_part_stands_for_a_case_that_takes_too_long() {
    let study = crate::parse(
        "mine.toml",
        r#"schema = "alight.study/1"
name = "mine"
title = "mine"
publication = "nowhere"
machine = "epyc-9654-2s"
schedulers = ["linux-6.5", "linux-6.5+bias-prev"]
runs = 1
short_runs = 1

[[case]]
workloads = ["hackbench -g 1 -f 1 -l 997"]
calibration = { window_ms = [200, 300], runs = 2 }

[[row]]
metric = "elapsed_s"
before = { mean = 50.0 }
calibrates = true

[[row]]
metric = "cpu_migrations"
before = { mean = 120.0 }
calibrates = true
"#,
    )
    .expect("a study");
    let runs = AtomicUsize::new(0);
    let run = |scenario: &alight_sim::Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| {
        assert_eq!(scenario.duration_ns, Some(300_000_000));
        assert_eq!(scenario.changes, [Change::count_from(200_000_000)]);
        runs.fetch_add(1, Ordering::Relaxed);
        let mut outcome = alight_compare::fake::outcome(scenario.seed);
        (outcome.mechanism).push(alight_compare::fake::metric("messages", "", None, 4.0));
        Ok(outcome)
    };
    let fit = calibrate(
        "epyc-9654-2s",
        &[study],
        &run,
        Spread::QUIET,
        &Points::NONE,
        &AtomicBool::new(false),
    );
    let fit = fit.expect("a fit");
    // Both rows are of one run.
    assert_eq!(runs.into_inner(), 2 * (fit.evaluations + 1));
    assert_eq!(
        fit.rows,
        [
            "mine elapsed_s: mean 50 published, 25 fitted, by the time from 200 ms to 300 ms",
            "mine cpu_migrations: mean 120 published, 10375 fitted, by the time from 200 ms to 300 ms",
        ]
    );
}

#[test]
fn a_fit_finds_what_was_published_with_any_number_of_threads() {
    let study = |published| {
        crate::parse(
            "mine.toml",
            &format!(
                r#"schema = "alight.study/1"
name = "mine"
title = "mine"
publication = "nowhere"
machine = "juno-r0"
schedulers = ["linux-5.5", "linux-5.5+asym-capacity"]
runs = 1
short_runs = 1

[[case]]
workloads = ["hackbench"]

[[row]]
metric = "events"
before = {{ mean = {published} }}
calibrates = true
"#
            ),
        )
        .expect("a study")
    };
    // As many events as a switch takes nanoseconds.
    let run = |scenario: &alight_sim::Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| {
        let switch = scenario.machine.core_types[0].costs.switch_ns;
        let mut outcome = alight_compare::fake::outcome(scenario.seed);
        outcome.results = vec![alight_compare::fake::metric(
            "events",
            "",
            None,
            switch.into(),
        )];
        Ok(outcome)
    };
    let bare = draft("juno-r0", &[1000; _]).unwrap().resolve().unwrap();
    let published = bare.machine.core_types[0].costs.switch_ns * 3;
    let fit = |threads, answered: &[(Factors, Misfit)]| {
        let progress = AtomicUsize::new(0);
        let listener = |told| {
            if let Progress::Points { evaluated, .. } = told {
                progress.fetch_max(evaluated, Ordering::Relaxed);
            }
        };
        let how = Spread {
            threads: NonZeroUsize::new(threads),
            progress: &listener,
        };
        let never = AtomicBool::new(false);
        let kept = Mutex::new(vec![]);
        let found = {
            let points = Points {
                answered: answered.to_vec(),
                keep: &|point, misfit| {
                    kept.lock().unwrap().push((*point, misfit));
                    Ok(())
                },
            };
            calibrate("juno-r0", &[study(published)], &run, how, &points, &never)
        };
        let (found, kept) = (found.expect("a fit"), kept.into_inner().unwrap());
        assert_eq!(progress.into_inner(), kept.len());
        (found, kept)
    };
    let (alone, kept) = fit(1, &[]);
    assert_eq!(kept.len(), alone.evaluations);
    let [calls, switches, wakeups, scans, idle_times] = alone.factors;
    assert!((2700..3300).contains(&switches), "{switches}");
    assert_eq!([calls, wakeups, scans, idle_times], [1000; 4]);
    let same = |fit: &Fit| {
        assert_eq!(
            (fit.factors, fit.misfit, fit.evaluations),
            (alone.factors, alone.misfit, alone.evaluations)
        );
    };
    for threads in [2, 5] {
        same(&fit(threads, &[]).0);
    }
    // An interrupted calibration goes on.
    for part in [1, kept.len() / 2, kept.len()] {
        let (again, rest) = fit(1, &kept[..part]);
        same(&again);
        assert_eq!(rest, kept[part..]);
    }
}

#[test]
fn a_machine_of_which_nothing_was_published_is_refused() {
    let never =
        |_: &alight_sim::Scenario<'_>, _: &AtomicBool, _: &dyn Fn(u32)| panic!("must not run");
    let (how, points) = (Spread::QUIET, Points::NONE);
    let error = calibrate("gs101", &[], &never, how, &points, &AtomicBool::new(false));
    assert!(matches!(error, Err(NoFit::NoRows(name)) if name == "gs101"));
}
