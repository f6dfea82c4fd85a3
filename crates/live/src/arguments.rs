// SPDX-License-Identifier: GPL-2.0-only
//! The command line of `scx_alight`.

use crate::live::{Gated, Options};
use alight_policy::Scheduler;
use clap::Parser;
use std::path::PathBuf;
use std::time::Duration;

/// Runs a placement policy in this kernel, as a sched_ext scheduler.
///
/// Ends on an interrupt (ctrl-C); the kernel's own scheduler then goes on.
#[derive(Debug, Parser)]
#[command(name = "scx_alight", version)]
pub struct Arguments {
    /// Base kernel and features, as for `alight simulate`.
    #[arg(default_value = "linux-5.5+asym-capacity", value_parser = Scheduler::parse)]
    pub scheduler: Scheduler,

    /// Make every decision again on the host and demand the same result.
    ///
    /// Costs time and memory (350 KiB a CPU). Ends at the first difference.
    #[arg(long)]
    pub verify: bool,

    /// Machine file (.toml) or built-in machine to believe instead of what the kernel says.
    ///
    /// Capacities, energy model and power domains are the file's then. A file whose CPUs,
    /// cores, caches or nodes are not those of this host is refused.
    #[arg(long, value_name = "FILE|NAME")]
    pub machine: Option<String>,

    /// Write every decision with its input into a file, for `alight verify live`.
    ///
    /// The file has its name when the scheduler ends. If the disk is full before, the log ends
    /// with what it has and the scheduler goes on; the exit code is 1 then. Costs as --verify does.
    #[arg(long, value_name = "FILE")]
    pub log_decisions: Option<PathBuf>,

    /// Levels whose groups can be power gated each for itself; without any, `pack` never acts.
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', value_enum)]
    pub power_gated: Vec<Gated>,

    /// Seconds to run; without it until interrupted.
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u64).range(1..))]
    pub duration: Option<u64>,

    /// Print what libbpf and the kernel's verifier say.
    #[arg(short, long)]
    pub verbose: bool,
}

impl Arguments {
    /// What they ask for.
    pub fn options(&self) -> Options {
        Options {
            scheduler: self.scheduler.clone(),
            verify: self.verify,
            machine: self.machine.clone(),
            log_decisions: self.log_decisions.clone(),
            power_gated: self.power_gated.clone(),
            duration: self.duration.map(Duration::from_secs),
            verbose: self.verbose,
        }
    }
}
