// SPDX-License-Identifier: GPL-2.0-only
//! YAML as a tree of lines, tags and values. Tags are kept, because LISA's are expressions; aliases are
//! the node that they mean, shared and not copied.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use saphyr_parser::{Event, Parser, Span, Tag};

use crate::error::Error;

/// Depth of nesting, against files that are made to exhaust the stack.
const DEEPEST: usize = 64;

pub(super) struct Node {
    /// From 1.
    pub line: usize,
    /// Without those of plain YAML, such as `!!int`.
    pub tag: Option<String>,
    pub value: Value,
}

/// A key with its value.
pub(super) type Pair = (Rc<Node>, Rc<Node>);

pub(super) enum Value {
    Scalar(String),
    Sequence(Vec<Rc<Node>>),
    Mapping(Vec<Pair>),
    /// An alias inside of what it means.
    Circle,
}

impl Value {
    /// What it is, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Scalar(_) => "text",
            Self::Sequence(_) => "a list",
            Self::Mapping(_) => "a mapping",
            Self::Circle => "part of itself",
        }
    }
}

impl Node {
    /// The value of a key, if this is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        let Value::Mapping(pairs) = &self.value else {
            return None;
        };
        let is = |node: &Node| matches!(&node.value, Value::Scalar(text) if text == key);
        let mut found = pairs.iter().filter(|(known, _)| is(known));
        found.next().map(|(_, value)| &**value)
    }
}

/// The first document of a text.
pub(super) fn parse(path: &Path, text: &str) -> Result<Rc<Node>, Error> {
    let mut builder = Builder {
        path,
        open: Vec::new(),
        anchors: BTreeMap::new(),
        root: None,
    };
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| {
            let message = format!("this is not YAML: {}", error.info());
            Error::line(path, error.marker().line(), message)
        })?;
        if matches!(event, Event::DocumentEnd) {
            break;
        }
        builder.take(event, span)?;
    }
    builder
        .root
        .ok_or_else(|| Error::whole(path, "the file says nothing, expected the YAML of LISA"))
}

/// A sequence or mapping whose end is still to come.
struct Open {
    line: usize,
    tag: Option<String>,
    anchor: usize,
    is_mapping: bool,
    items: Vec<Rc<Node>>,
}

struct Builder<'a> {
    path: &'a Path,
    open: Vec<Open>,
    anchors: BTreeMap<usize, Rc<Node>>,
    root: Option<Rc<Node>>,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Error> {
        let line = span.start.line();
        let tag = |tag: Option<std::borrow::Cow<'_, Tag>>| tag.and_then(|tag| foreign(&tag));
        match event {
            Event::Scalar(text, _, anchor, tagged) => {
                let value = Value::Scalar(text.into_owned());
                self.close(anchor, line, tag(tagged), value);
            }
            Event::Alias(anchor) => {
                let circle = || {
                    Rc::new(Node {
                        line,
                        tag: None,
                        value: Value::Circle,
                    })
                };
                let node = self.anchors.get(&anchor).cloned().unwrap_or_else(circle);
                self.place(node);
            }
            Event::SequenceStart(anchor, tagged) => self.begin(line, tag(tagged), anchor, false)?,
            Event::MappingStart(anchor, tagged) => self.begin(line, tag(tagged), anchor, true)?,
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            _ => {}
        }
        Ok(())
    }

    fn begin(
        &mut self,
        line: usize,
        tag: Option<String>,
        anchor: usize,
        is_mapping: bool,
    ) -> Result<(), Error> {
        if self.open.len() == DEEPEST {
            let message = format!("the file nests deeper than {DEEPEST}, expected less");
            return Err(Error::line(self.path, line, message));
        }
        self.open.push(Open {
            line,
            tag,
            anchor,
            is_mapping,
            items: Vec::new(),
        });
        Ok(())
    }

    fn end(&mut self) {
        let Some(open) = self.open.pop() else { return };
        let value = match open.is_mapping {
            false => Value::Sequence(open.items),
            true => Value::Mapping(
                open.items
                    .chunks_exact(2)
                    .map(|pair| (pair[0].clone(), pair[1].clone()))
                    .collect(),
            ),
        };
        self.close(open.anchor, open.line, open.tag, value);
    }

    fn close(&mut self, anchor: usize, line: usize, tag: Option<String>, value: Value) {
        let node = Rc::new(Node { line, tag, value });
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        self.place(node);
    }

    fn place(&mut self, node: Rc<Node>) {
        match self.open.last_mut() {
            Some(open) => open.items.push(node),
            None => self.root = Some(node),
        }
    }
}

/// A tag that is not of plain YAML.
fn foreign(tag: &Tag) -> Option<String> {
    const PLAIN: [&str; 8] = ["int", "str", "map", "seq", "float", "bool", "null", "omap"];
    let of_yaml = tag.handle.starts_with("tag:yaml.org") || tag.handle == "!!";
    let plain = of_yaml && PLAIN.contains(&tag.suffix.as_str());
    (!plain).then(|| match of_yaml {
        true => format!("!!{}", tag.suffix),
        false => format!("{}{}", tag.handle, tag.suffix),
    })
}
