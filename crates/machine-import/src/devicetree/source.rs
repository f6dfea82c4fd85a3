// SPDX-License-Identifier: GPL-2.0-only
//! Device tree sources, after the preprocessor: nodes, properties, labels, references and deletions,
//! in the order in which later ones change earlier ones.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::expression::operand;
use super::lexer::Cursor;
use super::tree::{At, DEEPEST, Id, MOST_NODES, Property, Tree};
use crate::error::Error;

/// What stands behind a `&`, and what to do where it is missing.
const LABEL: &str = "a label of this file, or `{/path}`: import the source after the preprocessor, with \
                     all that it includes";

pub(super) fn read(path: &Path, text: &str) -> Result<Tree, Error> {
    let mut parser = Parser {
        cursor: Cursor::new(path, text),
        tree: Tree::new(path),
        labels: BTreeMap::new(),
        values: BTreeMap::new(),
    };
    parser.file()?;
    parser.finished()
}

/// Part of a value.
enum Piece {
    Bytes(Vec<u8>),
    /// The phandle of a node.
    Phandle(Reference),
    /// The path of a node.
    Path(Reference),
}

/// A node by its label or path, and the line that names it.
struct Reference {
    name: String,
    at: At,
}

/// A value whose references are still open.
struct Value {
    pieces: Vec<Piece>,
    at: At,
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    tree: Tree,
    labels: BTreeMap<String, Id>,
    values: BTreeMap<(Id, String), Value>,
}

