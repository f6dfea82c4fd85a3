// SPDX-License-Identifier: GPL-2.0-only
//! A study as a page.

use alight_compare::report::answer::answers;
use alight_compare::report::{self, parts};
use alight_html::{Forest, Page, Part, Table, Text};
use alight_machine::Trust;

use super::lead::before;
use super::report::{Block, blocks, head};
use super::sensitivity::Sensitivity;
use super::{Answer, CaseAnswer, CheckOutcome, Length};

/// The whole file.
pub fn page(answer: &Answer<'_>, trust: &Trust, sensitivity: Option<&Sensitivity>) -> String {
    let study = answer.study;
    let mut page = Page::new(&format!("{}: {}", study.name, study.title))
        .part("Question", &parts::labelled(head(answer, trust)))
        .text("Answer", verdict(answer));
    for (title, forest) in differences(answer) {
        page = page.part(&title, &forest);
    }
    let mut title = String::new();
    let mut under: Vec<Box<dyn Part>> = vec![];
    for block in blocks(answer, sensitivity) {
        match block {
            Block::Title(next) => {
                page = section(page, &title, &std::mem::take(&mut under));
                title = next;
            }
            Block::Table { rows, .. } => under.push(Box::new(table(rows))),
            Block::Lines(lines) => under.push(Box::new(Text::new(lines))),
        }
    }
    section(page, &title, &under)
        .command("Again", &answer.command)
        .render()
}

/// The study's numbers in each case, as far from the base's.
fn differences(answer: &Answer<'_>) -> Vec<(String, Forest)> {
    let mut titles = vec![];
    let mut rows = vec![];
    for case in &answer.cases {
        let comparison = case.comparison();
        let mut keys = comparison.keys();
        keys.retain(|key| answer.study.rows.iter().any(|row| row.metric == key.name));
        for other in comparison.others() {
            let of = match case.case.name.as_str() {
                "" => String::new(),
                name => format!("{name}, "),
            };
            titles.push(format!("Differences: {of}{}", other.scheduler));
            rows.push(report::differences(&keys, other));
        }
    }
    let forests = Forest::on_one_scale(rows);
    titles.into_iter().zip(forests).collect()
}

fn section(page: Page, title: &str, parts: &[Box<dyn Part>]) -> Page {
    let parts: Vec<&dyn Part> = parts.iter().map(AsRef::as_ref).collect();
    match parts.is_empty() {
        true => page,
        false => page.parts(title, &parts),
    }
}

fn table(rows: Vec<Vec<String>>) -> Table {
    let mut rows = rows.into_iter();
    let heads = rows.next().unwrap_or_default();
    rows.fold(Table::new(heads), Table::row)
}

/// How far the base is off, the answer of each case in words, and how many checks of the study hold.
fn verdict(answer: &Answer<'_>) -> Vec<String> {
    let of_case = |case: &CaseAnswer<'_>| {
        let name = case.case.name.clone();
        let sentences = answers(case.comparison()).into_iter();
        sentences.map(move |sentence| match name.as_str() {
            "" => sentence,
            name => format!("{name}: {sentence}"),
        })
    };
    let mut text = vec![];
    if answer.length != Length::Short {
        text.push(before(answer));
    }
    text.extend(answer.cases.iter().flat_map(of_case));
    let held = (answer.checks.iter())
        .filter(|(_, outcome)| matches!(outcome, CheckOutcome::Held(_)))
        .count();
    if !answer.checks.is_empty() {
        text.push(format!(
            "{held} of {} checks of the study hold.",
            answer.checks.len()
        ));
    }
    text
}
