// SPDX-License-Identifier: GPL-2.0-only
//! Flattened device trees, versions 16 and 17 (Devicetree Specification 0.4, chapter 5).

use std::path::Path;

use super::tree::{At, DEEPEST, Id, MOST_NODES, Property, Tree};
use crate::error::Error;

const MAGIC: u32 = 0xd00d_feed;
const HEADER_BYTES: usize = 40;
/// Versions that are laid out alike.
const COMPATIBLE: u32 = 17;

const BEGIN_NODE: u32 = 1;
const END_NODE: u32 = 2;
const PROP: u32 = 3;
const NOP: u32 = 4;
const END: u32 = 9;

pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Tree, Error> {
    let blob = Blob { path, bytes };
    let magic = blob.word(0)?;
    if magic != MAGIC {
        let message =
            format!("begins with {magic:#010x}, expected {MAGIC:#010x}: a device tree blob");
        return Err(Error::whole(path, message));
    }
    let total = blob.word(4)? as usize;
    if total > bytes.len() || total < HEADER_BYTES {
        let message = format!(
            "has {} bytes, and its header says {total}: it is cut short or damaged",
            bytes.len()
        );
        return Err(Error::whole(path, message));
    }
    let blob = Blob {
        path,
        bytes: &bytes[..total],
    };
    let oldest = blob.word(24)?;
    if oldest > COMPATIBLE {
        let message = format!("needs a reader of version {oldest}, expected at most {COMPATIBLE}");
        return Err(Error::whole(path, message));
    }
    let mut tree = Tree::new(path);
    tree.boot_cpu = Some(blob.word(28)?);
    let mut reader = Reader {
        at: blob.word(8)? as usize,
        strings: blob.word(12)? as usize,
        blob,
        tree,
    };
    reader.nodes()?;
    reader.tree.index();
    Ok(reader.tree)
}

#[derive(Clone, Copy)]
struct Blob<'a> {
    path: &'a Path,
    bytes: &'a [u8],
}

impl<'a> Blob<'a> {
    fn error(&self, at: usize, message: &str) -> Error {
        Error::whole(self.path, format!("byte {at}: {message}"))
    }

    fn word(&self, at: usize) -> Result<u32, Error> {
        let bytes = self.slice(at, 4)?;
        Ok(bytes
            .iter()
            .fold(0, |word, byte| word << 8 | u32::from(*byte)))
    }

    fn slice(&self, at: usize, count: usize) -> Result<&'a [u8], Error> {
        let end = at.checked_add(count);
        let slice = end.and_then(|end| self.bytes.get(at..end));
        slice.ok_or_else(|| {
            self.error(
                at,
                &format!("the file ends here, expected {count} bytes: it is damaged"),
            )
        })
    }

    /// A text that ends with a zero.
    fn text(&self, at: usize) -> Result<&'a str, Error> {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let text = rest.split(|&byte| byte == 0).next().unwrap_or_default();
        if text.len() == rest.len() {
            return Err(self.error(at, "a name has no end, expected a zero behind it"));
        }
        std::str::from_utf8(text).map_err(|_| self.error(at, "a name is no text"))
    }
}

struct Reader<'a> {
    blob: Blob<'a>,
    at: usize,
    strings: usize,
    tree: Tree,
}

impl Reader<'_> {
    fn nodes(&mut self) -> Result<(), Error> {
        let mut open: Vec<Id> = Vec::new();
        loop {
            let start = self.at;
            match (self.token()?, open.last().copied()) {
                (BEGIN_NODE, parent) => {
                    let id = self.begin(parent, open.len())?;
                    open.push(id);
                }
                (END_NODE, Some(_)) => {
                    open.pop();
                }
                (PROP, Some(node)) => self.property(node)?,
                (NOP, _) => {}
                (END, None) => return Ok(()),
                (token, _) => {
                    let message = format!(
                        "the token {token} stands here, expected the begin or end of a node or a \
                         property: the file is damaged"
                    );
                    return Err(self.blob.error(start, &message));
                }
            }
        }
    }

    fn token(&mut self) -> Result<u32, Error> {
        let token = self.blob.word(self.at)?;
        self.at += 4;
        Ok(token)
    }

    fn begin(&mut self, parent: Option<Id>, depth: usize) -> Result<Id, Error> {
        let name = self.blob.text(self.at)?;
        self.at = aligned(self.at + name.len() + 1);
        if depth > DEEPEST || self.tree.nodes.len() > MOST_NODES {
            let message =
                format!("more than {DEEPEST} levels or {MOST_NODES} nodes, expected less");
            return Err(self.blob.error(self.at, &message));
        }
        match parent {
            Some(parent) => Ok(self.tree.child_or_new(parent, name, At::default())),
            None => Ok(self.tree.root()),
        }
    }

    fn property(&mut self, node: Id) -> Result<(), Error> {
        let length = self.token()? as usize;
        let name = self.token()? as usize;
        let name = self.blob.text(self.strings.saturating_add(name))?;
        let bytes = self.blob.slice(self.at, length)?.to_vec();
        self.at = aligned(self.at + length);
        let properties = &mut self.tree.nodes[node].properties;
        properties.insert(
            name.to_owned(),
            Property {
                bytes,
                at: At::default(),
            },
        );
        Ok(())
    }
}

/// The next multiple of 4.
fn aligned(at: usize) -> usize {
    at.next_multiple_of(4)
}
