// SPDX-License-Identifier: GPL-2.0-only
//! A machine file as a tree of values, each with its place and its provenance.
//!
//! `source` and `confidence` in a table hold for everything below it, until a
//! table further down says otherwise; they name entries of the file's
//! `[sources]`. They are settled here, before a file is laid over the one that
//! it `inherits`, so that a figure never gets the source of another file.

use std::collections::BTreeMap;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::calibration::Calibration;
use crate::error::{Error, Place, nearest};
use crate::figure::{Confidence, Provenance};
use crate::written::written;

/// Keys of a table that say where its figures come from.
const SOURCE: &str = "source";
const CONFIDENCE: &str = "confidence";
/// Key of a figure: the least and the largest of the rounds of its measurement.
const SPREAD: &str = "spread";
/// Table of the sources that a file cites.
pub(crate) const SOURCES: &str = "sources";
/// Key that makes a table one figure with a provenance of its own.
pub(crate) const VALUE: &str = "value";

/// A value with its place and the provenance that holds there.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub kind: Kind,
    pub place: Place,
    pub provenance: Option<Arc<Provenance>>,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Table(Table),
    Array(Vec<Node>),
    Text(String),
    Integer(i64),
    Boolean(bool),
    /// A number that is not whole, or larger than any key takes, as it is written.
    Number(String),
    /// A type that no key takes, with its name.
    Other(&'static str),
}

/// Keys in alphabetical order, so that nothing depends on the file's order.
pub(crate) type Table = BTreeMap<String, Entry>;

#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Where the key stands.
    pub place: Place,
    pub node: Node,
}

/// Sources by the short name that a file gives them.
pub(crate) type Sources = BTreeMap<String, Arc<Provenance>>;

/// A file after parsing, with the sources that it and its bases name.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub root: Node,
    pub sources: Sources,
    /// The file, as one text that is understood wherever this program runs.
    pub text: String,
    /// To which rows the costs were fitted.
    pub calibration: Option<Calibration>,
}

impl Kind {
    /// What a person would call it.
    pub fn describe(&self) -> String {
        match self {
            Self::Table(_) => "a table".to_owned(),
            Self::Array(_) => "a list".to_owned(),
            Self::Text(text) => format!("text \"{text}\""),
            Self::Integer(value) => value.to_string(),
            Self::Number(digits) => digits.clone(),
            Self::Boolean(value) => value.to_string(),
            Self::Other(name) => format!("a {name}"),
        }
    }
}

/// Text of a file and where its lines begin.
struct Text<'t> {
    file: Arc<str>,
    text: &'t str,
    line_starts: Vec<usize>,
}

impl<'t> Text<'t> {
    fn new(file: &str, text: &'t str) -> Self {
        let line_starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        Self {
            file: file.into(),
            text,
            line_starts,
        }
    }

    fn place(&self, offset: usize) -> Place {
        let line = self.line_starts.partition_point(|&start| start <= offset);
        let start = self.line_starts[line - 1];
        let before = self.text.get(start..offset).unwrap_or("");
        Place {
            file: self.file.clone(),
            line,
            column: before.chars().count() + 1,
        }
    }
}

/// A parsed file whose sources are not settled yet: `inherits` decides first
/// which sources of a base may be cited.
pub(crate) struct Parsed<'t> {
    text: Text<'t>,
    table: Spanned<DeTable<'t>>,
}

impl<'t> Parsed<'t> {
    /// Parses TOML.
    pub fn new(file: &str, text: &'t str) -> Result<Self, Error> {
        let lines = Text::new(file, text);
        let table = DeTable::parse(text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let message = match (error.message(), text.get(span.clone())) {
                ("duplicate key", Some(key)) => format!("the key `{}` occurs twice", key.trim()),
                (message, _) => message.to_owned(),
            };
            Error::written(&lines.place(span.start), message)
        })?;
        Ok(Self { text: lines, table })
    }

    /// Value and place of `key`, which names another machine: `inherits` or `costs_from`.
    pub fn other(&self, key: &str) -> Result<Option<(String, Place)>, Error> {
        let Some(value) = self.table.get_ref().get(key) else {
            return Ok(None);
        };
        let place = self.text.place(value.span().start);
        match value.get_ref().as_str() {
            Some(name) => Ok(Some((name.to_owned(), place))),
            None => Err(Error::written(
                &place,
                format!("`{key}` must be the name of a machine or a file ending in `.toml`"),
            )),
        }
    }

    /// The tree, with every provenance settled against the file's own sources
    /// and those of `base`.
    pub fn settle(self, base: &Sources) -> Result<Document, Error> {
        let Self { text, table } = self;
        let mut sources = base.clone();
        if let Some(own) = table.get_ref().get(SOURCES) {
            sources.extend(read_sources(&text, own)?);
        }
        let start = table.span().start;
        let table = table.into_inner();
        let settler = Settler {
            text: &text,
            sources: &sources,
        };
        let root = settler.table(&table, text.place(start), None)?;
        Ok(Document {
            root,
            sources,
            text: text.text.to_owned(),
            calibration: None,
        })
    }
}

