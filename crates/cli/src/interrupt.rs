// SPDX-License-Identifier: GPL-2.0-only
//! Ctrl-C: once to end with what is done, twice to end at once.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

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

/// A flag that ctrl-C, SIGTERM and SIGHUP raise from now on, for what must be put back before the
/// program ends: a second signal changes nothing.
///
/// # Errors
/// The system refuses the handler.
pub fn quiet_flag() -> Result<Arc<AtomicBool>, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let registered = signal_hook::flag::register(signal, Arc::clone(&flag));
        registered.map_err(|error| Failure::Host(format!("cannot catch signals: {error}")))?;
    }
    Ok(flag)
}
