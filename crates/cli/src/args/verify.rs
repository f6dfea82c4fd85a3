// SPDX-License-Identifier: GPL-2.0-only
//! What the model is held against: `suite`, `verify`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub const VERIFY_EXAMPLES: &str = "\
Exit code 0 if all is equal (of decisions 99.9 %: of all, and of those under which no CPU changed),
1 if not, 2 if the recording is not usable as a whole.

Examples:
  alight verify pelt run.alight
  alight verify pelt run.alight --json
  alight verify decisions run.alight
  alight verify decisions run.alight --explain 1
  alight verify behaviour run.alight --scheduler linux-6.1
  alight verify live decisions.alight";

#[derive(Args)]
pub struct SuiteArgs {
    #[command(subcommand)]
    pub verb: SuiteVerb,
}

#[derive(Subcommand)]
pub enum SuiteVerb {
    /// Lists the scenarios
    List {
        /// Print JSON (alight.scenarios/1)
        #[arg(long)]
        json: bool,
    },
    /// Shows the tasks of a scenario, its thresholds and their reasons
    Show {
        /// Name of `alight suite list`
        #[arg(value_name = "NAME")]
        name: String,
        /// Machine: a name of `alight machine list`, a file ending in .toml, or `host`
        #[arg(short, long, value_name = "MACHINE", default_value = "juno-r0")]
        machine: String,
        /// Print JSON (alight.scenarios/1)
        #[arg(long)]
        json: bool,
    },
    /// Runs scenarios and says PASS, FAIL or UNDECIDED; exit code 1 if one fails
    Run {
        /// Names of `alight suite list`, one or more
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// All scenarios
        #[arg(long, conflicts_with = "names")]
        all: bool,
        /// Scheduler, may be repeated; features without a base are over the newest that goes with
        /// them [default: linux-6.5; with --all linux-7.2 too]
        #[arg(long = "base", value_name = "SCHEDULER")]
        bases: Vec<String>,
        /// Machine, may be repeated: a name of `alight machine list`, a file ending in .toml, or
        /// `host` [default: juno-r0; with --all the five of the suite and epyc-9654-2s]
        #[arg(short, long = "machine", value_name = "MACHINE")]
        machines: Vec<String>,
        /// Names the random streams
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
        /// Write what was seen to a file, for `alight suite judge`
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Print JSON (alight.suite/2)
        #[arg(long)]
        json: bool,
    },
    /// Judges what `alight suite run -o` has written; exit code 1 if a verdict is FAIL
    Judge {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print JSON (alight.suite/2)
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub struct VerifyArgs {
    #[command(subcommand)]
    pub verb: VerifyVerb,
}

#[derive(Subcommand)]
pub enum VerifyVerb {
    /// Load tracking: every change of a signal, made again by the core
    Pelt {
        /// Recording of `alight record pelt`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print JSON (alight.verify-pelt/1)
        #[arg(long)]
        json: bool,
    },
    /// Choices of a CPU: every call of select_task_rq_fair(), decided again by the core
    Decisions {
        /// Recording of `alight record decisions`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Show both sides of the N-th difference: what the kernel had and chose, and every
        /// candidate of the core
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        explain: Option<u64>,
        /// Rules to hold the recording against; features without a base are over the recorded
        /// kernel's [default: those of the recorded kernel]
        #[arg(long, value_name = "SCHEDULER")]
        scheduler: Option<String>,
        /// Print JSON (alight.verify-decisions/1)
        #[arg(long, conflicts_with = "explain")]
        json: bool,
    },
    /// Behaviour: who ran where, when and for how long, compared with the model on that machine
    Behaviour {
        /// Recordings of `alight record behaviour`; several of the same are runs of one
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Rules to simulate; features without a base are over the recorded kernel's [default:
        /// those of the recorded kernel]
        #[arg(long, value_name = "SCHEDULER")]
        scheduler: Option<String>,
        /// Print JSON (alight.verify-behaviour/1)
        #[arg(long)]
        json: bool,
    },
    /// The scheduler in a kernel: every decision of scx_alight, made again by the host's build
    Live {
        /// Log of `scx_alight --log-decisions`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print JSON (alight.verify-live/1)
        #[arg(long)]
        json: bool,
    },
    /// The fidelity page: what the reports of a directory found, disagreements first (Markdown)
    Report {
        /// Directory of reports, NAME.json, that `alight verify ... --json` wrote
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Which model it is, for the head of the page: "commit 1ff1833 of 2026-11-21"
        #[arg(long, value_name = "TEXT")]
        of: Option<String>,
    },
}
