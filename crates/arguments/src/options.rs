// SPDX-License-Identifier: GPL-2.0-only
//! The options of `scx_alight`, checked.

use alight_policy::Scheduler;
use alight_policy::topology::LevelKind;
use alight_rules::Rule;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// The options of `scx_alight`.
#[derive(Debug, Clone)]
pub struct Options {
    /// Base kernel and features.
    pub scheduler: Scheduler,
    /// Write every decision down and make it again on the host.
    pub verify: bool,
    /// Machine file, or name of a built-in machine, to believe instead of the kernel.
    pub machine: Option<String>,
    /// File to write every decision into.
    pub log_decisions: Option<PathBuf>,
    /// Levels whose groups can be power gated one by one, in addition to those that the machine file
    /// names. They are for feature `pack`.
    pub power_gated: Vec<Gated>,
    /// Rules that give clamps to tasks. If a task meets several rules, the first that has a setting
    /// decides it.
    pub rules: Vec<Rule>,
    /// Length of the run; `None`: until an interrupt.
    pub duration: Option<Duration>,
    /// Print libbpf's and the verifier's messages.
    pub verbose: bool,
    /// Interval at which statistics are printed to standard output; `None`: they are not.
    pub stats: Option<Duration>,
    /// Path of the socket that serves statistics to tools.
    pub socket: PathBuf,
    /// Address at which OpenMetrics are served; `None`: they are not.
    pub metrics: Option<SocketAddr>,
    /// Bytes of the dump that the kernel makes when it ends the scheduler for an error.
    pub exit_dump_len: u32,
    /// Longest time that a task may wait to run before the kernel ends the scheduler, ms; `None`: the
    /// kernel's own limit.
    pub timeout_ms: Option<u32>,
}

impl Options {
    /// Does the kernel side write its decisions down?
    pub fn writes_decisions(&self) -> bool {
        self.verify || self.log_decisions.is_some()
    }
}

/// A level of the topology, by the kernel's name of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Gated {
    /// Threads of a core.
    Smt,
    /// Clusters inside a cache.
    Cls,
    /// CPUs that share the last-level cache.
    Mc,
    /// A package.
    Pkg,
}

impl Gated {
    /// Whether it is a level of this kind.
    pub fn is(self, kind: LevelKind) -> bool {
        let named = match self {
            Gated::Smt => LevelKind::Smt,
            Gated::Cls => LevelKind::Cluster,
            Gated::Mc => LevelKind::Cache,
            Gated::Pkg => LevelKind::Package,
        };
        named == kind
    }
}

#[cfg(test)]
mod tests;
