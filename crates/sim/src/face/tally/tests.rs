// SPDX-License-Identifier: GPL-2.0-only
//! Tally: buckets and percentiles as in schbench.

use super::*;

fn of(samples: impl IntoIterator<Item = u64>) -> Tally {
    let mut tally = Tally::default();
    samples.into_iter().for_each(|sample| tally.record(sample));
    tally
}

#[test]
fn buckets_are_those_of_schbench() {
    // Value, bucket, what the bucket stands for: computed by schbench's own functions.
    let table = [
        (0, 0, 0),
        (1, 1, 1),
        (255, 255, 255),
        (256, 256, 256),
        (511, 511, 511),
        (512, 512, 513),
        (513, 512, 513),
        (1000, 756, 1001),
        (1024, 768, 1026),
        (16_864, 1799, 16_864),
        (30_000, 2004, 29_984),
        (1_000_000, 3304, 1_000_448),
        (u64::from(u32::MAX), 4863, 67_043_328),
        (u64::MAX, 4863, 67_043_328),
    ];
    for (sample, at, stands_for) in table {
        assert_eq!(bucket(sample), at, "{sample}");
        assert_eq!(value(at), stands_for, "{sample}");
    }
}

#[test]
fn percentiles_of_schbench_and_positions_of_adrestia() {
    let ramp = of(1..=100);
    // Per mille, percentile, samples up to it, sorted.
    let table = [
        (0, 1, 1, 1),
        (200, 20, 20, 21),
        (500, 50, 50, 51),
        (900, 90, 90, 91),
        (999, 100, 100, 100),
    ];
    for (per_mille, value, below, sorted) in table {
        assert_eq!(ramp.percentile(per_mille), Some((value, below)));
        assert_eq!(ramp.sorted(per_mille), Some(sorted));
    }
    assert_eq!(of([]).percentile(500), None);
    assert_eq!(of([]).sorted(500), None);
}

#[test]
fn extremes_sum_and_latest() {
    let mut tally = of([7, 0, 3, 12, 5]);
    let all = |t: &Tally| (t.count(), t.sum(), t.min(), t.max(), t.last());
    assert_eq!(all(&tally), (5, 27, Some(0), 12, 5));
    assert_eq!(tally.lowest_seen(), 3, "a minimum of 0 is replaced");
    tally.clear();
    assert_eq!(tally, Tally::default());
    assert_eq!(all(&tally), (0, 0, None, 0, 0));
}
