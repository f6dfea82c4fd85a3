// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn a_cell_is_cut_by_its_width_on_a_terminal() {
    let cases = [
        (String::new(), String::new()),
        ("x".repeat(120), "x".repeat(120)),
        ("x".repeat(121), "x".repeat(119) + "…"),
        ("x".repeat(65_520), "x".repeat(119) + "…"),
        // Each of these takes two columns: 59 of them and the ellipsis are 119.
        ("任".repeat(60), "任".repeat(60)),
        ("任".repeat(61), "任".repeat(59) + "…"),
        // None takes a column.
        (
            "e".to_owned() + &"\u{301}".repeat(300),
            "e".to_owned() + &"\u{301}".repeat(300),
        ),
        (
            "\u{2764}\u{fe0f}".repeat(100),
            "\u{2764}\u{fe0f}".repeat(59) + "\u{2764}…",
        ),
        ("a\nb".to_owned(), "a\\u000ab".to_owned()),
    ];
    for (given, expected) in cases {
        let found = cell(&given);
        assert_eq!(found, expected, "{} bytes", given.len());
        assert!(width(&found) <= MOST);
    }
}

#[test]
fn the_last_cell_has_room_if_it_is_set_to_the_left() {
    let long = "x".repeat(70_000);
    for (side, expected) in [(Align::Left, 70_000), (Align::Right, 120)] {
        let align = |column: usize| if column == 0 { Align::Left } else { side };
        let row = row(&[&long, &long], align);
        assert_eq!([width(&row[0]), width(&row[1])], [120, expected]);
        assert_eq!(widths(&[row]), [120, 120]);
    }
}

#[test]
fn cells_are_set_to_a_side_however_wide_the_column_is() {
    for (cell, columns, align, expected) in [
        ("ab", 4, Align::Left, "|ab  "),
        ("ab", 4, Align::Right, "|  ab"),
        ("任务", 5, Align::Right, "| 任务"),
        ("abc", 2, Align::Left, "|abc"),
    ] {
        let mut line = "|".to_owned();
        pad(&mut line, cell, columns, align);
        assert_eq!(line, expected);
    }
    let mut line = String::new();
    pad(&mut line, "a", 65_536, Align::Right);
    assert_eq!(line.len(), 65_536);
}
