// SPDX-License-Identifier: GPL-2.0-only
//! Turns the text that a user types into a [`Workload`].

use crate::command;
use crate::diagnostic::{Diagnostic, Error, Place, Refusal, Remarks};
use crate::program::Workload;
use crate::rtapp;
use crate::site::Site;
use std::borrow::Cow;

/// How an rt-app file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// As authors mean it, and as `workgen` prepares it for rt-app: duplicate keys all count, in
    /// order; a bare `"suspend"` suspends on the task's own name.
    #[default]
    Workgen,
    /// As the rt-app binary with json-c reads it: of duplicate keys the last value counts, at the
    /// place of the first.
    Rtapp,
}

impl Mode {
    /// The name that users type.
    pub fn as_str(self) -> &'static str {
        match self {
            Mode::Workgen => "workgen",
            Mode::Rtapp => "rtapp",
        }
    }
}

/// A workload, and the reader's notes and warnings about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The compiled workload.
    pub workload: Workload,
    /// Notes and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Workload {
    /// Loads a workload. `text` is the path of an rt-app file if it ends in `.json`, and the command
    /// line of a tool otherwise. `mode` is for rt-app files only.
    ///
    /// # Errors
    /// - [`Error::Unreadable`]: the file cannot be read;
    /// - [`Error::Refused`]: the file or command line is not a workload that can be run, or needs a
    ///   known machine ([`Workload::load_on`]). The message names the place.
    pub fn load(text: &str, mode: Mode) -> Result<Loaded, Error> {
        load(text, mode, None)
    }

    /// True if [`Workload::load`] takes `text` for the path of an rt-app file.
    pub fn is_file(text: &str) -> bool {
        let path = text.trim();
        path.ends_with(".json") && !names_a_tool(path)
    }

    /// As [`Workload::load`], for a known machine: a command line may then say "one thread for each
    /// CPU".
    ///
    /// # Errors
    /// As [`Workload::load`].
    pub fn load_on(text: &str, mode: Mode, site: &Site) -> Result<Loaded, Error> {
        load(text, mode, Some(site))
    }

    /// Compiles the text of an rt-app file. `name` becomes the workload's name; errors show it.
    ///
    /// # Errors
    /// [`Error::Refused`] with line and column.
    pub fn from_rtapp(name: &str, text: &str, mode: Mode) -> Result<Loaded, Error> {
        let mut remarks = Remarks::default();
        let workload = rtapp::compile(name, text, mode, &mut remarks)
            .map_err(|refusal| refusal.named(name))?;
        Ok(loaded(workload, remarks))
    }

    /// Compiles the command line of a tool.
    ///
    /// # Errors
    /// [`Error::Refused`] with the column of the offending word.
    pub fn from_command_line(line: &str) -> Result<Loaded, Error> {
        command_line(line, None)
    }

    /// As [`Workload::from_command_line`], on a known machine.
    ///
    /// # Errors
    /// As [`Workload::from_command_line`].
    pub fn from_command_line_on(line: &str, site: &Site) -> Result<Loaded, Error> {
        command_line(line, Some(site))
    }
}

fn load(text: &str, mode: Mode, site: Option<&Site>) -> Result<Loaded, Error> {
    if !Workload::is_file(text) {
        return command_line(text, site);
    }
    let path = text.trim();
    let bytes = std::fs::read(path).map_err(|error| Error::Unreadable {
        path: path.to_owned(),
        reason: error.to_string(),
    })?;
    let text = text_of(&bytes).map_err(|refusal| refusal.named(path))?;
    Workload::from_rtapp(path, &text, mode)
}

fn command_line(line: &str, site: Option<&Site>) -> Result<Loaded, Error> {
    let mut remarks = Remarks::default();
    let workload = command::compile(line, site, &mut remarks)
        .map_err(|refusal| refusal.named("command line"))?;
    Ok(loaded(workload, remarks))
}

/// The text of an rt-app file. Bytes that are no UTF-8 can stand in names only, which they then change.
///
/// # Errors
/// UTF-16, and a mark of UTF-8, which is no JSON for rt-app (json-c).
pub(crate) fn text_of(bytes: &[u8]) -> Result<Cow<'_, str>, Refusal> {
    match alight_text::mark(bytes) {
        Some(mark) => {
            let place = Place { line: 1, column: 1 };
            Err(Refusal::new(place, format!("the file {}", mark.advice())))
        }
        None => Ok(String::from_utf8_lossy(bytes)),
    }
}

/// Whether the line is a command with a file as its last word (`cyclictest … --json=out.json`).
fn names_a_tool(line: &str) -> bool {
    line.split_once(char::is_whitespace)
        .is_some_and(|(first, _)| command::is_tool(first))
}

fn loaded(mut workload: Workload, remarks: Remarks) -> Loaded {
    workload.left_out = remarks.left_out;
    debug_assert_eq!(workload.check(), Ok(()));
    let mut diagnostics = remarks.list;
    diagnostics.sort_by_key(|d| (d.line, d.column));
    Loaded {
        workload,
        diagnostics,
    }
}
