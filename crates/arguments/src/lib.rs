// SPDX-License-Identifier: GPL-2.0-only
//! The command lines of the programs that have a kernel side, `scx_alight` and `alight-record`.
//!
//! They are apart from those programs because `alight run --help` and `alight record --help` print
//! them where the programs, which need clang and libelf to be built, are not.

pub mod options;
pub mod record;
pub mod rules;
pub mod run;

use clap::Parser;
use clap::error::ErrorKind;
use std::ffi::OsString;

pub use options::{Gated, Options};

/// The help that `arguments` ask of a program, if they do; in it the program is called `shown`. To be
/// printed by [`clap::Error::print`].
pub fn help_asked<P: Parser>(shown: &str, arguments: &[OsString]) -> Option<clap::Error> {
    let words = std::iter::once(OsString::from(shown)).chain(arguments.iter().cloned());
    let error = P::try_parse_from(words).err()?;
    (error.kind() == ErrorKind::DisplayHelp).then_some(error)
}

#[cfg(test)]
mod tests;
