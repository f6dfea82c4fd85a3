// SPDX-License-Identifier: GPL-2.0-only
//! Which factors matter: how far a number moves as each varies, and whether that is certain.
//!
//! What is said of a factor is one of three things. It *matters*: it moves the number by the
//! sweep's `matters_percent` or more, and that is certain. It *does not matter*: it certainly
//! moves it by less. Or the runs *cannot tell*. The design decides by which method:
//!
//! | design | method |
//! |---|---|
//! | grid | [`variance`]: analysis of variance, with seeds as blocks |
//! | sobol | [`indices`]: shares of the variance, first order and total |
//! | morris | [`trajectories`]: mean and scatter of elementary effects |

pub mod indices;
pub mod trajectories;
pub mod variance;

use std::collections::BTreeMap;

use alight_compare::stats::{benjamini_hochberg, f_tail};
use serde::Serialize;

/// Largest share of false findings among the factors that are said to matter.
const FALSE_SHARE: f64 = 0.05;

/// What the runs say of a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It certainly moves the number, by as much as matters.
    Matters,
    /// It certainly moves the number by less than matters.
    DoesNotMatter,
    /// Neither is certain.
    CannotTell,
}

impl Verdict {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Verdict::Matters => "matters",
            Verdict::DoesNotMatter => "does not matter",
            Verdict::CannotTell => "cannot tell: more runs needed",
        }
    }

    /// The same, but what noise alone could have done does not matter: it cannot be told.
    fn beyond(self, is_beyond_noise: bool) -> Self {
        match (self, is_beyond_noise) {
            (Verdict::Matters, false) => Verdict::CannotTell,
            (verdict, _) => verdict,
        }
    }

    /// Of a size that is at least `low` and at most `high`, where `least` matters.
    fn between(low: f64, high: f64, least: f64) -> Self {
        match (low >= least, high < least) {
            (true, _) => Verdict::Matters,
            (_, true) => Verdict::DoesNotMatter,
            _ => Verdict::CannotTell,
        }
    }
}

/// The points of a design with what came out of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    /// Names of the factors.
    pub factors: Vec<String>,
    /// Number of values of each factor.
    pub sizes: Vec<u64>,
    /// The values of each factor as typed, by level.
    pub texts: Vec<BTreeMap<u64, String>>,
    /// The level of each factor, by point.
    pub levels: Vec<Vec<u64>>,
    /// The value at each seed, by point: as many at each.
    pub values: Vec<Vec<f64>>,
}

impl Points {
    /// Seeds that all points have.
    pub fn seeds(&self) -> usize {
        self.values.first().map_or(0, Vec::len)
    }

    /// The mean of each point.
    fn means(&self) -> Vec<f64> {
        self.values.iter().map(|values| mean_of(values)).collect()
    }

    /// The mean of all.
    fn centre(&self) -> f64 {
        mean_of(&self.means())
    }
}

/// 0 of nothing.
fn mean_of(values: &[f64]) -> f64 {
    alight_compare::stats::mean(values).unwrap_or(0.0)
}

/// Variance of the mean of values, which have a normal distribution; 0 of one.
fn variance_of_mean(values: &[f64]) -> f64 {
    let std = alight_compare::stats::std(values).unwrap_or(0.0);
    std * std / values.len().max(1) as f64
}

/// Probability of changes as large as these if noise alone made them: Fisher's F of their
/// squares over what their runs scatter, pooled over all of them. `changes`: of each run, by
/// change. `None`: one run says nothing of noise.
fn p_of_noise(changes: &[Vec<f64>]) -> Option<f64> {
    let runs = changes.first().map_or(0, Vec::len);
    if runs < 2 {
        return None;
    }
    let squares = changes.iter().map(|changes| mean_of(changes).powi(2));
    let (above, below): (f64, f64) = (
        squares.sum(),
        changes
            .iter()
            .map(|changes| variance_of_mean(changes))
            .sum(),
    );
    let freedom = (changes.len() as f64, (changes.len() * (runs - 1)) as f64);
    Some(match (above > 0.0, below > 0.0) {
        (false, _) => 1.0,
        (true, false) => 0.0,
        (true, true) => f_tail((above / below).min(f64::MAX), freedom),
    })
}

/// Whether each factor moves the number by more than noise does, with its number of factors taken
/// into account (Benjamini and Hochberg). `changes`: by factor.
fn beyond_noise(changes: &[Vec<Vec<f64>>]) -> Vec<bool> {
    let p = changes
        .iter()
        .map(|changes| p_of_noise(changes).unwrap_or(1.0));
    let adjusted = benjamini_hochberg(&p.collect::<Vec<f64>>());
    adjusted.into_iter().map(|p| p <= FALSE_SHARE).collect()
}

/// What is said of a template's factors, by one objective.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effects {
    /// The template.
    pub template: String,
    /// The number.
    pub metric: String,
    /// Runs of each point: the seeds that all points have.
    pub runs: usize,
    /// The least effect that matters, percent of the mean.
    pub matters_percent: f64,
    /// What was found; `None`: points are missing.
    pub found: Option<Found>,
}

/// What was found, by the method of the design.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "method", rename_all = "snake_case")]
pub enum Found {
    /// Of a grid.
    Variance(variance::Variance),
    /// Of Saltelli's sample.
    Indices(indices::Indices),
    /// Of Morris' trajectories.
    Trajectories(trajectories::Trajectories),
}

#[cfg(test)]
mod known;
