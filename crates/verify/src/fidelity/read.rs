// SPDX-License-Identifier: GPL-2.0-only
//! The reports of a directory, by kernel.

use super::{behaviour, text};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum NoFidelityPage {
    /// The directory or a file in it cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Not JSON, or not a report.
    #[error("{}: {why}; expected a report that `alight verify ... --json` wrote", path.display())]
    NotAReport {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// Nothing to write about.
    #[error(
        "{}: no report in it; expected a folder for each kernel, with files NAME.json of \
         `alight verify ... --json`",
        .0.display()
    )]
    Empty(PathBuf),
}

/// A report, and the name of its file.
pub struct Named {
    pub name: String,
    pub report: Value,
}

/// What was found of a kernel: reports by what they are about, each in the order of names.
pub struct Kernel {
    /// Name of the folder.
    pub name: String,
    /// Of which model the reports are.
    pub model: String,
    pub pelt: Vec<Named>,
    pub decisions: Vec<Named>,
    pub behaviour: Vec<Named>,
    /// Names of empty files, which the scripts leave where there is nothing to report.
    pub missing: Vec<String>,
}

impl Kernel {
    fn all(&self) -> impl Iterator<Item = &Value> {
        let named = self
            .pelt
            .iter()
            .chain(&self.decisions)
            .chain(&self.behaviour);
        named.map(|named| &named.report)
    }

    /// The kernel's release and architecture.
    pub fn release(&self) -> String {
        let said = self.all().next();
        said.map_or("-".to_owned(), |report| {
            format!("{} {}", text(report, "kernel"), text(report, "arch"))
        })
    }

    /// The base that it is held against.
    pub fn base(&self) -> &str {
        let names = self
            .all()
            .flat_map(|report| ["base", "scheduler"].map(|field| text(report, field)));
        names
            .into_iter()
            .find(|name| !name.is_empty())
            .unwrap_or("-")
    }
}

/// The kernels of a directory, by name; with at least one report.
pub fn kernels(directory: &Path) -> Result<Vec<Kernel>, NoFidelityPage> {
    let mut kernels = vec![];
    for folder in entries(directory)? {
        if folder.is_dir() {
            let kernel = kernel(&folder)?;
            if kernel.all().next().is_some() || !kernel.missing.is_empty() {
                kernels.push(kernel);
            }
        }
    }
    match kernels.is_empty() {
        true => Err(NoFidelityPage::Empty(directory.to_owned())),
        false => Ok(kernels),
    }
}

fn kernel(folder: &Path) -> Result<Kernel, NoFidelityPage> {
    let mut kernel = Kernel {
        name: stem(folder),
        model: "not said".to_owned(),
        pelt: vec![],
        decisions: vec![],
        behaviour: vec![],
        missing: vec![],
    };
    for path in entries(folder)? {
        if path.file_name().is_some_and(|name| name == "model") {
            kernel.model = content(&path)?.trim().to_owned();
        }
        if path.extension().is_none_or(|e| e != "json") {
            continue;
        }
        let name = stem(&path);
        let Some(report) = report(&path)? else {
            kernel.missing.push(name);
            continue;
        };
        match text(&report, "schema") {
            "alight.verify-pelt/1" => &mut kernel.pelt,
            "alight.verify-decisions/1" => &mut kernel.decisions,
            behaviour::SCHEMA => &mut kernel.behaviour,
            other => {
                let why = match other {
                    "" => "it names no schema".to_owned(),
                    _ => format!("its schema is '{other}'"),
                };
                return Err(NoFidelityPage::NotAReport { path, why });
            }
        }
        .push(Named { name, report });
    }
    Ok(kernel)
}

fn stem(path: &Path) -> String {
    // Of a folder the whole name: a version has dots.
    let name = if path.is_dir() {
        path.file_name()
    } else {
        path.file_stem()
    };
    name.unwrap_or_default().to_string_lossy().into_owned()
}

/// What is in a directory, by name.
fn entries(directory: &Path) -> Result<Vec<PathBuf>, NoFidelityPage> {
    let failed = |source| NoFidelityPage::Read {
        path: directory.to_owned(),
        source,
    };
    let mut paths = vec![];
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        paths.push(entry.map_err(failed)?.path());
    }
    paths.sort();
    Ok(paths)
}

fn content(path: &Path) -> Result<String, NoFidelityPage> {
    alight_text::read(path).map_err(|source| NoFidelityPage::Read {
        path: path.to_owned(),
        source,
    })
}

/// A report; `None`: the file is empty.
fn report(path: &Path) -> Result<Option<Value>, NoFidelityPage> {
    let json = content(path)?;
    if json.is_empty() {
        return Ok(None);
    }
    serde_json::from_str(&json)
        .map(Some)
        .map_err(|error| NoFidelityPage::NotAReport {
            path: path.to_owned(),
            why: error.to_string(),
        })
}
