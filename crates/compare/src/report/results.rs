// SPDX-License-Identifier: GPL-2.0-only
//! The results that a short report shows: all of them, or those in which a scheduler differs most.

use crate::compare::Comparison;
use crate::metrics::{Key, MetricKind};
use crate::reasons;

/// Results that are shown at most.
const RESULTS: usize = 8;
/// Where there are more, so many of them are shown though no scheduler differs in them.
const ANYHOW: usize = 3;

/// What was asked: the results, and the energy that they took. All of them, or where they are many
/// those in which a scheduler differs; and the others.
pub(super) fn shown_and_hidden(comparison: &Comparison) -> (Vec<&Key>, Vec<&Key>) {
    let asked = |key: &&Key| key.kind == MetricKind::Result || key.name == "energy_j";
    let all: Vec<&Key> = comparison.keys().into_iter().filter(asked).collect();
    if all.len() <= RESULTS {
        return (all, vec![]);
    }
    let mut by_effect: Vec<(&Key, f64)> = (all.iter())
        .map(|key| (*key, largest_effect(comparison, key)))
        .collect();
    by_effect.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let many = by_effect.iter().filter(|(_, effect)| *effect > 0.0).count();
    let first: Vec<&str> = (by_effect.iter().take(many.clamp(ANYHOW, RESULTS)))
        .map(|(key, _)| key.name.as_str())
        .collect();
    (all.into_iter()).partition(|key| first.contains(&key.name.as_str()))
}

/// The largest effect that a scheduler has on a number, 0 if none has.
pub(super) fn largest_effect(comparison: &Comparison, key: &Key) -> f64 {
    let effects =
        (comparison.others().iter()).filter_map(|other| reasons::effect(other.series(&key.name)?));
    effects.fold(0.0, f64::max)
}
