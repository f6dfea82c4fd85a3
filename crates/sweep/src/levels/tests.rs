// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn texts(levels: &Levels) -> Vec<String> {
    (0..levels.count())
        .map(|index| levels.text(index))
        .collect()
}

#[test]
fn a_range_has_both_ends_and_what_lies_between() {
    for (text, scale, expected) in [
        ("0..512 step 256", Scale::Whole, vec!["0", "256", "512"]),
        ("1..3", Scale::Whole, vec!["1", "2", "3"]),
        ("0..5 step 2", Scale::Whole, vec!["0", "2", "4"]),
        ("7 .. 7", Scale::Whole, vec!["7"]),
        (
            "1_000..2_000 step 1_000",
            Scale::Whole,
            vec!["1000", "2000"],
        ),
        (
            "0.5..2 step 0.75",
            Scale::Permille,
            vec!["0.5", "1.25", "2"],
        ),
    ] {
        let levels = Levels::range(text, scale).expect(text);
        assert_eq!(texts(&levels), expected, "{text}");
        assert!(levels.is_numeric());
    }
    let half = Levels::range("0.5..1 step 0.5", Scale::Permille).expect("a range");
    assert_eq!((half.raw(0), half.number(0)), (Some(500), Some(0.5)));
}

#[test]
fn what_is_no_range_is_named() {
    for (text, scale, message) in [
        (
            "512..0",
            Scale::Whole,
            "the range `512..0` is empty: its end is below its start",
        ),
        (
            "0..8 step 0",
            Scale::Whole,
            "the step of the range `0..8 step 0` is 0, expected more",
        ),
        (
            "a..8",
            Scale::Whole,
            "`a..8` is no range, expected one like `0..512 step 64`",
        ),
        ("0..", Scale::Whole, "`0..` is no range"),
        ("0..1.5", Scale::Whole, "`0..1.5` is no range"),
        ("-1..8", Scale::Whole, "`-1..8` is no range"),
        ("0..8 step", Scale::Whole, "`0..8 step` is no range"),
        (
            "1..2",
            Scale::Permille,
            "the range `1..2` of multiples has no step",
        ),
        ("0.1234..1 step 1", Scale::Permille, "is no range"),
        (
            "0..18446744073709551615",
            Scale::Whole,
            "has too many values",
        ),
        ("0..99999999999999999999", Scale::Whole, "is no range"),
    ] {
        let error = Levels::range(text, scale).expect_err(text);
        assert!(error.contains(message), "{text}: {error}");
    }
}

#[test]
fn a_list_is_of_numbers_or_of_words() {
    let numbers = Levels::list(&["0", " 64"], Scale::Whole).expect("a list");
    assert_eq!(
        (texts(&numbers), numbers.is_numeric()),
        (vec!["0".into(), "64".into()], true)
    );
    let words = Levels::list(&["on", "off"], Scale::Whole).expect("a list");
    assert_eq!((words.raw(0), words.is_numeric()), (None, false));
    for (items, message) in [
        (vec![], "empty value, or none"),
        (vec!["1", ""], "empty value, or none"),
        (vec!["1", "01"], "`1` occurs twice"),
        (vec!["on", "on"], "`on` occurs twice"),
    ] {
        let error = Levels::list(&items, Scale::Whole).expect_err("a bad list");
        assert!(error.contains(message), "{items:?}: {error}");
    }
}
