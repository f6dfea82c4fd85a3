// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn no_line_is_longer_than_100_characters() {
    let text = "a word or two ".repeat(40);
    for (wrapped, indent) in [(paragraph(&text), 0), (item(&text), 2)] {
        assert!(wrapped.lines().count() > 5);
        assert!(wrapped.lines().all(|line| line.chars().count() <= 100));
        let indented = |line: &str| line.len() - line.trim_start().len() == indent;
        assert!(wrapped.lines().skip(1).all(indented));
        let words = |text: &str| {
            text.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(words(wrapped.trim_start_matches("- ")), words(&text));
    }
}

#[test]
fn a_word_longer_than_a_line_stands_alone() {
    let long = "x".repeat(120);
    assert_eq!(
        item(&format!("a {long} b")),
        format!("- a\n  {long}\n  b\n")
    );
    assert_eq!(paragraph(""), "\n");
}

#[test]
fn no_line_begins_with_a_mark_of_markdown() {
    let before = "x".repeat(98);
    for mark in ["-", "+", "*", "1.", "12)", "#", ">", "|"] {
        let wrapped = paragraph(&format!("{before} {mark} y"));
        assert_eq!(wrapped, format!("{before} {mark}\ny\n"));
    }
    assert_eq!(
        paragraph(&format!("{before} 1.5")),
        format!("{before}\n1.5\n")
    );
}
