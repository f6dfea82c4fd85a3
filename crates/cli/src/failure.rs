// SPDX-License-Identifier: GPL-2.0-only
//! How the program ends when it cannot do what was asked.

use alight_sim::{AtFault, Fault};

/// Exit code of a failure of the machine that the program runs on, and of a difference
/// that `alight verify` found.
pub const HOST: u8 = 1;
/// Exit code of bad input.
pub const BAD_INPUT: u8 = 2;
/// Exit code of a study whose checks do not all hold: it ran, and its report is complete.
pub const NOT_HELD: u8 = 3;
/// Exit code of a sweep some of whose cells cannot run: the others are complete and reported.
pub const CELLS_REFUSED: u8 = 3;
/// Exit code after ctrl-C, as shells have it: 128 + SIGINT.
pub const INTERRUPTED: u8 = 130;

/// Why the program ends early.
#[derive(Debug)]
pub enum Failure {
    /// The user asked for what cannot be.
    BadInput(String),
    /// The machine that the program runs on failed: a full disk, a closed pipe.
    Host(String),
    /// The model is not what was recorded. The report is printed already.
    Different(String),
    /// What must come out of a study did not. The report is printed already.
    NotHeld(String),
    /// Cells of a sweep cannot run. The report of the others is printed already.
    CellsRefused(String),
    /// Ctrl-C. What was done is printed already.
    Interrupted(String),
}

impl Failure {
    /// Bad input, from any error that says so.
    pub fn bad_input(error: impl ToString) -> Self {
        Failure::BadInput(error.to_string())
    }

    /// A failure of the host, from any error that says so.
    pub fn host(error: impl ToString) -> Self {
        Failure::Host(error.to_string())
    }

    /// The process's exit code.
    pub fn code(&self) -> u8 {
        match self {
            Failure::BadInput(_) => BAD_INPUT,
            Failure::Host(_) | Failure::Different(_) => HOST,
            Failure::NotHeld(_) => NOT_HELD,
            Failure::CellsRefused(_) => CELLS_REFUSED,
            Failure::Interrupted(_) => INTERRUPTED,
        }
    }

    /// What to tell the user.
    pub fn message(&self) -> String {
        match self {
            Failure::BadInput(text) | Failure::Host(text) => format!("error: {text}"),
            Failure::Different(text)
            | Failure::NotHeld(text)
            | Failure::CellsRefused(text)
            | Failure::Interrupted(text) => text.clone(),
        }
    }
}

impl<E: AtFault> From<E> for Failure {
    fn from(error: E) -> Self {
        match error.fault() {
            Fault::Input => Failure::bad_input(error),
            Fault::Host => Failure::host(error),
            Fault::Interrupt => Failure::Interrupted(error.to_string()),
        }
    }
}
