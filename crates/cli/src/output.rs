// SPDX-License-Identifier: GPL-2.0-only
//! Standard output and standard error, without panics where they are closed and without what names of
//! others would do to a terminal, and files that are written whole.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::failure::Failure;

/// Writes a report to standard output, harmless for a terminal ([`alight_text::harmless`]).
///
/// # Errors
/// A full disk or a closed pipe.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(alight_text::harmless(text).as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::Host(format!("standard output: {error}")))
}

/// Writes a report to standard error, for standard output is taken. Where that is closed nobody
/// listens.
pub fn print_aside(text: &str) {
    let text = alight_text::harmless(text);
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Tells the user something beside the report. Where standard error is closed nobody listens.
pub fn remark(text: &str) {
    print_aside(&format!("alight: {text}\n"));
}

/// Says what clap has to say: in its colours, unless it repeats a word that a terminal would obey.
pub fn print_usage(error: &clap::Error) {
    let obeyed = |word: OsString| word.to_string_lossy().contains(alight_text::does_harm);
    if std::env::args_os().any(obeyed) {
        print_aside(&error.render().to_string());
    } else {
        // Where help cannot be printed there is nobody to tell.
        let _ = error.print();
    }
}

/// Writes a file whole, or not at all; a pipe or a device in place. Of a symbolic link, the file that it
/// points to.
///
/// # Errors
/// What the system said, with the file's name.
pub fn save(file: &Path, text: &str) -> Result<(), Failure> {
    if in_place(file) {
        return fs::write(file, text).map_err(|error| unwritten(file, &error));
    }
    let (mut temporary, place) = temporary(file)?;
    let written = temporary.as_file_mut().write_all(text.as_bytes());
    written.map_err(|error| unwritten(file, &error))?;
    let named = temporary.persist(place);
    named.map_err(|error| unwritten(file, &error.error))?;
    Ok(())
}

/// Whether [`save`] finds a place there, for what takes long to make.
///
/// # Errors
/// As [`save`].
pub fn try_place(file: &Path) -> Result<(), Failure> {
    match in_place(file) {
        true if file.is_dir() => Err(unwritten(file, &io::ErrorKind::IsADirectory.into())),
        true => Ok(()),
        false => temporary(file).map(drop),
    }
}

fn in_place(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| !found.is_file())
}

/// A file beside the one that it shall become, which goes with the value, and the place of that one.
fn temporary(file: &Path) -> Result<(NamedTempFile<File>, PathBuf), Failure> {
    let place = alight_text::place(file).map_err(|error| unwritten(file, &error))?;
    let directory = match place.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    // Opened here: with the permissions of any new file, and errors that do not name it.
    let temporary = tempfile::Builder::new()
        .make_in(directory, |path| File::create_new(path))
        .map_err(|error| unwritten(file, &error))?;
    Ok((temporary, place))
}

fn unwritten(file: &Path, error: &io::Error) -> Failure {
    Failure::Host(format!("writing {}: {error}", file.display()))
}
