// SPDX-License-Identifier: GPL-2.0-only
//! Descriptions of machines that others wrote, as machine files of Alight, and machines of Alight as a
//! description that LISA reads.
//!
//! # What it owns
//!
//! 1. `format` says what a file is.
//! 2. One reader for each format says what the file says: a `Platform`, each figure with its place.
//!    `devicetree` reads blobs and sources, `hwloc` XML, `lisa` YAML.
//! 3. `write` makes a machine file of it. What the file does not say is assumed, and listed.
//! 4. The machine file is read and checked as any other before it is given out.
//!
//! A copied tree of sysfs is read by `alight-machine`, which reads that of this host too.
//!
//! # Who may use it
//!
//! The command line. It uses `alight-machine` and `alight-text`.

mod devicetree;
mod error;
mod export;
mod format;
mod hwloc;
mod lisa;
mod platform;
mod settle;
mod write;

use std::path::{Path, PathBuf};

use alight_machine::{Draft, parse};

pub use error::Error;
pub use export::{Exported, lisa};
pub use format::Format;

use platform::Platform;

/// A machine file made of another description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// What the description is.
    pub format: Format,
    /// The machine file.
    pub toml: String,
    /// What the description lacks, with what was assumed, and what of it was left out; a sentence each.
    pub notes: Vec<String>,
}

impl Imported {
    /// For programs: `schema`, `format`, `toml`, `notes`.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            "schema": "alight.machine-import/1",
            "format": self.format.name(),
            "toml": self.toml,
            "notes": self.notes,
        })
    }
}

/// Most bytes of a file: the largest description known has 3 MB.
const MOST_BYTES: u64 = 256 << 20;

/// Imports the machine that `path` describes, in `format`, or in the one that the content shows.
///
/// # Errors
/// What is wrong with the file, with the place.
pub fn import(path: &Path, format: Option<Format>) -> Result<Imported, Error> {
    if path.is_dir() {
        return match format {
            None | Some(Format::Sysfs) => of_sysfs(alight_machine::capture_tree(path)?),
            Some(format) => Err(Error::whole(
                path,
                format!("is a folder, expected a file of the format {format}"),
            )),
        };
    }
    let unread = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let size = std::fs::metadata(path).map_err(unread)?.len();
    if size > MOST_BYTES {
        let message = format!("has {size} bytes, expected at most {MOST_BYTES}");
        return Err(Error::whole(path, message));
    }
    import_bytes(path, &std::fs::read(path).map_err(unread)?, format)
}

/// As [`import`], of the content of a file that is called `path`.
///
/// # Errors
/// As [`import`].
pub fn import_bytes(path: &Path, bytes: &[u8], format: Option<Format>) -> Result<Imported, Error> {
    let bytes = &*alight_machine::ungzipped(path, bytes)?;
    let path = &unpacked_name(path, bytes);
    let format = match format {
        Some(format) => format,
        None => Format::of(path, bytes)?,
    };
    let platform = match format {
        Format::Sysfs => return of_sysfs(alight_machine::capture_bytes(path, bytes)?),
        Format::Dtb => devicetree::blob(path, bytes)?,
        Format::Dts => devicetree::source(path, &text(path, bytes)?)?,
        Format::Hwloc => hwloc::read(path, &text(path, bytes)?)?,
        Format::Lisa => lisa::read(path, &text(path, bytes)?)?,
    };
    finished(path, format, platform)
}

/// The name of what was unpacked: `machine.xml` of `machine.xml.gz`. An archive keeps its name.
fn unpacked_name(path: &Path, bytes: &[u8]) -> PathBuf {
    let packed = path.extension().is_some_and(|ending| ending == "gz");
    match packed && !alight_machine::is_archive(bytes) {
        true => path.with_extension(""),
        false => path.to_owned(),
    }
}

fn text(path: &Path, bytes: &[u8]) -> Result<String, Error> {
    alight_text::decode(bytes.to_vec()).map_err(|error| Error::whole(path, error.to_string()))
}

/// The machine file of what was read, once it is known to be one.
fn finished(path: &Path, format: Format, platform: Platform) -> Result<Imported, Error> {
    let mut imported = written(path, format, platform.clone());
    let sheet = parse(&path.display().to_string(), &imported.toml)
        .and_then(Draft::resolve)
        .map_err(|error| Error::NoMachine {
            path: path.to_owned(),
            message: error.to_string(),
        })?;
    if !sheet.speeds.are_known() {
        // Only the machine tells: its notes are written again.
        let mut platform = platform;
        platform.notes.push(format!("speeds: {}", sheet.speeds));
        imported = written(path, format, platform);
    }
    Ok(imported)
}

fn written(path: &Path, format: Format, platform: Platform) -> Imported {
    let (toml, notes) = write::machine_file(path, format, settle::settled(platform));
    Imported {
        format,
        toml,
        notes,
    }
}

fn of_sysfs(captured: alight_machine::Captured) -> Result<Imported, Error> {
    Ok(Imported {
        format: Format::Sysfs,
        toml: captured.toml,
        notes: captured.notes,
    })
}
