// SPDX-License-Identifier: GPL-2.0-only
//! Tables. The first column says what a row is about, the others have its figures.

use maud::{Markup, html};

use crate::Part;

/// A table in the making.
#[derive(Debug, Clone)]
pub struct Table {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these heads of columns.
    pub fn new<T: Into<String>>(heads: impl IntoIterator<Item = T>) -> Self {
        Table {
            heads: heads.into_iter().map(Into::into).collect(),
            rows: vec![],
        }
    }

    /// One more row.
    #[must_use]
    pub fn row<T: Into<String>>(mut self, cells: impl IntoIterator<Item = T>) -> Self {
        self.rows.push(cells.into_iter().map(Into::into).collect());
        self
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

/// Whether a cell is a figure, which stands at the right.
fn is_figure(cell: &str) -> bool {
    let digits = |c: char| c.is_ascii_digit() || "+-.,%[] ".contains(c);
    !cell.is_empty() && cell.chars().all(digits)
}

impl Part for Table {
    fn markup(&self) -> Markup {
        html! {
            div.wide tabindex="0" {
                table {
                    @if self.heads.iter().any(|head| !head.is_empty()) {
                        thead { tr { @for head in &self.heads { th scope="col" { (head) } } } }
                    }
                    tbody {
                        @for row in &self.rows {
                            tr {
                                @for (at, cell) in row.iter().enumerate() {
                                    @if at == 0 {
                                        th scope="row" { (cell) }
                                    } @else if is_figure(cell) {
                                        td.figure { (cell) }
                                    } @else {
                                        td { (cell) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
