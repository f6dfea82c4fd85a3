// SPDX-License-Identifier: GPL-2.0-only
//! Trajectories of Morris (1991, "Factorial sampling plans for preliminary computational
//! experiments", Technometrics 33): each begins at a random point and moves each factor once, in a
//! random order. A factor has four positions and moves by two.

use super::{below, random};

/// Positions of a factor, p of the paper.
const POSITIONS: u64 = 4;
/// Positions that a factor moves by, p / 2.
const MOVE: u64 = POSITIONS / 2;

/// Points of a trajectory over `factors` factors.
pub fn row(factors: usize) -> u64 {
    factors as u64 + 1
}

pub(super) fn point(sizes: &[u64], seed: u64, index: u64) -> Vec<u64> {
    let factors = sizes.len();
    let (trajectory, moved) = (index / row(factors), index % row(factors));
    let mut state = seed;
    state = random(&mut state) ^ trajectory.wrapping_mul(0xD134_2543_DE82_EF95);
    let mut order: Vec<usize> = (0..factors).collect();
    for last in (1..factors).rev() {
        order.swap(last, below(&mut state, last as u64 + 1) as usize);
    }
    let mut levels = vec![0; factors];
    for factor in 0..factors {
        let low = below(&mut state, POSITIONS - MOVE);
        let falls = below(&mut state, 2) == 1;
        let place = order.iter().position(|other| *other == factor);
        let has_moved = place.is_some_and(|place| (place as u64) < moved);
        let position = match has_moved != falls {
            true => low + MOVE,
            false => low,
        };
        levels[factor] = level_at(position, sizes[factor]);
    }
    levels
}

/// The level at a position, rounded: the ends are the first and the last level.
fn level_at(position: u64, size: u64) -> u64 {
    let most = POSITIONS - 1;
    let scaled = 2 * u128::from(position) * u128::from(size - 1) + u128::from(most);
    (scaled / (2 * u128::from(most))) as u64
}
