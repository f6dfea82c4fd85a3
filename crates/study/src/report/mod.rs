// SPDX-License-Identifier: GPL-2.0-only
//! Reports of a comparison: for people, for mails to the kernel's lists, for scripts.

mod csv;
mod json;
mod layout;
mod lkp;
mod markdown;
mod mmtests;
pub mod number;
mod table;
pub(crate) mod words;

#[cfg(test)]
mod tests;

pub use json::{document, map, pretty};
pub use layout::{Columns, head_of, labelled};
pub(crate) use markdown::line as markdown_line;
pub(crate) use table::{STATISTICS, cells as statistics_of};

use crate::compare::Comparison;

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// For the terminal.
    Table,
    /// For a page.
    Markdown,
    /// One row a number and scheduler.
    Csv,
    /// `alight.compare/1`.
    Json,
    /// As `compare-kernels.sh` of mmtests prints.
    Mmtests,
    /// As the kernel test robot prints.
    Lkp,
}

impl Style {
    /// All styles by the name that users type.
    pub const ALL: [(&'static str, Style); 6] = [
        ("table", Style::Table),
        ("markdown", Style::Markdown),
        ("csv", Style::Csv),
        ("json", Style::Json),
        ("mmtests", Style::Mmtests),
        ("lkp", Style::Lkp),
    ];
}

/// The report, ending in a newline.
pub fn render(comparison: &Comparison, style: Style) -> String {
    match style {
        Style::Table => table::render(comparison),
        Style::Markdown => markdown::render(comparison),
        Style::Csv => csv::render(comparison),
        Style::Json => json::render(comparison),
        Style::Mmtests => mmtests::render(comparison),
        Style::Lkp => lkp::render(comparison),
    }
}
