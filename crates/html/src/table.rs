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

    /// Whether a column holds figures, and nothing else: it stands at the right.
    fn has_figures(&self, column: usize) -> bool {
        let mut cells = (self.rows.iter())
            .filter_map(|row| row.get(column))
            .filter(|cell| !cell.is_empty())
            .peekable();
        column > 0 && cells.peek().is_some() && cells.all(|cell| is_figure(cell))
    }
}

/// Whether a cell is a figure.
fn is_figure(cell: &str) -> bool {
    cell.chars()
        .all(|c| c.is_ascii_digit() || "+-.,%[] ".contains(c))
}

impl Part for Table {
    fn markup(&self) -> Markup {
        let columns = (self.rows.iter())
            .map(Vec::len)
            .chain([self.heads.len()])
            .max();
        let classes: Vec<Option<&str>> = (0..columns.unwrap_or(0))
            .map(|column| self.has_figures(column).then_some("figure"))
            .collect();
        html! {
            div.wide tabindex="0" {
                table {
                    @if self.heads.iter().any(|head| !head.is_empty()) {
                        thead {
                            tr {
                                @for (head, class) in self.heads.iter().zip(&classes) {
                                    th scope="col" class=[class] { (head) }
                                }
                            }
                        }
                    }
                    tbody {
                        @for row in &self.rows {
                            tr {
                                @for (at, (cell, class)) in row.iter().zip(&classes).enumerate() {
                                    @if at == 0 {
                                        th scope="row" { (cell) }
                                    } @else {
                                        td class=[class] { (cell) }
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

#[cfg(test)]
mod tests;
