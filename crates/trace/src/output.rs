// SPDX-License-Identifier: GPL-2.0-only
//! Where a trace's bytes go: a temporary file that gets its name when complete, or straight into a pipe or device.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// An open destination. Dropped unfinished, it leaves no file.
pub(crate) struct Output {
    /// As the user named it, for messages.
    path: PathBuf,
    destination: Destination,
}

enum Destination {
    /// A regular file to be: written beside its place, renamed when finished.
    Temporary { file: NamedTempFile, place: PathBuf },
    /// Standard output, a pipe or a device: what is written has left.
    Direct(File),
    /// Given up; a temporary file has been removed.
    Abandoned,
}

/// Whether `path` names something that is written in place: `-`, standard output, a pipe, a device.
pub(crate) fn is_stream(path: &Path) -> bool {
    is_stdout(path) || fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Whether a trace of this name goes to standard output: `-`, `/dev/stdout`.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-") || path == Path::new("/dev/stdout")
}

impl Output {
    /// Opens the destination without touching a file that has the name already.
    ///
    /// # Errors
    /// What opening said, with the name.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let destination = if is_stdout(path) {
            stdout().map(Destination::Direct)
        } else if is_stream(path) {
            OpenOptions::new()
                .write(true)
                .open(path)
                .map(Destination::Direct)
        } else {
            temporary(path)
        };
        let path = path.to_path_buf();
        match destination {
            Ok(destination) => Ok(Self { path, destination }),
            Err(error) => Err(named(&path, "cannot create", &error)),
        }
    }

    /// Writes all of `bytes`.
    ///
    /// # Errors
    /// What the file said, with its name; the unfinished file is gone then and every further call fails.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let written = match &mut self.destination {
            Destination::Temporary { file, .. } => file.as_file_mut().write_all(bytes),
            Destination::Direct(file) => file.write_all(bytes),
            Destination::Abandoned => Err(io::Error::other("an earlier event failed")),
        };
        written.map_err(|error| {
            self.abandon();
            named(&self.path, "cannot write", &error)
        })
    }

    /// Gives up: removes an unfinished file; every further call fails.
    pub(crate) fn abandon(&mut self) {
        self.destination = Destination::Abandoned;
    }

    /// Gives a complete file its name.
    ///
    /// # Errors
    /// What renaming said, with the name; the temporary file is gone then.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self.destination {
            Destination::Temporary { file, place } => match file.persist(&place) {
                Ok(_) => Ok(()),
                Err(failed) => Err(named(&self.path, "cannot finish", &failed.error)),
            },
            Destination::Direct(_) => Ok(()),
            Destination::Abandoned => Err(named(
                &self.path,
                "cannot finish",
                &io::Error::other("an earlier event failed"),
            )),
        }
    }
}

/// Standard output without the standard library's line buffer: the encoders buffer themselves.
fn stdout() -> io::Result<File> {
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

/// A file beside the place that `path` names; behind a symbolic link, beside the link's target.
fn temporary(path: &Path) -> io::Result<Destination> {
    if path.is_dir() {
        return Err(io::Error::new(
            io::ErrorKind::IsADirectory,
            "it is a directory",
        ));
    }
    let place = alight_text::place(path)?;
    let Some(name) = place.file_name() else {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path names no file",
        ));
    };
    let directory = match place.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    let file = tempfile::Builder::new()
        .prefix(&prefix)
        .suffix(".unfinished")
        // Opened here and not by the crate: permissions are then those of any new file, and errors do not name the
        // temporary file, of which the user knows nothing.
        .make_in(directory, |path| {
            OpenOptions::new().write(true).create_new(true).open(path)
        })?;
    Ok(Destination::Temporary { file, place })
}

fn named(path: &Path, failed: &str, error: &io::Error) -> io::Error {
    io::Error::new(
        error.kind(),
        format!("{failed} the trace '{}': {error}", path.display()),
    )
}
