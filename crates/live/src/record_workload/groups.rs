// SPDX-License-Identifier: GPL-2.0-only
//! Task groups by name: the kernel side knows the inode number of a group's directory.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Paths of the groups of the cpu controller, by the inode numbers of their directories.
#[derive(Debug, Default)]
pub struct Groups {
    /// Where the cpu controller's hierarchy is mounted, if it is.
    mounted: Option<PathBuf>,
    paths: HashMap<u64, String>,
}

impl Groups {
    /// Those of the running system. `mounts` is the text of `/proc/self/mounts`.
    pub fn new(mounts: &str) -> Self {
        Groups {
            mounted: mount_point(mounts),
            paths: HashMap::new(),
        }
    }

    /// The path of a group, which begins with `/`. A group that was removed before its first lookup
    /// is called `/gone-` and its number.
    pub fn path(&mut self, inode: u64) -> String {
        if !self.paths.contains_key(&inode)
            && let Some(root) = self.mounted.clone()
        {
            self.read(&root, String::new());
        }
        (self.paths)
            .entry(inode)
            .or_insert_with(|| format!("/gone-{inode}"))
            .clone()
    }

    /// Enters the directory and all below it.
    fn read(&mut self, directory: &Path, path: String) {
        if let Ok(metadata) = directory.metadata() {
            let shown = if path.is_empty() { "/" } else { &path };
            self.paths.insert(metadata.ino(), shown.to_owned());
        }
        let Ok(entries) = fs::read_dir(directory) else {
            return;
        };
        for entry in entries.flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let name = entry.file_name();
                self.read(&entry.path(), format!("{path}/{}", name.to_string_lossy()));
            }
        }
    }
}

/// Where the hierarchy that has the cpu controller is mounted: one of version 1 that names it,
/// else that of version 2.
fn mount_point(mounts: &str) -> Option<PathBuf> {
    let fields = |line: &'_ str| -> Option<(String, String, String)> {
        let mut fields = line.split(' ').skip(1).map(str::to_owned);
        Some((fields.next()?, fields.next()?, fields.next()?))
    };
    let all: Vec<_> = mounts.lines().filter_map(fields).collect();
    let first = |fits: &dyn Fn(&str, &str) -> bool| {
        (all.iter())
            .find(|(_, kind, options)| fits(kind, options))
            .map(|(at, _, _)| PathBuf::from(at))
    };
    first(&|kind, options| kind == "cgroup" && options.split(',').any(|one| one == "cpu"))
        .or_else(|| first(&|kind, _| kind == "cgroup2"))
}

#[cfg(test)]
mod tests;
