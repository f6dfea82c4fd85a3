// SPDX-License-Identifier: GPL-2.0-only
//! Analysis of variance of a full grid. The seeds are blocks: all points share them, so a factor is
//! tested against how its effect differs from seed to seed (repeated measures; Fisher's F). Levels
//! that scatter unequally make F too large; its degrees of freedom are corrected for that
//! (Greenhouse and Geisser 1959).
//!
//! The size of an effect is the largest difference between the means of two levels, percent of the
//! mean of all. Its interval is that of these two levels, by Student's t, with the error divided by
//! the number of pairs of levels, for the pair was chosen (Bonferroni). Another pair whose means
//! differ less may scatter more: an effect does not matter only if no pair's interval reaches what
//! matters.

use std::collections::BTreeMap;

use alight_compare::stats::{benjamini_hochberg, f_tail, half_width, t_quantile_at};
use serde::Serialize;

use super::{FALSE_SHARE, Points, Verdict, mean_of};

/// What a grid says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Variance {
    /// The effect of each factor by itself.
    pub main: Vec<Effect>,
    /// What two factors do beyond the sum of their effects.
    pub pairs: Vec<Effect>,
}

/// An effect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// One factor, or two.
    pub factors: Vec<String>,
    /// The largest difference between two levels, percent of the mean of all.
    pub percent: Option<f64>,
    /// Its interval, percent.
    pub interval: Option<(f64, f64)>,
    /// Part of the variance between points that it explains, percent.
    pub share_percent: f64,
    /// Probability of as clear an effect if there is none, adjusted for the number of effects
    /// (Benjamini and Hochberg); `None`: one run.
    pub p: Option<f64>,
    /// The value with the least mean, and with the largest, of a single factor.
    pub levels: Option<(String, String)>,
    /// What this means.
    pub verdict: Verdict,
}

/// Analyses a grid. `error`: that of each interval; `least`: percent that matters.
pub fn analyse(points: &Points, error: f64, least: f64) -> Variance {
    let factors = points.factors.len();
    let single = (0..factors).map(|factor| group(points, &[factor]));
    let single: Vec<Groups> = single.collect();
    let mut pairs = vec![];
    for one in 0..factors {
        for other in one + 1..factors {
            let both = group(points, &[one, other]);
            pairs.push(both.beyond(&single[one], &single[other]));
        }
    }
    let total = total(points);
    let tests: Vec<Test> = (single.iter().chain(&pairs))
        .map(|groups| groups.test(points, error, total))
        .collect();
    let p: Vec<f64> = tests.iter().map(|test| test.p.unwrap_or(1.0)).collect();
    let adjusted = benjamini_hochberg(&p);
    let mut effects: Vec<Effect> = tests
        .into_iter()
        .zip(adjusted)
        .map(|(test, p)| test.effect(p, least))
        .collect();
    let pairs = effects.split_off(factors);
    Variance {
        main: effects,
        pairs,
    }
}

/// Points that share levels of some factors: the mean at each seed, by levels.
struct Groups {
    factors: Vec<usize>,
    /// Degrees of freedom of the means.
    freedom: usize,
    means: BTreeMap<Vec<u64>, Vec<f64>>,
}

fn group(points: &Points, factors: &[usize]) -> Groups {
    let mut sums: BTreeMap<Vec<u64>, (Vec<f64>, f64)> = BTreeMap::new();
    for (levels, values) in points.levels.iter().zip(&points.values) {
        let key = factors.iter().map(|factor| levels[*factor]).collect();
        let empty = || (vec![0.0; values.len()], 0.0);
        let (sum, count) = sums.entry(key).or_insert_with(empty);
        sum.iter_mut()
            .zip(values)
            .for_each(|(sum, value)| *sum += value);
        *count += 1.0;
    }
    let means = sums.into_iter().map(|(key, (mut sum, count))| {
        sum.iter_mut().for_each(|sum| *sum /= count);
        (key, sum)
    });
    Groups {
        factors: factors.to_vec(),
        freedom: factors
            .iter()
            .map(|factor| points.sizes[*factor] as usize - 1)
            .product(),
        means: means.collect(),
    }
}

/// Sum of squares of the points' means about their mean, for each point and seed once.
fn total(points: &Points) -> f64 {
    let centre = points.centre();
    let squares = points
        .means()
        .into_iter()
        .map(|mean| (mean - centre) * (mean - centre));
    squares.sum::<f64>()
}

