// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn seconds_are_exact() {
    for (text, ns) in [
        ("24.215206206", Some(24_215_206_206)),
        ("0.000001", Some(1000)),
        ("7", Some(7_000_000_000)),
        ("1.", None),
        (".5", None),
        ("1.0000000001", None),
        ("-1", None),
        ("1e3", None),
        ("99999999999999", None),
    ] {
        assert_eq!(seconds(text), ns, "{text}");
    }
}

#[test]
fn a_moment_is_behind_the_first_event_or_of_the_clock() {
    assert_eq!(Moment::AfterFirst(5).on_clock(100), 105);
    assert_eq!(Moment::AfterFirst(u64::MAX).on_clock(100), u64::MAX);
    assert_eq!(Moment::At(5).on_clock(100), 5);
}
