// SPDX-License-Identifier: GPL-2.0-only
//! The command line of `scx_alight`, which is that of `alight run` too.

use crate::options::{Gated, Options};
use crate::rules::{self, RuleFile};
use alight_policy::Scheduler;
use alight_policy::scheduler::Onto;
use alight_rules::Rule;
use alight_stats::{http, server};
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Bytes of the kernel's dump (SCX_EXIT_DUMP_DFL_LEN).
const DUMP_BYTES: u32 = 32768;
/// The longest that the kernel lets a task wait (SCX_WATCHDOG_MAX_TIMEOUT), ms.
const TIMEOUT_MAX_MS: i64 = 30_000;

const NEEDS_AND_CODES: &str = "\
Needs:
  Linux 6.18 or newer with sched_ext (CONFIG_SCHED_CLASS_EXT) and type information (BTF);
  root, or the capabilities BPF and PERFMON;
  no other sched_ext scheduler.
The program reports what is missing before it loads anything.

It ends on SIGINT, SIGTERM and SIGHUP, after --duration, or when the kernel ends it. The kernel's
own scheduler then takes over, however this program ends.

Exit codes:
  0  ended as asked
  1  this machine cannot run it (no permission, no sched_ext, no memory, another scheduler, an
     address in use), --verify found a difference, or the disk was full under --log-decisions
  2  bad input: the message says what was found and what was expected
  3  the kernel ended the scheduler because of an error; its reason and its dump are printed";

const EXAMPLES: &str = "\
Examples:
  scx_alight                                   the newest base
  scx_alight bias-prev sched-idle              two features, on the newest base that accepts them
  scx_alight --base linux-6.5 bias-prev:spare=128
  scx_alight linux-6.5+bias-prev --stats 5
  scx_alight --monitor 2                       statistics of the running scheduler";

/// Schedules this machine's tasks by a placement policy, as a sched_ext scheduler
#[derive(Debug, Parser)]
#[command(name = "scx_alight", version, max_term_width = 100, after_help = NEEDS_AND_CODES,
    after_long_help = format!("{NEEDS_AND_CODES}\n\n{EXAMPLES}"))]
pub struct Arguments {
    /// Features of `alight policy list` with their tunables, like bias-prev:spare=128, and at most
    /// one base kernel; several may be joined by `+`. Features without a base are added to --base,
    /// else to the newest base that accepts them
    #[arg(value_name = "FEATURE|BASE")]
    pub words: Vec<String>,

    /// Scheduler that the features are added to: a base kernel, with or without other features
    #[arg(long, value_name = "BASE")]
    pub base: Option<String>,

    /// Make every decision again on the host, and end at the first difference
    ///
    /// This costs time and memory (350 KiB for each CPU).
    #[arg(long)]
    pub verify: bool,

    /// Machine file (.toml) or built-in machine to take figures from, instead of the kernel
    ///
    /// The file then gives capacities, energy model and power domains. Its CPUs, cores, caches and
    /// nodes must be those of this host.
    #[arg(long, value_name = "FILE|NAME")]
    pub machine: Option<String>,

    /// Write every decision with its input into a file, for `alight verify live`
    ///
    /// The file gets its name when the scheduler ends. If the disk fills up before, the log ends
    /// there, the scheduler goes on, and the exit code is 1. A log costs as much as --verify.
    #[arg(long, value_name = "FILE")]
    pub log_decisions: Option<PathBuf>,

    /// Topology levels whose groups can be power gated separately; without one, `pack` never acts
    #[arg(long, value_name = "LEVEL", value_delimiter = ',', value_enum)]
    pub power_gated: Vec<Gated>,

    /// Clamps for some tasks: matches and settings, such as 'comm=render* uclamp_min=60'
    ///
    /// Matches: comm=GLOB, cgroup=GLOB (the path in the v2 hierarchy, such as
    /// /system.slice/*), pid=N (a thread or process), nice=N or nice=N..M,
    /// policy=normal|batch|idle. * stands for any characters, ? for one. A rule applies to a task
    /// that meets all its matches.
    /// Settings: uclamp_min=, uclamp_max=, in percent of the biggest CPU. They replace the
    /// task's own clamps. If several rules apply, the first with a setting decides it; --rule
    /// comes before --rules. May be repeated, 64 rules at most.
    #[arg(long = "rule", value_name = "RULE", value_parser = Rule::parse, verbatim_doc_comment)]
    pub rule: Vec<Rule>,

