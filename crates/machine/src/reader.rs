// SPDX-License-Identifier: GPL-2.0-only
//! Typed reading of a document: every key is asked for by name and type, keys
//! that nobody asked for are refused, and every figure read goes into the
//! ledger with its provenance. What is wrong goes there too, and reading goes on:
//! a file's mistakes are told together.

mod values;

use std::cell::{Ref, RefCell};
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::cpuset::CpuSet;
use crate::document::{Entry, Kind, Node, Table, VALUE};
use crate::error::{Error, Place, SIMILAR, nearest, similarity};
use crate::figure::{Figure, Provenance};
use crate::problems::{Problem, verdict};
use values::{Wrong, cpus_of, items_of, mistyped, regular_spans, text_of, whole_of, within_spread};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct At<T> {
    pub value: T,
    pub place: Place,
}

/// The figures read so far, and what was wrong.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    figures: RefCell<Vec<Figure>>,
    problems: RefCell<Vec<Problem>>,
}

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
        self.figures.borrow_mut().push(figure);
    }

    pub fn figures(&self) -> Ref<'_, Vec<Figure>> {
        self.figures.borrow()
    }

    pub fn into_figures(self) -> Vec<Figure> {
        self.figures.into_inner()
    }

    fn tell(&self, problem: Problem) {
        self.problems.borrow_mut().push(problem);
    }

    /// Tells what was wrong with another reading.
    pub fn tell_all(&self, other: Self) {
        self.problems
            .borrow_mut()
            .extend(other.problems.into_inner());
    }

    /// Tells of something wrong at `place`.
    pub fn complain(&self, place: &Place, message: impl Into<String>) {
        self.tell(Problem::Wrong {
            place: place.clone(),
            message: message.into(),
        });
    }

    /// # Errors
    /// All that was wrong.
    pub fn verdict(&self) -> Result<(), Error> {
        verdict(self.problems.take())
    }
}

/// One table being read.
pub(crate) struct Reader<'a> {
    table: &'a Table,
    /// Where the table begins.
    pub place: &'a Place,
    /// Keys that lead to the table, joined by dots.
    pub path: String,
    asked: Vec<&'static str>,
    /// Keys that must be there and are not.
    lacking: Vec<&'static str>,
    /// Keys that were told as misspelt.
    meant: Vec<&'a str>,
    ledger: &'a Ledger,
}

/// A figure's value before its type is known.
struct Raw<'a> {
    node: &'a Node,
    provenance: Arc<Provenance>,
}

