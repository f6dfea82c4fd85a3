// SPDX-License-Identifier: GPL-2.0-only
//! The command `alight`. Each subcommand reads its options, loads its inputs, calls a crate and prints
//! the result. It holds no logic of its own.

mod args;
mod commands;
mod failure;
mod interrupt;
mod output;
mod page;
mod progress;
mod sibling;
mod traced;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{CommandFactory, Parser};
use signal_hook::consts::SIGXFSZ;

use args::{Cli, Verb};
use failure::Failure;

/// Does what the command line says.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            output::print_usage(&error);
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(failure::BAD_INPUT));
        }
    };
    match file_limits_are_errors().and_then(|()| run(cli.verb)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            output::remark(&failure.message());
            ExitCode::from(failure.code())
        }
    }
}

/// The command line, for those who write its manual page.
pub fn command() -> clap::Command {
    Cli::command()
}

/// A file that has reached its limit (`ulimit -f`) fails to be written, as on a full disk; by
/// itself the signal would end the program without a word, and leave the half of it.
fn file_limits_are_errors() -> Result<(), Failure> {
    signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)))
        .map(|_| ())
        .map_err(|error| Failure::Host(format!("cannot catch SIGXFSZ: {error}")))
}

fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Simulate(args) => commands::simulate::run(&args),
        Verb::Compare(args) => commands::compare::run(&args),
        Verb::Card(args) => commands::card::run(&args),
        Verb::Sweep(args) => commands::sweep::run(&args),
        Verb::Study(args) => commands::study::run(&args),
        Verb::Calibrate(args) => commands::calibrate::run(&args),
        Verb::Explain(args) => commands::explain::run(&args),
        Verb::Policy(args) => commands::policy::run(&args),
        Verb::Machine(args) => commands::machine::run(&args),
        Verb::Lint(args) => commands::lint::run(&args),
        Verb::Record(args) => commands::record::run(&args),
        Verb::Import(args) => commands::import::run(&args),
        Verb::Run(args) => commands::run::run(&args),
        Verb::Top(args) => commands::top::run(&args),
        Verb::Suite(args) => commands::suite::run(&args),
        Verb::Verify(args) => commands::verify::run(&args),
    }
}
