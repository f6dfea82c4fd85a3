// SPDX-License-Identifier: GPL-2.0-only
//! What needs a kernel: `record`, `run`, `top`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values::interval;

pub const RECORD_EXAMPLES: &str = "\
The recorder is a separate program, alight-record. It must lie beside alight or in PATH. Its build
(cargo build --release -p alight-live) needs libelf and clang; alight itself needs neither. The
program can be copied to another machine and runs there alone.
`alight record --help` prints its help, also where it is not installed.

Examples:
  alight record pelt -o run.alight --duration 10
  alight record pelt -o run.alight -- hackbench -g 4
  alight record decisions -o run.alight -- sysbench threads run
  alight record behaviour -o run.alight -- hackbench -g 2 -l 500";

pub const RUN_EXAMPLES: &str = "\
The scheduler is a separate program, scx_alight. It must lie beside alight or in PATH. Its build
(cargo build --release -p alight-live) needs libelf and clang; alight itself needs neither.
`alight run --help` prints its requirements, options and exit codes, also where it is not
installed.

Examples:
  alight run bias-prev sched-idle
  alight run --base linux-6.5 bias-prev:spare=128 --stats 5
  alight run --monitor 2";

pub const TOP_KEYS: &str = "\
Keys:
  q, Esc    leave
  s         sort by count, or in the order of the policy or the machine
  c, Tab    show steps, or CPUs
  t         count since the scheduler's start, or since the last interval
  up, down  scroll

Exit codes:
  0  left by key
  1  no scheduler runs, or there is no permission to read its socket
  2  there is no terminal";

#[derive(Args)]
pub struct RecordArgs {
    /// Command line of alight-record; `alight record --help` describes it
    #[arg(
        value_name = "ARGUMENT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub arguments: Vec<std::ffi::OsString>,
}

#[derive(Args)]
pub struct RunLiveArgs {
    /// Command line of scx_alight: features, a base, options
    #[arg(
        value_name = "ARGUMENT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub arguments: Vec<std::ffi::OsString>,
}

#[derive(Args)]
pub struct TopArgs {
    /// Interval between two requests to the scheduler, like 1s or 200ms
    #[arg(short, long, value_name = "T", value_parser = interval, default_value = "1s")]
    pub interval: Duration,
    /// The scheduler's socket
    #[arg(long, value_name = "PATH", default_value = alight_stats::server::SOCKET)]
    pub socket: PathBuf,
}
