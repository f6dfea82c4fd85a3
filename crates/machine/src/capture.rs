// SPDX-License-Identifier: GPL-2.0-only
//! The machine the program runs on, from sysfs, procfs and, where readable,
//! debugfs, as a machine file. The environment variable `ROOT_PREFIX` names a
//! folder to look in instead of `/`: a tree copied from another machine.
//!
//! What is missing is assumed, marked so in the file, and said in a note. What
//! is there but makes no sense is an error. A file that is written passes
//! [`check`](crate::check()): it is read and checked before it is given out.

mod clocks;
mod facts;
mod measured;
mod sharing;
mod text;

pub use measured::{Measured, MeasuredCore, Reading};

use std::path::{Path, PathBuf};

use crate::draft::Draft;
use crate::error::Error;
use crate::kernel::Tree;
use crate::library::{self, HOST};

/// Environment variable with the folder that stands for `/`.
pub const ROOT_PREFIX: &str = "ROOT_PREFIX";

/// A captured machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// The machine file.
    pub toml: String,
    /// What was not known and had to be assumed, one sentence each.
    pub notes: Vec<String>,
}

impl Captured {
    /// The machine file as read.
    ///
    /// # Errors
    /// None: it was read before, as it was captured.
    pub fn draft(self) -> Result<Draft, Error> {
        library::parse(HOST, &self.toml)
    }

    /// For programs: `schema`, `toml`, `notes`.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "schema": "alight.machine-capture/1",
            "toml": self.toml,
            "notes": self.notes,
        })
    }
}

/// Captures this host, or the copied tree that [`ROOT_PREFIX`] names.
///
/// # Errors
/// As [`capture`].
pub fn host() -> Result<Captured, Error> {
    let root = std::env::var_os(ROOT_PREFIX).map_or_else(|| PathBuf::from("/"), PathBuf::from);
    capture(&root)
}

/// Captures the machine whose `sys` and `proc` are in the folder `root`.
///
/// # Errors
/// [`Error::Read`] when there is no list of CPUs, [`Error::Captured`] when a
/// file says something unusable, [`Error::NoMachine`] when the files contradict
/// each other in a way that is not known.
pub fn capture(root: &Path) -> Result<Captured, Error> {
    capture_measured(root, &Measured::default())
}

/// As [`capture`], with what was measured in the place of what would be assumed.
///
/// # Errors
/// As [`capture`].
pub fn capture_measured(root: &Path, measured: &Measured) -> Result<Captured, Error> {
    let facts = facts::gather(&Tree::new(root), measured)?;
    let mut notes = facts.notes.clone();
    let plain = text::machine_file(&facts, measured, &notes);
    let sheet = library::parse(HOST, &plain).and_then(Draft::resolve);
    let sheet = sheet.map_err(|error| Error::NoMachine(error.to_string()))?;
    if !sheet.speeds.are_known() {
        notes.push(format!("speeds: {}", sheet.speeds));
    }
    Ok(Captured {
        toml: text::machine_file(&facts, measured, &notes),
        notes,
    })
}
