// SPDX-License-Identifier: GPL-2.0-only
//! The trace formats and the file names that choose them.

use std::path::Path;

/// A trace format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Perfetto protobuf: `.pftrace`, `.perfetto-trace`.
    Perfetto,
    /// Text as the kernel's `trace` file shows it: `.txt`, `.ftrace`, `.systrace`.
    Ftrace,
    /// Text of unformatted fields as `trace-cmd report -R` prints it: `.raw.txt`.
    FtraceRaw,
}

/// Endings in the order in which they are tried: `.raw.txt` before `.txt`.
const ENDINGS: [(&str, Format); 6] = [
    (".pftrace", Format::Perfetto),
    (".perfetto-trace", Format::Perfetto),
    (".raw.txt", Format::FtraceRaw),
    (".txt", Format::Ftrace),
    (".ftrace", Format::Ftrace),
    (".systrace", Format::Ftrace),
];

/// A file name that tells no format.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{path}: {found}; a trace's name ends in one of {valid}{nearest}")]
pub struct UnknownFormat {
    path: String,
    found: String,
    valid: String,
    nearest: String,
}

impl Format {
    /// Every ending a trace's name may have.
    pub fn endings() -> impl Iterator<Item = &'static str> {
        ENDINGS.iter().map(|(ending, _)| *ending)
    }

    /// The format that the ending of `path` names, whatever its case.
    ///
    /// # Errors
    /// An ending that names none; the message lists the valid ones and the nearest.
    pub fn of_path(path: &Path) -> Result<Self, UnknownFormat> {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().to_lowercase())
            .unwrap_or_default();
        let known = ENDINGS
            .iter()
            .find(|(ending, _)| name.ends_with(ending) && name.len() > ending.len());
        known
            .map(|&(_, format)| format)
            .ok_or_else(|| unknown(path, &name))
    }
}

fn unknown(path: &Path, name: &str) -> UnknownFormat {
    let dot = name.rfind('.').filter(|&at| at > 0);
    let nearest = dot.and_then(|at| {
        let near = Format::endings().max_by(|a, b| {
            let [a, b] = [a, b].map(|ending| strsim::jaro_winkler(ending, &name[at..]));
            a.total_cmp(&b)
        })?;
        (strsim::jaro_winkler(near, &name[at..]) > 0.8)
            .then(|| format!(" (did you mean '{near}'?)"))
    });
    UnknownFormat {
        path: path.display().to_string(),
        found: dot.map_or("no ending".into(), |at| {
            format!("unknown trace ending '{}'", &name[at..])
        }),
        valid: Format::endings().collect::<Vec<_>>().join(", "),
        nearest: nearest.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests;
