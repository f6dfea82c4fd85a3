// SPDX-License-Identifier: GPL-2.0-only
//! A card for a page: what is listed as tables, all the rest folded.

use alight_text::{item, paragraph};

use super::{Card, Fate, LineVerdict, words};
use crate::report::{markdown_line as line, words as shared};

pub(super) fn render(card: &Card) -> String {
    let mut sentences = vec![format!(
        "`{}`, {}: {}. {}.",
        card.command,
        shared::program(),
        words::question(card),
        words::capital(&words::extent(card)),
    )];
    let cannot_act = words::cannot_act(card).into_iter();
    sentences.extend(cannot_act.map(|sentence| format!("The policy cannot act on {sentence}.")));
    sentences.push(format!("{}.", words::capital(&words::certainty(card))));
    let mut text = paragraph(&sentences.join(" "));
    let lines = |lines: Vec<String>| -> String { lines.iter().map(|line| item(line)).collect() };
    text.push_str(&folded("Rests on", &lines(words::rests_on(card))));
    let left_out = words::left_out(card);
    if !left_out.is_empty() {
        text.push_str(&folded("Left out", &lines(left_out)));
    }
    for (verdict, title) in words::SECTIONS {
        let table = table(card, verdict);
        let count = card.of(verdict).len();
        let title = words::capital(title);
        text.push_str(&match (verdict, count) {
            (_, 0) if words::only_if_any(verdict) => String::new(),
            (_, 0) => format!("\n**{title}: none.**\n"),
            // Beside the point: folded.
            (LineVerdict::Shift | LineVerdict::NoSpread | LineVerdict::TooSmall, _) => {
                folded(&format!("{title}: {count}"), &table)
            }
            _ => format!("\n**{title}: {count}**\n\n{table}"),
        });
    }
    let remainder = format!("**No difference:** {}.", words::remainder(card));
    text.push_str(&format!("\n{}", paragraph(&remainder)));
    for (verdict, title) in [
        (LineVerdict::Small, "Smaller than listed"),
        (LineVerdict::None, "No difference measurable"),
    ] {
        if !card.of(verdict).is_empty() {
            text.push_str(&folded(title, &table(card, verdict)));
        }
    }
    let identical = words::by_machine(card, Fate::is_identical);
    if !identical.is_empty() {
        let items = identical
            .iter()
            .map(|(machine, workloads)| item(&format!("{machine}: {workloads}")));
        text.push_str(&folded("Identical runs", &items.collect::<String>()));
    }
    for cell in &card.cells {
        if let Fate::Refused(why) = &cell.fate {
            let refused = format!("Not run: {} on {}: {why}.", cell.workload, cell.machine);
            text.push_str(&format!("\n{}", paragraph(&refused)));
        }
    }
    let commands = words::commands(card, usize::MAX);
    if !commands.is_empty() {
        let block = format!("```sh\n{}\n```\n", commands.join("\n"));
        text.push_str(&folded("Commands for the listed lines", &block));
    }
    text
}

fn table(card: &Card, verdict: LineVerdict) -> String {
    let mut text = line(words::HEADS.map(str::to_owned));
    text.push_str("|---|---|---|--:|--:|--:|\n");
    for (cell, number) in card.of(verdict) {
        text.push_str(&line(words::row(cell, number)));
    }
    text
}

fn folded(title: &str, content: &str) -> String {
    format!("\n<details><summary>{title}</summary>\n\n{content}\n</details>\n")
}
