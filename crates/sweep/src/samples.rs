// SPDX-License-Identifier: GPL-2.0-only
//! The values of a number in some runs, by seed.

use std::collections::BTreeMap;

/// Seeds and values, in the order of seeds.
pub type Samples = Vec<(u64, f64)>;

/// The values alone.
pub fn values(samples: &[(u64, f64)]) -> Vec<f64> {
    samples.iter().map(|(_, value)| *value).collect()
}

/// The values at the seeds that both have, (base, other).
pub fn pairs(base: &[(u64, f64)], other: &[(u64, f64)]) -> Vec<(f64, f64)> {
    let other: BTreeMap<u64, f64> = other.iter().copied().collect();
    let both = base.iter().filter_map(|(seed, base)| {
        let other = other.get(seed)?;
        Some((*base, *other))
    });
    both.collect()
}

/// The mean of several series at each seed that all of them have.
pub fn averaged(all: &[&Samples]) -> Samples {
    let Some((first, rest)) = all.split_first() else {
        return vec![];
    };
    let rest: Vec<BTreeMap<u64, f64>> = rest
        .iter()
        .map(|samples| samples.iter().copied().collect())
        .collect();
    let mean = |(seed, value): &(u64, f64)| {
        let mut sum = *value;
        for other in &rest {
            sum += other.get(seed)?;
        }
        Some((*seed, sum / all.len() as f64))
    };
    first.iter().filter_map(mean).collect()
}
