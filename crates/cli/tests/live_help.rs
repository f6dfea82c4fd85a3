// SPDX-License-Identifier: GPL-2.0-only
//! The programs with a kernel side have their help without being there; what they do needs them.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use predicates::prelude::PredicateBooleanExt;
use predicates::str::contains;
use tempfile::tempdir;

/// A copy of the program with nothing beside it and nothing in PATH.
fn alone(folder: &Path) -> impl Fn(&[&str]) -> Command {
    let program = folder.join("alight");
    fs::copy(assert_cmd::cargo::cargo_bin("alight"), &program).expect("the program is built");
    move |args| {
        let mut command = Command::new(&program);
        command.args(args).env("PATH", "");
        command
    }
}

#[test]
fn help_needs_no_kernel_side() {
    let folder = tempdir().unwrap();
    let alight = alone(folder.path());
    for (args, says) in [
        (
            &["run", "--help"][..],
            &[
                "Usage: alight run [OPTIONS]",
                "--log-decisions",
                "Exit codes:",
            ][..],
        ),
        (&["run", "-h"], &["Usage: alight run [OPTIONS]", "--base"]),
        (&["run", "bias-prev", "--help"], &["--timeout-ms"]),
        (
            &["record", "--help"],
            &["alight-record <COMMAND>", "decisions"],
        ),
        (&["record"], &["alight-record <COMMAND>", "behaviour"]),
        (
            &["record", "pelt", "--help"],
            &["alight-record pelt", "--ring"],
        ),
    ] {
        let mut assert = alight(args).assert().success().stderr("");
        for says in says {
            assert = assert.stdout(contains(*says));
        }
    }
    for args in [&["run", "bias-prev"][..], &["record", "pelt", "-o", "x"]] {
        let missing = contains("not beside alight and not in PATH").and(contains("alight-live"));
        alight(args).assert().code(1).stdout("").stderr(missing);
    }
}
