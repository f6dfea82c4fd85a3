// SPDX-License-Identifier: GPL-2.0-only
//! Why a run failed.

use super::ended::ExitInfo;
use crate::exit;
use crate::kernel;
use crate::machine;
use crate::rules;
use alight_verify::live::Difference;
use std::io;
use std::path::PathBuf;

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunFailed {
    /// The kernel does not offer what is needed.
    #[error(transparent)]
    Refused(#[from] kernel::Refusal),
    /// The machine cannot be read, or is not the one that was given.
    #[error(transparent)]
    Machine(#[from] machine::NoHost),
    /// libbpf or the kernel refused.
    #[error("{what}: {error}")]
    Bpf {
        /// What was tried.
        what: &'static str,
        /// What libbpf says.
        error: libbpf_rs::Error,
    },
    /// Rules that cannot be met here.
    #[error(transparent)]
    Rules(#[from] rules::RulesNotMet),
    /// The log cannot be begun, or cannot have its name.
    #[error("the log of decisions, {}: {error}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// Metrics cannot be served at the requested address.
    #[error("metrics at {address}: {error}")]
    Metrics {
        /// The address.
        address: String,
        /// What the system says.
        error: io::Error,
    },
    /// The kernel accepted the scheduler but does not run it.
    #[error("the scheduler was started, but /sys/kernel/sched_ext says {says}")]
    NotRunning {
        /// State, or the other scheduler that it names.
        says: String,
    },
    /// The kernel ended the scheduler.
    #[error("the kernel ended the scheduler: {0}")]
    Ended(ExitInfo),
    /// Decisions are missing that were not counted as lost.
    #[error("{missing} decisions were neither logged nor counted as lost")]
    Missing {
        /// How many.
        missing: u64,
    },
    /// A decision was different on the host.
    #[error(transparent)]
    Different(#[from] Difference),
}

impl RunFailed {
    /// Exit code of the program.
    pub fn exit_code(&self) -> u8 {
        match self {
            RunFailed::Machine(error) if error.is_input() => exit::BAD_INPUT,
            RunFailed::Ended(_) => exit::ENDED,
            _ => exit::FAILED,
        }
    }
}

/// Adds to libbpf's errors what was tried.
pub(super) trait During<T> {
    fn during(self, what: &'static str) -> Result<T, RunFailed>;
}

impl<T> During<T> for libbpf_rs::Result<T> {
    fn during(self, what: &'static str) -> Result<T, RunFailed> {
        self.map_err(|error| RunFailed::Bpf { what, error })
    }
}