    /// File of such rules, one on each line; # begins a comment; may be repeated
    #[arg(long, value_name = "FILE", value_parser = rules::file)]
    pub rules: Vec<RuleFile>,

    /// End after this time
    #[arg(long, value_name = "SEC", value_parser = seconds)]
    pub duration: Option<Duration>,

    /// Print statistics to standard output every SEC seconds while running
    #[arg(long, value_name = "SEC", value_parser = seconds)]
    pub stats: Option<Duration>,

    /// Load nothing; print the statistics of the running scheduler every SEC seconds
    #[arg(long, value_name = "SEC", value_parser = seconds,
        conflicts_with_all = ["words", "base", "verify", "machine", "log_decisions", "power_gated", "rule", "rules", "duration", "stats", "metrics"])]
    pub monitor: Option<Duration>,

    /// Load nothing; describe every statistic
    #[arg(long)]
    pub help_stats: bool,

    /// Serve statistics as OpenMetrics at http://ADDRESS/metrics; without a host the address is the
    /// loopback address [default port: 9776]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "",
        value_parser = http::parse_address)]
    pub metrics: Option<SocketAddr>,

    /// Socket at which tools for sched_ext schedulers read the statistics
    #[arg(long, value_name = "PATH", default_value = server::SOCKET)]
    pub socket: PathBuf,

    /// Size of the dump that the kernel makes when it ends the scheduler because of an error
    #[arg(long, value_name = "BYTES", default_value_t = DUMP_BYTES,
        value_parser = clap::value_parser!(u32).range(1..=16 << 20))]
    pub exit_dump_len: u32,

    /// Longest time that a task may wait to run; after it the kernel ends the scheduler
    /// [default: the kernel's, 30000]
    #[arg(long, value_name = "MS", env = "SCX_TIMEOUT_MS",
        value_parser = clap::value_parser!(u32).range(1..=TIMEOUT_MAX_MS))]
    pub timeout_ms: Option<u32>,

    /// Print the messages of libbpf and of the kernel's verifier
    #[arg(short, long)]
    pub verbose: bool,
}

impl Arguments {
    /// What they ask for.
    ///
    /// # Errors
    /// The words name no scheduler, or there are too many rules.
    pub fn options(&self) -> Result<Options, clap::Error> {
        let refuse = |error: String| Arguments::command().error(ErrorKind::ValueValidation, error);
        let scheduler = self
            .scheduler()
            .map_err(|error| refuse(error.to_string()))?;
        let rules = rules::all(&self.rule, &self.rules);
        rules::check(&rules).map_err(|error| refuse(error.to_string()))?;
        Ok(Options {
            scheduler,
            verify: self.verify,
            machine: self.machine.clone(),
            log_decisions: self.log_decisions.clone(),
            power_gated: self.power_gated.clone(),
            rules,
            duration: self.duration,
            verbose: self.verbose,
            stats: self.stats,
            socket: self.socket.clone(),
            metrics: self.metrics,
            exit_dump_len: self.exit_dump_len,
            timeout_ms: self.timeout_ms,
        })
    }

    /// The words, over the base that is stated.
    fn scheduler(&self) -> Result<Scheduler, String> {
        let choose = |words: &[String], onto: Onto<'_>| {
            let words = words.iter().map(String::as_str);
            Scheduler::choose(words, onto).map_err(|error| error.to_string())
        };
        match &self.base {
            None => choose(&self.words, Onto::Newest),
            Some(base) => {
                let stated = choose(std::slice::from_ref(base), Onto::Newest)?;
                choose(&self.words, Onto::Stated(&stated))
            }
        }
    }
}

/// A length such as `10` or `0.5`.
///
/// # Errors
/// What was expected.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let length = text
        .parse()
        .ok()
        .and_then(|s| Duration::try_from_secs_f64(s).ok());
    (length.filter(|length| !length.is_zero()))
        .ok_or_else(|| "expected seconds, such as 10 or 0.5".to_owned())
}

#[cfg(test)]
mod tests;