struct Test {
    factors: Vec<String>,
    percent: Option<f64>,
    interval: Option<(f64, f64)>,
    /// The largest end of the intervals of all pairs.
    most_percent: Option<f64>,
    share_percent: f64,
    p: Option<f64>,
    levels: Option<(String, String)>,
}

/// Pairs of so many levels, 1 or more.
fn pairs_of(levels: usize) -> usize {
    (levels * levels.saturating_sub(1) / 2).max(1)
}

/// By how much the degrees of freedom shrink, for levels that scatter unequally (Greenhouse and
/// Geisser's epsilon): 1 for levels that scatter alike, down to 1 / `freedom`. `rests`: by seed.
fn sphericity(rests: &[Vec<f64>], freedom: f64) -> f64 {
    let levels = rests.first().map_or(0, Vec::len);
    // The products of seeds have the same squares as those of levels; the fewer are taken.
    let by_level = |level: usize| rests.iter().map(|rest| rest[level]).collect();
    let vectors: Vec<Vec<f64>> = match levels < rests.len() {
        true => (0..levels).map(by_level).collect(),
        false => rests.to_vec(),
    };
    let product = |one: &[f64], other: &[f64]| -> f64 {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    };
    let (mut sum, mut squares) = (0.0, 0.0);
    for one in &vectors {
        sum += product(one, one);
        squares += vectors
            .iter()
            .map(|other| product(one, other).powi(2))
            .sum::<f64>();
    }
    match squares > 0.0 {
        true => (sum * sum / (freedom * squares)).clamp(1.0 / freedom, 1.0),
        false => 1.0,
    }
}

/// A sum of squares of the points that is no more than what rounding leaves.
fn rounding(points: &Points) -> f64 {
    const ROUNDING: f64 = 1e-12;
    let largest = points
        .means()
        .into_iter()
        .fold(0.0, |most: f64, mean| most.max(mean.abs()));
    points.values.len() as f64 * (ROUNDING * largest).powi(2)
}

impl Groups {
    /// What is left of two factors' means without the mean of each: their interaction, about the
    /// mean of all.
    fn beyond(mut self, one: &Groups, other: &Groups) -> Groups {
        let seeds = self.means.values().next().map_or(0, Vec::len);
        let centre: Vec<f64> = (0..seeds).map(|seed| one.mean_at(seed)).collect();
        for (key, values) in &mut self.means {
            let (own, others) = (&one.means[&key[..1]], &other.means[&key[1..]]);
            for (seed, value) in values.iter_mut().enumerate() {
                // Twice the mean of all: so that percentages are of it.
                *value += 2.0 * centre[seed] - own[seed] - others[seed];
            }
        }
        self
    }

    fn mean_at(&self, seed: usize) -> f64 {
        let values: Vec<f64> = self.means.values().map(|values| values[seed]).collect();
        mean_of(&values)
    }

    /// Probability of sums of squares `between` means that are as large beside those `within`
    /// seeds.
    fn p(&self, rests: &[Vec<f64>], between: f64, within: f64) -> f64 {
        let seeds = rests.len() as f64;
        let freedom = self.freedom as f64;
        let f = (between * seeds / freedom) / (within / (freedom * (seeds - 1.0)));
        let part = sphericity(rests, freedom);
        match between == 0.0 {
            true => 1.0,
            false => f_tail(
                f.min(f64::MAX),
                (part * freedom, part * freedom * (seeds - 1.0)),
            ),
        }
    }

    /// What is left of each value without the means of its level and of its seed, by seed and
    /// level.
    fn rests(&self, means: &[f64], centre: f64) -> Vec<Vec<f64>> {
        let seeds = self.means.values().next().map_or(0, Vec::len);
        let rest = |seed: usize| {
            let at_seed = self.mean_at(seed) - centre;
            let levels = self.means.values().zip(means);
            levels
                .map(move |(values, mean)| values[seed] - mean - at_seed)
                .collect()
        };
        (0..seeds).map(rest).collect()
    }

