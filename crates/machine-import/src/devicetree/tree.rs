// SPDX-License-Identifier: GPL-2.0-only
//! Nodes with properties, and how values are read out of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Number of a node in its tree.
pub(super) type Id = usize;

/// Depth of nodes, against files that are made to exhaust the stack.
pub(super) const DEEPEST: usize = 64;
/// Nodes of a tree: the largest of Linux have some ten thousand.
pub(super) const MOST_NODES: usize = 1 << 18;

/// A line of a source: that of the file, or one that the preprocessor took in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct At {
    /// In [`Tree::files`].
    pub file: usize,
    /// From 1; of a blob 0.
    pub line: usize,
}

/// A value, as its bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Property {
    pub bytes: Vec<u8>,
    pub at: At,
}

#[derive(Debug)]
pub(super) struct Node {
    /// From the root: `/cpus/cpu@0`.
    pub path: String,
    pub properties: BTreeMap<String, Property>,
    pub children: Vec<Id>,
    pub at: At,
}

#[derive(Debug)]
pub(super) struct Tree {
    file: PathBuf,
    /// Files that lines are of; the first is the file itself, without its name.
    pub files: Vec<String>,
    pub nodes: Vec<Node>,
    /// Hardware number of the CPU that boots (`boot_cpuid_phys`), as the header of a blob says it.
    pub boot_cpu: Option<u32>,
    by_path: BTreeMap<String, Id>,
    by_phandle: BTreeMap<u32, Id>,
}

impl Tree {
    /// A tree with nothing but its root.
    pub fn new(file: &Path) -> Self {
        let root = Node {
            path: "/".to_owned(),
            properties: BTreeMap::new(),
            children: Vec::new(),
            at: At::default(),
        };
        Self {
            file: file.to_owned(),
            files: vec![String::new()],
            nodes: vec![root],
            boot_cpu: None,
            by_path: BTreeMap::new(),
            by_phandle: BTreeMap::new(),
        }
    }

    pub fn root(&self) -> Id {
        0
    }

    /// The child of that name, a new one if there is none.
    pub fn child_or_new(&mut self, parent: Id, name: &str, at: At) -> Id {
        let path = self.path_below(parent, name);
        if let Some(known) = self.by_path.get(&path) {
            return *known;
        }
        let id = self.nodes.len();
        self.by_path.insert(path.clone(), id);
        self.nodes.push(Node {
            path,
            properties: BTreeMap::new(),
            children: Vec::new(),
            at,
        });
        self.nodes[parent].children.push(id);
        id
    }

    /// Takes a node out of its tree, with all nodes below it.
    pub fn delete(&mut self, parent: Id, id: Id) {
        for below in self.below(id) {
            self.by_path.remove(&self.nodes[below].path);
        }
        self.nodes[parent].children.retain(|&child| child != id);
    }

    fn path_below(&self, parent: Id, name: &str) -> String {
        match parent {
            0 => format!("/{name}"),
            _ => format!("{}/{name}", self.nodes[parent].path),
        }
    }

    /// Learns the phandles, once all nodes are there.
    pub fn index(&mut self) {
        let reachable = self.below(self.root());
        for id in reachable {
            for name in ["phandle", "linux,phandle"] {
                if let Some(phandle) = self.nodes[id].properties.get(name).and_then(first_cell) {
                    self.by_phandle.entry(phandle).or_insert(id);
                }
            }
        }
    }

    /// A node with all nodes below it.
    pub fn below(&self, top: Id) -> Vec<Id> {
        let mut found = Vec::new();
        let mut open = vec![top];
        while let Some(id) = open.pop() {
            found.push(id);
            open.extend(self.nodes[id].children.iter().rev());
        }
        found
    }

    pub fn children(&self, id: Id) -> &[Id] {
        &self.nodes[id].children
    }

    /// The last part of a node's path, without its unit: `cpu` of `/cpus/cpu@100`.
    pub fn stem(&self, id: Id) -> &str {
        let name = self.name(id);
        name.split('@').next().unwrap_or(name)
    }

    pub fn name(&self, id: Id) -> &str {
        let path = &self.nodes[id].path;
        path.rsplit('/').next().unwrap_or(path)
    }

    pub fn child(&self, id: Id, name: &str) -> Option<Id> {
        self.by_path.get(&self.path_below(id, name)).copied()
    }

    /// The node at a path from the root.
    pub fn at(&self, path: &str) -> Option<Id> {
        match path {
            "/" => Some(self.root()),
            path => self.by_path.get(path).copied(),
        }
    }

    /// Where a node is, in words.
    pub fn place(&self, id: Id) -> String {
        self.placed(id, self.nodes[id].at)
    }

    /// Where a property is, in words.
    pub fn place_of(&self, id: Id, name: &str) -> String {
        let property = self.nodes[id].properties.get(name);
        let at = property.map_or(At::default(), |property| property.at);
        format!("{}, {name}", self.placed(id, at))
    }

