// SPDX-License-Identifier: GPL-2.0-only
//! What is simulated: `simulate`, `compare`, `explain`, and what every simulation needs.

use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::Range;
use std::path::PathBuf;

use alight_compare::{Style, report, single};
use alight_machine::{Governor, IdleGovernor};
use alight_policy::scheduler::BASES;
use alight_sim::Scenario;
use clap::Args;

use super::values::{Threads, ToldArgs, count, runs, seed, style, wakee_flips};
use crate::cgroups::{self, GroupOption};
use crate::changes::{self, Changes};
use crate::duration;
use crate::sysctl::{self, SysctlOption};

pub const SIMULATE_EXAMPLES: &str = "\
Examples:
  alight simulate -m juno-r0 -w 'hackbench -g 2 -l 100' linux-5.5+asym-capacity
  alight simulate -m juno-r0 -w 'cyclictest -t 4 -q -D 2' --trace out.pftrace
  alight simulate -m host -w mp3.json --duration 5s --json
  alight simulate -m gs101 -w 'schbench -t 8 -r 5' --style tool";

pub const COMPARE_EXAMPLES: &str = "\
The first scheduler is the base. Each runs once a seed (--seed, --seed + 1, ...), and
the seeds are shared: the interval is that of the paired differences.
What is told a feature stays in the label, a default value too (bias-prev:spare=256), so that a
sweep has a label a point; the hash is that of the runs, whatever they are called.

Examples:
  alight compare -m juno-r0 -w 'hackbench -g 2 -l 100' linux-5.5 linux-5.5+asym-capacity
  alight compare -m my-board.toml -w mp3.json -w 'cyclictest -t 4 -q -D 5' --runs 20 \\
                 --style markdown linux-5.5 +asym-capacity
  alight compare -m tc2 -w frames --base linux-6.5 bias-prev:spare=128 bias-prev:spare=256";

pub const EXPLAIN_EXAMPLES: &str = "\
Examples:
  alight explain -m juno-r0 -w 'hackbench -g 1 -l 10' --task hackbench --limit 3
  alight explain -m juno-r0 -w mp3.json --task AudioTick-0 --at 1.5s linux-5.5+asym-capacity
  alight explain -m juno-r0 -w 'hackbench -g 1 -l 100' --histogram linux-5.5+asym-capacity

Beside each answer of a scheduler with features stands what its base alone would have answered in
the same state. Only `alight compare` knows what would have followed from that.";

/// What every simulation needs.
#[derive(Args)]
pub struct RunArgs {
    /// Machine: a name of `alight machine list`, a file ending in .toml, or `host`
    #[arg(short, long, value_name = "MACHINE")]
    pub machine: String,

