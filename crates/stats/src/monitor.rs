// SPDX-License-Identifier: GPL-2.0-only
//! Attaches to a running scheduler and prints what it did, again and again.

use crate::client::{Error, fetch};
use crate::statistics::Statistics;
use crate::text;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How often an interrupt is looked for.
const STEP: Duration = Duration::from_millis(50);
/// How often a scheduler that is not there is looked for.
const RETRY: Duration = Duration::from_secs(1);

/// Prints a block every `interval` to `out` until `stop` is set or `out` is closed; while nobody
/// serves the socket it waits, and says so to `say`, once.
///
/// # Errors
/// The socket is not to be read, or is another scheduler's; `out` fails.
pub fn run(
    socket: &Path,
    interval: Duration,
    stop: &AtomicBool,
    out: &mut impl Write,
    mut say: impl FnMut(&str),
) -> io::Result<()> {
    let mut before: Option<Statistics> = None;
    let mut waits = false;
    while !stop.load(Ordering::Relaxed) {
        let wait = match fetch(socket) {
            Ok(now) => {
                waits = false;
                if let Some(before) = &before {
                    let block = text::block(&now.since(before), now.uptime_ns);
                    match out.write_all(block.as_bytes()).and_then(|()| out.flush()) {
                        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                        result => result?,
                    }
                }
                before = Some(now);
                interval
            }
            Err(error @ (Error::Permission(_) | Error::Malformed(..))) => {
                return Err(io::Error::other(error.to_string()));
            }
            Err(error) => {
                if !waits {
                    say(&format!("{error}; waiting"));
                }
                waits = true;
                before = None;
                RETRY.min(interval)
            }
        };
        sleep(wait, stop);
    }
    Ok(())
}

fn sleep(length: Duration, stop: &AtomicBool) {
    let end = Instant::now() + length;
    while !stop.load(Ordering::Relaxed) {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return;
        }
        thread::sleep(left.min(STEP));
    }
}

#[cfg(test)]
mod tests;
