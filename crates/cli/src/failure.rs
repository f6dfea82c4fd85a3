// SPDX-License-Identifier: GPL-2.0-only
//! How the program ends when it cannot do what was asked.

use alight_behaviour::replayed::model::NotRecorded;
use alight_compare::card::NoCard;
use alight_compare::compare::NoComparison;
use alight_compare::picture::Undrawn;
use alight_compare::spread::NoResults;
use alight_compare::tool::NothingToPrint;
use alight_published::StudyError;
use alight_published::calibrate::NoFit;
use alight_sim::Error as SimError;
use alight_trace::CreateError;

/// Exit code of a failure of the machine that the program runs on, and of a difference
/// that `alight verify` found.
pub const HOST: u8 = 1;
/// Exit code of bad input.
pub const BAD_INPUT: u8 = 2;
/// Exit code of a study whose checks do not all hold: it ran, and its report is complete.
pub const NOT_HELD: u8 = 3;
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
            Failure::Interrupted(_) => INTERRUPTED,
        }
    }

    /// What to tell the user.
    pub fn message(&self) -> String {
        match self {
            Failure::BadInput(text) | Failure::Host(text) => format!("error: {text}"),
            Failure::Different(text) | Failure::NotHeld(text) | Failure::Interrupted(text) => {
                text.clone()
            }
        }
    }
}

impl From<SimError> for Failure {
    fn from(error: SimError) -> Self {
        match error {
            SimError::Refused(_) => Failure::bad_input(error),
            SimError::Trace(error) => Failure::host(error),
            // A fault of this program, not of its input.
            SimError::Invariant { .. } => Failure::host(error),
        }
    }
}

impl From<NotRecorded> for Failure {
    fn from(error: NotRecorded) -> Self {
        match error {
            NotRecorded::Run(error) => error.into(),
            NotRecorded::File(error) => Failure::host(error),
        }
    }
}

impl From<CreateError> for Failure {
    fn from(error: CreateError) -> Self {
        match error {
            CreateError::Format(_) | CreateError::Header(_) => Failure::bad_input(error),
            CreateError::Io(_) => Failure::host(error),
        }
    }
}

impl From<NoComparison> for Failure {
    fn from(error: NoComparison) -> Self {
        match error {
            NoComparison::TooFew(_) | NoComparison::Seeds { .. } => Failure::bad_input(error),
            NoComparison::Interrupted => Failure::Interrupted(error.to_string()),
            NoComparison::Run(error) => error.into(),
        }
    }
}

impl From<NoCard> for Failure {
    fn from(error: NoCard) -> Self {
        match error {
            NoCard::Seeds { .. } | NoCard::CannotAct(_) => Failure::bad_input(error),
            NoCard::Interrupted => Failure::Interrupted(error.to_string()),
            NoCard::Run(error) => error.into(),
        }
    }
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        Failure::bad_input(error)
    }
}

impl From<Undrawn> for Failure {
    fn from(error: Undrawn) -> Self {
        match error {
            Undrawn::Run(error) => error.into(),
            Undrawn::Late { .. } => Failure::bad_input(error),
            // A fault of this program, not of its input.
            Undrawn::Drawing(_) => Failure::host(error),
        }
    }
}

impl From<alight_published::Unanswered> for Failure {
    fn from(error: alight_published::Unanswered) -> Self {
        match error {
            alight_published::Unanswered::Run(error) => error.into(),
            alight_published::Unanswered::Machine(error) => error.into(),
        }
    }
}

impl From<NoFit> for Failure {
    fn from(error: NoFit) -> Self {
        match error {
            NoFit::Run(error) => error.into(),
            NoFit::Machine(error) => error.into(),
            NoFit::NoRows(_) | NoFit::CostsOf { .. } | NoFit::NoNumber { .. } => {
                Failure::bad_input(error)
            }
        }
    }
}

impl From<NoResults<SimError>> for Failure {
    fn from(error: NoResults<SimError>) -> Self {
        match error {
            NoResults::Threads(error) => Failure::host(error),
            NoResults::Job(error) => error.into(),
        }
    }
}

impl From<NothingToPrint> for Failure {
    fn from(error: NothingToPrint) -> Self {
        Failure::bad_input(error)
    }
}

impl From<alight_machine::Error> for Failure {
    fn from(error: alight_machine::Error) -> Self {
        // One that cannot be read too: another name helps.
        Failure::bad_input(error)
    }
}