impl<'a> Reader<'a> {
    pub fn new(node: &'a Node, path: &str, ledger: &'a Ledger) -> Option<Self> {
        let Kind::Table(table) = &node.kind else {
            ledger.complain(&node.place, mistyped(node, path, "a table"));
            return None;
        };
        Some(Self {
            table,
            place: &node.place,
            path: path.to_owned(),
            asked: Vec::new(),
            lacking: Vec::new(),
            meant: Vec::new(),
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

    /// How messages call the table.
    fn section_name(&self) -> String {
        match self.path.as_str() {
            "" => "the file".to_owned(),
            path => format!("[{path}]"),
        }
    }

    /// Tells of something wrong at `place`.
    pub fn complain(&self, place: &Place, message: impl Into<String>) {
        self.ledger.complain(place, message);
    }

    /// Tells of what is wrong with something that this table names.
    pub fn complain_as(&self, other: Ledger) {
        self.ledger.tell_all(other);
    }

    /// Where `key` stands, or the table if it does not.
    pub fn place_of(&self, key: &str) -> &'a Place {
        let entry = self.table.get(key);
        entry.map_or(self.place, |entry| &entry.place)
    }

    /// Is there something under `key`, of use or not?
    pub fn has(&self, key: &str) -> bool {
        self.table.contains_key(key)
    }

    /// Tells of the keys that are missing and of those that were not asked for.
    pub fn finish(mut self) {
        for key in std::mem::take(&mut self.lacking) {
            self.tell_lacking(key);
        }
        for (key, entry) in self.table {
            let meant = self.meant.contains(&key.as_str());
            if !self.asked.contains(&key.as_str()) && !meant {
                let section = match self.path.as_str() {
                    "" => "at the top of the file".to_owned(),
                    path => format!("in [{path}]"),
                };
                let hint = nearest(key, self.asked.iter().copied());
                let message = format!("unknown key `{key}` {section}, {hint}");
                self.complain(&entry.place, message);
            }
        }
    }

    /// What stands for a key that must be there. If there is nothing, [`Self::finish`] tells,
    /// which knows what else may have been meant.
    pub fn required<T>(&mut self, key: &'static str, value: Option<T>) -> Option<T> {
        // What is there but of no use was told when it was read.
        if value.is_none() && !self.has(key) {
            self.lacking.push(key);
        }
        value
    }

    /// As [`Self::required`], of a table that is not read on without this key.
    pub fn required_at_once<T>(&mut self, key: &'static str, value: Option<T>) -> Option<T> {
        if value.is_none() && !self.has(key) {
            self.tell_lacking(key);
        }
        value
    }

    fn tell_lacking(&mut self, key: &'static str) {
        let section = self.section_name();
        match self.misspelling(key) {
            Some((found, place)) => {
                let message = format!("{section} lacks the key `{key}`; `{found}` is close to it");
                self.complain(place, message);
                self.meant.push(found);
            }
            None => self.ledger.tell(Problem::Lacks {
                place: self.place.clone(),
                section,
                key,
            }),
        }
    }

    /// The key, not asked for so far, that most resembles the missing `key`.
    fn misspelling(&self, key: &str) -> Option<(&'a str, &'a Place)> {
        self.table
            .iter()
            .filter(|(other, _)| !self.asked.contains(&other.as_str()))
            .filter(|(other, _)| !self.meant.contains(&other.as_str()))
            .map(|(other, entry)| (similarity(key, other), other.as_str(), &entry.place))
            .filter(|(similarity, ..)| *similarity >= SIMILAR)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, other, place)| (other, place))
    }

    /// `what`, or nothing and a complaint.
    fn told<T>(&self, what: Result<T, Wrong>) -> Option<T> {
        what.map_err(|(place, message)| self.complain(&place, message))
            .ok()
    }

    /// Plain text without provenance: names, descriptions.
    pub fn text(&mut self, key: &'static str) -> Option<At<String>> {
        let path = self.path_of(key);
        let entry = self.entry(key)?;
        self.told(text_of(&entry.node, &path))
    }

