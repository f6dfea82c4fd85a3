// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn gaps_are_those_within_the_window() {
    let busy = [(0, 10), (20, 30), (70, 80)];
    assert_eq!(longest_gap(&busy, (5, 75)), 40);
    assert_eq!(longest_gap(&busy, (5, 45)), 15);
    assert_eq!(longest_gap(&busy, (22, 28)), 0);
    assert_eq!(longest_gap(&[], (1, 4)), 3);
}
