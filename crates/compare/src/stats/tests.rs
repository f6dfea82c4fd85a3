// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use proptest::prelude::*;

fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-6 * expected.abs().max(1.0),
        "found {found}, expected {expected}"
    );
}

/// Values of numpy 1.26: mean, std(ddof=1), quantiles of 3 1 4 1 5 9 2 6.
#[test]
fn summary_is_that_of_pandas() {
    let s = Summary::of(&[3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0]).unwrap();
    near(s.mean, 3.875);
    near(s.std.unwrap(), 2.748_376_143_938_713);
    near(s.min, 1.0);
    near(s.p50, 3.5);
    near(s.p75, 5.25);
    near(s.p99, 8.79);
    near(s.max, 9.0);
}

#[test]
fn one_value_has_no_deviation_and_no_value_no_summary() {
    let s = Summary::of(&[2.5]).unwrap();
    assert_eq!((s.mean, s.std, s.p99), (2.5, None, 2.5));
    assert_eq!(Summary::of(&[]), None);
}

/// The 0.975 column of the usual printed table.
#[test]
fn t_quantiles_are_those_of_the_tables() {
    for (freedom, expected) in [
        (1, 12.7062),
        (2, 4.3027),
        (3, 3.1824),
        (5, 2.5706),
        (9, 2.2622),
        (19, 2.0930),
        (29, 2.0452),
        (99, 1.9842),
    ] {
        let found = t_quantile(freedom);
        assert!(
            (found - expected).abs() < 5.1e-5,
            "{freedom} degrees of freedom: found {found}, expected {expected}"
        );
    }
}

#[test]
fn deltas_know_what_is_noise() {
    use NoInterval::*;
    struct Case {
        why: &'static str,
        pairs: &'static [(f64, f64)],
        percent: Option<f64>,
        interval: Option<(f64, f64)>,
        significant: bool,
        no_interval: Option<NoInterval>,
    }
    let cases = [
        Case {
            why: "differences 1, 2, 3: mean 2, std 1, t(2) 4.302653/sqrt(3) = 2.484138",
            pairs: &[(10.0, 11.0), (10.0, 12.0), (10.0, 13.0)],
            percent: Some(20.0),
            interval: Some((-4.841_377, 44.841_377)),
            significant: false,
            no_interval: None,
        },
        Case {
            why: "differences 2, 2.1, 1.9: std 0.1, half 0.2484138; the base alone does not vary",
            pairs: &[(10.0, 12.0), (10.0, 12.1), (10.0, 11.9)],
            percent: Some(20.0),
            interval: Some((17.515_862, 22.484_138)),
            significant: true,
            no_interval: None,
        },
        Case {
            why: "the same where the variant alone does not vary",
            pairs: &[(12.0, 10.0), (12.1, 10.0), (11.9, 10.0)],
            percent: Some(-100.0 / 6.0),
            interval: Some((-18.736_781, -14.596_552)),
            significant: true,
            no_interval: None,
        },
        Case {
            why: "seeds move neither: 12 ns and 94.776 ns are one sample, whatever their sum is rounded to",
            pairs: &[(0.012, 0.094_776), (0.012, 0.094_776), (0.012, 0.094_776)],
            percent: Some(689.8),
            interval: None,
            significant: false,
            no_interval: Some(SameInEveryRun),
        },
        Case {
            why: "seeds move both by the same",
            pairs: &[(1.0, 2.0), (50.0, 51.0), (99.0, 100.0)],
            percent: Some(2.0),
            interval: None,
            significant: false,
            no_interval: Some(SameDifferenceInEveryRun),
        },
        Case {
            why: "the same but for the rounding of 0.1 + 0.2",
            pairs: &[(0.1, 0.4), (0.1 + 0.2, 0.6), (0.3, 0.6)],
            percent: Some(100.0 * 0.9 / 0.7),
            interval: None,
            significant: false,
            no_interval: Some(SameDifferenceInEveryRun),
        },
        Case {
            why: "equal values differ by nothing",
            pairs: &[(7.0, 7.0), (8.0, 8.0)],
            percent: Some(0.0),
            interval: None,
            significant: false,
            no_interval: Some(NoDifference),
        },
        Case {
            why: "nothing and nothing differ by nothing",
            pairs: &[(0.0, 0.0), (0.0, 0.0)],
            percent: Some(0.0),
            interval: None,
            significant: false,
            no_interval: Some(NoDifference),
        },
        Case {
            why: "one pair has no interval and proves nothing",
            pairs: &[(10.0, 5.0)],
            percent: Some(-50.0),
            interval: None,
            significant: false,
            no_interval: Some(OneRun),
        },
        Case {
            why: "one pair of equals proves nothing either",
            pairs: &[(10.0, 10.0)],
            percent: Some(0.0),
            interval: None,
            significant: false,
            no_interval: Some(OneRun),
        },
        Case {
            why: "percent of nothing does not exist; the interval in the unit excludes 0",
            pairs: &[(0.0, 5.0), (0.0, 5.5), (0.0, 4.5)],
            percent: None,
            interval: None,
            significant: true,
            no_interval: None,
        },
        Case {
            why: "of next to nothing a percentage cannot be written",
            pairs: &[(1e-320, 5.0), (1e-320, 6.0)],
            percent: None,
            interval: None,
            significant: false,
            no_interval: None,
        },
        Case {
            why: "what is no number is left out with its pair",
            pairs: &[
                (10.0, 12.0),
                (f64::NAN, 12.0),
                (10.0, f64::INFINITY),
                (10.0, 12.1),
                (10.0, 11.9),
            ],
            percent: Some(20.0),
            interval: Some((17.515_862, 22.484_138)),
            significant: true,
            no_interval: None,
        },
        Case {
            why: "a base below 0 rises towards it",
            pairs: &[(-10.0, -8.0), (-10.0, -7.9), (-10.0, -8.1)],
            percent: Some(20.0),
            interval: Some((17.515_862, 22.484_138)),
            significant: true,
            no_interval: None,
        },
    ];
    for case in cases {
        let delta = Delta::of(case.pairs).unwrap();
        let found = (delta.delta_percent, delta.ci_low.zip(delta.ci_high));
        match (found.0, case.percent) {
            (Some(found), Some(expected)) => near(found, expected),
            (found, expected) => assert_eq!(found, expected, "{}", case.why),
        }
        match (found.1, case.interval) {
            (Some(found), Some(expected)) => {
                near(found.0, expected.0);
                near(found.1, expected.1);
            }
            (found, expected) => assert_eq!(found, expected, "{}", case.why),
        }
        assert_eq!(delta.significant, case.significant, "{}", case.why);
        assert_eq!(delta.no_interval, case.no_interval, "{}", case.why);
        // Where there is no interval there is no p-value.
        let p = p_value(case.pairs);
        assert_eq!(p.is_none(), case.no_interval.is_some(), "{}", case.why);
        assert!(p.is_none_or(|p| (0.0..=1.0).contains(&p)), "{}", case.why);
    }
    assert_eq!(Delta::of(&[]), None);
    assert_eq!(p_value(&[]), None);
    assert_eq!(Delta::of(&[(f64::NAN, 1.0)]), None);
}

