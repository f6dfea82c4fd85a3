// SPDX-License-Identifier: GPL-2.0-only
//! Why a run failed.

use crate::kernel;
use crate::machine;
use alight_verify::live::Difference;
use std::io;
use std::path::PathBuf;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel does not offer what is needed.
    #[error(transparent)]
    Refused(#[from] kernel::Refusal),
    /// The scheduler needs what only the simulator has.
    #[error(
        "'{0}' cannot run in a kernel: full packing follows the load balancer, which is the \
         kernel's here; use pack=default"
    )]
    Unfit(String),
    /// The machine cannot be read, or is not the one that was given.
    #[error(transparent)]
    Machine(#[from] machine::Error),
    /// libbpf or the kernel refused.
    #[error("{what}: {error}")]
    Bpf {
        /// What was tried.
        what: &'static str,
        /// What libbpf says.
        error: libbpf_rs::Error,
    },
    /// The log cannot be begun, or cannot have its name.
    #[error("the log of decisions, {}: {error}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The kernel ended the scheduler.
    #[error("the kernel ended the scheduler: {reason}: {message}")]
    Ended {
        /// Kind of the end.
        reason: String,
        /// Details.
        message: String,
    },
    /// Decisions are missing that were not counted as lost.
    #[error("{missing} decisions were neither written down nor counted as lost")]
    Missing {
        /// How many.
        missing: u64,
    },
    /// A decision came out differently on the host.
    #[error(transparent)]
    Different(#[from] Difference),
}

impl Error {
    /// Is it what was typed, not this machine, that is wrong?
    pub fn is_input(&self) -> bool {
        matches!(self, Error::Machine(error) if error.is_input())
    }
}

/// Adds to libbpf's errors what was tried.
pub(super) trait During<T> {
    fn during(self, what: &'static str) -> Result<T, Error>;
}

impl<T> During<T> for libbpf_rs::Result<T> {
    fn during(self, what: &'static str) -> Result<T, Error> {
        self.map_err(|error| Error::Bpf { what, error })
    }
}
