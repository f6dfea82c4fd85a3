// SPDX-License-Identifier: GPL-2.0-only
//! The typical length of the last idle periods.

use super::*;
use proptest::prelude::*;

/// The typical length of `intervals` after `earlier` ones are forgotten.
fn typical_interval(earlier: &[u32], intervals: &[u32; 8], predicted_us: u32) -> u32 {
    let mut all = Intervals::default();
    for &us in earlier.iter().chain(intervals) {
        all.push(us);
    }
    all.typical(predicted_us)
}

#[test]
fn a_typical_interval_is_one_that_most_periods_had() {
    const NONE: u32 = NO_PATTERN;
    let cases: [(&str, [u32; 8], u32, u32); 8] = [
        (
            "all alike",
            [100, 110, 90, 105, 95, 100, 100, 100],
            9999,
            100,
        ),
        (
            "one long",
            [1000, 1000, 1000, 50_000, 1000, 1000, 1000, 1000],
            99_999,
            1000,
        ),
        (
            "two long",
            [1000, 1000, 1000, 50_000, 70_000, 1000, 1000, 1000],
            99_999,
            1000,
        ),
        (
            "three long",
            [1000, 9000, 1000, 50_000, 70_000, 1000, 1000, 1000],
            99_999,
            NONE,
        ),
        (
            "a ramp",
            [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000],
            99_999,
            NONE,
        ),
        (
            "deviation of 20 us",
            [10, 50, 10, 50, 10, 50, 10, 50],
            9999,
            30,
        ),
        ("none below the timer", [500; 8], 500, NONE),
        ("just below the timer", [500; 8], 501, 500),
    ];
    for (what, intervals, predicted_us, expected) in cases {
        assert_eq!(
            typical_interval(&[], &intervals, predicted_us),
            expected,
            "{what}"
        );
    }
}

proptest! {
    /// The variance in one pass equals the textbook's for any intervals.
    #[test]
    fn a_typical_interval_agrees_with_the_textbook(
        intervals in prop::array::uniform8(prop_oneof![
            0u32..100, 900u32..1100, 0u32..(1 << 30)
        ]),
        earlier in prop::collection::vec(prop_oneof![0u32..4, 0u32..(1 << 30)], 0..20),
        predicted_us in 1u32..(1 << 30),
    ) {
        let found = typical_interval(&earlier, &intervals, predicted_us);
        prop_assert_eq!(found, textbook(&intervals, predicted_us));
    }
}

/// [`Intervals::typical`] step by step, by its description.
fn textbook(intervals: &[u32; 8], predicted_us: u32) -> u32 {
    let mut kept: Vec<u128> = intervals.iter().map(|&us| u128::from(us)).collect();
    loop {
        if kept.iter().all(|&us| us >= u128::from(predicted_us)) {
            return NO_PATTERN;
        }
        let n = kept.len() as u128;
        let mean = kept.iter().sum::<u128>() / n;
        let variance = kept.iter().map(|us| us.abs_diff(mean).pow(2)).sum::<u128>() / n;
        if variance <= 400 || (n >= 6 && mean * mean > 36 * variance) {
            return mean as u32;
        }
        if n <= 6 {
            return NO_PATTERN;
        }
        let longest = kept.iter().max().copied();
        kept.retain(|us| Some(*us) != longest);
    }
}
