// SPDX-License-Identifier: GPL-2.0-only
//! What the model is held against: `suite`, `verify`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::values::PageArg;

pub const VERIFY_EXAMPLES: &str = "\
Exit codes:
  0  the model equals the recording; for decisions: 99.9 % of all are equal, and 99.9 % of those
     during which no CPU changed
  1  they differ; for a workload: its replay is not usable, or the verdict cannot be written
  2  the recording is not usable as a whole

Examples:
  alight verify pelt run.alight
  alight verify pelt run.alight --json
  alight verify decisions run.alight
  alight verify decisions run.alight --explain 1
  alight verify behaviour run.alight --scheduler linux-6.1
  alight verify workload app.alight
  alight verify workload app-6.1.alight app-7.2.alight -m mine.toml
  alight verify workload free.alight pinned.alight --affinity 0-1
  alight verify live decisions.alight";

const WORKLOAD_CODES: &str = "\
Exit codes:
  0  the verdict is `trusted` or `self-checked only`
  1  the verdict is `not usable`, or it cannot be written into the recording
  2  a file is no whole recording of a workload, its machine or kernel is not known";

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
    /// Runs scenarios and prints PASS, FAIL or UNDECIDED for each; exit code 1 if one fails
    Run {
        /// Names of `alight suite list`, one or more
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// All scenarios
        #[arg(long, conflicts_with = "names")]
        all: bool,
        /// Scheduler, may be repeated; features without a base are added to the newest base that
        /// accepts them [default: linux-6.5; with --all also linux-7.2]
        #[arg(long = "base", value_name = "SCHEDULER")]
        bases: Vec<String>,
        /// Machine, may be repeated: a name of `alight machine list`, a file ending in .toml, or
        /// `host` [default: juno-r0; with --all the five of the suite and epyc-9654-2s]
        #[arg(short, long = "machine", value_name = "MACHINE")]
        machines: Vec<String>,
        /// Seed of the random streams
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
        /// Write the observations to a file, for `alight suite judge`
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Print JSON (alight.suite/2)
        #[arg(long)]
        json: bool,
    },
    /// Judges a file that `alight suite run -o` wrote; exit code 1 if a verdict is FAIL
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
    /// Checks load tracking: the core computes every recorded change of a signal again
    Pelt {
        /// Recording of `alight record pelt`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print JSON (alight.verify-pelt/1)
        #[arg(long)]
        json: bool,
    },
    /// Checks choices of a CPU: the core decides every recorded call of select_task_rq_fair() again
    Decisions {
        /// Recording of `alight record decisions`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Show both sides of the N-th difference: the kernel's state and choice, and every candidate
        /// of the core
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        explain: Option<u64>,
        /// Scheduler to compare the recording with; features without a base are added to the base of
        /// the recorded kernel [default: that base]
        #[arg(long, value_name = "SCHEDULER")]
        scheduler: Option<String>,
        /// Print JSON (alight.verify-decisions/1)
        #[arg(long, conflicts_with = "explain")]
        json: bool,
    },
    /// Checks behaviour: compares where, when and how long tasks ran with the model of that machine
    Behaviour {
        /// Recordings of `alight record behaviour`; recordings of one workload are runs of it
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Scheduler to simulate; features without a base are added to the base of the recorded
        /// kernel [default: that base]
        #[arg(long, value_name = "SCHEDULER")]
        scheduler: Option<String>,
        /// Print JSON (alight.verify-behaviour/1)
        #[arg(long)]
        json: bool,
    },
    /// Checks recordings of a workload: is a replay what was recorded, and does it predict recordings
    /// that were made under another kernel or scheduler? Writes the verdict into the first one
    #[command(after_help = WORKLOAD_CODES)]
    Workload {
        /// Recordings of `alight record workload` or `alight import`; the first one is checked, the
        /// others are predicted from it
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Machine that was recorded: a name of `alight machine list`, a file ending in .toml, a
        /// recording (FILE.alight) that holds it, or `host` [default: the one that the recording holds]
        #[arg(short, long, value_name = "MACHINE")]
        machine: Option<String>,
        /// Scheduler of the first recording; features without a base are added to the base of the
        /// recorded kernel [default: that base]
        #[arg(long, value_name = "SCHEDULER")]
        scheduler: Option<String>,
        /// Scheduler of the other recordings [default: the base of each one's kernel]
        #[arg(long, value_name = "SCHEDULER")]
        predict: Option<String>,
        /// CPUs that the workload's tasks may use in the other recordings, like 0-1,3
        /// [default: those of the first one]
        #[arg(long, value_name = "CPUS")]
        affinity: Option<String>,
        /// Leave out tasks that are not of the workload: what they wake comes as from a device
        #[arg(long)]
        no_background: bool,
        /// Do not write the verdict into the recording
        #[arg(long)]
        no_write: bool,
        /// Print JSON (alight.verify-workload/1)
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        page: PageArg,
    },
    /// Checks scx_alight: the host's build of the core makes every logged decision again
    Live {
        /// Log of `scx_alight --log-decisions`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print JSON (alight.verify-live/1)
        #[arg(long)]
        json: bool,
    },
    /// Writes the page on predictions (Markdown): how often replays were right about another kernel,
    /// affinity or scheduler
    Predictions {
        /// Directory of reports of `alight verify workload A B --json`: FROM..TO/WORKLOAD-RUN.json
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Version of the model and date, for the head of the page
        #[arg(long, value_name = "TEXT")]
        of: Option<String>,
    },
    /// Writes a fidelity page (Markdown): the findings of all kernels of a directory, disagreements
    /// first
    Report {
        /// Directory with a folder for each kernel. In it: reports, NAME.json, that
        /// `alight verify ... --json` wrote, and a file `model` that says of which version they are
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Write the page of behaviour instead: each quantity of each workload
        #[arg(long)]
        quantities: bool,
    },
}
