// SPDX-License-Identifier: GPL-2.0-only
//! Every figure with its confidence and source. Sources are long and few, so
//! they are numbered and printed once.

use std::fmt::Write;

use super::tables::Table;
use crate::costs::COST_FIELDS;
use crate::figure::Figure;
use crate::resolve::DataSheet;

/// Longest value printed whole, in characters.
const LONGEST: usize = 60;

/// The figures by section.
pub(super) fn figures(sheet: &DataSheet) -> String {
    let numbers = source_texts(sheet);
    let mut text = String::new();
    let mut section = None;
    let mut table = Table::new(&[]);
    let aligned = |table: &Table| table.left_aligned(&[0, 1, 2, 4]);
    for figure in &sheet.figures {
        let (above, key) = figure.section_and_key();
        if section != Some(above) {
            let _ = writeln!(text, "{}  [{above}]", aligned(&table));
            table = Table::new(&[]);
            section = Some(above);
        }
        let source = &figure.provenance.source;
        let number = numbers.iter().position(|known| known == source);
        table.row(vec![
            format!("  {key}"),
            shortened(&figure.value),
            figure.provenance.confidence.to_string(),
            format!("[{}]", number.map_or(0, |number| number + 1)),
            remark(figure),
        ]);
    }
    text.push_str(&aligned(&table));
    text
}

/// The sources with their numbers.
pub(super) fn sources(sheet: &DataSheet) -> String {
    let mut text = String::new();
    for (index, source) in source_texts(sheet).iter().enumerate() {
        let _ = writeln!(text, "  [{}] {source}", index + 1);
    }
    text
}

/// The different sources in the order of their first figure.
fn source_texts(sheet: &DataSheet) -> Vec<&str> {
    let mut texts: Vec<&str> = Vec::new();
    for figure in &sheet.figures {
        let source = figure.provenance.source.as_str();
        if !texts.contains(&source) {
            texts.push(source);
        }
    }
    texts
}

fn shortened(value: &str) -> String {
    if value.chars().count() <= LONGEST {
        return value.to_owned();
    }
    let words = value.split(' ').count();
    let start: String = value.chars().take(LONGEST).collect();
    let whole = start
        .rsplit_once(' ')
        .map_or(start.as_str(), |(whole, _)| whole);
    format!("{whole} … ({words} in all)")
}

/// What a cost is, in words, and what it follows from.
fn remark(figure: &Figure) -> String {
    let (section, key) = figure.section_and_key();
    let cost = COST_FIELDS.iter().find(|field| field.key == key);
    let meaning = match cost {
        Some(field) if section.ends_with(".costs") => field.meaning,
        _ => "",
    };
    let spread = figure.provenance.spread_in_words();
    let spread = match spread.is_empty() {
        true => spread,
        false => format!("rounds {spread}"),
    };
    let added: Vec<&str> = (figure.basis.as_deref().into_iter())
        .chain((!spread.is_empty()).then_some(spread.as_str()))
        .collect();
    match (meaning, added.as_slice()) {
        (_, []) => meaning.to_owned(),
        ("", _) => format!("({})", added.join("; ")),
        _ => format!("{meaning} ({})", added.join("; ")),
    }
}