/// Reads `[sources]`: `name = { text = "…", confidence = "…" }`.
fn read_sources(text: &Text, node: &Spanned<DeValue>) -> Result<Sources, Error> {
    const FORM: &str = "expected `name = { text = \"…\", confidence = \"…\" }`";
    let wrong = |node: &Spanned<DeValue>| {
        let found = node.get_ref().type_str();
        let message = format!("found a {found} in [sources], {FORM}");
        Error::written(&text.place(node.span().start), message)
    };
    let table = node.get_ref().as_table().ok_or_else(|| wrong(node))?;
    let mut sources = Sources::new();
    for (name, value) in table {
        let fields = value.get_ref().as_table().ok_or_else(|| wrong(value))?;
        for key in fields.keys() {
            if !["text", CONFIDENCE].contains(&key.get_ref().as_ref()) {
                let message = format!("unknown key `{}` of a source, {FORM}", key.get_ref());
                return Err(Error::written(&text.place(key.span().start), message));
            }
        }
        let words = fields.get("text").and_then(|node| node.get_ref().as_str());
        let weight = fields.get(CONFIDENCE).ok_or_else(|| wrong(value))?;
        let source = words.ok_or_else(|| wrong(value))?.to_owned();
        let provenance = Provenance::new(source, read_confidence(text, weight)?);
        sources.insert(name.get_ref().to_string(), Arc::new(provenance));
    }
    Ok(sources)
}

fn read_confidence(text: &Text, node: &Spanned<DeValue>) -> Result<Confidence, Error> {
    let found = node.get_ref().as_str().unwrap_or("");
    Confidence::NAMES
        .iter()
        .find(|(name, _)| *name == found)
        .map(|&(_, confidence)| confidence)
        .ok_or_else(|| {
            let hint = nearest(found, Confidence::NAMES.map(|(name, _)| name));
            let message = format!("`{found}` is no confidence, {hint}");
            Error::written(&text.place(node.span().start), message)
        })
}

/// Reads `[least, largest]`, or of a column a list of such pairs.
fn read_spread(text: &Text, node: &Spanned<DeValue>) -> Result<Vec<[u64; 2]>, Error> {
    let wrong = || {
        let message = "a `spread` that is not [least, largest], two whole numbers of which the \
                       second is not below the first, or a list of such pairs";
        Error::written(&text.place(node.span().start), message)
    };
    let number = |value: &Spanned<DeValue>| match value.get_ref() {
        DeValue::Integer(digits) => u64::from_str_radix(digits.as_str(), digits.radix()).ok(),
        _ => None,
    };
    let pair = |value: &Spanned<DeValue>| {
        let numbers = value.get_ref().as_array()?.iter().map(number);
        let pair: [u64; 2] = numbers.collect::<Option<Vec<_>>>()?.try_into().ok()?;
        (pair[0] <= pair[1]).then_some(pair)
    };
    if let Some(one) = pair(node) {
        return Ok(vec![one]);
    }
    let pairs = node.get_ref().as_array().filter(|pairs| !pairs.is_empty());
    let pairs = pairs.ok_or_else(wrong)?.iter().map(pair);
    pairs.collect::<Option<_>>().ok_or_else(wrong)
}

/// Turns parsed values into nodes, carrying the provenance downwards.
struct Settler<'a> {
    text: &'a Text<'a>,
    sources: &'a Sources,
}

type Settled = Option<Arc<Provenance>>;

