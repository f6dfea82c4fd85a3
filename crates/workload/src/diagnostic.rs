// SPDX-License-Identifier: GPL-2.0-only
//! What a reader of a workload has to say about it: notes, warnings, and the error that refuses it.

use serde::Serialize;

/// How much a [`Diagnostic`] matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; the workload means what it says.
    Note,
    /// The workload runs, but probably not as its author thinks.
    Warning,
    /// The workload is refused.
    Error,
}

impl Severity {
    /// The word that reports print.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A remark about one place of a workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Its severity.
    pub severity: Severity,
    /// Line, from 1. A command line is line 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What was found, what was expected, what to do.
    pub message: String,
}

/// A place in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// Why a workload was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("{path}: cannot be read: {reason}; give a readable rt-app file")]
    Unreadable {
        /// The path as given.
        path: String,
        /// What the operating system said.
        reason: String,
    },
    /// The text is not a workload.
    #[error("{source_name}:{line}:{column}: {message}")]
    Refused {
        /// File name, or `command line`.
        source_name: String,
        /// Line, from 1.
        line: u32,
        /// Column in characters, from 1.
        column: u32,
        /// What was found, what was expected, what to do.
        message: String,
    },
}

impl Error {
    /// The error as a [`Diagnostic`] (line and column 0 if the file could not be read).
    pub fn to_diagnostic(&self) -> Diagnostic {
        match self {
            Error::Unreadable { .. } => Diagnostic {
                severity: Severity::Error,
                line: 0,
                column: 0,
                message: self.to_string(),
            },
            Error::Refused {
                line,
                column,
                message,
                ..
            } => Diagnostic {
                severity: Severity::Error,
                line: *line,
                column: *column,
                message: message.clone(),
            },
        }
    }
}

/// A refusal before the name of its source is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub place: Place,
    pub message: String,
}

impl Refusal {
    pub fn new(place: Place, message: impl Into<String>) -> Self {
        Refusal {
            place,
            message: message.into(),
        }
    }

    pub fn named(self, source_name: &str) -> Error {
        Error::Refused {
            source_name: source_name.to_owned(),
            line: self.place.line,
            column: self.place.column,
            message: self.message,
        }
    }
}

/// Remarks in the order in which they were made.
#[derive(Debug, Default)]
pub(crate) struct Remarks {
    pub list: Vec<Diagnostic>,
    /// What the model does not have, said of the results too.
    pub left_out: Vec<String>,
}

impl Remarks {
    /// A remark on what is asked for and the model does not have: reports repeat it beside the results.
    pub fn leave_out(&mut self, severity: Severity, place: Place, message: impl Into<String>) {
        let message = message.into();
        if !self.left_out.contains(&message) {
            self.left_out.push(message.clone());
        }
        self.push(severity, place, message);
    }

    pub fn note(&mut self, place: Place, message: impl Into<String>) {
        self.push(Severity::Note, place, message.into());
    }

    pub fn warn(&mut self, place: Place, message: impl Into<String>) {
        self.push(Severity::Warning, place, message.into());
    }

    fn push(&mut self, severity: Severity, place: Place, message: String) {
        self.list.push(Diagnostic {
            severity,
            line: place.line,
            column: place.column,
            message,
        });
    }
}

/// The names of `valid` that are nearest to `found`, best first, as words for a message:
/// `` `a`, `b` ``. At most three; all of them if none is near.
pub(crate) fn nearest<'a>(found: &str, valid: impl IntoIterator<Item = &'a str>) -> String {
    const OFFERED: usize = 3;
    const NEAR_ENOUGH: f64 = 0.6;
    let mut scored: Vec<(f64, &str)> = valid
        .into_iter()
        .map(|name| (strsim::jaro_winkler(found, name), name))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let near = scored.iter().filter(|(score, _)| *score >= NEAR_ENOUGH);
    let mut names: Vec<&str> = near.take(OFFERED).map(|(_, name)| *name).collect();
    if names.is_empty() {
        names = scored.iter().map(|(_, name)| *name).collect();
        names.sort_unstable();
    }
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
