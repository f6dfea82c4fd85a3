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
mod tests;
