// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn numbers_show_six_digits() {
    for (value, text) in [
        (0.631_04, "0.631040"),
        (10_267.76, "10267.8"),
        (118_000_000.25, "118000000"),
        (12.0, "12"),
        (0.0, "0"),
        (-0.0, "0"),
        (99.999_999_9, "100.0000"),
        (1e-12, "0.000000000"),
    ] {
        assert_eq!(plain(value), text, "{value}");
    }
}

#[test]
fn short_numbers_show_four_digits_and_whole_ones_all() {
    for (value, text) in [
        (19.25, "19.25"),
        (1850.75, "1851"),
        (123_456.7, "123457"),
        (7663.0, "7663"),
        (0.000_296_954, "0.0002970"),
    ] {
        assert_eq!(short(value), text, "{value}");
    }
}

#[test]
fn durations_have_the_unit_that_suits_them() {
    for (ns, text) in [
        (0, "0 ns"),
        (430, "430 ns"),
        (12_500, "12.50 us"),
        (300_000, "300 us"),
        (5_330_177, "5.330 ms"),
        (61_000_000_000, "61 s"),
    ] {
        assert_eq!(duration(ns), text);
    }
}

#[test]
fn percentages_carry_a_sign_and_no_negative_zero() {
    assert_eq!(percent(Some(41.23)), "+41.2%");
    assert_eq!(percent(Some(-0.04)), "+0.0%");
    assert_eq!(percent(Some(-3.0)), "-3.0%");
    assert_eq!(percent(None), "-");
    assert_eq!(interval(Some((-1.0, 2.0))), "[-1.0, +2.0]");
}

#[test]
fn times_are_exact() {
    for (ns, text) in [
        (5_000_000_000, "5 s"),
        (1_500_000_000, "1500 ms"),
        (17_000, "17 us"),
        (17_001, "17001 ns"),
        (0, "0 ns"),
    ] {
        assert_eq!(time(ns), text);
    }
}
