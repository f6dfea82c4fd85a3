// SPDX-License-Identifier: GPL-2.0-only
//! Times have the unit in which they are short.

use super::*;

#[test]
fn a_time_has_the_unit_in_which_it_is_short() {
    for (ns, text) in [
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1 µs"),
        (1_234_567, "1.234 ms"),
        (250_000_000, "250 ms"),
        (12_000_500_000_000, "12000.5 s"),
    ] {
        assert_eq!(time(ns), text);
    }
}

#[test]
fn microseconds_have_one_spelling() {
    for (unit_of_a_number, written) in [("us", "µs"), ("ms", "ms"), ("J", "J"), ("", "")] {
        assert_eq!(unit(unit_of_a_number), written);
    }
}
