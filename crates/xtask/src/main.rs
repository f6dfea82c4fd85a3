// SPDX-License-Identifier: GPL-2.0-only
//! Makes files from the tree beside its programs: figures, the page of commands, manual pages.
//!
//! ```sh
//! cargo run --release -p xtask -- figures docs/results/policies
//! cargo run -p xtask -- commands docs/reference/commands.md
//! cargo run -p xtask -- pages DIR
//! cargo run -p xtask -- page 100000 FILE
//! ```

mod commands;
mod figures;
mod page;
mod pages;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

/// Makes what is made of the tree beside its programs.
#[derive(Parser)]
#[command(name = "xtask")]
enum Command {
    /// Draws the figures of the policies' pages from the model, an SVG a feature
    Figures {
        /// Where to write them: docs/results/policies
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Writes the page of the book that shows what `--help` of every command prints
    Commands {
        /// The file: docs/reference/commands.md
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Writes the manual pages and shell completions of alight, scx_alight and alight-record
    Pages {
        /// Where to write them; it is laid out as /usr/share
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Writes a page of HTML with every part that reports are made of, for the browser tests
    Page {
        /// How many slices each run of its timeline has
        #[arg(value_name = "SLICES")]
        slices: usize,
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

fn main() -> ExitCode {
    let done: Result<(), Box<dyn Error>> = match Command::parse() {
        Command::Figures { directory } => figures::write(&directory),
        Command::Commands { file } => commands::write(&file).map_err(Box::from),
        Command::Pages { directory } => pages::write(&directory).map_err(Box::from),
        Command::Page { slices, file } => page::write(slices, &file).map_err(Box::from),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
