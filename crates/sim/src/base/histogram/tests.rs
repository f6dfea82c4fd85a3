// SPDX-License-Identifier: GPL-2.0-only
//! Histogram: bucket bounds, quantiles, and few samples.

use super::*;

#[test]
fn a_bucket_holds_its_values_and_is_a_128th_wide() {
    for ns in [0, 1, 127, 128, 129, 255, 257, 1000, 123_456, 9_876_543_210] {
        let (low, width) = range(bucket(ns));
        assert!(
            (low..low + width).contains(&ns),
            "{ns}: {low} and {width} more"
        );
        assert!(width <= (ns / SUB).max(1), "{ns}: {width}");
    }
}

#[test]
fn quantiles_of_a_ramp() {
    let mut h = Histogram::default();
    for us in 1..=1000 {
        h.record(us * 1000);
    }
    let near = |found: Option<f64>, expected: f64, within: f64| {
        let found = found.expect("there are samples");
        assert!((found - expected).abs() < within, "{found} for {expected}");
    };
    near(h.mean_us(), 500.5, 1e-9);
    near(h.quantile_us(500), 500.0, 1.0);
    near(h.quantile_us(990), 990.0, 1.0);
    near(h.max_us(), 1000.0, 1e-9);
    near(h.min_us(), 1.0, 1e-9);
    // Of 1 to n the variance is n (n + 1) / 12.
    near(h.std_us(), (1000.0 * 1001.0 / 12.0_f64).sqrt(), 1e-3);
}

/// Percentiles lie within the measured values.
#[test]
fn of_no_sample_nothing_is_said_and_of_one_no_deviation() {
    let mut h = Histogram::default();
    let all = |h: &Histogram| [h.mean_us(), h.min_us(), h.max_us(), h.quantile_us(990)];
    assert_eq!((all(&h), h.std_us()), ([None; 4], None));
    h.record(1_305_011);
    assert_eq!((all(&h), h.std_us()), ([Some(1305.011); 4], None));
}
