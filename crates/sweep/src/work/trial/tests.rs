// SPDX-License-Identifier: GPL-2.0-only

use super::length;

#[test]
fn a_length_is_in_the_unit_that_suits_it() {
    for (seconds, expected) in [
        (0, "0 seconds"),
        (119, "119 seconds"),
        (120, "2 minutes"),
        (7_199, "120 minutes"),
        (7_200, "2 hours"),
        (200_000, "2 days"),
        (100_000_000, "3 years"),
    ] {
        assert_eq!(length(seconds), expected);
    }
}
