// SPDX-License-Identifier: GPL-2.0-only
//! A histogram of durations: mean, extremes, standard deviation and quantiles.

/// Buckets per power of two; itself a power of two.
const SUB: u64 = 128;

/// Number of buckets; they cover durations up to 2^40 ns, longer ones are in the last.
const BUCKETS: usize = (41 - SUB.ilog2() as usize) * SUB as usize;

/// Durations in ns. Count, sums and extremes are exact. Quantiles are exact to 1/128: the samples
/// of a bucket are assumed to be spread evenly.
#[derive(Debug, Clone)]
pub(crate) struct Histogram {
    count: u64,
    sum: u64,
    sum_of_squares: u128,
    min: u64,
    max: u64,
    buckets: Box<[u32]>,
}

impl Default for Histogram {
    fn default() -> Self {
        Histogram {
            count: 0,
            sum: 0,
            sum_of_squares: 0,
            min: u64::MAX,
            max: 0,
            buckets: vec![0; BUCKETS].into(),
        }
    }
}

impl Histogram {
    /// Adds one duration.
    pub fn record(&mut self, ns: u64) {
        self.count += 1;
        self.sum += ns;
        self.sum_of_squares += u128::from(ns) * u128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        self.buckets[bucket(ns)] += 1;
    }

    /// Number of durations.
    pub fn samples(&self) -> u64 {
        self.count
    }

    pub fn mean_us(&self) -> Option<f64> {
        (self.count != 0).then(|| self.sum as f64 / self.count as f64 / 1e3)
    }

    pub fn min_us(&self) -> Option<f64> {
        (self.count != 0).then_some(self.min as f64 / 1e3)
    }

    pub fn max_us(&self) -> Option<f64> {
        (self.count != 0).then_some(self.max as f64 / 1e3)
    }

    /// Standard deviation of the samples.
    pub fn std_us(&self) -> Option<f64> {
        if self.count < 2 {
            return None;
        }
        let squared_sum = u128::from(self.sum) * u128::from(self.sum);
        let scatter = self.sum_of_squares - squared_sum / u128::from(self.count);
        Some((scatter as f64 / (self.count - 1) as f64).sqrt() / 1e3)
    }

    pub fn quantile_us(&self, per_mille: u32) -> Option<f64> {
        let rank = (self.count * u64::from(per_mille)).div_ceil(1000).max(1);
        let mut below = 0;
        for (i, &n) in self.buckets.iter().enumerate() {
            let n = u64::from(n);
            if below + n >= rank {
                let (low, width) = range(i);
                let within = u128::from(width) * u128::from(2 * (rank - below) - 1);
                let ns = low + (within / u128::from(2 * n)) as u64;
                return Some(ns.clamp(self.min, self.max) as f64 / 1e3);
            }
            below += n;
        }
        None
    }
}

/// Bucket of a duration: one bucket per ns below [`SUB`], [`SUB`] buckets per power of two above.
fn bucket(ns: u64) -> usize {
    if ns < SUB {
        return ns as usize;
    }
    let exponent = ns.ilog2();
    let within = (ns >> (exponent - SUB.ilog2())) & (SUB - 1);
    let power = u64::from(exponent - SUB.ilog2()) + 1;
    ((power * SUB + within) as usize).min(BUCKETS - 1)
}

/// The least value of a bucket, and the number of values that it covers.
fn range(bucket: usize) -> (u64, u64) {
    let (power, within) = (bucket as u64 / SUB, bucket as u64 % SUB);
    if power == 0 {
        return (within, 1);
    }
    let step = 1 << (power - 1);
    ((SUB + within) * step, step)
}

#[cfg(test)]
mod tests;
