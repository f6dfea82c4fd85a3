// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use proptest::prelude::*;

/// The same by definition, in time that grows without bound.
fn by_definition(name: &[u8], pattern: &[u8]) -> bool {
    match (name.split_first(), pattern.split_first()) {
        (_, Some((b'*', rest))) => (0..=name.len()).any(|n| by_definition(&name[n..], rest)),
        (Some((_, name)), Some((b'?', rest))) => by_definition(name, rest),
        (Some((a, name)), Some((b, rest))) => a == b && by_definition(name, rest),
        (None, None) => true,
        _ => false,
    }
}

#[test]
fn stars_and_question_marks() {
    for (name, pattern, expected) in [
        ("hog", "hog", true),
        ("hog1", "hog", false),
        ("ho", "hog", false),
        ("hog1", "hog*", true),
        ("hog", "hog*", true),
        ("hog", "h?g", true),
        ("hg", "h?g", false),
        ("", "*", true),
        ("", "", true),
        ("a", "", false),
        ("a*b", "a*b", true),
        ("kworker/0:1H", "kworker/*H", true),
        ("aXbXc", "a*b*c", true),
        ("aXbX", "a*b*c", false),
        ("name\0 and more", "name", true),
    ] {
        assert_eq!(
            matches(name.as_bytes(), pattern.as_bytes()),
            expected,
            "{name:?} {pattern:?}"
        );
    }
}

#[test]
fn a_pattern_that_backtracks_ends_soon() {
    let name = [b'a'; 4000];
    let pattern = [b"a*".repeat(500), b"b".to_vec()].concat();
    assert!(!matches(&name, &pattern));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn as_by_definition(name in "[ab?*]{0,9}", pattern in "[ab?*]{0,7}") {
        let (name, pattern) = (name.as_bytes(), pattern.as_bytes());
        prop_assert_eq!(matches(name, pattern), by_definition(name, pattern));
    }
}
