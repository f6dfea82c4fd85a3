// SPDX-License-Identifier: GPL-2.0-only
//! The keys of a study's file and what stands under them. A file is looked at as a whole
//! before it is read, so that all its mistakes are told together and in plain words.

use std::ops::Range;

use alight_machine::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The longest time that a study may state, ms: some 31 years.
pub(super) const LONGEST_MS: u64 = 1_000_000_000_000;

/// A key of a table.
struct TableKey {
    name: &'static str,
    kind: ValueKind,
    required: bool,
}

/// What stands under a key.
enum ValueKind {
    Text,
    Texts,
    Flag,
    /// A whole number in a range, of a unit.
    Whole(u64, u64, &'static str),
    /// From and to, ms.
    Window,
    /// A number that is finite.
    Number,
    Table(&'static [TableKey]),
    /// Such a table for each of some names.
    ByName(&'static [TableKey]),
    /// Tables headed [[key]].
    Tables(&'static [TableKey]),
}

const MS: ValueKind = ValueKind::Whole(0, LONGEST_MS, "ms");
const RUNS: ValueKind = ValueKind::Whole(1, u32::MAX as u64, "runs");

const fn must(name: &'static str, kind: ValueKind) -> TableKey {
    TableKey {
        name,
        kind,
        required: true,
    }
}

const fn may(name: &'static str, kind: ValueKind) -> TableKey {
    TableKey {
        name,
        kind,
        required: false,
    }
}

const FILE: &[TableKey] = &[
    must("schema", ValueKind::Text),
    must("name", ValueKind::Text),
    must("title", ValueKind::Text),
    must("publication", ValueKind::Text),
    may("notes", ValueKind::Texts),
    must("machine", ValueKind::Text),
    must("schedulers", ValueKind::Texts),
    must("runs", RUNS),
    must("short_runs", RUNS),
    may("beside", ValueKind::Texts),
    must("case", ValueKind::Tables(CASE)),
    may("row", ValueKind::Tables(ROW)),
    may("check", ValueKind::Tables(CHECK)),
];

const CASE: &[TableKey] = &[
    may("name", ValueKind::Text),
    must("workloads", ValueKind::Texts),
    may("short", ValueKind::Texts),
    may("sensitivity", ValueKind::Texts),
    may("calibration", ValueKind::Table(PART)),
    may("governor", ValueKind::Text),
    may("idle_governor", ValueKind::Text),
    may("duration_ms", MS),
    may("short_ms", MS),
    may("count_from_ms", MS),
    may("picture_ms", ValueKind::Window),
    may("instead", ValueKind::Tables(INSTEAD)),
];

const PART: &[TableKey] = &[must("window_ms", ValueKind::Window), must("runs", RUNS)];

const INSTEAD: &[TableKey] = &[
    must("scheduler", ValueKind::Text),
    must("workloads", ValueKind::Texts),
    may("short", ValueKind::Texts),
];

const ROW: &[TableKey] = &[
    may("case", ValueKind::Text),
    must("metric", ValueKind::Text),
    may("says", ValueKind::Text),
    may("before", ValueKind::Table(PUBLISHED)),
    may("after", ValueKind::ByName(PUBLISHED)),
    may("calibrates", ValueKind::Flag),
    may("unit", ValueKind::Table(UNIT)),
];

const PUBLISHED: &[TableKey] = &[
    may("mean", ValueKind::Number),
    may("std", ValueKind::Number),
    may("min", ValueKind::Number),
    may("p50", ValueKind::Number),
    may("p75", ValueKind::Number),
    may("p99", ValueKind::Number),
    may("max", ValueKind::Number),
];

const UNIT: &[TableKey] = &[
    must("of", ValueKind::Texts),
    may("case", ValueKind::Text),
    must("is", ValueKind::Number),
];

const CHECK: &[TableKey] = &[
    must("says", ValueKind::Text),
    may("case", ValueKind::Text),
    must("metric", ValueKind::Text),
    must("scheduler", ValueKind::Text),
    may("relative_to", ValueKind::Text),
    may("at_least", ValueKind::Number),
    may("at_most", ValueKind::Number),
    may("in_short", ValueKind::Flag),
];

/// What is wrong, and where in the text it begins.
pub(super) type Mistake = (usize, String);

/// The mistakes of a file in its order; none: it has the shape of a study.
pub(super) fn mistakes(text: &str) -> Vec<Mistake> {
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let message = match (error.message(), text.get(span.clone())) {
                ("duplicate key", Some(key)) => format!("the key `{}` occurs twice", key.trim()),
                (message, _) => message.to_owned(),
            };
            return vec![(span.start, message)];
        }
    };
    let mut found = Vec::new();
    look(table.get_ref(), table.span(), "", FILE, &mut found);
    found.sort();
    found
}

/// Looks at one table, which is called `path`.
fn look(
    table: &DeTable,
    span: Range<usize>,
    path: &str,
    keys: &[TableKey],
    found: &mut Vec<Mistake>,
) {
    let missing = |key: &&TableKey| key.required && !table.contains_key(key.name);
    let missing: Vec<String> = (keys.iter().filter(missing))
        .map(|key| format!("`{}`", key.name))
        .collect();
    let called = match path {
        "" => "the file".to_owned(),
        path => format!("[{path}]"),
    };
    if !missing.is_empty() {
        let word = if missing.len() == 1 { "key" } else { "keys" };
        let message = format!("{called} lacks the {word} {}", missing.join(", "));
        found.push((span.start, message));
    }
    for (name, value) in table {
        let Some(key) = keys.iter().find(|key| key.name == name.get_ref().as_ref()) else {
            let hint = nearest(name.get_ref(), keys.iter().map(|key| key.name));
            let message = format!("unknown key `{}` in {called}, {hint}", name.get_ref());
            found.push((name.span().start, message));
            continue;
        };
        let path = match path {
            "" => key.name.to_owned(),
            path => format!("{path}.{}", key.name),
        };
        look_at(value, &path, &key.kind, found);
    }
}

/// Looks at what stands under the key `path`.
fn look_at(value: &Spanned<DeValue>, path: &str, kind: &ValueKind, found: &mut Vec<Mistake>) {
    let each = |found: &mut Vec<Mistake>, kind: &ValueKind, whole: &str| match value.get_ref() {
        DeValue::Array(items) => {
            for item in items {
                look_at(item, path, kind, found);
            }
        }
        _ => found.push(mistake(value, path, whole)),
    };
    match (kind, value.get_ref()) {
        (ValueKind::Text, DeValue::String(_)) | (ValueKind::Flag, DeValue::Boolean(_)) => {}
        (ValueKind::Number, DeValue::Integer(_)) => {}
        (ValueKind::Number, DeValue::Float(digits)) if is_finite(digits.as_str()) => {}
        (ValueKind::Whole(from, to, _), DeValue::Integer(digits))
            if u64::from_str_radix(digits.as_str(), digits.radix())
                .is_ok_and(|number| (*from..=*to).contains(&number)) => {}
        (ValueKind::Texts, _) => each(found, &ValueKind::Text, "a list of texts"),
        (ValueKind::Window, DeValue::Array(items)) if items.len() == 2 => each(found, &MS, ""),
        (ValueKind::Table(keys), DeValue::Table(table)) => {
            look(table, value.span(), path, keys, found)
        }
        (ValueKind::ByName(keys), DeValue::Table(named)) => {
            for (_, value) in named {
                look_at(value, path, &ValueKind::Table(keys), found);
            }
        }
        (ValueKind::Tables(keys), DeValue::Array(items)) => {
            for item in items {
                match item.get_ref() {
                    DeValue::Table(table) => look(table, item.span(), path, keys, found),
                    _ => found.push(mistake(item, path, "a table")),
                }
            }
        }
        (kind, _) => found.push(mistake(value, path, &kind.expected(path))),
    }
}

fn is_finite(digits: &str) -> bool {
    digits.parse().is_ok_and(f64::is_finite)
}

impl ValueKind {
    /// What a person would call it.
    fn expected(&self, path: &str) -> String {
        match self {
            Self::Text => "text in quotes".to_owned(),
            Self::Texts => "a list of texts".to_owned(),
            Self::Flag => "`true` or `false`".to_owned(),
            Self::Whole(from, to, unit) => format!("a whole number from {from} to {to}, in {unit}"),
            Self::Window => "two whole numbers, from and to, in ms".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Table(_) => "a table".to_owned(),
            Self::ByName(_) => "tables by the name of a scheduler".to_owned(),
            Self::Tables(_) => format!("tables headed [[{path}]]"),
        }
    }
}

fn mistake(value: &Spanned<DeValue>, path: &str, expected: &str) -> Mistake {
    let found = match value.get_ref() {
        DeValue::String(text) => format!("text \"{text}\""),
        DeValue::Integer(digits) => digits.to_string(),
        DeValue::Float(digits) => digits.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(date) => date.to_string(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    };
    (
        value.span().start,
        format!("`{path}` is {found}, expected {expected}"),
    )
}

#[cfg(test)]
mod tests;
