// SPDX-License-Identifier: GPL-2.0-only
//! Histograms by powers of two, as the kernel side counts them: bucket 0 holds 0 and 1, bucket
//! `i` holds 2^i to 2^(i+1) - 1, and the last one all that is more.

use std::ops::RangeInclusive;

/// The values that a bucket of `nr` holds; the last one's have no end but `u64::MAX`.
pub fn values(bucket: usize, nr: usize) -> RangeInclusive<u64> {
    let first = if bucket == 0 { 0 } else { 1 << bucket };
    let last = if bucket + 1 == nr {
        u64::MAX
    } else {
        (1 << (bucket + 1)) - 1
    };
    first..=last
}

/// The value below or at which `per_mille` of all lie, or `None` without any. Inside its bucket it
/// is interpolated; `max` is the largest value that occurred, which no answer exceeds.
pub fn quantile(buckets: &[u64], per_mille: u64, max: u64) -> Option<u64> {
    let all: u128 = buckets.iter().map(|&count| u128::from(count)).sum();
    if all == 0 {
        return None;
    }
    // The rank of the value that is looked for, from 1.
    let rank = (all * u128::from(per_mille)).div_ceil(1000).max(1);
    let mut before = 0_u128;
    for (bucket, &count) in buckets.iter().enumerate() {
        let count = u128::from(count);
        if before + count >= rank {
            let values = values(bucket, buckets.len());
            let (first, last) = (*values.start(), (*values.end()).min(max));
            let width = u128::from(last.saturating_sub(first));
            let value = u128::from(first) + width * (rank - before) / count;
            return Some(u64::try_from(value).unwrap_or(max).min(max));
        }
        before += count;
    }
    Some(max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_leave_no_value_out() {
        for (bucket, expected) in [(0, 0..=1), (1, 2..=3), (2, 4..=7), (3, 8..=u64::MAX)] {
            assert_eq!(values(bucket, 4), expected);
        }
    }

    #[test]
    fn quantiles_lie_in_the_bucket_of_their_rank() {
        /* Ten values: one of 0 or 1, eight of 4 to 7, one of 16 to 31. */
        let buckets = [1, 0, 8, 0, 1];
        for (per_mille, expected) in [(100, 1..=1), (500, 4..=7), (900, 7..=7), (1000, 20..=20)] {
            let found = quantile(&buckets, per_mille, 20).unwrap();
            assert!(expected.contains(&found), "{per_mille}: {found}");
        }
        assert_eq!(quantile(&[0, 0], 500, 0), None);
    }

    proptest! {
        #[test]
        fn quantiles_grow_and_stay_below_the_largest(
            buckets in prop::collection::vec(any::<u64>(), 1..64),
            max in any::<u64>(),
        ) {
            let found: Vec<_> = (0..=10).map(|n| quantile(&buckets, n * 100, max)).collect();
            prop_assert!(found.is_sorted(), "{:?}", found);
            prop_assert!(found.iter().flatten().all(|&value| value <= max));
        }
    }
}