    /// The largest end of the intervals of all pairs of levels, in the number's unit. Of more
    /// levels than a few hundred it is a bound: the largest difference with the two largest
    /// scatters.
    fn largest(&self, rests: &[Vec<f64>], means: &[f64], error: f64) -> Option<f64> {
        const MOST_LEVELS: usize = 500;
        let (seeds, levels) = (rests.len(), means.len());
        if seeds < 2 {
            return None;
        }
        let quantile = t_quantile_at(error / pairs_of(levels) as f64, seeds - 1);
        let count = (seeds * (seeds - 1)) as f64;
        // What all levels share at a seed is no part of a difference.
        let scatter = |of: &dyn Fn(&Vec<f64>) -> f64| -> f64 {
            let squares = rests.iter().map(|rest| of(rest).powi(2));
            (squares.sum::<f64>() / count).sqrt()
        };
        if levels > MOST_LEVELS {
            let ends = means
                .iter()
                .fold((f64::MAX, f64::MIN), |(low, high), mean| {
                    (low.min(*mean), high.max(*mean))
                });
            let mut scatters: Vec<f64> = (0..levels)
                .map(|level| scatter(&|rest| rest[level]))
                .collect();
            scatters.sort_by(|one, other| other.total_cmp(one));
            return Some(ends.1 - ends.0 + quantile * (scatters[0] + scatters[1]));
        }
        let mut largest: f64 = 0.0;
        for one in 0..levels {
            for other in one + 1..levels {
                let half = quantile * scatter(&|rest| rest[other] - rest[one]);
                largest = largest.max((means[other] - means[one]).abs() + half);
            }
        }
        Some(largest)
    }

    fn test(&self, points: &Points, error: f64, total: f64) -> Test {
        let means: Vec<f64> = self.means.values().map(|values| mean_of(values)).collect();
        let centre = mean_of(&means);
        let between: f64 = means
            .iter()
            .map(|mean| (mean - centre) * (mean - centre))
            .sum();
        let rests = self.rests(&means, centre);
        let within: f64 = rests.iter().flatten().map(|rest| rest * rest).sum();
        let p = (rests.len() > 1 && self.freedom > 0).then(|| self.p(&rests, between, within));
        let (least, most) = extremes(&self.means);
        let count = self.means.len();
        let differences: Option<Vec<f64>> = least.zip(most).map(|(least, most)| {
            let both = self.means[least].iter().zip(&self.means[most]);
            both.map(|(low, high)| high - low).collect()
        });
        let difference = differences.as_deref().map(mean_of);
        let half = differences.and_then(|all| half_width(&all, error / pairs_of(count) as f64));
        let percent = |value: f64| percent_of(value, centre);
        let interval = difference.zip(half).and_then(|(difference, half)| {
            percent(difference - half).zip(percent(difference + half))
        });
        let share = points.values.len() as f64 / count.max(1) as f64 * between;
        Test {
            factors: (self.factors.iter())
                .map(|factor| points.factors[*factor].clone())
                .collect(),
            percent: difference.and_then(percent),
            interval,
            most_percent: (self.largest(&rests, &means, error)).and_then(percent),
            share_percent: match total > rounding(points) {
                true => 100.0 * share / total,
                false => 0.0,
            },
            p,
            levels: least
                .zip(most)
                .and_then(|(least, most)| match self.factors[..] {
                    [factor] => {
                        let texts = points.texts.get(factor)?;
                        Some((texts.get(&least[0])?.clone(), texts.get(&most[0])?.clone()))
                    }
                    _ => None,
                }),
        }
    }
}

/// The keys of the least and of the largest mean.
fn extremes(means: &BTreeMap<Vec<u64>, Vec<f64>>) -> (Option<&Vec<u64>>, Option<&Vec<u64>>) {
    let by_mean = |one: &(&Vec<u64>, &Vec<f64>), other: &(&Vec<u64>, &Vec<f64>)| {
        mean_of(one.1).total_cmp(&mean_of(other.1))
    };
    let least = means.iter().min_by(by_mean).map(|(key, _)| key);
    let most = means.iter().max_by(by_mean).map(|(key, _)| key);
    (least, most)
}

fn percent_of(difference: f64, centre: f64) -> Option<f64> {
    let percent = match difference == 0.0 {
        true => 0.0,
        false => 100.0 * difference / centre.abs(),
    };
    percent.is_finite().then_some(percent)
}

impl Test {
    fn effect(self, p: f64, least: f64) -> Effect {
        let is_clear = self.p.is_some() && p <= FALSE_SHARE;
        let verdict = match self.interval.zip(self.most_percent) {
            Some(((low, _), most)) => Verdict::between(low, most, least).beyond(is_clear),
            None => Verdict::CannotTell,
        };
        Effect {
            factors: self.factors,
            percent: self.percent,
            interval: self.interval,
            share_percent: self.share_percent,
            p: self.p.map(|_| p),
            levels: self.levels,
            verdict,
        }
    }
}

#[cfg(test)]
mod tests;
