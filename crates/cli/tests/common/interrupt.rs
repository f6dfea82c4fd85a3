// SPDX-License-Identifier: GPL-2.0-only
//! The program, interrupted. By itself: not every test does that.

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use assert_cmd::cargo::CommandCargoExt;

/// What the program with these arguments does when ctrl-C comes `after_ms` ms after it began: its
/// exit code is 130.
#[allow(dead_code, reason = "not every test interrupts by time")]
pub fn interrupted(args: &[&str], after_ms: u64) -> Output {
    interrupted_after(args, || std::thread::sleep(Duration::from_millis(after_ms)))
}

/// The same with ctrl-C when `wait` returns.
pub fn interrupted_after(args: &[&str], wait: impl Fn()) -> Output {
    let child = Command::cargo_bin("alight")
        .expect("the program is built with its tests")
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait();
    let pid = child.id().to_string();
    let kill = Command::new("kill").args(["-INT", &pid]).status();
    assert!(kill.unwrap().success());
    let output = child.wait_with_output().unwrap();
    let messages = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{messages}");
    output
}