/// The printed two-sided points of Student's t: 5 % at 12.706 (1 degree of freedom), 2.262
/// (9), 1 % at 3.250 (9).
#[test]
fn p_values_are_those_of_the_tables() {
    /// `n` differences of mean 1 whose t is `t`.
    fn with_t(n: usize, t: f64) -> Vec<(f64, f64)> {
        let zigzag: Vec<f64> = (0..n).map(|i| [-1.0, 1.0][i % 2]).collect();
        let wide = (n as f64).sqrt() / t / std(&zigzag).unwrap();
        zigzag.iter().map(|z| (0.0, 1.0 + wide * z)).collect()
    }
    for (n, t, expected) in [
        (2, 12.7062, 0.05),
        (10, 2.26216, 0.05),
        (10, 3.24984, 0.01),
        (10, 1.0, 0.343_436),
    ] {
        let found = p_value(&with_t(n, t)).unwrap();
        assert!((found - expected).abs() < 2e-6, "{n} {t}: {found}");
    }
    let balanced = [(0.0, 1.0), (0.0, -1.0)];
    assert_eq!(p_value(&balanced), Some(1.0), "no effect in the mean");
}

/// The example of the publication (JRSS B 57, 1995, section 3.2): fifteen p-values, of which the
/// procedure at 5 % rejects the first four, and Bonferroni's the first three.
#[test]
fn many_tests_are_adjusted_as_published() {
    let p = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
        0.5719, 0.6528, 0.7590, 1.0,
    ];
    let adjusted = benjamini_hochberg(&p);
    let rejected: Vec<bool> = adjusted.iter().map(|&p| p <= 0.05).collect();
    assert_eq!(rejected, [vec![true; 4], vec![false; 11]].concat());
    near(adjusted[0], 0.0015);
    near(adjusted[3], 0.0095 * 15.0 / 4.0);
    let backwards: Vec<f64> = p.iter().rev().copied().collect();
    let mut same = benjamini_hochberg(&backwards);
    same.reverse();
    assert_eq!(same, adjusted, "the order of tests does not matter");
    assert_eq!(benjamini_hochberg(&[]), [] as [f64; 0]);
}

proptest! {
    #[test]
    fn an_adjusted_p_value_is_no_smaller_and_keeps_its_rank(
        p in prop::collection::vec(0.0..1.0f64, 1..40)
    ) {
        let adjusted = benjamini_hochberg(&p);
        for (i, &one) in p.iter().enumerate() {
            prop_assert!(adjusted[i] + 1e-9 >= one && adjusted[i] <= 1.0);
            for (j, &other) in p.iter().enumerate() {
                prop_assert!(one > other || adjusted[i] <= adjusted[j]);
            }
        }
    }

    #[test]
    fn a_summary_is_ordered(values in prop::collection::vec(-1e9..1e9f64, 1..50)) {
        let s = Summary::of(&values).unwrap();
        prop_assert!(s.min <= s.p50 && s.p50 <= s.p75 && s.p75 <= s.p99 && s.p99 <= s.max);
        prop_assert!(s.min <= s.mean + 1e-3 && s.mean <= s.max + 1e-3);
    }
}

#[test]
fn the_tail_of_f_is_that_of_the_tables() {
    // Upper 5 % and 1 % points, Abramowitz and Stegun, table 26.9.
    for (f, freedom, expected) in [
        (6.61, (1.0, 5.0), 0.05),
        (3.33, (5.0, 10.0), 0.05),
        (2.35, (10.0, 20.0), 0.05),
        (5.64, (5.0, 10.0), 0.01),
    ] {
        let found = f_tail(f, freedom);
        assert!((found - expected).abs() < 2e-4, "{f} {freedom:?}: {found}");
    }
    assert_eq!(f_tail(0.0, (3.0, 9.0)), 1.0);
}
