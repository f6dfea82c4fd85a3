// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::design::random;

/// A grid of 3 × 4 points where `function` says what comes out, with noise of ±`noise` that the
/// points of a seed share for nine tenths.
fn grid(seeds: usize, noise: f64, function: impl Fn(f64, f64) -> f64) -> Points {
    let mut state = 5;
    let mut draw = || 2.0 * (random(&mut state) as f64 / u64::MAX as f64) - 1.0;
    let shared: Vec<f64> = (0..seeds).map(|_| draw()).collect();
    let levels: Vec<Vec<u64>> = (0..12).map(|point| vec![point / 4, point % 4]).collect();
    let values = levels.iter().map(|levels| {
        let truth = function(levels[0] as f64, levels[1] as f64);
        let runs = shared
            .iter()
            .map(|shared| truth + noise * (0.9 * shared + 0.1 * draw()));
        runs.collect()
    });
    Points {
        factors: vec!["a".to_owned(), "b".to_owned()],
        sizes: vec![3, 4],
        texts: vec![BTreeMap::from([(0, "none".to_owned()), (2, "all".to_owned())]); 2],
        values: values.collect(),
        levels,
    }
}

fn verdicts(found: &Variance) -> [Verdict; 3] {
    [
        found.main[0].verdict,
        found.main[1].verdict,
        found.pairs[0].verdict,
    ]
}

const MATTERS: Verdict = Verdict::Matters;
const NOT: Verdict = Verdict::DoesNotMatter;
const UNKNOWN: Verdict = Verdict::CannotTell;

#[test]
fn what_matters_is_told_from_what_does_not() {
    let found = analyse(&grid(10, 5.0, |a, _| 100.0 + 10.0 * a), 0.05, 2.0);
    assert_eq!(verdicts(&found), [MATTERS, NOT, NOT]);
    let effect = &found.main[0];
    assert!(
        effect
            .percent
            .is_some_and(|percent| (percent - 18.2).abs() < 0.5),
        "{effect:?}"
    );
    let (low, high) = effect.interval.expect("an interval");
    assert!(
        low < 18.18 && 18.18 < high && high - low < 3.0,
        "{effect:?}"
    );
    assert!(
        effect.p < Some(1e-6) && effect.share_percent > 99.0,
        "{effect:?}"
    );
    assert_eq!(effect.levels, Some(("none".to_owned(), "all".to_owned())));
    assert_eq!(found.pairs[0].factors, ["a", "b"]);
}

#[test]
fn an_interaction_is_what_the_sums_leave() {
    let found = analyse(
        &grid(10, 5.0, |a, b| 100.0 + 5.0 * (a - 1.0) * (b - 1.5)),
        0.05,
        2.0,
    );
    assert_eq!(verdicts(&found), [NOT, NOT, MATTERS]);
    let pair = &found.pairs[0];
    assert!(
        pair.percent
            .is_some_and(|percent| (percent - 15.0).abs() < 1.0),
        "{pair:?}"
    );
    assert!(
        pair.share_percent > 95.0 && pair.levels.is_none(),
        "{pair:?}"
    );
}

#[test]
fn noise_is_not_taken_for_an_effect() {
    let found = analyse(&grid(5, 400.0, |_, _| 1000.0), 0.05, 1.0);
    assert_eq!(verdicts(&found), [UNKNOWN; 3]);
}

#[test]
fn one_run_cannot_tell() {
    let found = analyse(&grid(1, 0.0, |a, _| 100.0 + 10.0 * a), 0.05, 1.0);
    assert_eq!(verdicts(&found), [UNKNOWN; 3]);
    assert_eq!((found.main[0].p, found.main[0].interval), (None, None));
}

#[test]
fn runs_without_noise_are_certain() {
    let found = analyse(&grid(2, 0.0, |a, _| 100.0 + 10.0 * a), 0.05, 1.0);
    assert_eq!(verdicts(&found), [MATTERS, NOT, NOT]);
    assert_eq!(found.main[1].p, Some(1.0));
    // No percentage of nothing.
    let found = analyse(&grid(2, 0.0, |_, _| 0.0), 0.05, 1.0);
    assert!(found.main[0].share_percent == 0.0);
}

/// Levels of one factor with a true value and a scatter of each, at some seeds.
fn levels(draw: u64, seeds: usize, levels: &[(f64, f64)]) -> Points {
    let mut state = draw.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut unit = || random(&mut state) as f64 / u64::MAX as f64;
    let mut normal = || (0..12).map(|_| unit()).sum::<f64>() - 6.0;
    let run =
        |(truth, scatter): &(f64, f64)| (0..seeds).map(|_| truth + scatter * normal()).collect();
    Points {
        factors: vec!["a".to_owned()],
        sizes: vec![levels.len() as u64],
        texts: vec![],
        values: levels.iter().map(run).collect(),
        levels: (0..levels.len() as u64).map(|level| vec![level]).collect(),
    }
}

#[test]
fn one_level_that_scatters_is_not_taken_for_an_effect() {
    let mut all = vec![(100.0, 0.1); 7];
    all.push((100.0, 10.0));
    let found = (1..=400).filter(|draw| {
        let found = analyse(&levels(*draw, 10, &all), 0.05, 0.01);
        found.main[0].p.is_some_and(|p| p <= 0.05)
    });
    // 20 are to be expected; without the correction there are about 75.
    let found = found.count();
    assert!(found < 36, "{found} of 400");
}

#[test]
fn a_pair_that_scatters_keeps_an_effect_from_being_ruled_out() {
    // The first two differ most, and certainly by less than 3 %; the third may be anywhere.
    let all = [(100.0, 0.01), (102.0, 0.01), (101.0, 30.0)];
    let verdicts = (1..=50).map(|draw| analyse(&levels(draw, 4, &all), 0.05, 3.0).main[0].verdict);
    assert!(verdicts.into_iter().all(|verdict| verdict != NOT));
}

#[test]
fn what_matters_is_certain_to_be_as_large_as_matters() {
    // 2 % where 2 % matters: clear, but half of the intervals reach below it.
    let all = [(100.0, 1.0), (102.0, 1.0)];
    let matters = (1..=100)
        .filter(|draw| analyse(&levels(*draw, 20, &all), 0.05, 2.0).main[0].verdict == MATTERS);
    let matters = matters.count();
    assert!(matters < 9, "{matters} of 100");
}

#[test]
fn rounding_has_no_shares() {
    let mut points = grid(3, 0.0, |_, _| 0.1);
    points.values[3][1] += 1e-16;
    let found = analyse(&points, 0.05, 1.0);
    assert!(
        found.main.iter().all(|effect| effect.share_percent == 0.0),
        "{found:?}"
    );
}

#[test]
fn many_levels_are_judged_by_a_bound() {
    let all = vec![(100.0, 0.1); 600];
    let found = analyse(&levels(1, 10, &all), 0.05, 3.0);
    assert_eq!(found.main[0].verdict, NOT);
    let mut one = all;
    one[300] = (100.0, 9.0);
    let found = analyse(&levels(1, 10, &one), 0.05, 3.0);
    assert_ne!(found.main[0].verdict, NOT);
}
