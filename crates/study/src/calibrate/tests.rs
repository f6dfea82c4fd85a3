// SPDX-License-Identifier: GPL-2.0-only

use super::*;

type Answer = Result<u64, std::convert::Infallible>;

/// A bowl around a point.
fn bowl(at: Factors) -> impl Fn(&Factors, u64) -> Answer {
    move |factors, _| {
        let parts = factors
            .iter()
            .zip(at)
            .map(|(a, b)| apart(*a as f64, b as f64));
        Ok((parts.sum::<f64>() * 1e6) as u64)
    }
}

#[test]
fn the_search_comes_within_a_step_of_the_best_point() {
    for at in [
        [1000, 1000, 1000, 1000],
        [2500, 400, 1300, 900],
        [7000, 150, 1000, 2000],
    ] {
        let found = search::search(bowl(at), &|_, _| ()).unwrap();
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
    let found = search::search(bowl([1_000_000, 1, 1000, 1000]), &|_, _| ()).unwrap();
    assert!(found.best[0] <= 1000 * BOUND && found.best[0] > 1000 * BOUND * 3 / 4);
    assert!(found.best[1] >= 1000 / BOUND && found.best[1] < 1000 / BOUND * 4 / 3);
}

#[test]
fn a_part_of_a_misfit_that_is_worse_already_leads_to_the_same_point() {
    let at = [600, 3000, 1000, 1700];
    let cut =
        |factors: &Factors, least: u64| bowl(at)(factors, least).map(|whole| whole.min(least));
    let found = search::search(cut, &|_, _| ()).unwrap();
    let whole = search::search(bowl(at), &|_, _| ()).unwrap();
    assert_eq!((found.best, found.misfit), (whole.best, whole.misfit));
}

#[test]
fn of_two_valleys_the_lower_is_found_beyond_the_higher() {
    let (near, far) = ([1500, 1000, 1000, 1000], [500, 2000, 2000, 500]);
    let valleys = |factors: &Factors, least: u64| {
        let near = bowl(near)(factors, least)?;
        Ok::<_, std::convert::Infallible>((near + 10_000).min(bowl(far)(factors, least)?))
    };
    assert_eq!(search::search(valleys, &|_, _| ()).unwrap().best, far);
}

#[test]
fn the_rows_of_a_machine_that_has_its_costs_from_another_count_there() {
    let studies: Vec<Study> = crate::published::names()
        .into_iter()
        .map(|name| crate::published::load(name).unwrap())
        .collect();
    let of = |machine| {
        let rows = rows(machine, &studies).unwrap().into_iter();
        rows.map(|row| (row.study.name.as_str(), row.runs()))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of("juno-r0"),
        [
            ("juno-hackbench", RUNS),
            ("hikey-preempt-idle", RUNS),
            ("juno-sysbench", SPREAD_RUNS),
        ]
    );
    let refused = rows("hikey620", &studies);
    assert!(matches!(refused, Err(Error::CostsOf { from, .. }) if from == "juno-r0"));
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
fn a_machine_of_which_nothing_was_published_is_refused() {
    let never = |_: &alight_sim::Scenario<'_>, _: &AtomicBool| panic!("must not run");
    let error = calibrate(
        "gs101",
        &[],
        &never,
        None,
        &|_, _| (),
        &AtomicBool::new(false),
    );
    assert!(matches!(error, Err(Error::NoRows(name)) if name == "gs101"));
}
