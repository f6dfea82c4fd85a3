// SPDX-License-Identifier: GPL-2.0-only
//! The fault class of an error. Each error type states its class; each front end (the command, the
//! Python package) maps the class once, to an exit code or an exception.

use alight_trace::CreateError;

use crate::Error;

/// The party at fault for an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The user asked for something impossible: another input helps.
    Input,
    /// The machine that the program runs on failed, such as a full disk, or the program has a bug.
    Host,
    /// A signal ended the work; nobody is at fault.
    Interrupt,
}

/// An error that tells its fault class.
pub trait AtFault: std::error::Error {
    /// The fault class.
    fn fault(&self) -> Fault;
}

impl AtFault for Error {
    fn fault(&self) -> Fault {
        match self {
            Error::Refused(_) => Fault::Input,
            // A broken invariant is a bug of this program.
            Error::Trace(_) | Error::Invariant { .. } => Fault::Host,
        }
    }
}

impl AtFault for alight_machine::Error {
    /// An unreadable file is bad input, too: another name helps.
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