    fn placed(&self, id: Id, at: At) -> String {
        let path = &self.nodes[id].path;
        match (at.line, self.files[at.file].as_str()) {
            (0, _) => path.clone(),
            (line, "") => format!("{path} (line {line})"),
            (line, file) => format!("{path} ({file} line {line})"),
        }
    }

    /// Something wrong with a node.
    pub fn error(&self, id: Id, message: impl Into<String>) -> Error {
        Error::Written {
            path: self.file.clone(),
            place: format!(": {}", self.place(id)),
            message: message.into(),
        }
    }

    /// Something wrong with a property of a node.
    pub fn error_in(&self, id: Id, name: &str, message: impl Into<String>) -> Error {
        Error::Written {
            path: self.file.clone(),
            place: format!(": {}", self.place_of(id, name)),
            message: message.into(),
        }
    }

    pub fn has(&self, id: Id, name: &str) -> bool {
        self.nodes[id].properties.contains_key(name)
    }

    /// The cells of a property.
    pub fn cells(&self, id: Id, name: &str) -> Result<Option<Vec<u32>>, Error> {
        let Some(property) = self.nodes[id].properties.get(name) else {
            return Ok(None);
        };
        let (cells, rest) = property.bytes.as_chunks::<4>();
        if !rest.is_empty() {
            let message = format!(
                "has {} bytes, expected cells of 4 bytes",
                property.bytes.len()
            );
            return Err(self.error_in(id, name, message));
        }
        Ok(Some(
            cells.iter().map(|cell| u32::from_be_bytes(*cell)).collect(),
        ))
    }

    /// The one cell of a property.
    pub fn cell(&self, id: Id, name: &str) -> Result<Option<u32>, Error> {
        match self.cells(id, name)?.as_deref() {
            None => Ok(None),
            Some([cell]) => Ok(Some(*cell)),
            Some(cells) => {
                let message = format!("has {} cells, expected one", cells.len());
                Err(self.error_in(id, name, message))
            }
        }
    }

    /// The texts of a property.
    pub fn texts(&self, id: Id, name: &str) -> Result<Vec<String>, Error> {
        let Some(property) = self.nodes[id].properties.get(name) else {
            return Ok(Vec::new());
        };
        let text = std::str::from_utf8(&property.bytes).ok();
        let text = text.and_then(|text| text.strip_suffix('\0'));
        match text {
            Some(text) => Ok(text.split('\0').map(str::to_owned).collect()),
            None => Err(self.error_in(id, name, "is no text, expected one that ends with a zero")),
        }
    }

    /// The first text of a property.
    pub fn text(&self, id: Id, name: &str) -> Result<Option<String>, Error> {
        Ok(self.texts(id, name)?.into_iter().next())
    }

    /// The node that a phandle in a property means.
    pub fn follow(&self, id: Id, name: &str, phandle: u32) -> Result<Id, Error> {
        self.by_phandle.get(&phandle).copied().ok_or_else(|| {
            let message = format!(
                "names the phandle {phandle:#x}, which no node has, expected that of a node of this file: \
                 add the node, or take the property out"
            );
            self.error_in(id, name, message)
        })
    }

    /// The nodes that the phandles of a property mean; those have no cells of arguments.
    pub fn links(&self, id: Id, name: &str) -> Result<Vec<Id>, Error> {
        let cells = self.cells(id, name)?.unwrap_or_default();
        cells
            .into_iter()
            .map(|phandle| self.follow(id, name, phandle))
            .collect()
    }

    /// The nodes that the phandles of a property mean, with their arguments, whose number the meant node
    /// states in `count`.
    pub fn links_with(
        &self,
        id: Id,
        name: &str,
        count: &str,
    ) -> Result<Vec<(Id, Vec<u32>)>, Error> {
        let cells = self.cells(id, name)?.unwrap_or_default();
        let mut links = Vec::new();
        let mut rest = cells.as_slice();
        while let Some((&phandle, behind)) = rest.split_first() {
            let target = self.follow(id, name, phandle)?;
            let arguments = self.cell(target, count)?.unwrap_or(0) as usize;
            if behind.len() < arguments {
                let message = format!(
                    "ends after {} of {arguments} arguments of {}, expected all ({count})",
                    behind.len(),
                    self.nodes[target].path
                );
                return Err(self.error_in(id, name, message));
            }
            let (own, others) = behind.split_at(arguments);
            links.push((target, own.to_vec()));
            rest = others;
        }
        Ok(links)
    }

    /// Is the node in use? `disabled` and `fail` say no (of_device_is_available()).
    pub fn is_enabled(&self, id: Id) -> Result<bool, Error> {
        let status = self.text(id, "status")?;
        Ok(status.is_none_or(|status| status == "okay" || status == "ok"))
    }
}

fn first_cell(property: &Property) -> Option<u32> {
    let bytes = property.bytes.as_slice().try_into().ok()?;
    Some(u32::from_be_bytes(bytes))
}
