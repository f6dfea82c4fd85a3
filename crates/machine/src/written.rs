// SPDX-License-Identifier: GPL-2.0-only
//! A machine file that was laid over others, as one text that needs none of them.

use std::fmt::Write;

use crate::document::{Kind, Node, SOURCES, Table, VALUE};
use crate::figure::Provenance;

/// Keys of the top that say something of files: of which nothing is left.
const OF_FILES: [&str; 3] = ["inherits", "costs_from", "calibration"];
/// Keys that are no figures and take no source (`Reader::text`, `Reader::texts`).
const PLAIN: [&str; 6] = ["schema", "name", "description", "notes", "costs", "like"];

/// The text of a file. A calibration is left out: it is of the files, and not of their figures.
pub(crate) fn written(root: &Node) -> String {
    let mut writer = Writer::default();
    let mut body = String::new();
    if let Kind::Table(table) = &root.kind {
        for (key, entry) in table {
            if !OF_FILES.contains(&key.as_str()) {
                let node = writer.entry(key, &entry.node, None);
                let _ = writeln!(body, "{} = {node}", quoted(key));
            }
        }
    }
    let _ = writeln!(body, "\n[{SOURCES}]");
    for (number, known) in writer.sources.iter().enumerate() {
        let _ = writeln!(
            body,
            "s{number} = {{ text = {}, confidence = \"{}\" }}",
            quoted(&known.source),
            known.confidence
        );
    }
    body
}

#[derive(Default)]
struct Writer {
    /// What was cited so far, without spreads.
    sources: Vec<Provenance>,
}

impl Writer {
    /// What stands behind `key =` where `above` holds.
    fn entry(&mut self, key: &str, node: &Node, above: Option<&Provenance>) -> String {
        let own = node.provenance.as_deref().filter(|own| Some(*own) != above);
        match (&node.kind, own) {
            (Kind::Table(table), own) => self.table(table, own, above),
            (Kind::Array(items), own) if items.iter().any(is_table) => {
                self.tables(items, own, above)
            }
            (_, Some(own)) if !PLAIN.contains(&key) => {
                let value = self.value(node, Some(own));
                format!("{{ {VALUE} = {value}, {} }}", self.cited(own))
            }
            (_, own) => self.value(node, own.or(above)),
        }
    }

    /// A table; `own`: what holds in it, if that is something else than `above`.
    fn table(
        &mut self,
        table: &Table,
        own: Option<&Provenance>,
        above: Option<&Provenance>,
    ) -> String {
        let mut fields: Vec<String> = own.map(|own| self.cited(own)).into_iter().collect();
        let holds = own.or(above);
        for (key, entry) in table {
            let value = self.entry(key, &entry.node, holds);
            fields.push(format!("{} = {value}", quoted(key)));
        }
        format!("{{ {} }}", fields.join(", "))
    }

    /// A list of tables, each of which says itself what holds in it.
    fn tables(
        &mut self,
        items: &[Node],
        own: Option<&Provenance>,
        above: Option<&Provenance>,
    ) -> String {
        let mut written = vec![];
        for item in items {
            let Kind::Table(table) = &item.kind else {
                written.push(self.value(item, above));
                continue;
            };
            let of_item = item.provenance.as_deref().or(own);
            written.push(self.table(table, of_item.filter(|own| Some(*own) != above), above));
        }
        format!("[{}]", written.join(", "))
    }

    /// A value where `holds` holds.
    fn value(&mut self, node: &Node, holds: Option<&Provenance>) -> String {
        match &node.kind {
            Kind::Table(table) => {
                let own = node.provenance.as_deref();
                self.table(table, own.filter(|own| Some(*own) != holds), holds)
            }
            Kind::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.value(item, holds)).collect();
                format!("[{}]", items.join(", "))
            }
            Kind::Text(text) => quoted(text),
            Kind::Integer(value) => value.to_string(),
            Kind::Boolean(value) => value.to_string(),
            // A machine with one of these is refused before it is written.
            Kind::Number(digits) => digits.clone(),
            Kind::Other(name) => quoted(name),
        }
    }

    /// `source = "s3"`, and the spread if there is one.
    fn cited(&mut self, provenance: &Provenance) -> String {
        let known = Provenance::new(provenance.source.clone(), provenance.confidence);
        let found = self.sources.iter().position(|other| *other == known);
        let number = found.unwrap_or_else(|| {
            self.sources.push(known);
            self.sources.len() - 1
        });
        match provenance.spread.as_slice() {
            [] => format!("source = \"s{number}\""),
            pairs => format!("source = \"s{number}\", spread = {pairs:?}"),
        }
    }
}

fn is_table(node: &Node) -> bool {
    matches!(node.kind, Kind::Table(_))
}

/// As TOML, whatever is in it.
fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests;
