// SPDX-License-Identifier: GPL-2.0-only
//! Why a study cannot be read.

use alight_sim::{AtFault, Fault};

/// Why there is no study.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// A file that cannot be read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// No study of this name.
    #[error("unknown study `{name}`, {hint}; a file's name ends in `.toml`")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest valid names.
        hint: String,
    },
    /// A file that does not say what a study must say.
    #[error("{file}:{line}:{column}: {message}")]
    Written {
        /// The file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What was found and what was expected.
        message: String,
    },
    /// Several things that are wrong with one file, each [`StudyError::Written`], in its order.
    #[error("{}", lines(.0))]
    Several(Vec<Self>),
}

impl AtFault for StudyError {
    fn fault(&self) -> Fault {
        Fault::Input
    }
}

fn lines(errors: &[StudyError]) -> String {
    let lines: Vec<String> = errors.iter().map(StudyError::to_string).collect();
    lines.join("\n")
}