impl Settler<'_> {
    fn node(&self, value: &Spanned<DeValue>, above: &Settled) -> Result<Node, Error> {
        let place = self.text.place(value.span().start);
        let kind = match value.get_ref() {
            DeValue::Table(table) => return self.table(table, place, above.as_ref()),
            DeValue::Array(items) => Kind::Array(
                items
                    .iter()
                    .map(|item| self.node(item, above))
                    .collect::<Result<_, _>>()?,
            ),
            DeValue::String(text) => Kind::Text(text.to_string()),
            DeValue::Integer(digits) => {
                let number = i64::from_str_radix(digits.as_str(), digits.radix());
                number.map_or_else(|_| Kind::Number(digits.to_string()), Kind::Integer)
            }
            DeValue::Float(digits) => Kind::Number(digits.to_string()),
            DeValue::Boolean(value) => Kind::Boolean(*value),
            other => Kind::Other(other.type_str()),
        };
        Ok(Node {
            kind,
            place,
            provenance: above.clone(),
        })
    }

    fn table(
        &self,
        table: &DeTable,
        place: Place,
        above: Option<&Arc<Provenance>>,
    ) -> Result<Node, Error> {
        let provenance = self.provenance(table, above)?;
        let mut entries = Table::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let of_figure = name == SPREAD && table.contains_key(VALUE);
            if [SOURCE, CONFIDENCE, SOURCES].contains(&name) || of_figure {
                continue;
            }
            let entry = Entry {
                place: self.text.place(key.span().start),
                node: self.node(value, &provenance)?,
            };
            entries.insert(name.to_owned(), entry);
        }
        Ok(Node {
            kind: Kind::Table(entries),
            place,
            provenance,
        })
    }

    /// The provenance that holds in `table`.
    fn provenance(
        &self,
        table: &DeTable,
        above: Option<&Arc<Provenance>>,
    ) -> Result<Settled, Error> {
        let mut settled = above.cloned();
        if let Some(source) = table.get(SOURCE) {
            settled = Some(self.source(source)?);
        }
        if let Some(node) = table.get(CONFIDENCE) {
            let confidence = read_confidence(self.text, node)?;
            let Some(known) = &settled else {
                let message = "a `confidence` without a `source`, expected both";
                return Err(Error::written(&self.text.place(node.span().start), message));
            };
            settled = Some(Arc::new(Provenance::new(known.source.clone(), confidence)));
        }
        if let (Some(node), true) = (table.get(SPREAD), table.contains_key(VALUE)) {
            let spread = read_spread(self.text, node)?;
            // Without a source the figure is refused.
            settled = settled.map(|known| {
                let known = (*known).clone();
                Arc::new(Provenance { spread, ..known })
            });
        }
        Ok(settled)
    }

    fn source(&self, node: &Spanned<DeValue>) -> Result<Arc<Provenance>, Error> {
        let found = node.get_ref().as_str().unwrap_or("");
        self.sources.get(found).cloned().ok_or_else(|| {
            let hint = nearest(found, self.sources.keys().map(String::as_str));
            let message = format!("`{found}` is not in [sources], {hint}");
            Error::written(&self.text.place(node.span().start), message)
        })
    }
}

impl Document {
    /// The same after its tree was changed: its text is that of the tree.
    pub fn rewritten(self) -> Self {
        Document {
            text: written(&self.root),
            ..self
        }
    }
}

impl Node {
    /// Is it a table with an entry `key`?
    pub fn has(&self, key: &str) -> bool {
        matches!(&self.kind, Kind::Table(table) if table.contains_key(key))
    }

    /// A table of this one's entry `key` alone.
    pub fn only(mut self, key: &str) -> Self {
        if let Kind::Table(table) = &mut self.kind {
            table.retain(|name, _| name == key);
        }
        self
    }
}

/// Lays `over` on `base`: tables are merged key by key, everything else, and
/// each figure with its own provenance, is replaced as a whole.
pub(crate) fn overlay(base: Node, over: Node) -> Node {
    match (base.kind, over.kind) {
        (Kind::Table(mut below), Kind::Table(above))
            if !below.contains_key(VALUE) && !above.contains_key(VALUE) =>
        {
            for (key, entry) in above {
                let merged = match below.remove(&key) {
                    Some(old) => Entry {
                        place: entry.place,
                        node: overlay(old.node, entry.node),
                    },
                    None => entry,
                };
                below.insert(key, merged);
            }
            Node {
                kind: Kind::Table(below),
                place: over.place,
                provenance: over.provenance,
            }
        }
        (_, kind) => Node { kind, ..over },
    }
}
