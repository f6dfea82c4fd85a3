// SPDX-License-Identifier: GPL-2.0-only
//! The page of the book that shows every command line: the text of `--help` of each program and of
//! each of its commands.

#[cfg(test)]
mod tests;

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use alight_arguments::{record, run};
use clap::{Command, CommandFactory};

/// Columns of the text.
const WIDTH: usize = 100;

const HEAD: &str = "\
# Commands

`cargo run -p xtask -- commands docs/reference/commands.md` writes this page. It shows what `--help`
prints. [Workloads](workloads.md), [metrics](metrics.md) and [documents](documents.md) describe what
the commands read and print.
";

/// Writes the page.
///
/// # Errors
/// If the file cannot be written.
pub fn write(file: &Path) -> io::Result<()> {
    std::fs::write(file, page())
}

fn page() -> String {
    let programs = [
        alight_cli::command(),
        run::Arguments::command(),
        record::Arguments::command(),
    ];
    let mut text = HEAD.to_owned();
    for program in programs {
        let mut program = program.term_width(WIDTH).disable_help_subcommand(true);
        program.build();
        add(&mut program, &mut text);
    }
    text
}

/// A section for a command, and one for each of its own.
fn add(command: &mut Command, text: &mut String) {
    let name = command
        .get_bin_name()
        .unwrap_or(command.get_name())
        .to_owned();
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let help = lines.join("\n");
    writeln!(text, "\n## {name}\n\n```text\n{}\n```", help.trim_end()).expect("a string");
    for subcommand in command.get_subcommands_mut() {
        add(subcommand, text);
    }
}
