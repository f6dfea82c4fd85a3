// SPDX-License-Identifier: GPL-2.0-only
//! The command lines of `scx_alight` and `alight-record`.
//!
//! These two programs have a kernel side. They need clang and libelf to be built, and this crate does
//! not. `alight run --help` and `alight record --help` can therefore print the help of programs that
//! are not installed.
//!
//! # What it owns
//!
//! - [`run`]: the command line of `scx_alight`, which becomes [`Options`].
//! - [`record`]: the command line of `alight-record`.
//! - [`rules`]: rules from options and files, in the order in which they count.
//!
//! # Who may use it
//!
//! `alight-live`, `alight` and `xtask`. It uses `alight-policy`, `alight-rules` and `alight-stats`.
//!
//! # Example
//!
//! ```
//! use alight_arguments::run::Arguments;
//! use clap::Parser;
//!
//! let words = ["scx_alight", "--base", "linux-6.5", "bias-prev", "--duration", "10"];
//! let options = Arguments::try_parse_from(words)?.options()?;
//! assert_eq!(options.scheduler.name, "linux-6.5+bias-prev");
//! assert_eq!(options.duration.map(|length| length.as_secs()), Some(10));
//!
//! assert!(Arguments::try_parse_from(["scx_alight", "--duration", "0"]).is_err());
//! # Ok::<(), clap::Error>(())
//! ```

pub mod options;
pub mod record;
pub mod rules;
pub mod run;

use clap::Parser;
use clap::error::ErrorKind;
use std::ffi::OsString;

pub use options::{Gated, Options};

/// The help of the program `P`, if `arguments` ask for it; `None` otherwise. The help calls the
/// program `shown`. Print it by [`clap::Error::print`].
pub fn help_asked<P: Parser>(shown: &str, arguments: &[OsString]) -> Option<clap::Error> {
    let words = std::iter::once(OsString::from(shown)).chain(arguments.iter().cloned());
    let error = P::try_parse_from(words).err()?;
    (error.kind() == ErrorKind::DisplayHelp).then_some(error)
}

#[cfg(test)]
mod tests;