    /// A table under `key`.
    pub fn section(&mut self, key: &'static str) -> Option<Reader<'a>> {
        let path = self.path_of(key);
        let entry = self.entry(key)?;
        Reader::new(&entry.node, &path, self.ledger)
    }

    /// The tables of a table of tables, with their names.
    pub fn named_sections(&mut self, key: &'static str) -> Vec<(String, Reader<'a>)> {
        let Some(section) = self.section(key) else {
            return Vec::new();
        };
        let tables = section.table.iter();
        let readers = tables.filter_map(|(name, entry)| {
            let path = section.path_of(name);
            Reader::new(&entry.node, &path, section.ledger).map(|reader| (name.clone(), reader))
        });
        readers.collect()
    }

    /// The tables of a list of tables (`[[key]]`). Each must have a `name`,
    /// which stands in the paths of its figures; `None`: some have not.
    pub fn listed_sections(&mut self, key: &'static str) -> Option<Vec<(At<String>, Reader<'a>)>> {
        let path = self.path_of(key);
        let ledger = self.ledger;
        let Some(entry) = self.entry(key) else {
            return Some(Vec::new());
        };
        let Kind::Array(items) = &entry.node.kind else {
            let expected = format!("tables headed [[{path}]]");
            self.complain(&entry.node.place, mistyped(&entry.node, &path, &expected));
            return None;
        };
        let mut sections = Vec::new();
        for item in items {
            let Some(mut reader) = Reader::new(item, &path, ledger) else {
                continue;
            };
            let name = reader.text("name");
            if let Some(name) = reader.required_at_once("name", name) {
                reader.path = format!("{path}.{}", name.value);
                sections.push((name, reader));
            }
        }
        (sections.len() == items.len()).then_some(sections)
    }

    /// A whole number in `range`.
    pub fn whole(&mut self, key: &'static str, range: RangeInclusive<u64>) -> Option<At<u64>> {
        let (number, provenance) = self.whole_with_provenance(key, range)?;
        let path = self.path_of(key);
        self.ledger
            .record(path, number.value.to_string(), provenance);
        Some(number)
    }

    /// A whole number in `range` with its provenance, not recorded: the caller
    /// derives another figure from it.
    pub fn whole_with_provenance(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Option<(At<u64>, Provenance)> {
        let path = self.path_of(key);
        let raw = self.raw(key)?;
        let number = self.told(whole_of(raw.node, &path, &range))?;
        Some((number, (*raw.provenance).clone()))
    }

    /// A list of whole numbers in `range`.
    pub fn wholes(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Option<At<Vec<At<u64>>>> {
        let path = self.path_of(key);
        let raw = self.raw(key)?;
        let items = self.told(items_of(raw.node, &path, "a list of numbers"))?;
        let numbers = items.iter().map(|item| whole_of(item, &path, &range));
        let value = self.told(numbers.collect::<Result<Vec<_>, _>>())?;
        let words: Vec<String> = value.iter().map(|n| n.value.to_string()).collect();
        self.record(path, words.join(" "), &raw);
        let place = raw.node.place.clone();
        Some(At { value, place })
    }

    /// `true` or `false`.
    pub fn flag(&mut self, key: &'static str) -> Option<bool> {
        let path = self.path_of(key);
        let raw = self.raw(key)?;
        let Kind::Boolean(value) = raw.node.kind else {
            let message = mistyped(raw.node, &path, "`true` or `false`");
            self.complain(&raw.node.place, message);
            return None;
        };
        self.record(path, value.to_string(), &raw);
        Some(value)
    }

    /// One of the names in `valid`, with its meaning.
    pub fn choice<T: Copy>(&mut self, key: &'static str, valid: &[(&str, T)]) -> Option<T> {
        let path = self.path_of(key);
        let raw = self.raw(key)?;
        let word = self.told(text_of(raw.node, &path))?;
        let Some(&(name, meaning)) = valid.iter().find(|(name, _)| *name == word.value) else {
            let hint = nearest(&word.value, valid.iter().map(|(name, _)| *name));
            self.complain(&word.place, format!("`{path}` is `{}`, {hint}", word.value));
            return None;
        };
        self.record(path, name.to_owned(), &raw);
        Some(meaning)
    }

    /// A list of texts, which are no figures and need no source.
    pub fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        let path = self.path_of(key);
        let entry = self.entry(key)?;
        let items = self.told(items_of(&entry.node, &path, "a list of texts"))?;
        let texts = items.iter().map(|item| Ok(text_of(item, &path)?.value));
        self.told(texts.collect())
    }

    /// A list of names, each one of `valid`.
    pub fn names(&mut self, key: &'static str, valid: &[&str]) -> Option<Vec<At<String>>> {
        let path = self.path_of(key);
        let raw = self.raw(key)?;
        let mut names = Vec::new();
        for item in self.told(items_of(raw.node, &path, "a list of names"))? {
            let name = self.told(text_of(item, &path))?;
            if !valid.contains(&name.value.as_str()) {
                let hint = nearest(&name.value, valid.iter().copied());
                self.complain(
                    &name.place,
                    format!("`{path}` names `{}`, {hint}", name.value),
                );
                return None;
            }
            names.push(name);
        }
        let words: Vec<&str> = names.iter().map(|name| name.value.as_str()).collect();
        self.record(path, words.join(" "), &raw);
        Some(names)
    }

    /// Disjoint sets of CPUs: a CPU list, a list of them, or
    /// `{ cpus, size, sibling_offset }` for regular ones.
    pub fn partition(&mut self, key: &'static str) -> Option<Vec<At<CpuSet>>> {
        let path = self.path_of(key);
        let raw = self.raw(key)?;
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
        if spans.is_empty() {
            let message = format!("`{path}` is an empty list, expected at least one set of CPUs");
            self.complain(&raw.node.place, message);
            return None;
        }
        let words: Vec<String> = spans.iter().map(|span| span.value.to_string()).collect();
        self.record(path, words.join(" "), &raw);
        Some(spans)
    }

    fn spans_of(&self, node: &Node, path: &str) -> Option<Vec<At<CpuSet>>> {
        match &node.kind {
            Kind::Text(_) => Some(vec![self.told(cpus_of(node, path))?]),
            Kind::Table(_) => regular_spans(node, path, self.ledger),
            _ => {
                let expected = "a CPU list such as \"0-3\", a list of them, or { cpus, size, \
                                sibling_offset }";
                self.complain(&node.place, mistyped(node, path, expected));
                None
            }
        }
    }

    /// Lists of whole numbers in `range`, of which no one asks where they are from.
    pub fn numbers(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Option<Vec<Vec<u64>>> {
        let path = self.path_of(key);
        let entry = self.entry(key)?;
        self.lists(&entry.node, &path, &range)
    }

    fn lists(&self, node: &Node, path: &str, range: &RangeInclusive<u64>) -> Option<Vec<Vec<u64>>> {
        let mut value = Vec::new();
        for row in self.told(items_of(node, path, "a list of rows"))? {
            let expected = "a list of rows, each a list of numbers";
            let items = self.told(items_of(row, path, expected))?.iter();
            let row = items.map(|item| whole_of(item, path, range).map(|number| number.value));
            value.push(self.told(row.collect::<Result<Vec<_>, _>>())?);
        }
        Some(value)
    }

    /// A matrix of whole numbers in `range`, row by row.
    pub fn matrix(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Option<At<Vec<Vec<u64>>>> {
        let path = self.path_of(key);
        let raw = self.raw(key)?;
        let value = self.lists(raw.node, &path, &range)?;
        self.record(path, format!("{value:?}"), &raw);
        let place = raw.node.place.clone();
        Some(At { value, place })
    }

    /// The figure under `key`: bare, or `{ value = …, source = … }`.
    fn raw(&mut self, key: &'static str) -> Option<Raw<'a>> {
        let path = self.path_of(key);
        let entry = self.entry(key)?;
        let node = match &entry.node.kind {
            Kind::Table(table) if table.contains_key(VALUE) => {
                if let Some((key, extra)) = table.iter().find(|(key, _)| *key != VALUE) {
                    let hint = nearest(key, [VALUE, "source", "confidence", "spread"]);
                    let message = format!("unknown key `{key}` of the figure `{path}`, {hint}");
                    self.complain(&extra.place, message);
                    return None;
                }
                &table[VALUE].node
            }
            _ => &entry.node,
        };
        let Some(provenance) = node.provenance.clone() else {
            let place = node.place.clone();
            self.ledger.tell(Problem::NoSource { place, path });
            return None;
        };
        self.told(within_spread(node, &path, &provenance))?;
        Some(Raw { node, provenance })
    }

    /// Records a figure that follows from others of this table.
    pub fn record_derived(&self, key: &str, value: String, provenance: Provenance) {
        self.ledger.record(self.path_of(key), value, provenance);
    }

    fn record(&self, path: String, value: String, raw: &Raw) {
        self.ledger.record(path, value, (*raw.provenance).clone());
    }
}
