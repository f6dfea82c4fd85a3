// SPDX-License-Identifier: GPL-2.0-only
//! When there are runs enough: the rule by which runs end as soon as a difference is known well.
//!
//! The runs are looked at when there are 5, 10, 20, 40, … of them, and at the last. They end at the
//! first look at which the half-width of an interval is at most a stated percentage of the base.
//! Each look is one more chance to end by luck: on runs that scatter less than they usually do.
//! Their interval is too narrow. The error of 5 % is therefore spent over the looks:
//!
//! - At `n` of at most `N` runs the interval that decides misses with probability 5 % · (n/N)²,
//!   the part of the error that may be spent by then (Kim and DeMets 1987, "Design and analysis of
//!   group sequential tests based on the type I error spending rate function", Biometrika 74, the
//!   family α·t^ρ, here with ρ = 2). An early look needs runs that scatter very little.
//! - The interval that is reported takes 4 % of the error by Student's t. The last 1 % is for the
//!   looks.
//!
//! On normal numbers of any scatter this interval covers the truth in 94 to 97 % of all cases
//! (`until/tests.rs` holds it to 93 to 97 %).

use std::fmt;
use std::str::FromStr;

use alight_sim::Outcome;

use crate::selection::Selection;
use crate::stats::{CONFIDENCE, Delta, half_width, mean};

/// Number of runs at the first look.
pub const FIRST_LOOK: u32 = 5;
/// Probability with which an interval that is reported after looks misses, by Student's t alone.
pub const ERROR: f64 = 0.04;

/// How well something is to be known.
#[derive(Debug, Clone, PartialEq)]
pub struct Target {
    /// The number that is to be known; `None`: the first result of the workload.
    pub metric: Option<String>,
    /// Largest half-width of its interval, percent of the base's mean, above 0.
    pub half_width_percent: f64,
}

impl FromStr for Target {
    type Err = String;

    /// Reads `1%`, `0.5%` or `elapsed_s=1%`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (metric, percent) = match text.split_once('=') {
            Some((metric, percent)) => (Some(metric.trim().to_owned()), percent),
            None => (None, text),
        };
        let number = percent.trim().strip_suffix('%').map(str::trim);
        let number = number.and_then(|number| number.parse::<f64>().ok());
        match number.filter(|number| is_percentage(*number)) {
            Some(half_width_percent) if metric.as_deref() != Some("") => Ok(Target {
                metric,
                half_width_percent,
            }),
            _ => Err("expected a half-width like 1%, or of a metric like elapsed_s=1%".to_owned()),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(metric) = &self.metric {
            write!(f, "{metric}=")?;
        }
        write!(f, "{}%", self.half_width_percent)
    }
}

impl Target {
    /// Whether a run has the number that is to be known.
    ///
    /// # Errors
    /// It has not: the nearest names.
    pub fn check(&self, outcome: &Outcome) -> Result<(), String> {
        let known = Selection::of(self.metric.as_deref())?.check(outcome);
        known.map_err(|unknown| format!("--until {}", unknown.words()))
    }
}

/// Whether a half-width can be asked for: above 0, at most 100 %.
pub fn is_percentage(percent: f64) -> bool {
    percent > 0.0 && percent <= 100.0
}

/// The numbers of runs at which they are looked at: 5, 10, 20, …, `most`.
pub fn looks(most: u32) -> Vec<u32> {
    let doubled = |runs: &u32| runs.checked_mul(2);
    let early = std::iter::successors(Some(FIRST_LOOK), doubled);
    early
        .take_while(|runs| *runs < most)
        .chain([most])
        .collect()
}

/// The next look after `runs` runs; `None`: that was the last.
pub fn next_look(runs: u32, most: u32) -> Option<u32> {
    looks(most).into_iter().find(|look| *look > runs)
}

/// The error that may be spent at `runs` of at most `most` runs.
fn spent(runs: u32, most: u32) -> f64 {
    let part = f64::from(runs) / f64::from(most);
    (1.0 - CONFIDENCE) * part * part
}

/// What a look finds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Half-width of the interval that is reported, percent of the mean that it refers to; `None`:
    /// there is no interval, for there was one run or the mean is 0.
    pub half_width_percent: Option<f64>,
    /// There are runs enough.
    pub known: bool,
}

/// Looks at the differences of pairs (base, variant), `most` at most.
pub fn look_at_pairs(pairs: &[(f64, f64)], target_percent: f64, most: u32) -> Look {
    let at = |error| Delta::at(error, pairs).and_then(|delta| delta.half_width_percent());
    look(at, pairs.len(), target_percent, most)
}

/// Looks at the mean of values, `most` at most.
pub fn look_at_values(values: &[f64], target_percent: f64, most: u32) -> Look {
    let centre = mean(values).filter(|mean| *mean != 0.0);
    let at = |error| Some(100.0 * half_width(values, error)? / centre?.abs());
    look(at, values.len(), target_percent, most)
}

fn look(at: impl Fn(f64) -> Option<f64>, runs: usize, target_percent: f64, most: u32) -> Look {
    let deciding = at(spent(runs as u32, most).min(ERROR));
    Look {
        half_width_percent: at(ERROR),
        known: deciding.is_some_and(|half| half <= target_percent),
    }
}

#[cfg(test)]
mod tests;
