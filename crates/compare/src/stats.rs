// SPDX-License-Identifier: GPL-2.0-only
//! Statistics of a handful of runs: the description that `pandas` prints, and
//! the Student-t interval of a paired difference.

use puruspe::{betai, invbetai};
use serde::{Serialize, Serializer};

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

    /// Mean, standard deviation, minimum, 50 %, 75 % and 99 % quantiles, maximum.
    pub fn statistics(&self) -> [Option<f64>; 7] {
        let whole = [self.min, self.p50, self.p75, self.p99, self.max].map(Some);
        let [min, p50, p75, p99, max] = whole;
        [Some(self.mean), self.std, min, p50, p75, p99, max]
    }

    /// The same in another unit.
    pub fn times(&self, factor: f64) -> Self {
        Summary {
            mean: self.mean * factor,
            std: self.std.map(|std| std * factor),
            min: self.min * factor,
            p50: self.p50 * factor,
            p75: self.p75 * factor,
            p99: self.p99 * factor,
            max: self.max * factor,
        }
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
    t_quantile_at(1.0 - CONFIDENCE, freedom)
}

/// The same for an interval that misses with probability `error`, above 0 and below 1.
pub fn t_quantile_at(error: f64, freedom: usize) -> f64 {
    let freedom = freedom as f64;
    let x = invbetai(error, freedom / 2.0, 0.5);
    steady((freedom * (1.0 - x) / x).sqrt())
}

/// Half-width of the interval of the mean of `values` that misses with probability `error`; `None`
/// for fewer than two values.
pub fn half_width(values: &[f64], error: f64) -> Option<f64> {
    let runs = values.len();
    Some(std(values)? / (runs as f64).sqrt() * t_quantile_at(error, runs - 1))
}

/// Probability that Student's t with `freedom` >= 1 degrees of freedom is farther from 0 than `t`, by
/// the incomplete beta function (Abramowitz and Stegun, 26.7.1).
fn t_tails(t: f64, freedom: usize) -> f64 {
    let freedom = freedom as f64;
    betai(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// Probability that Fisher's F with `freedom` (above, below), each above 0 and whole or not, is larger
/// than `f`, by the incomplete beta function (Abramowitz and Stegun, 26.6.2).
pub fn f_tail(f: f64, (above, below): (f64, f64)) -> f64 {
    steady(betai(below / 2.0, above / 2.0, below / (below + above * f)))
}

/// Why a difference has neither an interval nor a p-value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoInterval {
    /// One run of each: nothing tells the difference from noise.
    OneRun,
    /// Each run of one gives what the run of the other gives.
    NoDifference,
    /// The seeds move neither of the two: all runs are one sample.
    SameInEveryRun,
    /// The seeds move both by the same: all differences are one sample.
    SameDifferenceInEveryRun,
}

impl NoInterval {
    /// As JSON and CSV have it.
    pub fn as_code(self) -> &'static str {
        match self {
            NoInterval::OneRun => "one_run",
            NoInterval::NoDifference => "no_difference",
            NoInterval::SameInEveryRun => "same_in_every_run",
            NoInterval::SameDifferenceInEveryRun => "same_difference_in_every_run",
        }
    }

    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            NoInterval::OneRun => "one run cannot tell a difference from noise",
            NoInterval::NoDifference => "the same in each run",
            NoInterval::SameInEveryRun => "the same in every run: no spread to judge by",
            NoInterval::SameDifferenceInEveryRun => {
                "the same difference in every run: no spread to judge by"
            }
        }
    }

    /// Of finite pairs of (base, variant); `None`: they have an interval.
    fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        if pairs.len() < 2 {
            return Some(NoInterval::OneRun);
        }
        if pairs.iter().all(|&(base, other)| same(base, other)) {
            return Some(NoInterval::NoDifference);
        }
        let [first, rest @ ..] = pairs else {
            return None;
        };
        if (rest.iter()).all(|pair| same(pair.0, first.0) && same(pair.1, first.1)) {
            return Some(NoInterval::SameInEveryRun);
        }
        let difference = first.1 - first.0;
        let rounding = ROUNDING
            * (pairs.iter()).fold(0.0, |most: f64, pair| {
                most.max(pair.0.abs()).max(pair.1.abs())
            });
        let fixed = |pair: &(f64, f64)| (pair.1 - pair.0 - difference).abs() <= rounding;
        (rest.iter().all(fixed)).then_some(NoInterval::SameDifferenceInEveryRun)
    }
}

impl Serialize for NoInterval {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_code())
    }
}

/// Values that differ by no more than this share of them are the same but for the rounding of
/// floating-point sums.
const ROUNDING: f64 = 1e-12;

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() <= ROUNDING * a.abs().max(b.abs())
}

