// SPDX-License-Identifier: GPL-2.0-only
//! The first tasks' `wakee_flips`: stated, or drawn from the measured tenths.

use super::*;

#[test]
fn runs_begin_with_what_is_stated_or_as_often_with_each_tenth() {
    assert_eq!(wakee_flips(Some(33), 1), 33);
    let often = |flips| {
        let runs = (0..10_000).filter(|seed| wakee_flips(None, *seed) == flips);
        (runs.count() + 500) / 1000
    };
    let expected = [
        (0, 1),
        (1, 2),
        (2, 2),
        (3, 1),
        (4, 1),
        (5, 1),
        (7, 1),
        (12, 1),
        (6, 0),
    ];
    for (flips, tenths) in expected {
        assert_eq!(often(flips), tenths, "{flips}");
    }
}
