// SPDX-License-Identifier: GPL-2.0-only
//! A card for the terminal.

use super::{Card, Fate, LineVerdict, words};
use crate::report::{Columns, Extent, head_of, labelled, words as shared};

/// Lines of a list that a short card has.
const SHOWN: usize = 10;

pub(super) fn render(card: &Card, extent: Extent) -> String {
    let most = match extent {
        Extent::Short => SHOWN,
        Extent::Full | Extent::Chosen => usize::MAX,
    };
    let mut rows = vec![
        ("card", words::question(card)),
        ("extent", words::extent(card)),
        ("certainty", words::certainty(card)),
    ];
    rows.extend(
        words::cannot_act(card)
            .into_iter()
            .map(|text| ("cannot act", text)),
    );
    rows.extend((words::rests_on(card).into_iter()).map(|line| ("rests on", line)));
    rows.extend((words::left_out(card).into_iter()).map(|line| ("left out", line)));
    let mut text = format!(
        "{}: card\n{}",
        shared::program(),
        head_of(rows, &card.command)
    );
    for (verdict, title) in words::SECTIONS {
        text.push_str(&section(card, verdict, title, most));
    }
    let mut end = vec![("no difference", words::remainder(card))];
    for (machine, workloads) in words::by_machine(card, Fate::is_identical) {
        end.push(("identical", format!("{machine}: {workloads}")));
    }
    for cell in &card.cells {
        if let Fate::Refused(why) = &cell.fate {
            end.push((
                "not run",
                format!("{} {}: {why}", cell.machine, cell.workload),
            ));
        }
    }
    text.push('\n');
    text.push_str(&labelled(end));
    let commands = words::commands(card, most);
    if !commands.is_empty() {
        text.push_str("\ncommands for the listed lines (files are in the source tree)\n");
        for command in commands {
            text.push_str(&format!("  {command}\n"));
        }
    }
    text
}

/// The lines of one verdict, the largest differences first, and how many are not shown.
fn section(card: &Card, verdict: LineVerdict, title: &str, most: usize) -> String {
    let lines = card.of(verdict);
    if lines.is_empty() && words::only_if_any(verdict) {
        return String::new();
    }
    let mut text = format!("\n{title}: {}\n", lines.len());
    let mut columns = Columns::new(2, 3);
    if !lines.is_empty() {
        columns.row(words::HEADS);
    }
    for (cell, line) in lines.iter().take(most) {
        columns.row(words::row(cell, line));
    }
    text.push_str(&columns.render());
    if lines.len() > most {
        text.push_str(&format!("  and {} more: --full\n", lines.len() - most));
    }
    text
}
