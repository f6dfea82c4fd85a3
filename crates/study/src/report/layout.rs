// SPDX-License-Identifier: GPL-2.0-only
//! Columns of text: the first to the left, the others to the right, as wide as their widest cell.

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

    /// Adds a row; rows may differ in length.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// No row was added.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The text; no line ends in a space.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = " ".repeat(self.indent);
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                if column > 0 {
                    line.push_str(self.gap);
                }
                if column < self.left || (self.remark && column + 1 == columns) {
                    line.push_str(&format!("{cell:<width$}"));
                } else {
                    line.push_str(&format!("{cell:>width$}"));
                }
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut columns = Columns::new(1, 1);
        columns.row(["", "mean"]);
        columns.row(["linux-5.5", "1.25"]);
        columns.row(["b", "100.25", ""]);
        let expected = "              mean\n linux-5.5    1.25\n b          100.25\n";
        assert_eq!(columns.render(), expected);
    }
}