    /// Workload: the command line of hackbench, sysbench, cyclictest, schbench, perf bench sched,
    /// adrestia, frames or housekeeping, with taskset, chrt, nice, numactl, uclampset or cgexec
    /// before it if you like, or an rt-app file ending in .json; several run at once
    #[arg(
        short,
        long = "workload",
        value_name = "WORKLOAD",
        required = true,
        num_args = 1
    )]
    pub workloads: Vec<String>,

    /// Names the random streams: phases of ticks and timers, start order
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = seed,
        allow_negative_numbers = true
    )]
    pub seed: u64,

    /// End of a run, like 5s or 200ms [default: when the workloads end]
    #[arg(long, value_name = "T", value_parser = duration::parse_length,
        allow_hyphen_values = true)]
    pub duration: Option<u64>,

    /// cpufreq governor: performance, powersave, schedutil or userspace:KHZ [default: the machine's]
    #[arg(long, value_name = "GOVERNOR")]
    pub governor: Option<Governor>,

    /// cpuidle governor: menu or teo [default: the machine's, else the kernel's]
    #[arg(long, value_name = "GOVERNOR")]
    pub idle_governor: Option<IdleGovernor>,

    /// CPUs that go off and come back meanwhile, like 100ms:off:2-3,500ms:on:2
    #[arg(long, value_name = "LIST", value_parser = changes::hotplug, allow_hyphen_values = true)]
    pub hotplug: Option<Changes>,

    /// Highest frequencies (scaling_max_freq) that change meanwhile, like 1s:4-5:1200000,3s:4-5:max
    #[arg(long, value_name = "LIST", value_parser = changes::cap, allow_hyphen_values = true)]
    pub cap: Option<Changes>,

    /// The same by a cooling device, of which schedulers know more
    #[arg(long, value_name = "LIST", value_parser = changes::thermal, allow_hyphen_values = true)]
    pub thermal: Option<Changes>,

    /// Count mechanism and energy from here on, like 1s: what was before was warming up. What
    /// workloads measure, they measure from their start
    #[arg(long, value_name = "T", value_parser = changes::count_from, allow_hyphen_values = true)]
    pub count_from: Option<Changes>,

    /// A task group (cgroup) that tasks are in by rt-app's `taskgroup` or by cgexec: its path and
    /// what its files hold, like /background:weight=50,idle=0,uclamp.min=0,uclamp.max=40; may be
    /// repeated [default of a group: weight 100, no clamps]
    #[arg(long = "group", value_name = "GROUP", value_parser = cgroups::group)]
    pub groups: Vec<GroupOption>,

    /// A sysctl that is written before the run: sched_rt_runtime_us (-1: no limit),
    /// sched_rt_period_us, sched_base_slice_ns, sched_util_clamp_min, sched_util_clamp_max or
    /// sched_util_clamp_min_rt_default, like sched_rt_runtime_us=-1; may be repeated: they are
    /// written in this order, and what the kernel refuses is refused
    #[arg(long = "sysctl", value_name = "NAME=VALUE", value_parser = sysctl::parse)]
    pub sysctls: Vec<SysctlOption>,

    /// What the shell that starts the workloads has for `wakee_flips`, how often it woke another
    /// task than the time before: their tasks inherit it, and more of it keeps senders from
    /// pulling receivers [default: as measured of shells that run a script, by seed: 0 to 12]
    #[arg(long, value_name = "N", value_parser = wakee_flips, allow_negative_numbers = true)]
    pub wakee_flips: Option<u32>,

    /// Prove the simulator's invariants after every event (slow)
    #[arg(long)]
    pub check: bool,
}

impl RunArgs {
    /// The scenario as these options have it. What each says stands here, how it is typed again in
    /// [`RunArgs::words`].
    pub fn apply<'a>(&self, scenario: Scenario<'a>) -> Scenario<'a> {
        Scenario {
            governor: self.governor,
            idle_governor: self.idle_governor,
            seed: self.seed,
            duration_ns: self.duration,
            wakee_flips: self.wakee_flips,
            check: self.check,
            ..scenario
        }
    }

    /// The options that give the same run again: all that decides it, nothing else.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec![];
        let mut option = |name: &str, value: &str| {
            words.extend([name.to_owned(), value.to_owned()]);
        };
        option("-m", &self.machine);
        for workload in &self.workloads {
            option("-w", workload);
        }
        option("--seed", &self.seed.to_string());
        if let Some(ns) = self.duration {
            option("--duration", &duration::typed(ns));
        }
        if let Some(governor) = self.governor {
            option("--governor", &governor.to_string());
        }
        if let Some(governor) = self.idle_governor {
            option("--idle-governor", governor.name());
        }
        for (name, changes) in self.changes() {
            option(name, &changes.text);
        }
        for group in &self.groups {
            option("--group", &group.text);
        }
        for sysctl in &self.sysctls {
            option("--sysctl", &sysctl.text);
        }
        if let Some(flips) = self.wakee_flips {
            option("--wakee-flips", &flips.to_string());
        }
        words
    }

    /// What is done to the machine, by option as it is typed.
    pub fn changes(&self) -> impl Iterator<Item = (&'static str, &Changes)> {
        let options = [
            ("--hotplug", &self.hotplug),
            ("--cap", &self.cap),
            ("--thermal", &self.thermal),
            ("--count-from", &self.count_from),
        ];
        options
            .into_iter()
            .filter_map(|(name, changes)| Some((name, changes.as_ref()?)))
    }
}

