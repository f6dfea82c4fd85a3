// SPDX-License-Identifier: GPL-2.0-only
//! Files of a tree that is not unpacked: what an archive or a dump holds, by path below `/`.

use std::collections::BTreeMap;

/// Symbolic links that one path may lead through, as in Linux (`MAXSYMLINKS`).
const MOST_LINKS: usize = 40;

/// Files and symbolic links by their paths, which do not begin with `/`.
#[derive(Debug, Default)]
pub(crate) struct Files {
    entries: BTreeMap<String, Entry>,
}

#[derive(Debug)]
enum Entry {
    File(Vec<u8>),
    Link(String),
}

impl Files {
    pub fn add(&mut self, path: &str, bytes: Vec<u8>) {
        self.entries.insert(path.to_owned(), Entry::File(bytes));
    }

    /// A symbolic link; a relative target begins in the folder of the link.
    pub fn add_link(&mut self, path: &str, target: &str) {
        let link = Entry::Link(target.to_owned());
        self.entries.insert(path.to_owned(), link);
    }

    /// The content of a file.
    pub fn bytes(&self, path: &str) -> Option<&[u8]> {
        match self.entries.get(&self.followed(path)?)? {
            Entry::File(bytes) => Some(bytes),
            Entry::Link(_) => None,
        }
    }

    pub fn exists(&self, path: &str) -> bool {
        let found = self.followed(path);
        found.is_some_and(|path| self.entries.contains_key(&path) || self.has_below(&path))
    }

    /// Names in a folder; some stand there several times.
    pub fn names_in(&self, folder: &str) -> Vec<&str> {
        let Some(folder) = self.followed(folder) else {
            return Vec::new();
        };
        let folder = format!("{folder}/");
        let below = self.entries.range(folder.clone()..);
        below
            .map_while(|(path, _)| path.strip_prefix(&folder))
            .map(|rest| rest.split('/').next().unwrap_or(rest))
            .collect()
    }

    fn has_below(&self, folder: &str) -> bool {
        let folder = format!("{folder}/");
        let mut below = self.entries.range(folder.clone()..);
        below
            .next()
            .is_some_and(|(path, _)| path.starts_with(&folder))
    }

    /// The path without symbolic links; `None`: they lead out of the tree, or in a circle.
    fn followed(&self, path: &str) -> Option<String> {
        let mut path = path.to_owned();
        for _ in 0..=MOST_LINKS {
            match self.first_link(&path) {
                Some((folder, target, rest)) => path = joined(folder, target, rest)?,
                None => return Some(path),
            }
        }
        None
    }

    /// The first part of a path that is a link: its folder, where it leads, and the path behind it.
    fn first_link<'a>(&'a self, path: &'a str) -> Option<(&'a str, &'a str, &'a str)> {
        let ends = path.match_indices('/').map(|(end, _)| end);
        ends.chain([path.len()]).find_map(|end| {
            let Some(Entry::Link(target)) = self.entries.get(&path[..end]) else {
                return None;
            };
            let folder = path[..end]
                .rsplit_once('/')
                .map_or("", |(folder, _)| folder);
            Some((folder, target.as_str(), &path[end..]))
        })
    }
}

/// `target` as seen from `folder`, then `rest`; `None` above the root.
fn joined(folder: &str, target: &str, rest: &str) -> Option<String> {
    let mut parts: Vec<&str> = match target.starts_with('/') {
        true => Vec::new(),
        false => folder.split('/').filter(|part| !part.is_empty()).collect(),
    };
    for part in target.split('/').chain(rest.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests;
