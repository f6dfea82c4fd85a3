// SPDX-License-Identifier: GPL-2.0-only
//! Writes the manual pages and shell completions of `alight`:
//!
//! ```sh
//! cargo run -p alight --example pages -- DIR
//! ```
//!
//! DIR is laid out as /usr/share.

use alight_pages::{Program, write};
use clap::CommandFactory;
use std::path::Path;
use std::process::ExitCode;

// The command line is part of a program, not of a library.
#[allow(dead_code, unused_imports)] // what only running it uses
#[path = "../src/args/mod.rs"]
mod args;
#[allow(dead_code)]
#[path = "../src/cgroups.rs"]
mod cgroups;
#[allow(dead_code)]
#[path = "../src/changes.rs"]
mod changes;
#[allow(dead_code)]
#[path = "../src/duration.rs"]
mod duration;
#[allow(dead_code)]
#[path = "../src/sysctl.rs"]
mod sysctl;

fn main() -> ExitCode {
    let Some(directory) = std::env::args_os().nth(1) else {
        eprintln!("usage: pages DIR");
        return ExitCode::from(2);
    };
    let program = Program {
        command: args::Cli::command(),
        section: 1,
        see_also: vec!["scx_alight(8)"],
    };
    match write(program, Path::new(&directory)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pages: {error}");
            ExitCode::FAILURE
        }
    }
}