/// The difference of two variants that shared their seeds, in the runs that both have the number of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Delta {
    /// Difference of the means in percent of the base's, of these runs; `None` where the base's mean is 0 and the other's is not.
    pub delta_percent: Option<f64>,
    /// Lower end of the confidence interval of the paired difference, percent of the base's mean; `None` where
    /// the base's mean is 0 or there is no interval.
    pub ci_low: Option<f64>,
    /// Upper end, likewise.
    pub ci_high: Option<f64>,
    /// There is an interval, and it does not contain 0.
    pub significant: bool,
    /// Difference of the means, in the metric's unit.
    pub difference: f64,
    /// Why there is no interval.
    pub no_interval: Option<NoInterval>,
    /// Means of these runs, of the base and of the other.
    #[serde(skip)]
    pub means: (f64, f64),
}

impl Delta {
    /// Compares pairs of (base, variant); `None` without pairs. Numbers that are not finite are
    /// left out with their pair.
    pub fn of(pairs: &[(f64, f64)]) -> Option<Self> {
        Delta::at(1.0 - CONFIDENCE, pairs)
    }

    /// As [`Delta::of`], with an interval that misses with probability `error`.
    pub fn at(error: f64, pairs: &[(f64, f64)]) -> Option<Self> {
        let pairs = finite(pairs);
        let base = mean(&pairs.iter().map(|p| p.0).collect::<Vec<_>>())?;
        let other = mean(&pairs.iter().map(|p| p.1).collect::<Vec<_>>())?;
        let differences = differences(&pairs);
        let no_interval = NoInterval::of(&pairs);
        let difference = match no_interval {
            Some(NoInterval::NoDifference) => 0.0,
            _ => mean(&differences)?,
        };
        let half = half_width(&differences, error).filter(|_| no_interval.is_none());
        let interval = half.map(|half| (difference - half, difference + half));
        let percent = |value: f64| {
            let percent = match value == 0.0 {
                true => 0.0,
                false => 100.0 * value / base.abs(),
            };
            // Of nothing there is no percentage, and of next to nothing none that could be written.
            percent.is_finite().then_some(percent)
        };
        Some(Delta {
            delta_percent: percent(difference),
            ci_low: interval.and_then(|i| percent(i.0)),
            ci_high: interval.and_then(|i| percent(i.1)),
            significant: interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0),
            difference,
            no_interval,
            means: (base, other),
        })
    }

    /// Half the width of the interval, percent of the base's mean. 0 where all runs say the same; `None`
    /// where one run says nothing, or the base's mean is 0.
    pub fn half_width_percent(&self) -> Option<f64> {
        match self.no_interval {
            Some(NoInterval::OneRun) => None,
            Some(_) => Some(0.0),
            None => Some((self.ci_high? - self.ci_low?) / 2.0),
        }
    }

    /// True if the other's mean is larger than the base's. Percentages cannot say it if the base's
    /// mean is 0.
    pub fn rises(&self) -> bool {
        self.difference > 0.0
    }
}

fn finite(pairs: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let both = |pair: &&(f64, f64)| pair.0.is_finite() && pair.1.is_finite();
    pairs.iter().filter(both).copied().collect()
}

fn differences(pairs: &[(f64, f64)]) -> Vec<f64> {
    pairs.iter().map(|(base, other)| other - base).collect()
}

/// Two-sided p-value of the paired difference of (base, variant) by Student's t: how likely a
/// difference as clear as this is if there is none. `None` where [`Delta::no_interval`] says why
/// there is no interval either.
pub fn p_value(pairs: &[(f64, f64)]) -> Option<f64> {
    let pairs = finite(pairs);
    if NoInterval::of(&pairs).is_some() {
        return None;
    }
    let differences = differences(&pairs);
    let (mean, std) = (mean(&differences)?, std(&differences)?);
    let t = mean.abs() / (std / (pairs.len() as f64).sqrt());
    Some(steady(t_tails(t, pairs.len() - 1)))
}

/// The p-values adjusted for their number after Benjamini and Hochberg (1995): those that stay at or
/// below `q` are, on average, false in a share of at most `q`. In the order of the given ones.
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[b].total_cmp(&p[a]));
    let mut adjusted = vec![1.0; p.len()];
    let mut least: f64 = 1.0;
    for (place, &index) in order.iter().enumerate() {
        let rank = p.len() - place;
        least = least.min(p[index] * p.len() as f64 / rank as f64);
        adjusted[index] = steady(least);
    }
    adjusted
}

/// Without the last bits, which are the mathematical library's: what is decided or printed must not
/// show whose it was.
fn steady(value: f64) -> f64 {
    (value * 1e9).round() / 1e9
}

#[cfg(test)]
mod tests;
