// SPDX-License-Identifier: GPL-2.0-only
//! A machine with some of its figures set to other values: sweeps make such machines.
//!
//! A figure is named by the keys that lead to it in the file, joined by dots: `memory.llc_line_ns`,
//! `costs.x86.switch_ns`, `core_type.Cortex-A53.idle_state.WFI.exit_us`. A name with dots stands in
//! quotes. `*` stands for every name at its place.

use std::sync::Arc;

use crate::document::{Document, Kind, Node, VALUE};
use crate::error::{Error, nearest};
use crate::figure::{Confidence, Provenance};
use crate::library;
use crate::resolve::DataSheet;
use crate::schema;

/// The new value of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// This whole number, in the figure's unit.
    Value(u64),
    /// So many thousandths of the value in the file, rounded to a whole number, half up.
    Permille(u64),
}

impl Setting {
    fn of(self, value: u64) -> u64 {
        match self {
            Setting::Value(value) => value,
            Setting::Permille(permille) => {
                let scaled = (u128::from(value) * u128::from(permille) + 500) / 1000;
                u64::try_from(scaled).unwrap_or(u64::MAX)
            }
        }
    }
}

/// The figures that `path` names, in the machine file `text` that messages call `file`: the whole
/// path of each, and its value. A column of values has an item for each.
///
/// # Errors
/// As [`parse`](crate::parse), and a path that names no whole number, with the nearest paths.
pub fn figures_at(file: &str, text: &str, path: &str) -> Result<Vec<(String, u64)>, Error> {
    let mut document = library::document(file, text)?;
    let mut found = vec![];
    let keys = keys_of(path);
    visit(&mut document.root, "", Some(&keys), &mut |path, value| {
        found.push((path.to_owned(), *value));
    });
    match found.is_empty() {
        true => Err(unknown(file, document, path)),
        false => Ok(found),
    }
}

/// The machine of the file `text`, that messages call `file`, with the figures of each path set.
///
/// # Errors
/// As [`figures_at`], and a machine that cannot be with these figures.
pub fn vary(file: &str, text: &str, settings: &[(&str, Setting)]) -> Result<DataSheet, Error> {
    let mut document = library::document(file, text)?;
    for (path, setting) in settings {
        let mut any = false;
        let keys = keys_of(path);
        visit(&mut document.root, "", Some(&keys), &mut |_, value| {
            *value = setting.of(*value);
            any = true;
        });
        if !any {
            return Err(unknown(file, document, path));
        }
        let is_cost = keys.first().is_some_and(|key| *key == "costs");
        if let Some(calibration) = document.calibration.as_mut().filter(|_| is_cost) {
            calibration.matches = false;
        }
    }
    schema::read(&document.rewritten())?.resolve()
}

/// `a.b."c.d"` in its keys.
fn keys_of(path: &str) -> Vec<&str> {
    let mut keys = vec![];
    let mut rest = path;
    while !rest.is_empty() {
        let (key, after) = match rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
            Some((key, after)) => (key, after.strip_prefix('.').unwrap_or(after)),
            None => rest.split_once('.').unwrap_or((rest, "")),
        };
        keys.push(key.trim());
        rest = after;
    }
    keys
}

/// Calls `each` with every whole number that `keys` lead to, and its path; `None`: with all.
fn visit(node: &mut Node, path: &str, keys: Option<&[&str]>, each: &mut dyn FnMut(&str, &mut u64)) {
    let varied = match (&mut node.kind, keys) {
        (Kind::Integer(value), None | Some([])) => whole(value, path, each),
        (Kind::Array(items), None | Some([])) if items.iter().all(is_number) => {
            for item in items.iter_mut() {
                visit(item, path, keys, each);
            }
            false
        }
        (Kind::Table(table), None | Some([])) if table.contains_key(VALUE) => {
            if let Some(entry) = table.get_mut(VALUE) {
                visit(&mut entry.node, path, keys, each);
            }
            false
        }
        (Kind::Table(table), keys) => {
            for (name, entry) in table.iter_mut() {
                if let Some(rest) = below(keys, name) {
                    visit(&mut entry.node, &joined(path, name), rest, each);
                }
            }
            false
        }
        (Kind::Array(items), keys) => {
            for item in items.iter_mut() {
                let name = name_of(item).unwrap_or_default();
                if let Some(rest) = below(keys, &name) {
                    visit(item, &joined(path, &name), rest, each);
                }
            }
            false
        }
        _ => false,
    };
    if varied {
        node.provenance = Some(Arc::new(Provenance::new(
            "set by a sweep".to_owned(),
            Confidence::Assumed,
        )));
    }
}

/// Whether `each` changed the value.
fn whole(value: &mut i64, path: &str, each: &mut dyn FnMut(&str, &mut u64)) -> bool {
    let Ok(mut number) = u64::try_from(*value) else {
        return false;
    };
    let was = number;
    each(path, &mut number);
    *value = i64::try_from(number).unwrap_or(i64::MAX);
    number != was
}

fn is_number(node: &Node) -> bool {
    matches!(node.kind, Kind::Integer(_))
}

/// The keys below `name`; `None`: they lead elsewhere.
fn below<'k, 'p>(keys: Option<&'k [&'p str]>, name: &str) -> Option<Option<&'k [&'p str]>> {
    match keys {
        None => Some(None),
        Some([first, rest @ ..]) if *first == "*" || *first == name => Some(Some(rest)),
        Some(_) => None,
    }
}

/// The name of a table of a list, such as an idle state.
fn name_of(node: &Node) -> Option<String> {
    let Kind::Table(table) = &node.kind else {
        return None;
    };
    match &table.get("name")?.node.kind {
        Kind::Text(name) => Some(name.clone()),
        _ => None,
    }
}

fn joined(path: &str, name: &str) -> String {
    let name = match name.contains('.') {
        true => format!("\"{name}\""),
        false => name.to_owned(),
    };
    match path {
        "" => name,
        path => format!("{path}.{name}"),
    }
}

fn unknown(file: &str, mut document: Document, path: &str) -> Error {
    let mut all = vec![];
    visit(&mut document.root, "", None, &mut |path, _| {
        all.push(path.to_owned());
    });
    all.dedup();
    // All of them would fill the terminal.
    let hint = nearest(path, all.iter().map(String::as_str));
    let hint = match hint.starts_with("expected one of") {
        true => "`alight machine show` lists them".to_owned(),
        false => hint,
    };
    let place = document.root.place;
    Error::written(&place, format!("{file} has no figure `{path}`, {hint}"))
}

#[cfg(test)]
mod tests;
