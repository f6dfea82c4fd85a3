// SPDX-License-Identifier: GPL-2.0-only
//! Typed reading of a document: every key is asked for by name and type, keys
//! that nobody asked for are refused, and every figure read goes into the
//! ledger with its provenance.

use std::cell::{Ref, RefCell};
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::cpuset::CpuSet;
use crate::document::{Entry, Kind, Node, Table, VALUE};
use crate::error::{Error, Place, SIMILAR, nearest, similarity};
use crate::figure::{Figure, Provenance};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct At<T> {
    pub value: T,
    pub place: Place,
}

/// The figures read so far.
#[derive(Debug, Default)]
pub(crate) struct Ledger(RefCell<Vec<Figure>>);

impl Ledger {
    pub fn record(&self, path: String, value: String, provenance: Provenance) {
        self.push(Figure {
            path,
            value,
            basis: None,
            provenance,
        });
    }

    pub fn push(&self, figure: Figure) {
        self.0.borrow_mut().push(figure);
    }

    pub fn figures(&self) -> Ref<'_, Vec<Figure>> {
        self.0.borrow()
    }

    pub fn into_figures(self) -> Vec<Figure> {
        self.0.into_inner()
    }
}

/// One table being read.
pub(crate) struct Reader<'a> {
    table: &'a Table,
    /// Where the table begins.
    pub place: Place,
    /// Keys that lead to the table, joined by dots.
    pub path: String,
    asked: Vec<&'static str>,
    ledger: &'a Ledger,
}

/// A figure's value before its type is known.
struct Raw<'a> {
    node: &'a Node,
    provenance: Arc<Provenance>,
}

impl<'a> Reader<'a> {
    pub fn new(node: &'a Node, path: &str, ledger: &'a Ledger) -> Result<Self, Error> {
        let Kind::Table(table) = &node.kind else {
            let found = node.kind.describe();
            let message = format!("`{path}` is {found}, expected a table");
            return Err(Error::written(&node.place, message));
        };
        Ok(Self {
            table,
            place: node.place.clone(),
            path: path.to_owned(),
            asked: Vec::new(),
            ledger,
        })
    }

