// SPDX-License-Identifier: GPL-2.0-only
//! Why a file cannot be imported.

use std::io;

/// Why a file cannot be imported. Each says where, what was found and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be opened.
    #[error("{0}")]
    Open(io::Error),
    /// A part of the file cannot be read.
    #[error("at byte {offset}: {error}")]
    Read {
        /// Bytes from the start of the file.
        offset: u64,
        /// What the system said.
        error: io::Error,
    },
    /// The content is not what its format says.
    #[error("at byte {offset}: {what}")]
    Malformed {
        /// Bytes from the start of the file; in a compressed part, of that part.
        offset: u64,
        /// What was found and what was expected.
        what: String,
    },
    /// It is a file that is not read here.
    #[error("{0}")]
    Foreign(String),
    /// The file is right, and what was asked of it is not there.
    #[error("{0}")]
    Asked(String),
    /// The recording cannot be written.
    #[error("{0}")]
    Write(#[from] io::Error),
}

impl Error {
    /// Content that is not what its format says.
    pub(crate) fn at(offset: u64, what: impl Into<String>) -> Self {
        Error::Malformed {
            offset,
            what: what.into(),
        }
    }

    /// Whether the host failed, and not the file.
    pub fn is_of_host(&self) -> bool {
        matches!(self, Error::Write(_))
    }
}
