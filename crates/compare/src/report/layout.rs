// SPDX-License-Identifier: GPL-2.0-only
//! Columns of text: the first to the left, the others to the right, as wide as their widest cell.

use alight_html::Table;
use alight_text::{Align, pad};

/// Rows of cells.
#[derive(Debug)]
pub struct Columns {
    rows: Vec<Vec<String>>,
    indent: usize,
    left: usize,
    remark: bool,
    gap: &'static str,
}

impl Columns {
    /// Every row begins with `indent` spaces; the first `left` columns are set to the left.
    pub fn new(indent: usize, left: usize) -> Self {
        Columns {
            rows: Vec::new(),
            indent,
            left,
            remark: false,
            gap: "  ",
        }
    }

    /// One space between columns instead of two.
    pub fn narrow(mut self) -> Self {
        self.gap = " ";
        self
    }

    /// The last column is set to the left too.
    pub fn with_remark(mut self) -> Self {
        self.remark = true;
        self
    }

    /// Adds a row; rows may differ in length. Names of others are made harmless and short
    /// ([`alight_text::row`]); behind the last column, if it is set to the left, there is room.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// No row was added.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The same for a page. The first row has the heads.
    pub fn table(self) -> Table {
        let mut rows = self.rows.into_iter();
        let heads = rows.next().unwrap_or_default();
        rows.fold(Table::new(heads), |table, row| {
            table.row(row.iter().map(|cell| alight_text::cell(cell)))
        })
    }

    /// The text; no line ends in a space.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let align =
            |column: usize| match column < self.left || (self.remark && column + 1 == columns) {
                true => Align::Left,
                false => Align::Right,
            };
        let rows: Vec<Vec<String>> = (self.rows.iter())
            .map(|row| alight_text::row(row, align))
            .collect();
        let widths = alight_text::widths(&rows);
        let mut text = String::new();
        for row in &rows {
            let mut line = " ".repeat(self.indent);
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if column > 0 {
                    line.push_str(self.gap);
                }
                pad(&mut line, cell, *width, align(column));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// The head of a report: labels, values, and the command that asks again in
/// lines that a terminal shows and a shell takes.
pub fn head_of(rows: impl IntoIterator<Item = (&'static str, String)>, command: &str) -> String {
    let mut columns = labels(rows);
    for (index, line) in continued(command).into_iter().enumerate() {
        let label = if index == 0 { "again" } else { "" };
        columns.row([label.to_owned(), line]);
    }
    columns.render()
}

/// Labels and values in lines that a terminal shows.
pub fn labelled<'l>(rows: impl IntoIterator<Item = (&'l str, String)>) -> String {
    labels(rows).render()
}

fn labels<'l>(rows: impl IntoIterator<Item = (&'l str, String)>) -> Columns {
    let mut columns = Columns::new(0, 2);
    for (label, value) in rows {
        for (index, line) in wrapped(&value).into_iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            columns.row([label.to_owned(), line]);
        }
    }
    columns
}

/// Characters that a line of the head has beside its label.
const WIDTH: usize = 84;

/// A text in lines, broken at spaces.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("starts with one");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= WIDTH {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

/// A command in lines that end in `\`, but for the last.
fn continued(command: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts(command) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + part.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(&part);
            }
            _ => lines.push(part),
        }
    }
    let last = lines.len().saturating_sub(1);
    for line in &mut lines[..last] {
        line.push_str(" \\");
    }
    lines
}

/// The quoted words of a command, each option with its value.
fn parts(command: &str) -> Vec<String> {
    let words = shell_words::split(command).unwrap_or_else(|_| vec![command.to_owned()]);
    let mut parts: Vec<String> = Vec::new();
    let mut value_follows = false;
    for word in &words {
        let quoted = shell_words::quote(word);
        match parts.last_mut() {
            Some(option) if value_follows => *option += &format!(" {quoted}"),
            _ => parts.push(quoted.into_owned()),
        }
        value_follows = word.starts_with('-') && !value_follows;
    }
    parts
}

#[cfg(test)]
mod tests;
