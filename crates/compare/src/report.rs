// SPDX-License-Identifier: GPL-2.0-only
//! Reports of a comparison: for people, for mails to the kernel's lists, for scripts.

pub mod answer;
mod csv;
mod html;
mod json;
mod layout;
mod lkp;
mod markdown;
mod mmtests;
pub mod number;
mod results;
mod samples;
mod short;
mod table;
pub mod words;

#[cfg(test)]
mod tests;

pub use html::{differences, observed, page, parts};
pub use json::{document, map, pretty};
pub use layout::{Columns, head_of, labelled};
pub use markdown::line as markdown_line;
pub use table::{STATISTICS, cells as statistics_of};

use crate::compare::Comparison;

/// In which form a report is written. No report has all of them: `STYLES` beside each says which.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// For the terminal.
    Table,
    /// For a page.
    Markdown,
    /// One row a number.
    Csv,
    /// For programs, each report by a schema of its own.
    Json,
    /// As `compare-kernels.sh` of mmtests prints.
    Mmtests,
    /// As the kernel test robot prints.
    Lkp,
    /// What the simulated tools themselves print.
    Tool,
}

impl Style {
    /// The name that users type.
    pub fn name(self) -> &'static str {
        match self {
            Style::Table => "table",
            Style::Markdown => "markdown",
            Style::Csv => "csv",
            Style::Json => "json",
            Style::Mmtests => "mmtests",
            Style::Lkp => "lkp",
            Style::Tool => "tool",
        }
    }

    /// Ends a report that has it not.
    ///
    /// # Panics
    /// Always.
    pub fn is_none_of(self, report: &str) -> ! {
        panic!("{report} has no style {}", self.name());
    }
}

/// The styles of a comparison.
pub const STYLES: [Style; 6] = [
    Style::Table,
    Style::Markdown,
    Style::Csv,
    Style::Json,
    Style::Mmtests,
    Style::Lkp,
];

/// How much a report for people tells. Reports for programs tell all that was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Results, verdicts, and the few lines that explain them.
    Short,
    /// Every number.
    Full,
    /// The numbers that were asked for by name: the others are not there.
    Chosen,
}

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// The style.
    pub style: Style,
    /// The extent, in [`Style::Table`] and [`Style::Markdown`].
    pub extent: Extent,
    /// In [`Style::Csv`]: the value of each run instead of the summary of all runs.
    pub samples: bool,
}

/// The report, ending in a newline.
///
/// # Panics
/// The style is none of [`STYLES`].
pub fn render(comparison: &Comparison, form: Form) -> String {
    match form.style {
        Style::Table => match form.extent {
            Extent::Short => short::render(comparison),
            Extent::Full => table::render(comparison),
            Extent::Chosen => table::chosen(comparison),
        },
        Style::Markdown => markdown::render(comparison, form.extent),
        Style::Csv if form.samples => samples::render(comparison),
        Style::Csv => csv::render(comparison),
        Style::Json => json::render(comparison),
        Style::Mmtests => mmtests::render(comparison),
        Style::Lkp => lkp::render(comparison),
        Style::Tool => form.style.is_none_of("a comparison"),
    }
}
