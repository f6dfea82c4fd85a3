// SPDX-License-Identifier: GPL-2.0-only
//! Messages, to standard error. Where it is closed nobody listens, and the scheduler goes on.
//! Names of tasks and of files do no harm on a terminal.

use std::io::{Write, stderr};

/// Tells the operator something.
pub fn say(text: &str) {
    pass_on(&format!("scx_alight: {text}\n"));
}

/// Tells the operator what somebody else says, in their words.
pub fn pass_on(text: &str) {
    let text = alight_text::harmless(text);
    let _ = stderr().lock().write_all(text.as_bytes());
}
