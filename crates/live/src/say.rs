// SPDX-License-Identifier: GPL-2.0-only
//! Messages, to standard error. Where it is closed nobody listens, and the scheduler goes on.

use std::io::{Write, stderr};

/// Tells the operator something.
pub fn say(text: &str) {
    let _ = writeln!(stderr().lock(), "scx_alight: {text}");
}

/// Tells the operator what somebody else says, in their words.
pub fn pass_on(text: &str) {
    let _ = stderr().lock().write_all(text.as_bytes());
}
