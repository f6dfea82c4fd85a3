// SPDX-License-Identifier: GPL-2.0-only
//! Writes the manual pages and shell completions of `alight`, `scx_alight` and `alight-record`, from
//! the commands themselves.

use std::io;
use std::path::Path;

use alight_arguments::{record, run};
use alight_pages::Program;
use clap::CommandFactory;

/// Writes them all below `directory`, which is laid out as /usr/share.
///
/// # Errors
/// What cannot be written.
pub fn write(directory: &Path) -> io::Result<()> {
    let programs = [
        Program {
            command: alight_cli::command(),
            section: 1,
            see_also: vec!["scx_alight(8)"],
        },
        // alight-record(1) is both a command of alight and a program: the program's page, which
        // says more, comes later and stays.
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
        alight_pages::write(program, directory)?;
    }
    Ok(())
}
