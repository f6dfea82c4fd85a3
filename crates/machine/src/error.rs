// SPDX-License-Identifier: GPL-2.0-only
//! What can be wrong with a machine, and how it is said: the place, what was
//! found, what was expected, what to do.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::check::Finding;

/// A place in a machine file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// File as the user named it, `machines/NAME.toml` for built-in ones.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Why there is no machine to work with.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that cannot be read.
    #[error("{}: cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A name that is no built-in machine.
    #[error(
        "unknown machine `{name}`, {hint}; a file's name ends in `.toml`, `host` is this machine"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest valid names.
        hint: String,
    },
    /// A file that is named as a machine and is no machine file.
    #[error(
        "{}: is no machine file, expected a name that ends in `.toml`; if it describes a machine in \
         another form (device tree, XML of hwloc, YAML of LISA, dump of sysfs), make a machine file of \
         it: `alight machine import {} -o {}`",
        path.display(), path.display(), path.with_extension("toml").display()
    )]
    NoMachineFile {
        /// The file.
        path: PathBuf,
    },
    /// A machine file that does not say what a machine file must say.
    #[error("{place}: {message}")]
    Written {
        /// Where.
        place: Place,
        /// What was found and what was expected.
        message: String,
    },
    /// Several things that are wrong with one machine file, each [`Error::Written`], in the order of
    /// the file.
    #[error("{}", lines(.0))]
    Several(Vec<Self>),
    /// A machine that cannot be.
    #[error("{}", lines(findings))]
    Impossible {
        /// All findings, those that are only warnings too.
        findings: Vec<Finding>,
    },
    /// A file of this host's description that says something unusable.
    #[error("{}: found `{found}`, expected {expected}", path.display())]
    Captured {
        /// The sysfs or procfs file.
        path: PathBuf,
        /// Its text, shortened.
        found: String,
        /// What such a file holds.
        expected: String,
    },
    /// An archive or a dump that holds no tree of sysfs.
    #[error("{}: {message}", path.display())]
    Archive {
        /// The file.
        path: PathBuf,
        /// What was found and what was expected.
        message: String,
    },
    /// A host whose description makes no machine file that could be used.
    #[error(
        "this host's files do not describe a valid machine: {0}\nNothing is written. Take the \
         nearest machine of `alight machine list` and correct it by hand; a copy of the host's \
         sysfs helps to repair this"
    )]
    NoMachine(
        /// What is wrong with the file that would have been written.
        String,
    ),
}

impl Error {
    pub(crate) fn written(place: &Place, message: impl Into<String>) -> Self {
        Self::Written {
            place: place.clone(),
            message: message.into(),
        }
    }
}

fn lines<T: ToString>(items: &[T]) -> String {
    let lines: Vec<String> = items.iter().map(ToString::to_string).collect();
    lines.join("\n")
}

/// Similarity from which a name is worth proposing.
pub(crate) const SIMILAR: f64 = 0.7;

/// How much two names resemble each other, from 0 to 1 (Jaro-Winkler).
pub(crate) fn similarity(one: &str, other: &str) -> f64 {
    strsim::jaro_winkler(one, other)
}

/// A phrase that names the valid names nearest to `found`, or all of them if
/// none is near.
pub fn nearest<'a>(found: &str, valid: impl IntoIterator<Item = &'a str>) -> String {
    let valid: Vec<&str> = valid.into_iter().collect();
    let mut ranked: Vec<(f64, &str)> = valid
        .iter()
        .map(|name| (similarity(found, name), *name))
        .filter(|&(similarity, _)| similarity >= SIMILAR)
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
    let quoted = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    if valid.is_empty() {
        "none exists".to_owned()
    } else if ranked.is_empty() {
        format!("expected one of {}", quoted(&valid))
    } else {
        let near: Vec<&str> = ranked.into_iter().take(3).map(|(_, name)| name).collect();
        format!("the nearest valid: {}", quoted(&near))
    }
}
