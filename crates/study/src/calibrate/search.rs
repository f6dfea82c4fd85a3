// SPDX-License-Identifier: GPL-2.0-only
//! The search for the best factors: the best point of a coarse grid, and from there one factor
//! after another, by coarse steps and then by fine ones.

use std::collections::BTreeMap;

use super::{BOUND, Factors, GRID, RATIOS};

/// What a search found.
pub(super) struct Found {
    pub best: Factors,
    pub misfit: u64,
    pub unfitted: u64,
    pub evaluations: usize,
}

/// Searches for the least of `misfit`, which is told the least so far and may answer with any
/// number that is not below it.
///
/// # Errors
/// Its.
pub(super) fn search<E>(
    misfit: impl Fn(&Factors, u64) -> Result<u64, E>,
    evaluated: &dyn Fn(usize, u64),
) -> Result<Found, E> {
    let mut known: BTreeMap<Factors, u64> = BTreeMap::new();
    let mut best = [1000; _];
    let unfitted = misfit(&best, u64::MAX)?;
    known.insert(best, unfitted);
    let mut least = unfitted;
    // One factor can make up for another, so that there are several valleys.
    for point in grid() {
        if known.contains_key(&point) {
            continue;
        }
        let value = misfit(&point, least)?;
        known.insert(point, value);
        if value < least {
            (best, least) = (point, value);
        }
        evaluated(known.len(), least);
    }
    for ratio in RATIOS {
        // Until a round over all factors finds nothing better.
        let mut better = true;
        while better {
            better = false;
            for index in 0..best.len() {
                for (up, down) in [ratio, (ratio.1, ratio.0)] {
                    while let Some(next) = moved(&best, index, up, down) {
                        let value = match known.get(&next) {
                            Some(value) => *value,
                            None => misfit(&next, least)?,
                        };
                        known.insert(next, value);
                        evaluated(known.len(), least.min(value));
                        if value >= least {
                            break;
                        }
                        (best, least, better) = (next, value, true);
                    }
                }
            }
        }
    }
    Ok(Found {
        best,
        misfit: least,
        unfitted,
        evaluations: known.len(),
    })
}

/// All points whose factors are of [`GRID`].
fn grid() -> impl Iterator<Item = Factors> {
    let factors: Factors = [0; _];
    let points = GRID.len().pow(factors.len() as u32);
    (0..points).map(move |mut number| {
        factors.map(|_| {
            let factor = GRID[number % GRID.len()];
            number /= GRID.len();
            factor
        })
    })
}

/// One factor times `up` over `down`; `None` where it would leave its bounds, or stay.
fn moved(from: &Factors, index: usize, up: u64, down: u64) -> Option<Factors> {
    let mut next = *from;
    next[index] = (from[index] * up + down / 2) / down;
    let bounds = 1000 / BOUND..=1000 * BOUND;
    (next[index] != from[index] && bounds.contains(&next[index])).then_some(next)
}
