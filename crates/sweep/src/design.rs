// SPDX-License-Identifier: GPL-2.0-only
//! Designs: which points of all that there are run. A point is a level of each factor. Each point
//! is a function of the design, the seed and the point's number, the same on every machine.

pub mod morris;
pub mod sobol;

use crate::spec::Design;

impl Design {
    /// Number of points over factors with so many levels each.
    pub fn points(self, sizes: &[u64]) -> u128 {
        let factors = sizes.len() as u128;
        match self {
            Design::Grid => sizes
                .iter()
                .fold(1, |all: u128, size| all.saturating_mul(u128::from(*size))),
            Design::Sobol { samples } => u128::from(samples) * (factors + 2),
            Design::Morris { trajectories } => u128::from(trajectories) * (factors + 1),
        }
    }

    /// Point number `index`: a level of each factor.
    pub fn point(self, sizes: &[u64], seed: u64, index: u64) -> Vec<u64> {
        match self {
            Design::Grid => grid_point(sizes, index),
            Design::Sobol { .. } => sobol::point(sizes, seed, index),
            Design::Morris { .. } => morris::point(sizes, seed, index),
        }
    }
}

/// The last factor varies fastest.
fn grid_point(sizes: &[u64], mut index: u64) -> Vec<u64> {
    let mut levels = vec![0; sizes.len()];
    for (level, size) in levels.iter_mut().zip(sizes).rev() {
        *level = index % size;
        index /= size;
    }
    levels
}

/// The next of a sequence of random numbers: splitmix64 (Steele, Lea and Flood 2014, "Fast
/// splittable pseudorandom number generators").
pub(crate) fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

/// A random number below `bound`, 1 or more.
pub(crate) fn below(state: &mut u64, bound: u64) -> u64 {
    ((u128::from(random(state)) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests;