    /// Path of a key in this table.
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    fn entry(&mut self, key: &'static str) -> Option<&'a Entry> {
        self.asked.push(key);
        self.table.get(key)
    }

    /// Refuses the keys that were not asked for.
    pub fn finish(self) -> Result<(), Error> {
        for (key, entry) in self.table {
            if !self.asked.contains(&key.as_str()) {
                let section = match self.path.as_str() {
                    "" => "at the top of the file".to_owned(),
                    path => format!("in [{path}]"),
                };
                let hint = nearest(key, self.asked.iter().copied());
                let message = format!("unknown key `{key}` {section}, {hint}");
                return Err(Error::written(&entry.place, message));
            }
        }
        Ok(())
    }

    /// What stands for a key that must be there.
    pub fn required<T>(&self, key: &str, value: Option<T>) -> Result<T, Error> {
        value.ok_or_else(|| {
            let section = match self.path.as_str() {
                "" => "the file".to_owned(),
                path => format!("[{path}]"),
            };
            let message = format!("{section} lacks the key `{key}`");
            match self.misspelling(key) {
                Some((found, place)) => {
                    Error::written(place, format!("{message}; `{found}` is close to it"))
                }
                None => Error::written(&self.place, message),
            }
        })
    }

    /// The key, not asked for so far, that most resembles the missing `key`.
    fn misspelling(&self, key: &str) -> Option<(&str, &Place)> {
        self.table
            .iter()
            .filter(|(other, _)| !self.asked.contains(&other.as_str()))
            .map(|(other, entry)| (similarity(key, other), other.as_str(), &entry.place))
            .filter(|(similarity, ..)| *similarity >= SIMILAR)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, other, place)| (other, place))
    }

    /// Plain text without provenance: names, descriptions.
    pub fn text(&mut self, key: &'static str) -> Result<Option<At<String>>, Error> {
        let path = self.path_of(key);
        self.entry(key)
            .map(|entry| text_of(&entry.node, &path))
            .transpose()
    }

    /// A table under `key`.
    pub fn section(&mut self, key: &'static str) -> Result<Option<Reader<'a>>, Error> {
        let path = self.path_of(key);
        let ledger = self.ledger;
        self.entry(key)
            .map(|entry| Reader::new(&entry.node, &path, ledger))
            .transpose()
    }

    /// The tables of a table of tables, with their names.
    pub fn named_sections(
        &mut self,
        key: &'static str,
    ) -> Result<Vec<(String, Reader<'a>)>, Error> {
        let Some(section) = self.section(key)? else {
            return Ok(Vec::new());
        };
        section
            .table
            .iter()
            .map(|(name, entry)| {
                let path = section.path_of(name);
                Reader::new(&entry.node, &path, section.ledger).map(|r| (name.clone(), r))
            })
            .collect()
    }

    /// The tables of a list of tables (`[[key]]`). Each must have a `name`,
    /// which stands in the paths of its figures.
    pub fn listed_sections(
        &mut self,
        key: &'static str,
    ) -> Result<Vec<(At<String>, Reader<'a>)>, Error> {
        let path = self.path_of(key);
        let ledger = self.ledger;
        let Some(entry) = self.entry(key) else {
            return Ok(Vec::new());
        };
        let Kind::Array(items) = &entry.node.kind else {
            let found = entry.node.kind.describe();
            let message = format!("`{path}` is {found}, expected tables headed [[{path}]]");
            return Err(Error::written(&entry.node.place, message));
        };
        items
            .iter()
            .map(|item| {
                let mut reader = Reader::new(item, &path, ledger)?;
                let name = reader.text("name")?;
                let name = reader.required("name", name)?;
                reader.path = format!("{path}.{}", name.value);
                Ok((name, reader))
            })
            .collect()
    }

    /// A whole number in `range`.
    pub fn whole(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<At<u64>>, Error> {
        let path = self.path_of(key);
        let Some(raw) = self.raw(key)? else {
            return Ok(None);
        };
        let number = whole_of(raw.node, &path, &range)?;
        self.record(path, number.value.to_string(), &raw);
        Ok(Some(number))
    }

    /// A whole number in `range` with its provenance, not recorded: the caller
    /// derives another figure from it.
    pub fn whole_with_provenance(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<(At<u64>, Provenance)>, Error> {
        let path = self.path_of(key);
        let Some(raw) = self.raw(key)? else {
            return Ok(None);
        };
        let number = whole_of(raw.node, &path, &range)?;
        Ok(Some((number, (*raw.provenance).clone())))
    }

    /// A list of whole numbers in `range`.
    pub fn wholes(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<At<Vec<At<u64>>>>, Error> {
        let path = self.path_of(key);
        let Some(raw) = self.raw(key)? else {
            return Ok(None);
        };
        let value = items_of(raw.node, &path, "a list of numbers")?
            .iter()
            .map(|item| whole_of(item, &path, &range))
            .collect::<Result<Vec<_>, _>>()?;
        let words: Vec<String> = value.iter().map(|n| n.value.to_string()).collect();
        self.record(path, words.join(" "), &raw);
        let place = raw.node.place.clone();
        Ok(Some(At { value, place }))
    }

    /// `true` or `false`.
    pub fn flag(&mut self, key: &'static str) -> Result<Option<bool>, Error> {
        let path = self.path_of(key);
        let Some(raw) = self.raw(key)? else {
            return Ok(None);
        };
        let Kind::Boolean(value) = raw.node.kind else {
            return Err(mistyped(raw.node, &path, "`true` or `false`"));
        };
        self.record(path, value.to_string(), &raw);
        Ok(Some(value))
    }

    /// One of the names in `valid`, with its meaning.
    pub fn choice<T: Copy>(
        &mut self,
        key: &'static str,
        valid: &[(&str, T)],
    ) -> Result<Option<T>, Error> {
        let path = self.path_of(key);
        let Some(raw) = self.raw(key)? else {
            return Ok(None);
        };
        let word = text_of(raw.node, &path)?;
        let Some(&(name, meaning)) = valid.iter().find(|(name, _)| *name == word.value) else {
            let hint = nearest(&word.value, valid.iter().map(|(name, _)| *name));
            let message = format!("`{path}` is `{}`, {hint}", word.value);
            return Err(Error::written(&word.place, message));
        };
        self.record(path, name.to_owned(), &raw);
        Ok(Some(meaning))
    }

    /// A list of texts, which are no figures and need no source.
    pub fn texts(&mut self, key: &'static str) -> Result<Option<Vec<String>>, Error> {
        let path = self.path_of(key);
        let Some(entry) = self.entry(key) else {
            return Ok(None);
        };
        let items = items_of(&entry.node, &path, "a list of texts")?.iter();
        let texts = items.map(|item| Ok(text_of(item, &path)?.value));
        texts.collect::<Result<_, _>>().map(Some)
    }

    /// A list of names, each one of `valid`.
    pub fn names(
        &mut self,
        key: &'static str,
        valid: &[&str],
    ) -> Result<Option<Vec<At<String>>>, Error> {
        let path = self.path_of(key);
        let Some(raw) = self.raw(key)? else {
            return Ok(None);
        };
        let mut names = Vec::new();
        for item in items_of(raw.node, &path, "a list of names")? {
            let name = text_of(item, &path)?;
            if !valid.contains(&name.value.as_str()) {
                let hint = nearest(&name.value, valid.iter().copied());
                let message = format!("`{path}` names `{}`, {hint}", name.value);
                return Err(Error::written(&name.place, message));
            }
            names.push(name);
        }
        let words: Vec<&str> = names.iter().map(|name| name.value.as_str()).collect();
        self.record(path, words.join(" "), &raw);
        Ok(Some(names))
    }

    /// Disjoint sets of CPUs: a CPU list, a list of them, or
    /// `{ cpus, size, sibling_offset }` for regular ones.
    pub fn partition(&mut self, key: &'static str) -> Result<Option<Vec<At<CpuSet>>>, Error> {
        let path = self.path_of(key);
        let Some(raw) = self.raw(key)? else {
            return Ok(None);
        };
        let spans = match &raw.node.kind {
            Kind::Array(items) => {
                let mut spans = Vec::new();
                for item in items {
                    spans.extend(self.spans_of(item, &path)?);
                }
                spans
            }
            _ => self.spans_of(raw.node, &path)?,
        };
        let words: Vec<String> = spans.iter().map(|span| span.value.to_string()).collect();
        self.record(path, words.join(" "), &raw);
        Ok(Some(spans))
    }

    fn spans_of(&self, node: &Node, path: &str) -> Result<Vec<At<CpuSet>>, Error> {
        match &node.kind {
            Kind::Text(_) => Ok(vec![cpus_of(node, path)?]),
            Kind::Table(_) => regular_spans(node, path),
            _ => Err(mistyped(
                node,
                path,
                "a CPU list such as \"0-3\", a list of them, or { cpus, size, sibling_offset }",
            )),
        }
    }

    /// A matrix of whole numbers in `range`, row by row.
    pub fn matrix(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<At<Vec<Vec<u64>>>>, Error> {
        let path = self.path_of(key);
        let Some(raw) = self.raw(key)? else {
            return Ok(None);
        };
        let mut value = Vec::new();
        for row in items_of(raw.node, &path, "a list of rows")? {
            let row = items_of(row, &path, "a list of rows, each a list of numbers")?
                .iter()
                .map(|item| whole_of(item, &path, &range).map(|number| number.value))
                .collect::<Result<Vec<_>, _>>()?;
            value.push(row);
        }
        self.record(path, format!("{value:?}"), &raw);
        let place = raw.node.place.clone();
        Ok(Some(At { value, place }))
    }

    /// The figure under `key`: bare, or `{ value = …, source = … }`.
    fn raw(&mut self, key: &'static str) -> Result<Option<Raw<'a>>, Error> {
        let path = self.path_of(key);
        let Some(entry) = self.entry(key) else {
            return Ok(None);
        };
        let node = match &entry.node.kind {
            Kind::Table(table) if table.contains_key(VALUE) => {
                if let Some((key, extra)) = table.iter().find(|(key, _)| *key != VALUE) {
                    let hint = nearest(key, [VALUE, "source", "confidence"]);
                    let message = format!("unknown key `{key}` of the figure `{path}`, {hint}");
                    return Err(Error::written(&extra.place, message));
                }
                &table[VALUE].node
            }
            _ => &entry.node,
        };
        let Some(provenance) = node.provenance.clone() else {
            let message = format!(
                "`{path}` says not where it comes from: give it or its section a `source` \
                 that is listed in [sources]"
            );
            return Err(Error::written(&node.place, message));
        };
        Ok(Some(Raw { node, provenance }))
    }

    /// Records a figure that follows from others of this table.
    pub fn record_derived(&self, key: &str, value: String, provenance: Provenance) {
        self.ledger.record(self.path_of(key), value, provenance);
    }

    fn record(&self, path: String, value: String, raw: &Raw) {
        self.ledger.record(path, value, (*raw.provenance).clone());
    }
}

fn mistyped(node: &Node, path: &str, expected: &str) -> Error {
    let found = node.kind.describe();
    Error::written(
        &node.place,
        format!("`{path}` is {found}, expected {expected}"),
    )
}

fn text_of(node: &Node, path: &str) -> Result<At<String>, Error> {
    match &node.kind {
        Kind::Text(text) => Ok(At {
            value: text.clone(),
            place: node.place.clone(),
        }),
        _ => Err(mistyped(node, path, "text in quotes")),
    }
}

fn items_of<'n>(node: &'n Node, path: &str, expected: &str) -> Result<&'n [Node], Error> {
    match &node.kind {
        Kind::Array(items) => Ok(items),
        _ => Err(mistyped(node, path, expected)),
    }
}

fn whole_of(node: &Node, path: &str, range: &RangeInclusive<u64>) -> Result<At<u64>, Error> {
    let expected = format!("a whole number from {} to {}", range.start(), range.end());
    match node.kind {
        Kind::Integer(value) => u64::try_from(value)
            .ok()
            .filter(|value| range.contains(value))
            .map(|value| At {
                value,
                place: node.place.clone(),
            })
            .ok_or_else(|| mistyped(node, path, &expected)),
        _ => Err(mistyped(node, path, &expected)),
    }
}

fn cpus_of(node: &Node, path: &str) -> Result<At<CpuSet>, Error> {
    let text = text_of(node, path)?;
    let value = text
        .value
        .parse()
        .map_err(|error| Error::written(&text.place, format!("`{path}`: {error}")))?;
    Ok(At {
        value,
        place: text.place,
    })
}

/// Runs of `size` CPUs out of `cpus`, each with the CPUs `sibling_offset`
/// further up if that is given: x86 numbers the second threads of all cores
/// after the first threads.
fn regular_spans(node: &Node, path: &str) -> Result<Vec<At<CpuSet>>, Error> {
    const LARGEST: u64 = CpuSet::MAX as u64;
    let unrecorded = Ledger::default();
    let mut table = Reader::new(node, path, &unrecorded)?;
    let cpus = table.entry("cpus").map(|entry| cpus_of(&entry.node, path));
    let cpus = table.required("cpus", cpus)??;
    let size = table.whole("size", 1..=LARGEST)?;
    let size = table.required("size", size)?.value as usize;
    let offset = table.whole("sibling_offset", 0..=LARGEST)?;
    let offset = offset.map_or(0, |offset| offset.value as usize);
    table.finish()?;
    let members: Vec<usize> = cpus.value.iter().collect();
    if cpus
        .value
        .last()
        .is_some_and(|last| last + offset >= CpuSet::MAX)
    {
        let message = format!("`{path}` reaches beyond CPU {}", CpuSet::MAX - 1);
        return Err(Error::written(&node.place, message));
    }
    Ok(members
        .chunks(size)
        .map(|run| At {
            value: run.iter().flat_map(|&cpu| [cpu, cpu + offset]).collect(),
            place: node.place.clone(),
        })
        .collect())
}
