// SPDX-License-Identifier: GPL-2.0-only
//! Quantiles are samples.

use super::*;

#[test]
fn quantiles_are_the_least_samples_that_suffice() {
    let samples: Vec<u64> = (1..=1000).collect();
    for (parts, expected) in [
        (1, 1),
        (500_000, 500),
        (500_001, 501),
        (999_000, 999),
        (1_000_000, 1000),
    ] {
        assert_eq!(quantile(&samples, parts), Some(expected), "{parts}");
    }
    assert_eq!(quantile(&[], 500_000), None);
}

#[test]
fn a_distribution_rises_to_one() {
    let parts: Vec<u64> = parts().collect();
    assert!(parts.windows(2).all(|two| two[0] < two[1]));
    assert_eq!(parts.last(), Some(&1_000_000));
}
