// SPDX-License-Identifier: GPL-2.0-only
//! Locks: which holder waits for which.

use super::Interval;

/// Holders take the lock in their order. Work is charged ahead of the clock, so a holder that comes
/// at an earlier time than the present holders does not wait.
#[test]
fn a_lock_is_first_come_first_served() {
    for (asked, waits, because) in [
        (&[0, 50][..], &[0, 0][..], "free again"),
        (&[0, 4], &[0, 6], "for the rest of the hold"),
        (&[0, 10], &[0, 0], "just free"),
        (
            &[0, 0, 0, 0],
            &[0, 10, 20, 30],
            "all at once: one after the other",
        ),
        (
            &[0, 5, 7, 40],
            &[0, 5, 13, 0],
            "a queue, and then it is over",
        ),
        (&[100, 20], &[0, 0], "the holder will only come later"),
        (&[100, 20, 104], &[0, 0, 6], "and is not forgotten for that"),
    ] {
        let mut lock = Interval::default();
        let found: Vec<u64> = asked.iter().map(|&at| lock.take(at, 10)).collect();
        assert_eq!(found, waits, "{because}");
    }
}
