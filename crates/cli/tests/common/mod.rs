// SPDX-License-Identifier: GPL-2.0-only
//! What the tests of the program share.

use assert_cmd::Command;

/// The program with these arguments.
pub fn alight(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("alight").expect("the program is built with its tests");
    command.args(args);
    command
}
