// SPDX-License-Identifier: GPL-2.0-only
//! A study as a section of a page.

use alight_compare::report::markdown_line;
use alight_machine::Trust;
use alight_text::{item, paragraph};

use super::Answer;
use super::report::{Block, blocks, head};
use super::sensitivity::Sensitivity;

/// The section, which begins with a heading of the second level.
pub fn render(answer: &Answer<'_>, trust: &Trust, sensitivity: Option<&Sensitivity>) -> String {
    let study = answer.study;
    let mut text = format!("## {}\n\n{}\n", study.name, paragraph(&study.title));
    for (label, value) in head(answer, trust) {
        text.push_str(&item(&format!("{label}: {}", value.replace('*', "\\*"))));
    }
    text.push_str(&format!("- again: `{}`\n", answer.command));
    for block in blocks(answer, sensitivity) {
        text.push('\n');
        match block {
            Block::Title(title) => text.push_str(&paragraph(&format!("**{title}**"))),
            Block::Table { left, rows } => {
                let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
                for (index, mut row) in rows.into_iter().enumerate() {
                    row.resize(columns, String::new());
                    text.push_str(&markdown_line(row));
                    if index == 0 {
                        let right = columns.saturating_sub(left);
                        text.push_str(&format!(
                            "|{}{}\n",
                            "---|".repeat(left),
                            "--:|".repeat(right)
                        ));
                    }
                }
            }
            Block::Lines(lines) => {
                lines.iter().for_each(|line| text.push_str(&item(line)));
            }
        }
    }
    text
}
