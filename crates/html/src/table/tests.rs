// SPDX-License-Identifier: GPL-2.0-only
//! Where the cells of tables stand.

use super::*;

#[test]
fn a_column_of_figures_and_nothing_else_stands_at_the_right_with_its_head() {
    let table = Table::new(["", "mean", "seed", "delta", "words"])
        .row(["1", "12.5", "1", "", "long"])
        .row(["2", "[1.0, -2.0]", "one", "+3.5%", ""]);
    let html = table.markup().into_string();
    for cell in [
        "<th scope=\"col\" class=\"figure\">mean</th>",
        "<td class=\"figure\">12.5</td>",
        "<td class=\"figure\">[1.0, -2.0]</td>",
        "<td>1</td>",
        "<td class=\"figure\">+3.5%</td>",
        "<th scope=\"col\">words</th>",
        "<th scope=\"row\">1</th>",
    ] {
        assert!(html.contains(cell), "{cell}: {html}");
    }
}

#[test]
fn a_row_may_be_longer_or_shorter_than_the_heads() {
    let table = Table::new(["a"]).row(["1", "2", "3"]).row([""; 0]);
    let html = table.markup().into_string();
    assert_eq!(html.matches("<td").count(), 2, "{html}");
}
