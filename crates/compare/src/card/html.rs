// SPDX-License-Identifier: GPL-2.0-only
//! A card as a page: what is harmed and helped as plots, all the rest as tables.

use alight_html::{Forest, Mark, Page, Row, Table, Text};

use super::{Card, Cell, Fate, Line, LineVerdict, words};
use crate::report::parts;

/// The whole file.
pub fn page(card: &Card) -> String {
    let mut page = Page::new(&format!(
        "Report card: {} against {}",
        card.variant, card.base
    ))
    .part("Question", &question(card))
    .part("Answer", &answer(card))
    .text("How far to trust it", trust(card));
    for (verdict, title) in words::SECTIONS {
        let lines = card.of(verdict);
        let title = format!("{}: {}", words::capital(title), lines.len());
        page = match verdict {
            _ if lines.is_empty() => page,
            LineVerdict::Harm | LineVerdict::Help => page.part(&title, &forest(&lines)),
            _ => page.part(&title, &table(&lines)),
        };
    }
    let mut rest = vec![("no difference".to_owned(), words::remainder(card))];
    for (machine, workloads) in words::by_machine(card, Fate::is_identical) {
        rest.push((
            "identical runs".to_owned(),
            format!("{machine}: {workloads}"),
        ));
    }
    for cell in &card.cells {
        if let Fate::Refused(why) = &cell.fate {
            let what = format!("{} on {}: {why}", cell.workload, cell.machine);
            rest.push(("not run".to_owned(), what));
        }
    }
    page = page.part("The rest", &parts::labelled(rest));
    let commands = words::commands(card, usize::MAX);
    if !commands.is_empty() {
        page = page.command("Commands for the listed lines", &commands.join("\n"));
    }
    page.command("Again", &card.command).render()
}

fn question(card: &Card) -> Table {
    let mut rows = vec![
        ("card", words::question(card)),
        ("extent", words::extent(card)),
    ];
    rows.extend((words::cannot_act(card).into_iter()).map(|text| ("cannot act", text)));
    parts::labelled(rows)
}

/// How many numbers are listed under which verdict.
fn answer(card: &Card) -> Text {
    let counted = |verdict, what: &str| match card.of(verdict).len() {
        0 => format!("no {what}"),
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    };
    let (harms, helps) = (
        counted(LineVerdict::Harm, "harm"),
        counted(LineVerdict::Help, "help"),
    );
    Text::new([format!("{}: {harms}, {helps}.", card.variant)])
}

fn trust(card: &Card) -> Vec<String> {
    let mut sentences = vec![format!("certainty: {}", words::certainty(card))];
    sentences.extend((words::rests_on(card).into_iter()).map(|text| format!("rests on: {text}")));
    sentences.extend((words::left_out(card).into_iter()).map(|text| format!("left out: {text}")));
    sentences
}

fn forest(lines: &[(&Cell, &Line)]) -> Forest {
    let row = |(cell, line): &(&Cell, &Line)| {
        let [machine, workload, metric, base, delta, certainty] = words::row(cell, line);
        Row {
            label: format!("{machine}, {workload}: {metric}"),
            delta: line.delta.delta_percent,
            interval: line.delta.ci_low.zip(line.delta.ci_high),
            mark: match line.verdict {
                LineVerdict::Harm => Mark::Worse,
                _ => Mark::Better,
            },
            words: format!("{delta} {certainty} of {base}"),
        }
    };
    Forest::new(lines.iter().map(row).collect())
}

fn table(lines: &[(&Cell, &Line)]) -> Table {
    (lines.iter()).fold(Table::new(words::HEADS), |table, (cell, line)| {
        table.row(words::row(cell, line))
    })
}
