// SPDX-License-Identifier: GPL-2.0-only
//! Saltelli's sample (Saltelli et al. 2010, "Variance based sensitivity analysis of model output",
//! Computer Physics Communications 181): two matrices A and B, the halves of a Sobol' sequence, and
//! for each factor the matrix A with that factor's column of B.
//!
//! Row `j` is k + 2 points in this order: A, B, and A with column 1, 2, …, k of B. The sequence is
//! scrambled after Owen by the seed.

use super::random;

/// Points of a row of `factors` factors.
pub fn row(factors: usize) -> u64 {
    factors as u64 + 2
}

/// Most factors: the sequence has a dimension for each column of A and B.
pub const MOST_FACTORS: usize = 128;

pub(super) fn point(sizes: &[u64], seed: u64, index: u64) -> Vec<u64> {
    let factors = sizes.len();
    let (sample, matrix) = (index / row(factors), index % row(factors));
    let mut state = seed;
    let seed = (random(&mut state) >> 32) as u32;
    let level = |factor: usize, of_b: bool| {
        let dimension = (if of_b { factors + factor } else { factor }) as u32;
        let at = sobol_burley::sample(sample as u32, dimension, seed);
        // 24 bits times a number of levels: exact.
        let size = sizes[factor];
        ((f64::from(at) * size as f64) as u64).min(size - 1)
    };
    let of_b = |factor: usize| matrix == 1 || matrix == factor as u64 + 2;
    (0..factors)
        .map(|factor| level(factor, of_b(factor)))
        .collect()
}
