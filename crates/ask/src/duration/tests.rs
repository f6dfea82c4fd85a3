// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn times_are_exact() {
    for (text, ns) in [
        ("5s", 5_000_000_000),
        ("200ms", 200_000_000),
        ("17 us", 17_000),
        ("0s", 0),
        ("1.5s", 1_500_000_000),
        (".25ms", 250_000),
        ("0.1min", 6_000_000_000),
        ("2.000000001s", 2_000_000_001),
        ("250ns", 250),
    ] {
        assert_eq!(parse(text), Ok(ns), "{text}");
    }
}

#[test]
fn what_is_no_time_is_refused_with_the_reason() {
    for (text, reason) in [
        ("5", "'5' has no unit"),
        ("-5s", "the time is negative"),
        ("s", "there is no number"),
        ("", "there is no number"),
        ("5h", "'h' is no unit"),
        ("1.2.3s", "the number has two points"),
        ("0.5ns", "the number is finer than 1 ns"),
        ("99999999999999s", "the time exceeds 584 years"),
        ("99999999999999999999999s", "the time exceeds 584 years"),
    ] {
        let message = parse(text).unwrap_err();
        assert!(message.starts_with(reason), "{text}: {message}");
        assert!(message.contains("like 5s or 200ms"), "{message}");
    }
    assert!(parse_length("0ms").unwrap_err().contains("no length"));
    assert_eq!(parse_length("1ms"), Ok(1_000_000));
}

#[test]
fn a_typed_time_is_read_as_the_same() {
    for ns in [
        1,
        17_001,
        20_000_000,
        1_500_000_000,
        60_000_000_000,
        u64::MAX,
    ] {
        assert_eq!(parse(&typed(ns)), Ok(ns));
    }
}
