// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn half_is_forgotten_in_32_windows() {
    assert!((after(1024.0, 32.0 * WINDOW_NS, 0.0) - 512.0).abs() < 1e-9);
    assert!((after(0.0, 32.0 * WINDOW_NS, 1.0) - 512.0).abs() < 1e-9);
}

#[test]
fn the_swing_is_that_of_the_settled_signal() {
    let (run, period) = (8_000_000, 16_000_000);
    let mut signal = 0.0;
    let mut peak = 0.0;
    for _ in 0..200 {
        peak = after(signal, run as f64, 1.0);
        signal = after(peak, (period - run) as f64, 0.0);
    }
    assert!((512.0 + swing_above(run, period) - peak).abs() < 1e-6);
    assert_eq!(swing_above(period, period), 0.0);
}

#[test]
fn settling_takes_335_ms_to_the_last_unit() {
    let ns = settling_ns(1024.0, 1.0);
    assert!((320_000_000..345_000_000).contains(&ns), "{ns}");
    assert!(after(0.0, ns as f64, 1.0) >= 1022.9);
}
