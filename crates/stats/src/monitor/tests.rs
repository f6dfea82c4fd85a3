// SPDX-License-Identifier: GPL-2.0-only

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
