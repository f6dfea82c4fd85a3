// SPDX-License-Identifier: GPL-2.0-only
//! The command line of `alight-record`.

use crate::run::seconds;
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  alight-record pelt -o run.alight --duration 10
  alight-record pelt -o run.alight -- hackbench -g 4
  alight-record decisions -o run.alight -- sysbench threads run
  alight-record behaviour -o run.alight -- hackbench -g 2 -l 500
  alight-record workload -o app.alight -- ./my-app
  alight-record workload -o app.alight --pid 1234 --duration 10

Exit codes:
  0  the recording is written; the exit code of the command is in it
  1  nothing was recorded: the message says why, and what to do
  2  options that cannot be";

/// Records what this kernel's scheduler does, for `alight verify`.
///
/// Needs root, and a kernel with type information (BTF).
#[derive(Debug, Parser)]
#[command(name = "alight-record", version, after_help = EXAMPLES)]
pub struct Arguments {
    /// What to record.
    #[command(subcommand)]
    pub what: What,
}

/// What can be recorded.
#[derive(Debug, Subcommand)]
pub enum What {
    /// Every change of a load-tracking signal
    Pelt(Recording),
    /// Every choice of a CPU by the fair class, with the state that it could see
    Decisions(Recording),
    /// Where and when tasks run during a command, and the costs of this machine's kernel paths
    Behaviour(Recording),
    /// What a workload does, and what is known of each task, to be replayed by `alight compare -w`
    Workload(Workload),
}

/// What of a workload.
#[derive(Debug, Args)]
#[command(mut_arg("output", |output| output.required(false).default_value("workload.alight")))]
pub struct Workload {
    /// The workload is this process, with all that descends from it [default: the command]
    #[arg(long, value_name = "PID", conflicts_with = "cgroup")]
    pub pid: Option<u32>,
    /// The workload is this task group, with all that lie in it: a path like `/system.slice`
    #[arg(long, value_name = "PATH")]
    pub cgroup: Option<String>,
    /// Record the system calls by which the workload's tasks wait for each other; costs more
    #[arg(long)]
    pub calls: bool,
    /// How.
    #[command(flatten)]
    pub recording: Recording,
}

/// How.
#[derive(Debug, Args)]
pub struct Recording {
    /// File for the recording
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Seconds to record [default: until the command ends, or an interrupt]
    #[arg(long, value_name = "S", value_parser = seconds)]
    pub duration: Option<Duration>,
    /// Size of the buffer between kernel and file, a power of two
    #[arg(long, value_name = "MIB", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub ring: u32,
    /// Level of zstd: 1 compresses fastest, 19 smallest
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(i32).range(1..=19))]
    pub level: i32,
    /// Print the messages of libbpf and of the kernel's verifier
    #[arg(short, long)]
    pub verbose: bool,
    /// Command to run during the recording
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}
