// SPDX-License-Identifier: GPL-2.0-only
//! The search for the best factors: the best point of a coarse grid, and from there one factor
//! after another, or one for another, by coarse steps and then by fine ones.

use std::collections::BTreeMap;

use super::{BOUND, Factors, GRID, RATIOS};

/// What a search found.
pub(super) struct Found {
    pub best: Factors,
    pub misfit: u64,
    pub unfitted: u64,
    pub evaluations: usize,
}

/// Searches for the least of `misfits`, which is told the least so far; of a point that is not
/// below it it may answer with any number that is not either.
///
/// # Errors
/// Its.
pub(super) fn search<E>(
    misfits: impl Fn(&[Factors], u64) -> Result<Vec<u64>, E>,
) -> Result<Found, E> {
    let mut known: BTreeMap<Factors, u64> = BTreeMap::new();
    let mut best = [1000; _];
    let mut least = misfits(&[best], u64::MAX)?[0];
    let unfitted = least;
    known.insert(best, unfitted);
    // One factor can make up for another, so that there are several valleys.
    let points: Vec<_> = grid().collect();
    learn(&mut known, &points, |unknown| misfits(unknown, least))?;
    for point in points {
        if known[&point] < least {
            (best, least) = (point, known[&point]);
        }
    }
    for ratio in RATIOS {
        let sides = [ratio, (ratio.1, ratio.0)];
        // Until a round over all factors, and one over all pairs, finds nothing better.
        let mut better = true;
        while better {
            better = false;
            for index in 0..best.len() {
                // Together, since mostly neither is better.
                let next = sides.map(|side| moved(&best, index, side));
                let next: Vec<_> = next.into_iter().flatten().collect();
                learn(&mut known, &next, |unknown| misfits(unknown, least))?;
                for side in sides {
                    while let Some(next) = moved(&best, index, side) {
                        learn(&mut known, &[next], |unknown| misfits(unknown, least))?;
                        if known[&next] >= least {
                            break;
                        }
                        (best, least, better) = (next, known[&next], true);
                    }
                }
            }
            if better {
                continue;
            }
            // Along a valley neither factor is better alone.
            let next: Vec<_> = exchanged(&best, sides).collect();
            learn(&mut known, &next, |unknown| misfits(unknown, least))?;
            for next in next {
                if known[&next] < least {
                    (best, least, better) = (next, known[&next], true);
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

/// Adds what is not known of `points` yet.
fn learn<E>(
    known: &mut BTreeMap<Factors, u64>,
    points: &[Factors],
    misfits: impl Fn(&[Factors]) -> Result<Vec<u64>, E>,
) -> Result<(), E> {
    let unknown = points.iter().filter(|point| !known.contains_key(*point));
    let unknown: Vec<_> = unknown.copied().collect();
    if !unknown.is_empty() {
        let values = misfits(&unknown)?;
        known.extend(unknown.into_iter().zip(values));
    }
    Ok(())
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

/// One factor up and another down, each with each.
fn exchanged(from: &Factors, [up, down]: [(u64, u64); 2]) -> impl Iterator<Item = Factors> {
    let pairs = (0..from.len()).flat_map(|more| (0..from.len()).map(move |less| (more, less)));
    pairs
        .filter(|(more, less)| more != less)
        .filter_map(move |(more, less)| moved(&moved(from, more, up)?, less, down))
}

/// One factor times `up` over `down`; `None` where it would leave its bounds, or stay.
fn moved(from: &Factors, index: usize, (up, down): (u64, u64)) -> Option<Factors> {
    let mut next = *from;
    next[index] = (from[index] * up + down / 2) / down;
    let bounds = 1000 / BOUND..=1000 * BOUND;
    (next[index] != from[index] && bounds.contains(&next[index])).then_some(next)
}
