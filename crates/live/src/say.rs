// SPDX-License-Identifier: GPL-2.0-only
//! Messages to standard error. If that is closed they are dropped, and the scheduler goes on.
//! Names of tasks and files in them are made harmless for a terminal.

use std::io::{Write, stderr};

/// Tells the operator something.
pub fn say(text: &str) {
    pass_on(&format!("scx_alight: {text}\n"));
}

/// Passes on to the operator a text that is not this program's own.
pub fn pass_on(text: &str) {
    let text = alight_text::harmless(text);
    let _ = stderr().lock().write_all(text.as_bytes());
}
