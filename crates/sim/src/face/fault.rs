// SPDX-License-Identifier: GPL-2.0-only
//! Whose fault an error is. Each error says it where it is defined, and each face of the program (the
//! command, the Python package) maps it once: to an exit code, to an exception.

use alight_trace::CreateError;

use crate::Error;

/// Whose fault an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The user asked for what cannot be: another input helps.
    Input,
    /// The machine that the program runs on failed, such as a full disk; or the program is wrong.
    Host,
    /// Nobody's: a signal ended the work.
    Interrupt,
}

/// An error that knows whose fault it is.
pub trait AtFault: std::error::Error {
    /// Whose fault it is.
    fn fault(&self) -> Fault;
}

impl AtFault for Error {
    fn fault(&self) -> Fault {
        match self {
            Error::Refused(_) => Fault::Input,
            // A broken invariant is a fault of this program, not of its input.
            Error::Trace(_) | Error::Invariant { .. } => Fault::Host,
        }
    }
}

impl AtFault for alight_machine::Error {
    /// A file that cannot be read is bad input, too: another name helps.
    fn fault(&self) -> Fault {
        Fault::Input
    }
}

impl AtFault for CreateError {
    fn fault(&self) -> Fault {
        match self {
            CreateError::Format(_) | CreateError::Header(_) => Fault::Input,
            CreateError::Io(_) => Fault::Host,
        }
    }
}
