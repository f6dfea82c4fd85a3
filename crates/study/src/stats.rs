// SPDX-License-Identifier: GPL-2.0-only
//! Statistics of a handful of runs: the description that `pandas` prints, and
//! the Student-t interval of a paired difference.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Two-sided confidence of every interval.
pub const CONFIDENCE: f64 = 0.95;

/// A sample described as `pandas.DataFrame.describe()` does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard deviation with n - 1; `None` for one value.
    pub std: Option<f64>,
    /// Smallest value.
    pub min: f64,
    /// Median.
    pub p50: f64,
    /// 75 % quantile.
    pub p75: f64,
    /// 99 % quantile.
    pub p99: f64,
    /// Largest value.
    pub max: f64,
}

impl Summary {
    /// Describes finite values; `None` if there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        Some(Summary {
            mean: mean(values)?,
            std: std(values),
            min,
            p50: quantile(&sorted, 0.50),
            p75: quantile(&sorted, 0.75),
            p99: quantile(&sorted, 0.99),
            max,
        })
    }

    /// Standard deviation in percent of the mean; `None` where one of them is missing or the mean is 0.
    pub fn cv_percent(&self) -> Option<f64> {
        let std = self.std?;
        (self.mean != 0.0).then(|| 100.0 * std / self.mean.abs())
    }
}

/// Arithmetic mean; `None` of nothing. The values are added in their order.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Standard deviation with n - 1; `None` for fewer than two values.
pub fn std(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|v| (v - centre) * (v - centre)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// Quantile `q` (0 to 1) of sorted values by linear interpolation between the
/// neighbours of position `q * (n - 1)`, the default of `numpy` and `pandas`.
///
/// # Panics
/// If `sorted` is empty.
pub fn quantile(sorted: &[f64], q: f64) -> f64 {
    let position = q * (sorted.len() - 1) as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (sorted[above] - sorted[below]) * (position - below as f64)
}

/// Quantile of Student's t for the two-sided [`CONFIDENCE`] with `freedom` >= 1 degrees of freedom.
pub fn t_quantile(freedom: usize) -> f64 {
    let t = StudentsT::new(0.0, 1.0, freedom as f64)
        .expect("scale 1 and at least one degree of freedom")
        .inverse_cdf(0.5 + CONFIDENCE / 2.0);
    // The last bits are the mathematical library's; printed results must not show whose it was.
    (t * 1e9).round() / 1e9
}

/// The difference of two variants that shared their seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Delta {
    /// Difference of the means in percent of the base's; `None` where the base's mean is 0 and the other's is not.
    pub delta_percent: Option<f64>,
    /// Lower end of the confidence interval of the paired difference, percent of the base's mean; `None` for one pair.
    pub ci_low: Option<f64>,
    /// Upper end.
    pub ci_high: Option<f64>,
    /// The interval does not contain 0.
    pub significant: bool,
}

impl Delta {
    /// Compares pairs of (base, variant); `None` without pairs.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        let base = mean(&pairs.iter().map(|p| p.0).collect::<Vec<_>>())?;
        let differences: Vec<f64> = pairs.iter().map(|(base, other)| other - base).collect();
        let difference = mean(&differences)?;
        let half = std(&differences)
            .map(|s| s / (pairs.len() as f64).sqrt() * t_quantile(pairs.len() - 1));
        let interval = half.map(|half| (difference - half, difference + half));
        let percent = |value: f64| match (value == 0.0, base == 0.0) {
            (true, _) => Some(0.0),
            (false, true) => None,
            (false, false) => Some(100.0 * value / base.abs()),
        };
        Some(Delta {
            delta_percent: percent(difference),
            ci_low: interval.and_then(|i| percent(i.0)),
            ci_high: interval.and_then(|i| percent(i.1)),
            significant: interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0),
        })
    }
}

#[cfg(test)]
mod tests {
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
        struct Case {
            why: &'static str,
            pairs: &'static [(f64, f64)],
            percent: Option<f64>,
            interval: Option<(f64, f64)>,
            significant: bool,
        }
        let cases = [
            Case {
                why: "differences 1, 2, 3: mean 2, std 1, t(2) 4.302653/sqrt(3) = 2.484138",
                pairs: &[(10.0, 11.0), (10.0, 12.0), (10.0, 13.0)],
                percent: Some(20.0),
                interval: Some((-4.841_377, 44.841_377)),
                significant: false,
            },
            Case {
                why: "differences 2, 2.1, 1.9: std 0.1, half 0.2484138",
                pairs: &[(10.0, 12.0), (10.0, 12.1), (10.0, 11.9)],
                percent: Some(20.0),
                interval: Some((17.515_862, 22.484_138)),
                significant: true,
            },
            Case {
                why: "noise common to both variants cancels",
                pairs: &[(1.0, 2.0), (50.0, 51.0), (99.0, 100.0)],
                percent: Some(2.0),
                interval: Some((2.0, 2.0)),
                significant: true,
            },
            Case {
                why: "equal values differ by nothing",
                pairs: &[(7.0, 7.0), (8.0, 8.0)],
                percent: Some(0.0),
                interval: Some((0.0, 0.0)),
                significant: false,
            },
            Case {
                why: "one pair has no interval and proves nothing",
                pairs: &[(10.0, 5.0)],
                percent: Some(-50.0),
                interval: None,
                significant: false,
            },
            Case {
                why: "percent of nothing does not exist",
                pairs: &[(0.0, 5.0), (0.0, 5.0)],
                percent: None,
                interval: None,
                significant: true,
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
        }
        assert_eq!(Delta::of(&[]), None);
    }

    proptest! {
        #[test]
        fn a_summary_is_ordered(values in prop::collection::vec(-1e9..1e9f64, 1..50)) {
            let s = Summary::of(&values).unwrap();
            prop_assert!(s.min <= s.p50 && s.p50 <= s.p75 && s.p75 <= s.p99 && s.p99 <= s.max);
            prop_assert!(s.min <= s.mean + 1e-3 && s.mean <= s.max + 1e-3);
        }
    }
}
