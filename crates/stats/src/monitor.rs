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
mod tests {
    use super::*;
    use crate::server::Server;
    use crate::statistics::tests::example;
    use std::sync::Arc;
    use std::sync::atomic::AtomicU64;

    /// Ends the monitor after some blocks.
    struct Blocks<'a>(Vec<u8>, usize, &'a AtomicBool);

    impl Write for Blocks<'_> {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            self.1 -= 1;
            if self.1 == 0 {
                self.2.store(true, Ordering::Relaxed);
            }
            Ok(())
        }
    }

    #[test]
    fn it_prints_what_happened_between() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("stats");
        let asked = AtomicU64::new(0);
        let _server = Server::start(
            &path,
            Arc::new(move || {
                let times = asked.fetch_add(1, Ordering::Relaxed);
                let mut now = example();
                now.uptime_ns = (times + 1) * 1_000_000_000;
                now.totals.decisions += times * 5000;
                Some(Arc::new(now))
            }),
        )
        .unwrap();
        let stop = AtomicBool::new(false);
        let mut out = Blocks(Vec::new(), 2, &stop);
        run(&path, Duration::from_millis(1), &stop, &mut out, |_| ()).unwrap();
        let text = String::from_utf8(out.0).unwrap();
        assert_eq!(text.matches("  decisions  5000/s  ").count(), 2, "{text}");
        assert!(text.starts_with("2 s  linux-5.5+bias-prev"), "{text}");
    }

    #[test]
    fn it_waits_for_a_scheduler() {
        let directory = tempfile::tempdir().unwrap();
        let stop = AtomicBool::new(false);
        let mut said = Vec::new();
        let wait = |text: &str| {
            said.push(text.to_owned());
            stop.store(true, Ordering::Relaxed);
        };
        let socket = directory.path().join("stats");
        run(
            &socket,
            Duration::from_millis(1),
            &stop,
            &mut Vec::new(),
            wait,
        )
        .unwrap();
        assert!(
            said[0].ends_with("is scx_alight running?; waiting"),
            "{said:?}"
        );
    }
}
