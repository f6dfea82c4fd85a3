// SPDX-License-Identifier: GPL-2.0-only
//! Elementary effects of Morris' trajectories: how far the number moves when one factor moves over
//! its whole range, at points that are spread over the ranges of the others.
//!
//! μ* is the mean of their sizes (Campolongo, Cariboni and Saltelli 2007), σ their standard
//! deviation. A factor with a large σ acts together with others, or not in proportion. A move spans
//! a part of the range, and counts as if the rest moved the number in proportion.
//!
//! Noise alone has a μ* too. It is known from how the moves of a factor differ between seeds,
//! pooled over its moves. A factor matters if its squares exceed those of noise (Fisher's F),
//! and if its μ* without that of noise is certainly as large as matters. One run says nothing of
//! noise, so with one run no factor is said to matter.

use alight_compare::stats::{half_width, std};
use serde::Serialize;

use super::{Points, Verdict, beyond_noise, mean_of, variance_of_mean};
use crate::design::morris;

/// What trajectories say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trajectories {
    /// The factors, those that move the number most first.
    pub factors: Vec<Elementary>,
}

/// The elementary effects of a factor, percent of the mean of all points, of its whole range.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Elementary {
    /// The factor.
    pub factor: String,
    /// μ*: the mean of their sizes; `None`: the mean of all points is 0.
    pub size_percent: Option<f64>,
    /// Its interval by Student's t over the trajectories.
    pub interval: Option<(f64, f64)>,
    /// μ: the mean with signs.
    pub mean_percent: Option<f64>,
    /// σ: the standard deviation.
    pub deviation_percent: Option<f64>,
    /// The μ* of noise alone; `None`: one run says nothing of noise.
    pub noise_percent: Option<f64>,
    /// What this means.
    pub verdict: Verdict,
}

/// Analyses the points of trajectories, in their order. `error`: that of each interval; `least`:
/// percent that matters.
pub fn analyse(points: &Points, error: f64, least: f64) -> Trajectories {
    let moves = moves(points);
    let centre = points.centre().abs();
    let own = |index: usize| moves.iter().filter(move |found| found.factor == index);
    let changes = |index: usize| own(index).map(|found| found.changes.clone()).collect();
    let beyond = beyond_noise(&(0..points.factors.len()).map(changes).collect::<Vec<_>>());
    let factor = |index: usize| {
        let effects: Vec<f64> = own(index)
            .map(|found| percent(mean_of(&found.changes) / found.part, centre))
            .collect();
        let sizes: Vec<f64> = effects.iter().map(|effect| effect.abs()).collect();
        let noise = percent(noise(&own(index).collect::<Vec<_>>()), centre);
        let size = mean_of(&sizes);
        let half = half_width(&sizes, error);
        let interval = half.map(|half| ((size - half).max(0.0), size + half));
        let interval = interval.filter(|(low, high)| low.is_finite() && high.is_finite());
        let verdict = match interval {
            None => Verdict::CannotTell,
            Some((low, high)) => Verdict::between(low - noise, high, least).beyond(beyond[index]),
        };
        let finite = |value: f64| value.is_finite().then_some(value);
        Elementary {
            factor: points.factors[index].clone(),
            size_percent: finite(size),
            interval,
            mean_percent: finite(mean_of(&effects)),
            deviation_percent: std(&effects).and_then(finite),
            noise_percent: (points.seeds() > 1).then_some(noise).and_then(finite),
            verdict,
        }
    };
    let mut factors: Vec<Elementary> = (0..points.factors.len()).map(factor).collect();
    let size = |factor: &Elementary| factor.size_percent.unwrap_or(0.0);
    factors.sort_by(|one, other| size(other).total_cmp(&size(one)));
    Trajectories { factors }
}

/// Percent of the mean of all; nothing is 0 % of any mean.
fn percent(value: f64, centre: f64) -> f64 {
    match value == 0.0 {
        true => 0.0,
        false => 100.0 * value / centre,
    }
}

/// The mean size that noise alone would give these moves: that of a normal distribution about 0,
/// whose variance is pooled over them.
fn noise(moves: &[&Move]) -> f64 {
    let variances = moves.iter().map(|found| variance_of_mean(&found.changes));
    let variance = mean_of(&variances.collect::<Vec<f64>>());
    let scales = moves.iter().map(|found| 1.0 / found.part.abs());
    let scale = mean_of(&scales.collect::<Vec<f64>>());
    (variance * 2.0 / std::f64::consts::PI).sqrt() * scale
}

/// A factor that moved.
struct Move {
    factor: usize,
    /// Change at each seed.
    changes: Vec<f64>,
    /// Part of the range that it moved over, with its direction.
    part: f64,
}

fn moves(points: &Points) -> Vec<Move> {
    let length = morris::row(points.factors.len()) as usize;
    let mut moves = vec![];
    let trajectories = points.levels.chunks_exact(length);
    for (levels, values) in trajectories.zip(points.values.chunks_exact(length)) {
        for (levels, values) in levels.windows(2).zip(values.windows(2)) {
            let moved = (0..points.factors.len()).find(|f| levels[0][*f] != levels[1][*f]);
            let Some(factor) = moved else { continue };
            let range = points.sizes[factor] as f64 - 1.0;
            let changes = values[0].iter().zip(&values[1]);
            moves.push(Move {
                factor,
                changes: changes.map(|(from, to)| to - from).collect(),
                part: (levels[1][factor] as f64 - levels[0][factor] as f64) / range,
            });
        }
    }
    moves
}

#[cfg(test)]
mod tests;
