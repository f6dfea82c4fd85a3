// SPDX-License-Identifier: GPL-2.0-only
//! From what the user types to a [`Workload`].

use crate::command;
use crate::diagnostic::{Diagnostic, Error, Remarks};
use crate::program::Workload;

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

/// A workload and what is to be said about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// The compiled workload.
    pub workload: Workload,
    /// Notes and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Workload {
    /// Loads `text`: the path of an rt-app file if it ends in `.json`, a command line otherwise.
    ///
    /// # Errors
    /// [`Error::Unreadable`] if the file cannot be read, [`Error::Refused`] if it, or the command
    /// line, is not a workload that can be run.
    pub fn load(text: &str, _mode: Mode) -> Result<Loaded, Error> {
        Workload::from_command_line(text)
    }

    /// Compiles the command line of a tool.
    ///
    /// # Errors
    /// [`Error::Refused`] with the column of the offending word.
    pub fn from_command_line(line: &str) -> Result<Loaded, Error> {
        let mut remarks = Remarks::default();
        let workload = command::compile(line, &mut remarks)
            .map_err(|refusal| refusal.named("command line"))?;
        Ok(loaded(workload, remarks))
    }
}

fn loaded(workload: Workload, remarks: Remarks) -> Loaded {
    debug_assert_eq!(workload.check(), Ok(()));
    Loaded {
        workload,
        diagnostics: remarks.list,
    }
}
