// SPDX-License-Identifier: GPL-2.0-only
//! Standard output and standard error, without panics where they are closed.

use std::io::{self, Write};

use crate::failure::Failure;

/// Writes a report to standard output.
///
/// # Errors
/// A full disk or a closed pipe.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::Host(format!("standard output: {error}")))
}

/// Tells the user something beside the report. Where standard error is closed nobody listens.
pub fn remark(text: &str) {
    let _ = writeln!(io::stderr().lock(), "alight: {text}");
}
