// SPDX-License-Identifier: GPL-2.0-only
//! Standard output and standard error, without panics where they are closed, and files that are
//! written whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::failure::Failure;

/// Writes a report to standard output.
///
/// # Errors
/// A full disk or a closed pipe.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::Host(format!("standard output: {error}")))
}

/// Writes a report to standard error, for standard output is taken. Where that is closed nobody
/// listens.
pub fn print_aside(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Tells the user something beside the report. Where standard error is closed nobody listens.
pub fn remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "alight: {text}");
}

/// Writes a file whole, or not at all; a pipe or a device in place.
///
/// # Errors
/// What the system said, with the file's name.
pub fn save(file: &Path, text: &str) -> Result<(), Failure> {
    if in_place(file) {
        return fs::write(file, text).map_err(|error| unwritten(file, &error));
    }
    let mut temporary = temporary(file)?;
    let written = temporary.as_file_mut().write_all(text.as_bytes());
    written.map_err(|error| unwritten(file, &error))?;
    let named = temporary.persist(file);
    named.map_err(|error| unwritten(file, &error.error))?;
    Ok(())
}

/// Whether [`save`] finds a place there, for what takes long to make.
///
/// # Errors
/// As [`save`].
pub fn try_place(file: &Path) -> Result<(), Failure> {
    match in_place(file) {
        true => Ok(()),
        false => temporary(file).map(drop),
    }
}

fn in_place(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| !found.is_file())
}

/// A file beside the one that it shall become, which goes with the value.
fn temporary(file: &Path) -> Result<NamedTempFile<File>, Failure> {
    let directory = match file.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    // Opened here: with the permissions of any new file, and errors that do not name it.
    tempfile::Builder::new()
        .make_in(directory, |path| File::create_new(path))
        .map_err(|error| unwritten(file, &error))
}

fn unwritten(file: &Path, error: &io::Error) -> Failure {
    Failure::Host(format!("writing {}: {error}", file.display()))
}
