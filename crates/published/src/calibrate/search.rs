// SPDX-License-Identifier: GPL-2.0-only
//! The search for the best factors, and for how far the best one can be left.
//!
//! The search begins at the best points of a coarse grid. From each it moves one factor after
//! another, or one for another, by coarse steps, and from the best end by fine ones. There it moves
//! each factor as far as the others can make up for it. If it comes by a better point on these ways,
//! it goes on from there.

use std::collections::BTreeMap;

use super::{BOUND, COARSE, Factors, GRID, IN_GRID, OPEN, OPEN_RATIO, RATIOS, STARTS};

/// The costs as they are assumed.
const ONE: Factors = [1000; _];

/// What a search found.
pub(super) struct Found {
    pub best: Factors,
    pub misfit: u64,
    pub unfitted: u64,
    pub evaluations: usize,
    pub starts: Vec<Start>,
    pub open: Vec<Factors>,
}

/// A point that the search began at, and where it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// Where it began.
    pub from: Factors,
    /// Where it ended.
    pub to: Factors,
    /// The objective there, in millionths.
    pub misfit: u64,
}

/// What a point is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Misfit {
    /// In millionths.
    pub value: u64,
    /// Of all rows; else of some, which are as bad as what the point was measured against.
    pub is_whole: bool,
}

impl Misfit {
    /// Does it say whether the point is below `limit`?
    fn decides(&self, limit: u64) -> bool {
        self.is_whole || self.value >= limit
    }
}

/// Searches for the least of `misfits`, which is told how good a point must be to count; of one
/// that is not it may answer with a part. What it answered in an earlier search, in that order, is not
/// asked again.
///
/// # Errors
/// Its.
pub(super) fn search<E>(
    misfits: impl Fn(&[Factors], u64) -> Result<Vec<Misfit>, E>,
    answered: &[(Factors, Misfit)],
) -> Result<Found, E> {
    let mut map = Map {
        misfits,
        answered: BTreeMap::new(),
        known: BTreeMap::new(),
        evaluations: 0,
    };
    for &(point, misfit) in answered {
        map.answered.entry(point).or_default().push(misfit);
    }
    let unfitted = map.at(&ONE, u64::MAX)?;
    let (coarse, fine) = RATIOS.split_at(COARSE);
    let mut starts = vec![];
    for from in map.beginnings(unfitted)? {
        let (to, misfit) = map.descend(from, coarse)?;
        starts.push(Start { from, to, misfit });
    }
    let best = starts.iter().min_by_key(|start| start.misfit);
    let (mut best, mut misfit) = map.descend(best.map_or(ONE, |start| start.to), fine)?;
    let mut open = map.open(&best, misfit)?;
    while let Some(better) = map.below(misfit) {
        (best, misfit) = map.descend(better, fine)?;
        open = map.open(&best, misfit)?;
    }
    Ok(Found {
        open,
        best,
        misfit,
        unfitted,
        evaluations: map.evaluations,
        starts,
    })
}

/// The points that are known.
struct Map<F> {
    misfits: F,
    /// What it answered before, in that order.
    answered: BTreeMap<Factors, Vec<Misfit>>,
    known: BTreeMap<Factors, Misfit>,
    evaluations: usize,
}

impl<E, F: Fn(&[Factors], u64) -> Result<Vec<Misfit>, E>> Map<F> {
    /// The points at which to begin, the best of the grid. One factor can make up for another, so that
    /// there are several valleys.
    fn beginnings(&mut self, unfitted: u64) -> Result<Vec<Factors>, E> {
        let mut points: Vec<_> = grid().collect();
        self.learn(&points, unfitted)?;
        points.sort_by_key(|point| (self.known[point].value, *point != ONE));
        points.truncate(STARTS);
        Ok(points)
    }

