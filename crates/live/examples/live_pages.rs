// SPDX-License-Identifier: GPL-2.0-only
//! Writes the manual pages and shell completions of scx_alight and alight-record:
//!
//! ```sh
//! cargo run -p alight-live --example live_pages -- DIR
//! ```
//!
//! DIR is laid out as /usr/share.

use alight_arguments::{record, run};
use alight_pages::{Program, write};
use clap::CommandFactory;
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(directory) = std::env::args_os().nth(1) else {
        eprintln!("usage: live_pages DIR");
        return ExitCode::from(2);
    };
    let programs = [
        Program {
            command: run::Arguments::command(),
            section: 8,
            see_also: vec!["alight(1)", "systemctl(1)"],
        },
        Program {
            command: record::Arguments::command(),
            section: 1,
            see_also: vec!["alight(1)"],
        },
    ];
    for program in programs {
        if let Err(error) = write(program, Path::new(&directory)) {
            eprintln!("live_pages: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}
