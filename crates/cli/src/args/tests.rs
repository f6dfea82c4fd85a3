// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use clap::CommandFactory;

#[test]
fn the_command_line_is_consistent() {
    Cli::command().debug_assert();
}
