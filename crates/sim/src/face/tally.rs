// SPDX-License-Identifier: GPL-2.0-only
//! The histogram of fio, which schbench took over: exact below 512, then 256 buckets per power of
//! two. The figures that these tools print come from it.

/// Bits of a value that a bucket keeps (`PLAT_BITS` of schbench 24e32b8).
const BITS: u32 = 8;
/// Buckets of a group.
const PER_GROUP: u64 = 1 << BITS;
/// Groups, one for each number of lost bits (`PLAT_GROUP_NR`).
const GROUPS: u64 = 19;
/// Buckets in all.
const BUCKETS: usize = (GROUPS * PER_GROUP) as usize;

/// The samples of a tool: whole microseconds, or counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
    last: u64,
    lowest_seen: u64,
    buckets: Box<[u32]>,
}

impl Default for Tally {
    fn default() -> Self {
        Tally {
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
            last: 0,
            lowest_seen: 0,
            buckets: vec![0; BUCKETS].into(),
        }
    }
}

impl Tally {
    /// Adds a sample.
    pub fn record(&mut self, value: u64) {
        self.count += 1;
        self.sum += value;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        self.last = value;
        if self.lowest_seen == 0 || value < self.lowest_seen {
            self.lowest_seen = value;
        }
        let bucket = &mut self.buckets[bucket(value)];
        *bucket = bucket.saturating_add(1);
    }

    /// Removes all samples.
    pub fn clear(&mut self) {
        self.buckets.fill(0);
        let buckets = std::mem::take(&mut self.buckets);
        *self = Tally {
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
            last: 0,
            lowest_seen: 0,
            buckets,
        };
    }

    /// Number of samples.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the samples.
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// Smallest sample; `None`: there is none.
    pub fn min(&self) -> Option<u64> {
        (self.count != 0).then_some(self.min)
    }

    /// The smallest sample as schbench keeps it (`add_lat`): a minimum of 0 counts as unset.
    pub fn lowest_seen(&self) -> u64 {
        self.lowest_seen
    }

    /// Largest sample, 0 if there is none.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The latest sample, 0 if there is none.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The filled buckets in rising order: value, and number of samples.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let filled = |(at, &n): (usize, &u32)| (n != 0).then(|| (value(at), u64::from(n)));
        self.buckets.iter().enumerate().filter_map(filled)
    }

    /// The value at or below which `per_mille` thousandths of the samples are, and the number of
    /// samples at or below it (`calc_percentiles` of schbench).
    pub fn percentile(&self, per_mille: u32) -> Option<(u64, u64)> {
        // In floating point and in this order, as in schbench. Only reports use it.
        let wanted = f64::from(per_mille) / 10.0 / 100.0 * self.count as f64;
        let mut below = 0;
        self.buckets().find_map(|(value, n)| {
            below += n;
            (below as f64 >= wanted).then_some((value, below))
        })
    }

    /// The sample at index `count * per_mille / 1000` of the sorted samples, counted from 0; exact
    /// below 512. `per_mille` is below 1000.
    pub fn sorted(&self, per_mille: u32) -> Option<u64> {
        let place = self.count * u64::from(per_mille) / 1000;
        let mut below = 0;
        self.buckets().find_map(|(value, n)| {
            below += n;
            (below > place).then_some(value)
        })
    }
}

/// `plat_val_to_idx`
fn bucket(value: u64) -> usize {
    let value = value.min(u64::from(u32::MAX));
    let bits = value.checked_ilog2().unwrap_or(0);
    if bits <= BITS {
        return value as usize;
    }
    let lost = bits - BITS;
    let base = u64::from(lost + 1) << BITS;
    let within = (value >> lost) & (PER_GROUP - 1);
    ((base + within) as usize).min(BUCKETS - 1)
}

/// `plat_idx_to_val`: the middle of the bucket.
fn value(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * PER_GROUP {
        return bucket;
    }
    let lost = (bucket >> BITS) - 1;
    let base = 1u64 << (lost + u64::from(BITS));
    base + ((bucket % PER_GROUP) << lost) + (1 << lost) / 2
}

#[cfg(test)]
mod tests;