fn scheduler_help() -> String {
    let newest = BASES.last().expect("there are bases").name;
    format!(
        "Scheduler: a base kernel and features of `alight policy list`, joined by `+`, like \
         linux-5.5+asym-capacity. Without a base (bias-prev or +bias-prev) they are added to --base, \
         else to the newest base that goes with them [default: --base, else {newest}]"
    )
}

/// One scheduler.
#[derive(Args)]
pub struct SchedulerArg {
    #[arg(value_name = "SCHEDULER", help = scheduler_help())]
    pub name: Option<String>,
    /// What features are added to: a base kernel, with other features if wanted
    #[arg(long, value_name = "SCHEDULER")]
    pub base: Option<String>,
}

#[derive(Args)]
pub struct SimulateArgs {
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub scheduler: SchedulerArg,
    /// Write the run's events to FILE: .pftrace (Perfetto), .txt or .ftrace (text); `-` is
    /// standard output, and the report then goes to standard error
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Form of the report; `tool` prints what the simulated tools themselves print
    #[arg(long, value_name = "STYLE", default_value = "table",
        value_parser = style(single::STYLES))]
    pub style: Style,
    /// Print JSON (alight.simulate/1); the same as --style json
    #[arg(long, conflicts_with = "style")]
    pub json: bool,
    #[command(flatten)]
    pub told: ToldArgs,
}

#[derive(Args)]
pub struct CompareArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// Schedulers: two or more; the first is the base, unless --base states it. Each is a base
    /// kernel and features of `alight policy list`, joined by `+`; those without a base
    /// (bias-prev or +bias-prev) are added to the first
    #[arg(value_name = "SCHEDULER", required = true)]
    pub schedulers: Vec<String>,
    /// The base: the same as naming it first
    #[arg(long, value_name = "SCHEDULER")]
    pub base: Option<String>,
    /// Runs of each scheduler
    #[arg(long, value_name = "N", default_value = "10", value_parser = runs,
        allow_negative_numbers = true)]
    pub runs: NonZeroU32,
    /// Form of the report
    #[arg(long, value_name = "STYLE", default_value = "table", value_parser = style(report::STYLES))]
    pub style: Style,
    /// Print JSON (alight.compare/1); the same as --style json
    #[arg(long, conflicts_with = "style")]
    pub json: bool,
    /// With --style csv: a row for each scheduler, number and seed, with the value of that run, instead of
    /// means
    #[arg(long)]
    pub samples: bool,
    /// Draw the first run of each scheduler over simulated time, one above the other, and write it to
    /// FILE (SVG): frequencies, utilizations, and the tasks that ran on each CPU
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
    /// The part of the runs that the picture shows, like 1s:1.2s [default: all]
    #[arg(long, value_name = "FROM:TO", requires = "picture", value_parser = duration::parse_span)]
    pub picture_time: Option<Range<u64>>,
    #[command(flatten)]
    pub told: ToldArgs,
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(Args)]
pub struct ExplainArgs {
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub scheduler: SchedulerArg,
    /// Task to watch, by its comm
    #[arg(long, value_name = "NAME", required_unless_present = "histogram")]
    pub task: Option<String>,
    /// Count which steps answered over the whole run, of all tasks or of --task
    #[arg(long, conflicts_with = "limit")]
    pub histogram: bool,
    /// Begin at this time of the run, like 1.5s; shows one decision unless --limit says more
    #[arg(long, value_name = "T", value_parser = duration::parse, allow_hyphen_values = true)]
    pub at: Option<u64>,
    /// Decisions to show at most [default: 10, with --at 1]
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>,
        allow_negative_numbers = true)]
    pub limit: Option<NonZeroUsize>,
    /// Print JSON (alight.explain/1, or alight.explain-histogram/1)
    #[arg(long)]
    pub json: bool,
}
