// SPDX-License-Identifier: GPL-2.0-only
//! The machine the program runs on, from sysfs, procfs and, where readable,
//! debugfs, as a machine file. The environment variable `ROOT_PREFIX` names a
//! folder to look in instead of `/`: a tree copied from another machine.
//!
//! What is missing is assumed, marked so in the file, and said in a note. What
//! is there but makes no sense is an error. A file that is written passes
//! [`check`](crate::check()): it is read and checked before it is given out.

mod clocks;
mod energy;
mod facts;
mod measured;
mod ranks;
mod sharing;
mod speeds;
mod text;

pub use measured::{Measured, MeasuredCore, Reading};

use std::path::{Path, PathBuf};

use crate::draft::Draft;
use crate::error::Error;
use crate::kernel::{Tree, unpacked};
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
    captured(HOST, &Tree::new(root), measured)
}

/// Captures the machine whose tree is in `place`: a folder, or an archive or dump of one
/// ([`is_tree`]). It is called by the name of that.
///
/// # Errors
/// As [`capture`]; [`Error::Archive`] when there is no tree.
pub fn capture_tree(place: &Path) -> Result<Captured, Error> {
    let tree = match place.is_dir() {
        true => Tree::new(&root_in(place)?),
        false => {
            let bytes = std::fs::read(place).map_err(|source| Error::Read {
                path: place.to_owned(),
                source,
            })?;
            Tree::of(place, unpacked(place, &bytes)?)
        }
    };
    captured(&name_of(place), &tree, &Measured::default())
}

/// As [`capture_tree`], of the content of an archive or dump that is called `name`.
///
/// # Errors
/// As [`capture_tree`].
pub fn capture_bytes(name: &Path, bytes: &[u8]) -> Result<Captured, Error> {
    let tree = Tree::of(name, unpacked(name, bytes)?);
    captured(&name_of(name), &tree, &Measured::default())
}

/// Does this name of a machine mean a copied tree: a folder, or a tar archive?
pub fn is_tree(name: &str) -> bool {
    ARCHIVES.iter().any(|ending| name.ends_with(ending)) || Path::new(name).is_dir()
}

/// How names of archives end; those that must be unpacked first are among them, to be told so.
const ARCHIVES: [&str; 7] = [
    ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst", ".zip",
];

/// The folder that stands for `/`: `folder` itself, the only folder in it that has a tree, or, of a
/// folder called `sys`, the one above.
fn root_in(folder: &Path) -> Result<PathBuf, Error> {
    let has_tree = |root: &Path| root.join(crate::kernel::CPU).is_dir();
    if has_tree(folder) {
        return Ok(folder.to_owned());
    }
    if folder.join("devices/system/cpu").is_dir() && folder.join("../sys").is_dir() {
        return Ok(folder.join(".."));
    }
    let inside = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut inside = inside
        .map(|entry| entry.path())
        .filter(|path| has_tree(path));
    match (inside.next(), inside.next()) {
        (Some(root), None) => Ok(root),
        (found, _) => Err(Error::Archive {
            path: folder.to_owned(),
            message: format!(
                "has {} with `{}`, expected the copy of one machine's sysfs, with its path from the \
                 root",
                if found.is_some() {
                    "several folders"
                } else {
                    "no folder"
                },
                crate::kernel::CPU
            ),
        }),
    }
}

/// What a machine is called that comes from this file: its name without its ending.
fn name_of(place: &Path) -> String {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    let endings = ARCHIVES.iter().chain([&".txt"]);
    let ending = endings
        .into_iter()
        .find_map(|ending| name.strip_suffix(ending));
    let name = ending.unwrap_or(&name);
    if name.is_empty() { HOST } else { name }.to_owned()
}

fn captured(name: &str, tree: &Tree, measured: &Measured) -> Result<Captured, Error> {
    let facts = facts::gather(name, tree, measured)?;
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