    /// Where steps from a point lead that each make it better, and the misfit there.
    fn descend(&mut self, from: Factors, ratios: &[(u64, u64)]) -> Result<(Factors, u64), E> {
        let mut best = from;
        let mut least = self.at(&best, u64::MAX)?;
        for &ratio in ratios {
            let sides = [ratio, (ratio.1, ratio.0)];
            // Until a round over all factors, and one over all pairs, finds nothing better.
            let mut better = true;
            while better {
                better = false;
                for index in 0..best.len() {
                    // Together, since mostly neither is better.
                    let next = sides.map(|side| moved(&best, index, side));
                    let next: Vec<_> = next.into_iter().flatten().collect();
                    self.learn(&next, least)?;
                    for side in sides {
                        while let Some(next) = moved(&best, index, side) {
                            let found = self.at(&next, least)?;
                            if found >= least {
                                break;
                            }
                            (best, least, better) = (next, found, true);
                        }
                    }
                }
                if better {
                    continue;
                }
                // Along a valley neither factor is better alone.
                let next: Vec<_> = exchanged(&best, sides).collect();
                self.learn(&next, least)?;
                for next in next {
                    let found = self.at(&next, least)?;
                    if found < least {
                        (best, least, better) = (next, found, true);
                    }
                }
            }
        }
        Ok((best, least))
    }

    /// For each factor and side the furthest point that the rows leave open ([`OPEN`]), the other
    /// factors making up for it as well as a step of one of them can each time.
    fn open(&mut self, best: &Factors, misfit: u64) -> Result<Vec<Factors>, E> {
        let limit = misfit + OPEN + 1;
        let mut open = vec![];
        for index in 0..best.len() {
            for side in [OPEN_RATIO, (OPEN_RATIO.1, OPEN_RATIO.0)] {
                let mut furthest = *best;
                while let Some(next) = self.further(&furthest, index, side, limit)? {
                    furthest = next;
                }
                if furthest != *best && !open.contains(&furthest) {
                    open.push(furthest);
                }
            }
        }
        Ok(open)
    }

    /// The best of the known points, if it is below `misfit`.
    fn below(&self, misfit: u64) -> Option<Factors> {
        let whole = self.known.iter().filter(|(_, known)| known.is_whole);
        let best = whole.min_by_key(|(_, known)| known.value);
        best.filter(|(_, known)| known.value < misfit)
            .map(|(point, _)| *point)
    }

    /// A point below `limit` with a factor moved by a step: it alone if that will do, else the best with
    /// one other moved too; `None` if there is none.
    fn further(
        &mut self,
        from: &Factors,
        index: usize,
        side: (u64, u64),
        limit: u64,
    ) -> Result<Option<Factors>, E> {
        let Some(alone) = moved(from, index, side) else {
            return Ok(None);
        };
        if self.at(&alone, limit)? < limit {
            return Ok(Some(alone));
        }
        let others = (0..from.len()).filter(|other| *other != index);
        let sides = [OPEN_RATIO, (OPEN_RATIO.1, OPEN_RATIO.0)];
        let both = others.flat_map(|other| sides.map(|side| moved(&alone, other, side)));
        let both: Vec<_> = both.flatten().collect();
        self.learn(&both, limit)?;
        let best = both.into_iter().min_by_key(|point| self.known[point].value);
        Ok(best.filter(|point| self.known[point].value < limit))
    }

    /// The misfit of a point, whole if it is below `limit`.
    fn at(&mut self, point: &Factors, limit: u64) -> Result<u64, E> {
        self.learn(&[*point], limit)?;
        Ok(self.known[point].value)
    }

    /// Evaluates those of `points` that are not known well enough to say whether they are below
    /// `limit`.
    fn learn(&mut self, points: &[Factors], limit: u64) -> Result<(), E> {
        let enough = |known: &Misfit| known.decides(limit);
        let wanted = |point: &&Factors| !self.known.get(*point).is_some_and(enough);
        let mut wanted: Vec<_> = points.iter().filter(wanted).copied().collect();
        self.evaluations += wanted.len();
        wanted.retain(|point| !self.was_answered(point, limit));
        if !wanted.is_empty() {
            let values = (self.misfits)(&wanted, limit)?;
            self.known.extend(wanted.into_iter().zip(values));
        }
        Ok(())
    }

    /// Is it known from an earlier search whether the point is below `limit`?
    fn was_answered(&mut self, point: &Factors, limit: u64) -> bool {
        let mut before = self.answered.get(point).into_iter().flatten();
        let found = before.find(|misfit| misfit.decides(limit)).copied();
        self.known.extend(found.map(|misfit| (*point, misfit)));
        found.is_some()
    }
}

/// All points whose first factors are of [`GRID`].
fn grid() -> impl Iterator<Item = Factors> {
    let points = GRID.len().pow(IN_GRID as u32);
    (0..points).map(|mut number| {
        let mut point = ONE;
        for factor in &mut point[..IN_GRID] {
            *factor = GRID[number % GRID.len()];
            number /= GRID.len();
        }
        point
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
