// SPDX-License-Identifier: GPL-2.0-only
//! Why a description is not imported.

use std::path::{Path, PathBuf};

/// Why a description is not imported.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Something in it is wrong.
    #[error("{}{place}: {message}", path.display())]
    Written {
        /// The file.
        path: PathBuf,
        /// Line or node, after a mark that separates it; empty: the whole file.
        place: String,
        /// What was found and what was expected.
        message: String,
    },
    /// A copied tree of sysfs that is none.
    #[error(transparent)]
    Tree(#[from] alight_machine::Error),
    /// What the file says makes no machine.
    #[error(
        "{}: what it says makes no machine:\n{message}\nNothing is written. Take the nearest machine \
         of `alight machine list` and correct it by hand",
        path.display()
    )]
    NoMachine {
        /// The file.
        path: PathBuf,
        /// What is wrong with the machine file that would have been written.
        message: String,
    },
}

impl Error {
    /// Of the file as a whole.
    pub(crate) fn whole(path: &Path, message: impl Into<String>) -> Self {
        Self::Written {
            path: path.to_owned(),
            place: String::new(),
            message: message.into(),
        }
    }

    /// Of a line, from 1.
    pub(crate) fn line(path: &Path, line: usize, message: impl Into<String>) -> Self {
        Self::Written {
            path: path.to_owned(),
            place: format!(":{line}"),
            message: message.into(),
        }
    }
}
