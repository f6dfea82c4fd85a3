// SPDX-License-Identifier: GPL-2.0-only
//! Load tracking of Linux 3.8 to 3.11: two sums, of runnable time and of all time.

use alight_policy::{Pelt13, pelt};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
/// 1024 units of 1024 ns.
const PERIOD: u64 = 1 << 20;
/// Limit of the sum.
const MAX: u32 = 47742;

#[test]
fn contribution_of_full_periods_in_2013() {
    let mut expected = 0;
    let y = 0.5f64.powf(1.0 / 32.0);
    for n in 0..=32 {
        assert_eq!(pelt::full13(n), expected, "{n} periods");
        expected = (f64::from(expected + 1024) * y) as u32;
    }
    let table = [
        (33, half_then(23371, 1) + 1002),
        (64, half_then(23371, 32) + 23371),
        (96, half_then(23371 / 2 + 23371, 32) + 23371),
        (345, 47742),
        (346, 47742),
        (u64::MAX, 47742),
    ];
    for (n, expected) in table {
        assert_eq!(pelt::full13(n), expected, "{n} periods");
    }
    assert!((1..400).all(|n| pelt::full13(n) >= pelt::full13(n - 1)));
}

/// `c` after `n` more periods.
fn half_then(c: u32, n: u64) -> u32 {
    pelt::decay(c.into(), n) as u32
}

#[test]
fn period_and_sum_in_2013() {
    let mut a = Pelt13::default();
    pelt::update13(&mut a, 1023, true);
    assert_eq!(
        (
            a.last_runnable_update,
            a.runnable_avg_sum,
            a.runnable_avg_period
        ),
        (0, 0, 0),
        "less than a unit"
    );
    pelt::update13(&mut a, 2047, true);
    assert_eq!(
        (
            a.last_runnable_update,
            a.runnable_avg_sum,
            a.runnable_avg_period
        ),
        (2047, 1, 1),
        "the rest of a unit is lost"
    );
    pelt::update13(&mut a, 2047 + 100 * 1024, false);
    assert_eq!((a.runnable_avg_sum, a.runnable_avg_period), (1, 101));
    // Closes the period with 923 units, decays once, opens the next with 77.
    pelt::update13(&mut a, 2047 + 1100 * 1024, true);
    assert_eq!(
        (a.runnable_avg_sum, a.runnable_avg_period),
        (half_then(924, 1) + 77, half_then(1024, 1) + 77)
    );
    let before = a;
    pelt::update13(&mut a, 5, true);
    assert_eq!(
        a,
        Pelt13 {
            last_runnable_update: 5,
            ..before
        },
        "time that runs backwards"
    );
}

#[test]
fn the_period_saturates_after_345_ms() {
    let mut a = Pelt13::default();
    for ms in 1..=2000 {
        pelt::update13(&mut a, ms * PERIOD, true);
        assert_eq!(a.runnable_avg_sum, a.runnable_avg_period, "always runnable");
        match ms {
            0..=200 => assert!(
                a.runnable_avg_period < MAX - 1024,
                "{} at {ms} ms",
                a.runnable_avg_period
            ),
            345.. => assert!(
                (MAX - 1024..=MAX).contains(&a.runnable_avg_period),
                "{} at {ms} ms",
                a.runnable_avg_period
            ),
            _ => {}
        }
    }
    // Long stretches are not rounded down at every period.
    let mut b = Pelt13::default();
    pelt::update13(&mut b, 346 * PERIOD, true);
    assert_eq!(b.runnable_avg_period, MAX);
}

#[test]
fn one_ms_in_five_is_just_not_light_and_a_little_less_is() {
    for (run, permille) in [(1000 * US, 208), (950 * US, 198)] {
        let mut a = Pelt13::default();
        let mut now = 0;
        for _ in 0..400 {
            now += 5 * MS - run;
            pelt::update13(&mut a, now, false);
            now += run;
            pelt::update13(&mut a, now, true);
        }
        assert_eq!(
            (a.runnable_avg_sum * 1000 + a.runnable_avg_period / 2) / a.runnable_avg_period,
            permille,
            "right after {run} ns"
        );
        assert_eq!(
            a.runnable_avg_sum * 5 < a.runnable_avg_period,
            permille < 200
        );
    }
}
