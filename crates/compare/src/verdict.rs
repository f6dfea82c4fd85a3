// SPDX-License-Identifier: GPL-2.0-only
//! What a difference means: first whether it can be told from noise, then whether it is large enough
//! to matter, then its direction.

use alight_workload::program::Better;

use crate::floors::{Floor, change};
use crate::metrics::Key;
use crate::stats::{Delta, NoInterval};

/// What a number of a scheduler says against the base's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Not even one run of both has the number.
    NothingToCompare,
    /// One run of each.
    OneRun,
    /// Each run of both gives the same.
    Same,
    /// The interval contains 0.
    Noise,
    /// Less than the metric's [`Floor`].
    Small,
    /// More than that, but of one sample, however many runs there were.
    NoSpread,
    /// Certain, large enough, in the good direction.
    Better,
    /// Likewise in the bad one.
    Worse,
    /// Likewise, of a number that has no good direction.
    Different,
}

impl Verdict {
    /// Of a number and its difference from the base.
    pub fn of(key: &Key, delta: Option<&Delta>) -> Self {
        let Some(delta) = delta else {
            return Verdict::NothingToCompare;
        };
        match delta.no_interval {
            Some(NoInterval::OneRun) => return Verdict::OneRun,
            Some(NoInterval::NoDifference) => return Verdict::Same,
            None if !delta.significant => return Verdict::Noise,
            _ => {}
        }
        if !Floor::of(&key.name, key.unit).reached_by(delta.difference) {
            return Verdict::Small;
        }
        match (delta.no_interval, key.better, delta.rises()) {
            (Some(_), ..) => Verdict::NoSpread,
            (None, None, _) => Verdict::Different,
            (None, Some(Better::Higher), true) | (None, Some(Better::Lower), false) => {
                Verdict::Better
            }
            (None, Some(Better::Higher), false) | (None, Some(Better::Lower), true) => {
                Verdict::Worse
            }
        }
    }

    /// As JSON and CSV have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Verdict::NothingToCompare => "nothing_to_compare",
            Verdict::OneRun => "one_run",
            Verdict::Same => "same",
            Verdict::Noise => "noise",
            Verdict::Small => "small",
            Verdict::NoSpread => "no_spread",
            Verdict::Better => "better",
            Verdict::Worse => "worse",
            Verdict::Different => "different",
        }
    }

    /// In words, for people.
    pub fn words(self, key: &Key, delta: Option<&Delta>) -> String {
        let said = |no_interval: NoInterval| no_interval.as_str().to_owned();
        match (self, delta) {
            (Verdict::NothingToCompare, _) => "no run has both to compare".to_owned(),
            (Verdict::OneRun, _) => said(NoInterval::OneRun),
            (Verdict::Same, _) => said(NoInterval::NoDifference),
            (Verdict::Noise, _) => "within noise: the interval contains 0".to_owned(),
            (Verdict::Small, Some(delta)) => too_small(key.unit, delta),
            (Verdict::NoSpread, Some(delta)) => {
                said(delta.no_interval.unwrap_or(NoInterval::SameInEveryRun))
            }
            _ => self.as_str().to_owned(),
        }
    }
}

/// `too small to matter: 12 ns -> 160 ns`.
pub fn too_small(unit: &str, delta: &Delta) -> String {
    let (from, to) = delta.means;
    format!("too small to matter: {}", change(from, to, unit))
}

#[cfg(test)]
mod tests;
