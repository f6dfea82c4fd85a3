// SPDX-License-Identifier: GPL-2.0-only
//! Device trees: flattened (`.dtb`) and as source (`.dts`). Both give one tree; the rest does not know
//! which it was.

mod architecture;
mod blob;
mod caches;
mod chips;
mod clocks;
mod cpus;
mod enumeration;
mod expression;
mod idle;
mod lexer;
mod map;
mod source;
mod tables;
mod tree;

use std::path::Path;

use crate::error::Error;
use crate::platform::Platform;
use tree::Tree;

/// Reads a flattened device tree.
pub(crate) fn blob(path: &Path, bytes: &[u8]) -> Result<Platform, Error> {
    platform(path, &blob::read(path, bytes)?)
}

/// Reads the source of a device tree, after the preprocessor.
pub(crate) fn source(path: &Path, text: &str) -> Result<Platform, Error> {
    platform(path, &source::read(path, text)?)
}

/// What a tree says, CPUs by the numbers that Linux gives them.
fn platform(path: &Path, tree: &Tree) -> Result<Platform, Error> {
    let mut notes = Vec::new();
    let nodes = enumeration::nodes(tree, &mut notes)?;
    let map = map::read(tree, &nodes, &mut notes)?;
    let caches = caches::read(tree, &nodes)?;
    let (states, power) = idle::read(tree, &nodes, &mut notes)?;
    let clocks = clocks::read(tree, &nodes, &map, &mut notes)?;
    let mut cpus = cpus::read(tree, &nodes, &clocks, &mut notes)?;
    for (number, cpu) in cpus.iter_mut().enumerate() {
        cpu.l2_kib = caches.l2_kib(tree, number, &map);
        cpu.idle_states.clone_from(&states[number]);
    }
    let (node, distances) = cpus::numa(tree, &nodes)?;
    let model = tree
        .text(tree.root(), "model")?
        .or(tree.text(tree.root(), "compatible")?);
    let stem = path
        .file_stem()
        .map_or_else(String::new, |name| name.to_string_lossy().into());
    let mut platform = Platform {
        description: format!(
            "{}, {} CPUs, from its device tree",
            model.unwrap_or_else(|| stem.clone()),
            nodes.len()
        ),
        name: stem,
        cpus,
        core: map.core.clone(),
        clocks,
        node,
        distances,
        power,
        notes,
        ..Platform::default()
    };
    caches.sharing(&mut platform, map);
    Ok(platform)
}
