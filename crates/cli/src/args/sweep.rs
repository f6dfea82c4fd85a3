// SPDX-License-Identifier: GPL-2.0-only
//! `sweep`: many cells, and what they say together.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::values::{PageArg, Threads, count};

pub const EXAMPLES: &str = "\
docs/reference/sweep.md describes the file. The runs are stored as they come. A sweep that was
interrupted, or killed, goes on by the same command.

Examples:
  alight sweep spare.toml
  alight sweep spare.toml --store /var/tmp/spare.sqlite --jobs 8
  alight sweep show spare.sqlite
  alight sweep export spare.sqlite --csv spare.csv";

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct SweepArgs {
    /// Sweep: a file of machines, workloads, and schedulers with ranges (alight.sweep/1)
    #[arg(value_name = "FILE", required = true)]
    pub file: Option<PathBuf>,
    /// Store of the runs, an SQLite file; made if there is none [default: FILE with the ending
    /// .sqlite]
    #[arg(long, value_name = "STORE")]
    pub store: Option<PathBuf>,
    /// Simulations that may be made; a sweep that takes more says so and ends
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = count::<u64>,
        allow_negative_numbers = true)]
    pub allow_runs: u64,
    #[command(flatten)]
    pub told: SweepTold,
    #[command(flatten)]
    pub threads: Threads,
    #[command(subcommand)]
    pub verb: Option<SweepVerb>,
}

/// Forms of the answer.
#[derive(Args)]
pub struct SweepTold {
    /// Print JSON (alight.sweep-answer/1)
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub page: PageArg,
    /// Write a picture (SVG) of the front to FILE: the settings by the first objective and each
    /// other one
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
}

#[derive(Subcommand)]
pub enum SweepVerb {
    /// Shows the answer of a store again
    Show {
        /// The store
        #[arg(value_name = "STORE")]
        store: PathBuf,
        #[command(flatten)]
        told: SweepTold,
    },
    /// Writes the runs of a store as one table
    Export {
        /// The store
        #[arg(value_name = "STORE")]
        store: PathBuf,
        /// Write CSV to OUT, or to standard output: a row for each number of each run
        #[arg(long, value_name = "OUT", required = true, num_args = 0..=1,
            default_missing_value = "-")]
        csv: PathBuf,
    },
}
