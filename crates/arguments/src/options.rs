// SPDX-License-Identifier: GPL-2.0-only
//! What to run, and how.

use alight_policy::Scheduler;
use alight_policy::topology::LevelKind;
use alight_rules::Rule;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// What to run.
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
    /// Levels whose groups can be power gated each for itself, for feature pack, beside those
    /// that the machine file names.
    pub power_gated: Vec<Gated>,
    /// Which tasks get which clamps; of several that a task meets the first counts.
    pub rules: Vec<Rule>,
    /// When to end, if not by an interrupt.
    pub duration: Option<Duration>,
    /// Print libbpf's and the verifier's messages.
    pub verbose: bool,
    /// Print statistics to standard output so often.
    pub stats: Option<Duration>,
    /// Where tools ask for statistics.
    pub socket: PathBuf,
    /// Where metrics are served.
    pub metrics: Option<SocketAddr>,
    /// Bytes of the dump that the kernel makes when it ends the scheduler for an error.
    pub exit_dump_len: u32,
    /// How long a task may wait to run before the kernel ends the scheduler, ms; the kernel's
    /// own limit if `None`.
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
