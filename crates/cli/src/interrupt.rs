// SPDX-License-Identifier: GPL-2.0-only
//! Ctrl-C: once to end with what is done, twice to end at once.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::{Failure, INTERRUPTED};
use crate::output;

/// Signals belong to the process, so the flag does.
static ASKED: AtomicBool = AtomicBool::new(false);

/// The flag that ctrl-C raises from now on.
///
/// # Errors
/// The system refuses the handler.
pub fn flag() -> Result<&'static AtomicBool, Failure> {
    ctrlc::set_handler(|| {
        if ASKED.swap(true, Ordering::Relaxed) {
            process::exit(i32::from(INTERRUPTED));
        }
        output::remark("interrupted; the complete part is printed (ctrl-C again: end at once)");
    })
    .map_err(|error| Failure::Host(format!("cannot catch ctrl-C: {error}")))?;
    Ok(&ASKED)
}
