// SPDX-License-Identifier: GPL-2.0-only
//! What tests of all formats share.

#![allow(dead_code)] // not every test uses everything

pub mod blob;

use std::path::Path;

use alight_machine::{DataSheet, Machine};
use alight_machine_import::{Imported, import_bytes};

pub fn import(name: &str, bytes: impl AsRef<[u8]>) -> Imported {
    let imported = import_bytes(Path::new(name), bytes.as_ref(), None);
    imported.unwrap_or_else(|error| panic!("{error}"))
}

/// The machine of an imported file, with the sources of its figures.
pub fn sheet(imported: &Imported) -> DataSheet {
    let draft = alight_machine::parse("imported.toml", &imported.toml);
    let sheet = draft.and_then(alight_machine::Draft::resolve);
    sheet.unwrap_or_else(|error| panic!("{error}\n{}", imported.toml))
}

pub fn machine(name: &str, bytes: impl AsRef<[u8]>) -> Machine {
    sheet(&import(name, bytes)).machine
}

/// Why a file is refused.
pub fn refusal(name: &str, bytes: impl AsRef<[u8]>) -> String {
    match import_bytes(Path::new(name), bytes.as_ref(), None) {
        Ok(imported) => panic!("{name} is taken:\n{}", imported.toml),
        Err(error) => error.to_string(),
    }
}

/// The source of a figure, by its path in the machine file.
pub fn source_of(sheet: &DataSheet, path: &str) -> String {
    let mut figures = sheet.figures.iter().filter(|figure| figure.path == path);
    let figure = figures.next().unwrap_or_else(|| panic!("no figure {path}"));
    format!(
        "{} ({})",
        figure.provenance.source, figure.provenance.confidence
    )
}

/// Sets of CPUs as a text: `0-1 2`.
pub fn spans<'a>(sets: impl IntoIterator<Item = &'a alight_machine::CpuSet>) -> String {
    let sets: Vec<String> = sets.into_iter().map(ToString::to_string).collect();
    sets.join(" ")
}

/// The spans of a level of scheduling, without repetition.
pub fn level(machine: &Machine, name: &str) -> String {
    let levels = machine.levels.iter().filter(|level| level.name == name);
    let mut sets: Vec<String> = Vec::new();
    for span in levels.flat_map(|level| &level.spans) {
        if !sets.contains(&span.to_string()) {
            sets.push(span.to_string());
        }
    }
    sets.join(" ")
}

/// The source of a device tree with `cpus` CPUs of one kind, whose node has `inside`, and with `beside` next to them.
pub fn plain(cpus: usize, inside: &str, beside: &str) -> String {
    let node = |cpu: usize| {
        let inside = inside.replace('@', &cpu.to_string());
        format!(
            "c{cpu}: cpu@{cpu} {{ device_type = \"cpu\"; compatible = \"arm,cortex-a55\"; {inside} }};\n"
        )
    };
    let nodes: String = (0..cpus).map(node).collect();
    format!("/dts-v1/; / {{ cpus {{ {nodes} }}; {beside} }};")
}
