// SPDX-License-Identifier: GPL-2.0-only
//! A small copy of sysfs to capture a machine from.

#![allow(dead_code)] // not every test writes every file

use std::fs;
use std::path::Path;

use alight_machine::{DataSheet, capture};
use tempfile::TempDir;

/// A folder that stands for `/`.
pub struct Tree(TempDir);

impl Tree {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn write(&self, path: &str, text: &str) -> &Self {
        let path = self.0.path().join(path);
        let text = format!("{text}\n");
        if fs::write(&path, &text).is_err() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
        }
        self
    }

    pub fn cpu(&self, cpu: usize, file: &str, text: &str) -> &Self {
        self.write(&format!("sys/devices/system/cpu/cpu{cpu}/{file}"), text)
    }

    pub fn online(&self, cpus: &str) -> &Self {
        self.write("sys/devices/system/cpu/online", cpus)
    }

    pub fn cache(&self, cpu: usize, index: usize, level: u32, size: &str, shared: &str) -> &Self {
        let file = |name: &str| format!("cache/index{index}/{name}");
        self.cpu(cpu, &file("level"), &level.to_string())
            .cpu(cpu, &file("type"), "Unified")
            .cpu(cpu, &file("size"), size)
            .cpu(cpu, &file("shared_cpu_list"), shared)
    }

    pub fn idle(
        &self,
        cpu: usize,
        state: usize,
        name: &str,
        latency: u32,
        residency: u32,
    ) -> &Self {
        let file = |file: &str| format!("cpuidle/state{state}/{file}");
        self.cpu(cpu, &file("name"), name)
            .cpu(cpu, &file("latency"), &latency.to_string())
            .cpu(cpu, &file("residency"), &residency.to_string())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn sheet(&self) -> DataSheet {
        let captured = capture(self.path()).unwrap_or_else(|error| panic!("{error}"));
        let toml = captured.toml.clone();
        let draft = captured
            .draft()
            .unwrap_or_else(|error| panic!("{error}\n{toml}"));
        draft
            .resolve()
            .unwrap_or_else(|error| panic!("{error}\n{toml}"))
    }
}

/// The sheet of a tree, whose notes stand in the file too.
pub fn sheet(tree: &Tree) -> DataSheet {
    let sheet = tree.sheet();
    let captured = capture(tree.path()).unwrap();
    assert_eq!(sheet.notes, captured.notes, "a file says what it rests on");
    sheet
}

pub fn notes_with<'a>(sheet: &'a DataSheet, part: &str) -> Vec<&'a str> {
    let with = |note: &&str| note.contains(part);
    sheet
        .notes
        .iter()
        .map(String::as_str)
        .filter(with)
        .collect()
}

pub fn has_note(sheet: &DataSheet, note: &str) {
    assert!(
        notes_with(sheet, note).len() == 1,
        "`{note}`: {:#?}",
        sheet.notes
    );
}
