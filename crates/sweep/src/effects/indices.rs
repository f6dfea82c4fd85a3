// SPDX-License-Identifier: GPL-2.0-only
//! Sobol' indices: the shares of the variance that a factor explains by itself (first order), and
//! with all that it does together with others (total).
//!
//! Estimators: first order of Saltelli et al. (2010, table 2 b), total of Jansen (1999).
//! Intervals: bootstrap over the rows of the design, percentiles. The noise of the runs adds to
//! a total index as if each factor mattered, and to the variance of all points. How much it adds
//! is known from the differences between seeds, and is taken off both.
//!
//! A share says nothing of how much there is to share. The verdict is therefore of how far the
//! factor moves the number: √(12 V), where V is its part of the variance in all. So far moves a
//! straight line over its whole range, as of Morris' trajectories. It also has to exceed noise
//! (Fisher's F), of which one run says nothing.

use serde::Serialize;

use super::{Points, Verdict, beyond_noise, mean_of, variance_of_mean};
use crate::design::{below, sobol};

/// Resamples of the bootstrap.
const RESAMPLES: usize = 1000;
/// Seed of the bootstrap.
const SEED: u64 = 0x0A11_6417;

/// What Saltelli's sample says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Indices {
    /// Standard deviation over the points without what noise adds, percent of the mean.
    pub deviation_percent: Option<f64>,
    /// The factors.
    pub factors: Vec<Index>,
}

/// The indices of a factor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Index {
    /// The factor.
    pub factor: String,
    /// First order, 0 to 1 but for the error of the estimate.
    pub first: f64,
    /// Its interval.
    pub first_interval: (f64, f64),
    /// Total, without what noise adds.
    pub total: f64,
    /// Its interval.
    pub total_interval: (f64, f64),
    /// What noise adds to the total, and was taken off; `None`: one run says nothing of noise.
    pub noise: Option<f64>,
    /// How far it moves the number in all, percent of the mean: as far as a straight line with the
    /// same part of the variance; `None`: the mean is 0.
    pub moves_percent: Option<f64>,
    /// Its interval.
    pub moves_interval: Option<(f64, f64)>,
    /// What this means.
    pub verdict: Verdict,
}

/// A row of the design: the mean at A, at B, and at A with each column of B.
struct Row {
    a: f64,
    b: f64,
    mixed: Vec<f64>,
    /// The differences between A and each mixed point, by seed.
    changes: Vec<Vec<f64>>,
    /// Variance of them by noise.
    noise: Vec<f64>,
    /// Variance of the difference between A and B by noise.
    noise_of_all: f64,
}

/// Analyses the points of Saltelli's sample, in their order. `error`: that of each interval;
/// `least`: percent of the mean that matters.
pub fn analyse(points: &Points, error: f64, least: f64) -> Indices {
    let factors = points.factors.len();
    let rows = rows(points);
    let all: Vec<usize> = (0..rows.len()).collect();
    let estimates = estimate(&rows, &all, factors);
    let centre = points.centre().abs();
    let percent = |value: f64| match value == 0.0 {
        true => Some(0.0),
        false => Some(100.0 * value / centre).filter(|percent| percent.is_finite()),
    };
    let resamples = Resamples::of(&rows, factors, error);
    let changes = |factor: usize| rows.iter().map(|row| row.changes[factor].clone()).collect();
    let beyond = beyond_noise(&(0..factors).map(changes).collect::<Vec<_>>());
    let index = |factor: usize| {
        let moves = |part: f64| percent((12.0 * part).sqrt());
        let (low, high) = resamples.parts[factor];
        let moves_interval = moves(low).zip(moves(high));
        let verdict = match moves_interval {
            Some((low, high)) => Verdict::between(low, high, least).beyond(beyond[factor]),
            None => Verdict::CannotTell,
        };
        Index {
            factor: points.factors[factor].clone(),
            first: estimates.first[factor],
            first_interval: resamples.firsts[factor],
            total: estimates.total[factor],
            total_interval: resamples.totals[factor],
            noise: (points.seeds() > 1).then_some(estimates.noise[factor]),
            moves_percent: moves(estimates.parts[factor]),
            moves_interval,
            verdict,
        }
    };
    Indices {
        deviation_percent: percent(estimates.variance.sqrt()),
        factors: (0..factors).map(index).collect(),
    }
}

