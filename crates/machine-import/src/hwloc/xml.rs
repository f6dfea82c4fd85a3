// SPDX-License-Identifier: GPL-2.0-only
//! XML with errors that name the line.

use std::path::Path;

use alight_machine::CpuSet;
use roxmltree::{Document, Node, ParsingOptions};

use crate::error::Error;

/// Elements and texts of a file: that of a machine of 1024 CPUs has some ten thousand.
const MOST_NODES: u32 = 4_000_000;

/// Parses a file. hwloc's begin with a document type, which is passed over.
pub(super) fn parse<'t>(path: &Path, text: &'t str) -> Result<Document<'t>, Error> {
    let options = ParsingOptions {
        allow_dtd: true,
        nodes_limit: MOST_NODES,
        ..ParsingOptions::default()
    };
    Document::parse_with_options(text, options).map_err(|error| {
        let message = format!("this is not XML: {error}");
        Error::line(path, error.pos().row as usize, message)
    })
}

/// The file of a document, for messages.
pub(super) struct File<'a, 't> {
    path: &'a Path,
    document: &'a Document<'t>,
}

impl<'a, 't> File<'a, 't> {
    pub fn new(path: &'a Path, document: &'a Document<'t>) -> Self {
        Self { path, document }
    }

    pub fn line(&self, node: Node) -> usize {
        self.document.text_pos_at(node.range().start).row as usize
    }

    pub fn error(&self, node: Node, message: impl Into<String>) -> Error {
        Error::line(self.path, self.line(node), message)
    }

    /// A whole number of an attribute.
    pub fn number(&self, node: Node, name: &str) -> Result<Option<u64>, Error> {
        let Some(text) = node.attribute(name) else {
            return Ok(None);
        };
        match text.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => {
                let message = format!("`{name}` is `{text}`, expected a whole number");
                Err(self.error(node, message))
            }
        }
    }

    /// CPUs of an attribute: words of 32 bits, hexadecimal, the highest first.
    pub fn cpus(&self, node: Node, name: &str) -> Result<Option<CpuSet>, Error> {
        let Some(text) = node.attribute(name) else {
            return Ok(None);
        };
        match mask(text) {
            Some(cpus) => Ok(Some(cpus)),
            None => {
                let message = format!(
                    "`{name}` is `{text}`, expected a mask of the CPUs 0 to {} such as \
                     `0x00000001,0xffffffff`",
                    CpuSet::MAX - 1
                );
                Err(self.error(node, message))
            }
        }
    }
}

/// A mask of hwloc; one without end (`0xf...f`) is that of all CPUs, and an empty word is zero.
fn mask(text: &str) -> Option<CpuSet> {
    let mut cpus = CpuSet::new();
    let words: Vec<&str> = text.trim().split(',').collect();
    for (place, word) in words.iter().rev().enumerate() {
        if *word == "0xf...f" {
            (place * 32..CpuSet::MAX).for_each(|cpu| {
                cpus.insert(cpu);
            });
            continue;
        }
        let digits = word.strip_prefix("0x").unwrap_or(word);
        let bits = match digits {
            "" => 0,
            digits => u32::from_str_radix(digits, 16).ok()?,
        };
        for bit in (0..32).filter(|bit| bits & (1 << bit) != 0) {
            let cpu = place.checked_mul(32)? + bit;
            if cpu >= CpuSet::MAX {
                return None;
            }
            cpus.insert(cpu);
        }
    }
    Some(cpus)
}
