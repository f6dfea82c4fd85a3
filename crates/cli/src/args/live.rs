// SPDX-License-Identifier: GPL-2.0-only
//! What needs a kernel: `record`, `run`, `top`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::values::interval;

pub const RECORD_EXAMPLES: &str = "\
The recorder is a program of its own, alight-record, which must lie beside alight or in PATH:
it alone needs libelf and clang to be built (cargo build --release -p alight-live), and it
can be copied to a machine that has nothing else.
`alight record --help` is its help, and there without it.

Examples:
  alight record pelt -o run.alight --duration 10
  alight record pelt -o run.alight -- hackbench -g 4
  alight record decisions -o run.alight -- sysbench threads run
  alight record behaviour -o run.alight -- hackbench -g 2 -l 500";

pub const RUN_EXAMPLES: &str = "\
The scheduler is a program of its own, scx_alight, which must lie beside alight or in PATH: it
alone needs libelf and clang to be built (cargo build --release -p alight-live).
`alight run --help` is its help, and there without it: what it needs, its options and its exit
codes.

Examples:
  alight run bias-prev sched-idle
  alight run --base linux-6.5 bias-prev:spare=128 --stats 5
  alight run --monitor 2";

pub const TOP_KEYS: &str = "\
Keys:
  q, Esc    leave
  s         order by count, or as the policy or the machine has it
  c, Tab    steps, or CPUs
  t         since the scheduler's start, or since the last look
  up, down  scroll

Exit codes: 0 left by key; 1 no scheduler, or no permission to ask it; 2 no terminal.";

#[derive(Args)]
pub struct RecordArgs {
    /// What and how: the command line of alight-record; `alight record --help` lists it
    #[arg(
        value_name = "ARGUMENT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub arguments: Vec<std::ffi::OsString>,
}

#[derive(Args)]
pub struct RunLiveArgs {
    /// The command line of scx_alight: features, a base, options
    #[arg(
        value_name = "ARGUMENT",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub arguments: Vec<std::ffi::OsString>,
}

#[derive(Args)]
pub struct TopArgs {
    /// How often the scheduler is asked, like 1s or 200ms
    #[arg(short, long, value_name = "T", value_parser = interval, default_value = "1s")]
    pub interval: Duration,
    /// The scheduler's socket
    #[arg(long, value_name = "PATH", default_value = alight_stats::server::SOCKET)]
    pub socket: PathBuf,
}