fn rows(points: &Points) -> Vec<Row> {
    let length = sobol::row(points.factors.len()) as usize;
    let row = |values: &[Vec<f64>]| {
        let differences = |other: &Vec<f64>| -> Vec<f64> {
            let both = values[0].iter().zip(other);
            both.map(|(a, other)| a - other).collect()
        };
        let changes: Vec<Vec<f64>> = values[2..].iter().map(differences).collect();
        Row {
            a: mean_of(&values[0]),
            b: mean_of(&values[1]),
            mixed: values[2..].iter().map(|values| mean_of(values)).collect(),
            noise: changes
                .iter()
                .map(|changes| variance_of_mean(changes))
                .collect(),
            noise_of_all: variance_of_mean(&differences(&values[1])),
            changes,
        }
    };
    points.values.chunks_exact(length).map(row).collect()
}

struct Estimate {
    /// Of all points, without noise.
    variance: f64,
    /// Its part by each factor in all.
    parts: Vec<f64>,
    first: Vec<f64>,
    total: Vec<f64>,
    noise: Vec<f64>,
}

/// Of these rows; a row may be there several times.
fn estimate(rows: &[Row], chosen: &[usize], factors: usize) -> Estimate {
    let count = chosen.len() as f64;
    let over = |value: &dyn Fn(&Row) -> f64| -> f64 {
        chosen.iter().map(|index| value(&rows[*index])).sum::<f64>() / count
    };
    let centre = over(&|row| (row.a + row.b) / 2.0);
    let square = |value: f64| (value - centre) * (value - centre);
    let raw = over(&|row| (square(row.a) + square(row.b)) / 2.0);
    // What is shared by all points at a seed moves none against another.
    let variance = (raw - over(&|row| row.noise_of_all) / 2.0).max(0.0);
    let beside = |part: f64| match variance > 0.0 {
        true => part / variance,
        false => 0.0,
    };
    // Where noise leaves next to no variance an estimate could be any number.
    let share = |part: f64| beside(part).clamp(-1.0, 1.0);
    let all = 0..factors;
    let products = |factor: usize| over(&|row| (row.b - centre) * (row.mixed[factor] - row.a));
    let noise: Vec<f64> = (all.clone())
        .map(|factor| over(&|row| row.noise[factor]) / 2.0)
        .collect();
    let parts = all.clone().map(|factor| {
        let squares = over(&|row| (row.a - row.mixed[factor]) * (row.a - row.mixed[factor]));
        (squares / 2.0 - noise[factor]).max(0.0)
    });
    let parts: Vec<f64> = parts.collect();
    Estimate {
        variance,
        first: all.map(|factor| share(products(factor))).collect(),
        total: parts.iter().map(|part| share(*part)).collect(),
        noise: noise.iter().map(|noise| beside(*noise)).collect(),
        parts,
    }
}

/// Intervals by factor.
struct Resamples {
    firsts: Vec<(f64, f64)>,
    totals: Vec<(f64, f64)>,
    /// Of the parts of the variance.
    parts: Vec<(f64, f64)>,
}

impl Resamples {
    fn of(rows: &[Row], factors: usize, error: f64) -> Self {
        let mut state = SEED;
        let mut estimates = vec![];
        for _ in 0..RESAMPLES {
            let drawn = (0..rows.len()).map(|_| below(&mut state, rows.len() as u64) as usize);
            estimates.push(estimate(rows, &drawn.collect::<Vec<usize>>(), factors));
        }
        let intervals = |of: &dyn Fn(&Estimate) -> &Vec<f64>| {
            let interval = |factor: usize| {
                let values = estimates.iter().map(|estimate| of(estimate)[factor]);
                let mut values: Vec<f64> = values.collect();
                values.sort_by(f64::total_cmp);
                let at = |q: f64| alight_compare::stats::quantile(&values, q);
                (at(error / 2.0), at(1.0 - error / 2.0))
            };
            (0..factors).map(interval).collect()
        };
        Resamples {
            firsts: intervals(&|estimate| &estimate.first),
            totals: intervals(&|estimate| &estimate.total),
            parts: intervals(&|estimate| &estimate.parts),
        }
    }
}

#[cfg(test)]
mod tests;
