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
struct Key {
    name: &'static str,
    kind: Kind,
    required: bool,
}

/// What stands under a key.
enum Kind {
    Text,
    Texts,
    Flag,
    /// A whole number in a range, of a unit.
    Whole(u64, u64, &'static str),
    /// From and to, ms.
    Window,
    /// A number that is finite.
    Number,
    Table(&'static [Key]),
    /// Tables headed [[key]].
    Tables(&'static [Key]),
}

const MS: Kind = Kind::Whole(0, LONGEST_MS, "ms");
const RUNS: Kind = Kind::Whole(1, u32::MAX as u64, "runs");

const fn must(name: &'static str, kind: Kind) -> Key {
    Key {
        name,
        kind,
        required: true,
    }
}

const fn may(name: &'static str, kind: Kind) -> Key {
    Key {
        name,
        kind,
        required: false,
    }
}

const FILE: &[Key] = &[
    must("schema", Kind::Text),
    must("name", Kind::Text),
    must("title", Kind::Text),
    must("publication", Kind::Text),
    may("notes", Kind::Texts),
    must("machine", Kind::Text),
    must("schedulers", Kind::Texts),
    must("runs", RUNS),
    must("short_runs", RUNS),
    may("beside", Kind::Texts),
    must("case", Kind::Tables(CASE)),
    may("row", Kind::Tables(ROW)),
    may("check", Kind::Tables(CHECK)),
];

const CASE: &[Key] = &[
    may("name", Kind::Text),
    must("workloads", Kind::Texts),
    may("short", Kind::Texts),
    may("sensitivity", Kind::Texts),
    may("calibration", Kind::Table(PART)),
    may("governor", Kind::Text),
    may("idle_governor", Kind::Text),
    may("duration_ms", MS),
    may("short_ms", MS),
    may("count_from_ms", MS),
    may("picture_ms", Kind::Window),
    may("instead", Kind::Tables(INSTEAD)),
];

const PART: &[Key] = &[must("window_ms", Kind::Window), must("runs", RUNS)];

const INSTEAD: &[Key] = &[
    must("scheduler", Kind::Text),
    must("workloads", Kind::Texts),
    may("short", Kind::Texts),
];

const ROW: &[Key] = &[
    may("case", Kind::Text),
    must("metric", Kind::Text),
    may("says", Kind::Text),
    may("before", Kind::Table(PUBLISHED)),
    may("calibrates", Kind::Flag),
    may("unit", Kind::Table(UNIT)),
];

const PUBLISHED: &[Key] = &[
    may("mean", Kind::Number),
    may("std", Kind::Number),
    may("min", Kind::Number),
    may("p50", Kind::Number),
    may("p75", Kind::Number),
    may("p99", Kind::Number),
    may("max", Kind::Number),
];

const UNIT: &[Key] = &[
    must("of", Kind::Texts),
    may("case", Kind::Text),
    must("is", Kind::Number),
];

const CHECK: &[Key] = &[
    must("says", Kind::Text),
    may("case", Kind::Text),
    must("metric", Kind::Text),
    must("scheduler", Kind::Text),
    may("relative_to", Kind::Text),
    may("at_least", Kind::Number),
    may("at_most", Kind::Number),
    may("in_short", Kind::Flag),
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
                ("duplicate key", Some(key)) => format!("the key `{}` stands twice", key.trim()),
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
fn look(table: &DeTable, span: Range<usize>, path: &str, keys: &[Key], found: &mut Vec<Mistake>) {
    let missing = |key: &&Key| key.required && !table.contains_key(key.name);
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
fn look_at(value: &Spanned<DeValue>, path: &str, kind: &Kind, found: &mut Vec<Mistake>) {
    let each = |found: &mut Vec<Mistake>, kind: &Kind, whole: &str| match value.get_ref() {
        DeValue::Array(items) => {
            for item in items {
                look_at(item, path, kind, found);
            }
        }
        _ => found.push(mistake(value, path, whole)),
    };
    match (kind, value.get_ref()) {
        (Kind::Text, DeValue::String(_)) | (Kind::Flag, DeValue::Boolean(_)) => {}
        (Kind::Number, DeValue::Integer(_)) => {}
        (Kind::Number, DeValue::Float(digits)) if is_finite(digits.as_str()) => {}
        (Kind::Whole(from, to, _), DeValue::Integer(digits))
            if u64::from_str_radix(digits.as_str(), digits.radix())
                .is_ok_and(|number| (*from..=*to).contains(&number)) => {}
        (Kind::Texts, _) => each(found, &Kind::Text, "a list of texts"),
        (Kind::Window, DeValue::Array(items)) if items.len() == 2 => each(found, &MS, ""),
        (Kind::Table(keys), DeValue::Table(table)) => look(table, value.span(), path, keys, found),
        (Kind::Tables(keys), DeValue::Array(items)) => {
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

impl Kind {
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