impl Parser<'_> {
    fn file(&mut self) -> Result<(), Error> {
        loop {
            self.cursor.space()?;
            match self.cursor.peek() {
                None => return Ok(()),
                Some('/') => self.directive()?,
                Some('&') => {
                    let id = self.referenced()?;
                    self.body_of(id, 0)?;
                }
                Some(_) => {
                    // A label before a reference: another name of the node.
                    let label = self.cursor.label();
                    if label.is_empty() || !self.cursor.take(":") {
                        let message = format!(
                            "{} stands here, expected `/ {{` or `&label {{`",
                            self.cursor.found()
                        );
                        return Err(self.cursor.error(message));
                    }
                    self.cursor.space()?;
                    let id = self.referenced()?;
                    self.labels.insert(label.to_owned(), id);
                    self.body_of(id, 0)?;
                }
            }
        }
    }

    /// What begins with `/` outside of all nodes.
    fn directive(&mut self) -> Result<(), Error> {
        for taken in ["/dts-v1/", "/plugin/"] {
            if self.cursor.take(taken) {
                return self.cursor.expect(';');
            }
        }
        if self.cursor.take("/memreserve/") {
            self.cursor.word(|c| c != ';');
            return self.cursor.expect(';');
        }
        if self.cursor.take("/delete-node/") {
            self.cursor.space()?;
            let id = self.referenced()?;
            self.delete(id);
            return self.cursor.expect(';');
        }
        if self.cursor.take("/omit-if-no-ref/") {
            return Ok(());
        }
        self.refuse_include()?;
        self.cursor.advance();
        self.body_of(self.tree.root(), 0)
    }

    fn refuse_include(&self) -> Result<(), Error> {
        if self.cursor.starts_with("/include/") || self.cursor.starts_with("/incbin/") {
            let message = "`/include/` or `/incbin/` stands here, which is not followed, expected a source in \
                           one file: put the other file in its place";
            return Err(self.cursor.error(message));
        }
        Ok(())
    }

    /// The node of `&label` or `&{/path}`, which must be there already.
    fn referenced(&mut self) -> Result<Id, Error> {
        let reference = self.reference()?;
        self.target(&reference).ok_or_else(|| {
            let message = format!(
                "`&{}` names no node that stands before it, expected {LABEL}",
                reference.name
            );
            self.cursor.error(message)
        })
    }

    fn reference(&mut self) -> Result<Reference, Error> {
        self.cursor.expect('&')?;
        let at = self.cursor.at;
        let name = if self.cursor.take("{") {
            let path = self.cursor.word(|c| c != '}' && !c.is_whitespace());
            self.cursor.expect('}')?;
            path
        } else {
            self.cursor.label()
        };
        match name {
            "" => Err(self
                .cursor
                .error("`&` stands here, expected the label of a node behind it")),
            name => Ok(Reference {
                name: name.to_owned(),
                at,
            }),
        }
    }

    fn target(&self, reference: &Reference) -> Option<Id> {
        match reference.name.starts_with('/') {
            true => self.tree.at(&reference.name),
            false => self.labels.get(&reference.name).copied(),
        }
    }

    fn body_of(&mut self, id: Id, depth: usize) -> Result<(), Error> {
        if depth > DEEPEST || self.tree.nodes.len() > MOST_NODES {
            let message =
                format!("more than {DEEPEST} levels or {MOST_NODES} nodes, expected less");
            return Err(self.cursor.error(message));
        }
        self.cursor.expect('{')?;
        loop {
            self.cursor.space()?;
            if self.cursor.take("}") {
                return self.cursor.expect(';');
            }
            self.statement(id, depth)?;
        }
    }

    fn statement(&mut self, id: Id, depth: usize) -> Result<(), Error> {
        if self.cursor.take("/delete-node/") {
            self.cursor.space()?;
            if self.cursor.peek() == Some('&') {
                let node = self.referenced()?;
                self.delete(node);
            } else {
                let name = self.cursor.name()?;
                if let Some(child) = self.tree.child(id, name) {
                    self.tree.delete(id, child);
                }
            }
            return self.cursor.expect(';');
        }
        if self.cursor.take("/delete-property/") {
            self.cursor.space()?;
            let name = self.cursor.name()?;
            self.values.remove(&(id, name.to_owned()));
            return self.cursor.expect(';');
        }
        self.refuse_include()?;
        self.cursor.take("/omit-if-no-ref/");
        self.cursor.space()?;
        let at = self.cursor.at;
        let (labels, name) = self.labelled()?;
        self.cursor.space()?;
        match self.cursor.peek() {
            Some('{') => {
                let child = self.tree.child_or_new(id, &name, at);
                labels.into_iter().for_each(|label| {
                    self.labels.insert(label, child);
                });
                self.body_of(child, depth + 1)
            }
            Some('=') => {
                self.cursor.advance();
                let pieces = self.pieces()?;
                self.values.insert((id, name), Value { pieces, at });
                self.cursor.expect(';')
            }
            _ => {
                let pieces = Vec::new();
                self.values.insert((id, name), Value { pieces, at });
                self.cursor.expect(';')
            }
        }
    }

    /// Labels, each with a colon, and the name behind them.
    fn labelled(&mut self) -> Result<(Vec<String>, String), Error> {
        let mut labels = Vec::new();
        loop {
            let name = self.cursor.name()?;
            if !self.cursor.take(":") {
                return Ok((labels, name.to_owned()));
            }
            labels.push(name.to_owned());
            self.cursor.space()?;
        }
    }

    fn delete(&mut self, id: Id) {
        let path = self.tree.nodes[id].path.clone();
        let parent = path.rsplit_once('/').map_or("/", |(parent, _)| parent);
        let parent = if parent.is_empty() { "/" } else { parent };
        if let Some(parent) = self.tree.at(parent) {
            self.tree.delete(parent, id);
        }
    }

    /// A value: parts with commas between them.
    fn pieces(&mut self) -> Result<Vec<Piece>, Error> {
        let mut pieces = Vec::new();
        loop {
            self.cursor.space()?;
            let bits = self.bits()?;
            self.skip_label()?;
            match self.cursor.peek() {
                Some('<') => self.cells(bits, &mut pieces)?,
                Some('"') => {
                    self.cursor.advance();
                    let mut bytes = self.cursor.text()?;
                    bytes.push(0);
                    pieces.push(Piece::Bytes(bytes));
                }
                Some('[') => pieces.push(Piece::Bytes(self.bytes()?)),
                Some('&') => pieces.push(Piece::Path(self.reference()?)),
                _ => {
                    self.refuse_include()?;
                    let message = format!(
                        "{} stands here, expected a value: `<cells>`, `\"text\"`, `[bytes]` or `&label`",
                        self.cursor.found()
                    );
                    return Err(self.cursor.error(message));
                }
            }
            self.cursor.space()?;
            self.skip_label()?;
            if !self.cursor.take(",") {
                return Ok(pieces);
            }
        }
    }

    /// A label inside of a value names a place in it, which nothing here asks for.
    fn skip_label(&mut self) -> Result<(), Error> {
        while self
            .cursor
            .peek()
            .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        {
            let label = self.cursor.label();
            if !self.cursor.take(":") {
                let message = format!("`{label}` stands here, expected a value");
                return Err(self.cursor.error(message));
            }
            self.cursor.space()?;
        }
        Ok(())
    }

    /// Bits of a cell: those of `/bits/`, else 32.
    fn bits(&mut self) -> Result<u32, Error> {
        if !self.cursor.take("/bits/") {
            return Ok(32);
        }
        match operand(&mut self.cursor, 0)? {
            bits @ (8 | 16 | 32 | 64) => {
                self.cursor.space()?;
                Ok(bits as u32)
            }
            bits => {
                let message = format!("`/bits/` is {bits}, expected 8, 16, 32 or 64");
                Err(self.cursor.error(message))
            }
        }
    }

    fn cells(&mut self, bits: u32, pieces: &mut Vec<Piece>) -> Result<(), Error> {
        self.cursor.expect('<')?;
        let mut bytes = Vec::new();
        loop {
            self.cursor.space()?;
            if self.cursor.take(">") {
                pieces.push(Piece::Bytes(bytes));
                return Ok(());
            }
            match self.cursor.peek() {
                Some('&') => {
                    pieces.push(Piece::Bytes(std::mem::take(&mut bytes)));
                    pieces.push(Piece::Phandle(self.reference()?));
                }
                Some(c) if c.is_ascii_digit() || c == '(' || c == '\'' => {
                    let value = operand(&mut self.cursor, 0)?;
                    // Negative numbers of 32 bits are written as such of 64.
                    let fits =
                        bits == 64 || value >> bits == 0 || (value as i64) >> (bits - 1) == -1;
                    if !fits {
                        let message = format!("`{value}` does not fit into a cell of {bits} bits");
                        return Err(self.cursor.error(message));
                    }
                    bytes.extend_from_slice(&value.to_be_bytes()[8 - bits as usize / 8..]);
                }
                _ => self.label_or_name()?,
            }
        }
    }

    /// A label in cells; a name there was not replaced by the preprocessor.
    fn label_or_name(&mut self) -> Result<(), Error> {
        let label = self.cursor.label();
        if !label.is_empty() && self.cursor.take(":") {
            return Ok(());
        }
        let message = match label {
            "" => format!(
                "{} stands here, expected a number or `>`",
                self.cursor.found()
            ),
            name => format!(
                "`{name}` stands here, expected a number: it is a name that the preprocessor replaces, \
                 so run that first"
            ),
        };
        Err(self.cursor.error(message))
    }

    /// Pairs of hexadecimal digits.
    fn bytes(&mut self) -> Result<Vec<u8>, Error> {
        self.cursor.expect('[')?;
        let mut digits = String::new();
        loop {
            self.cursor.space()?;
            if self.cursor.take("]") {
                break;
            }
            match self.cursor.word(|c| c.is_ascii_hexdigit()) {
                "" => {
                    let found = self.cursor.found();
                    let message =
                        format!("{found} stands here, expected two digits of a byte or `]`");
                    return Err(self.cursor.error(message));
                }
                word => digits.push_str(word),
            }
        }
        let pairs = digits.as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        match (
            digits.len() % 2,
            pairs.map(byte).collect::<Option<Vec<u8>>>(),
        ) {
            (0, Some(bytes)) => Ok(bytes),
            _ => Err(self
                .cursor
                .error("the bytes have a digit too few, expected two for each")),
        }
    }

    /// The tree with all references resolved.
    fn finished(mut self) -> Result<Tree, Error> {
        let reachable: BTreeSet<Id> = self.tree.below(self.tree.root()).into_iter().collect();
        let mut phandles = self.explicit_phandles();
        let mut next = 1;
        let values = std::mem::take(&mut self.values);
        for ((id, name), value) in values {
            if !reachable.contains(&id) {
                continue;
            }
            let mut bytes = Vec::new();
            for piece in value.pieces {
                let (Piece::Phandle(reference) | Piece::Path(reference)) = &piece else {
                    if let Piece::Bytes(own) = piece {
                        bytes.extend(own);
                    }
                    continue;
                };
                let target = self
                    .target(reference)
                    .filter(|target| reachable.contains(target));
                let Some(target) = target else {
                    self.cursor.at = reference.at;
                    let message = format!(
                        "`&{}` in `{name}` of {} names no node, expected {LABEL}",
                        reference.name, self.tree.nodes[id].path
                    );
                    return Err(self.cursor.error(message));
                };
                if matches!(piece, Piece::Path(_)) {
                    bytes.extend(self.tree.nodes[target].path.bytes());
                    bytes.push(0);
                    continue;
                }
                let phandle = *phandles.entry(target).or_insert_with(|| {
                    next += 1;
                    MADE | next
                });
                bytes.extend(phandle.to_be_bytes());
            }
            let at = value.at;
            self.tree.nodes[id]
                .properties
                .insert(name, Property { bytes, at });
        }
        for (id, phandle) in phandles {
            let bytes = phandle.to_be_bytes().to_vec();
            let made = Property {
                bytes,
                at: At::default(),
            };
            self.tree.nodes[id]
                .properties
                .entry("phandle".to_owned())
                .or_insert(made);
        }
        self.tree.files = self.cursor.files;
        self.tree.index();
        Ok(self.tree)
    }

    /// Phandles that the source states itself.
    fn explicit_phandles(&self) -> BTreeMap<Id, u32> {
        let mut stated = BTreeMap::new();
        for ((id, name), value) in &self.values {
            if name != "phandle" {
                continue;
            }
            if let [Piece::Bytes(bytes)] = value.pieces.as_slice()
                && let Ok(bytes) = bytes.as_slice().try_into()
            {
                stated.insert(*id, u32::from_be_bytes(bytes));
            }
        }
        stated
    }
}

/// Phandles that are made here are above those of sources.
const MADE: u32 = 0x4000_0000;
