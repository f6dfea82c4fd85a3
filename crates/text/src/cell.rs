// SPDX-License-Identifier: GPL-2.0-only
//! Cells of tables. Their width is that on a terminal, and limited: a name of thousands of characters
//! would put all other columns out of sight.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::plain::line;

/// Columns of a terminal that a cell has at most, and a column is wide.
const MOST: usize = 120;

/// Variation selector 16: the character before it is shown as an emoji.
const EMOJI_STYLE: char = '\u{fe0f}';

/// To which side of its column a cell is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Spaces behind it.
    Left,
    /// Spaces before it.
    Right,
}

/// Columns of a terminal that `text` takes.
fn width(text: &str) -> usize {
    text.width()
}

/// A text of others as a cell: one line, without what leads a terminal astray, and of 120 columns at
/// most; a longer one ends in `…`.
pub fn cell(text: &str) -> String {
    let text = line(text);
    if width(&text) <= MOST {
        return text.into_owned();
    }
    let mut columns = 0;
    let full = |&(_, c): &(usize, char)| {
        // It makes the character before it one of two columns.
        let wider = usize::from(c == EMOJI_STYLE);
        columns += c.width().unwrap_or(0) + wider;
        columns >= MOST
    };
    let end = text.char_indices().find(full);
    format!("{}…", &text[..end.map_or(text.len(), |(at, _)| at)])
}

/// The cells of one row of a table. `align` gives the side of each column. Every cell is cut to 120
/// columns of the terminal, except a last one that is set to the left: there is room behind it.
pub fn row<S: AsRef<str>>(cells: &[S], align: impl Fn(usize) -> Align) -> Vec<String> {
    let of = |(column, text): (usize, &S)| {
        let free = column + 1 == cells.len() && align(column) == Align::Left;
        match free {
            true => line(text.as_ref()).into_owned(),
            false => cell(text.as_ref()),
        }
    };
    cells.iter().enumerate().map(of).collect()
}

/// The width of each column of a table, in columns of the terminal: that of its widest cell, at most
/// 120.
pub fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width_of = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widest = cells.map(|cell| width(cell)).max().unwrap_or(0);
        widest.min(MOST)
    };
    (0..columns).map(width_of).collect()
}

/// Appends `cell` to `line`, filled with spaces to a width of `columns` columns of the terminal.
pub fn pad(line: &mut String, cell: &str, columns: usize, align: Align) {
    let spaces = columns.saturating_sub(width(cell));
    if align == Align::Right {
        line.extend(std::iter::repeat_n(' ', spaces));
    }
    line.push_str(cell);
    if align == Align::Left {
        line.extend(std::iter::repeat_n(' ', spaces));
    }
}

#[cfg(test)]
mod tests;
