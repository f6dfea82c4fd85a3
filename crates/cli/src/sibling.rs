// SPDX-License-Identifier: GPL-2.0-only
//! Becomes a program that is built beside this one: those that have a kernel side need clang and
//! libelf to be built, and this one does not. Their help is here in either case.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser;

use crate::failure::Failure;

/// Prints the help of the program `name` if the arguments ask for it, else becomes that program.
///
/// # Errors
/// A closed pipe, or that the program cannot be executed.
pub fn help_or_become<P: Parser>(
    name: &str,
    shown: &str,
    arguments: &[OsString],
) -> Result<(), Failure> {
    match alight_arguments::help_asked::<P>(shown, arguments) {
        Some(help) => {
            let printed = help.print();
            printed.map_err(|error| Failure::Host(format!("standard output: {error}")))
        }
        None => Err(become_program(name, shown, arguments)),
    }
}

/// Executes the program `name`, which lies beside this one or in PATH, with these arguments. In
/// its help it is called `shown`. Comes back only if it cannot be executed.
fn become_program(name: &str, shown: &str, arguments: &[OsString]) -> Failure {
    let here = std::env::current_exe().ok();
    let program = find(name, here.as_deref());
    let error = Command::new(&program).arg0(shown).args(arguments).exec();
    Failure::Host(explain(&program, &error))
}

/// Beside the program `here` if it is there; else PATH is to be searched.
fn find(name: &str, here: Option<&Path>) -> PathBuf {
    let beside = here.map(|path| path.with_file_name(name));
    beside
        .filter(|path| path.is_file())
        .unwrap_or_else(|| PathBuf::from(name))
}

fn explain(program: &Path, error: &io::Error) -> String {
    let program = program.display();
    if error.kind() == io::ErrorKind::NotFound {
        return format!(
            "{program} is not beside alight and not in PATH; build it with: cargo build --release \
             -p alight-live"
        );
    }
    format!("{program}: {error}")
}

#[cfg(test)]
mod tests;
