// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn a_word_is_stored_once_and_an_empty_one_is_missing() {
    let table = Table::new().text("comm", ["a", "b", "", "a"]);
    let column = table.column("comm").unwrap();
    let Values::Text { codes, words } = &column.values else {
        panic!("not text");
    };
    assert_eq!(codes, &[0, 1, NO_WORD, 0]);
    assert_eq!(words, &["a", "b"]);
    assert_eq!(column.present, Some(vec![true, true, false, true]));
}

#[test]
fn a_duration_is_in_seconds_and_a_missing_one_is_nan() {
    let table = Table::timed([1, 2]).seconds("delta", [Some(1_500_000_000), None]);
    let Values::Float(values) = &table.column("delta").unwrap().values else {
        panic!("no numbers");
    };
    assert_eq!(values[0], 1.5);
    assert!(values[1].is_nan());
    assert!(table.has_index());
    assert_eq!(table.rows(), 2);
}

#[test]
#[should_panic(expected = "the column pid")]
fn columns_have_one_length() {
    let _ = Table::timed([1, 2]).int("pid", [1]);
}

#[test]
fn a_missing_answer_is_neither_yes_nor_no() {
    let table = Table::new().maybe_bool("significant", [Some(true), None]);
    let column = table.column("significant").unwrap();
    assert_eq!(column.values, Values::Bool(vec![true, false]));
    assert_eq!(column.present, Some(vec![true, false]));
}
