// SPDX-License-Identifier: GPL-2.0-only
//! What is simulated: `simulate`, `compare`, `explain`, and what every simulation needs.

use std::num::{NonZeroU32, NonZeroUsize};
use std::ops::Range;
use std::path::PathBuf;
use std::str::FromStr;

use alight_ask::cgroups::{self, GroupOption};
use alight_ask::changes::{self, Changes};
use alight_ask::sysctl::{self, SysctlOption};
use alight_ask::{Options, duration};
use alight_compare::until::Target;
use alight_compare::{Style, report, single};
use alight_machine::{Governor, IdleGovernor};
use alight_policy::scheduler::BASES;
use clap::Args;

use super::values::{
    PageArg, Threads, TimelineArgs, ToldArgs, count, runs, seed, style, wakee_flips,
};

pub const SIMULATE_EXAMPLES: &str = "\
Examples:
  alight simulate -m juno-r0 -w 'hackbench -g 2 -l 100' linux-5.5+asym-capacity
  alight simulate -m juno-r0 -w 'cyclictest -t 4 -q -D 2' --trace out.pftrace
  alight simulate -m host -w mp3.json --duration 5s --json
  alight simulate -m gs101 -w 'schbench -t 8 -r 5' --style tool";

pub const COMPARE_EXAMPLES: &str = "\
The first scheduler is the base. Each scheduler runs once with each seed (--seed, --seed + 1, ...).
The schedulers share the seeds; the interval is that of the paired differences.
A label keeps every tunable that was typed, also one with its default value
(bias-prev:spare=256), so that each point of a sweep has its own label. The hash is computed of the
runs, not of the label.

Examples:
  alight compare -m juno-r0 -w 'hackbench -g 2 -l 100' linux-5.5 linux-5.5+asym-capacity
  alight compare -m my-board.toml -w mp3.json -w 'cyclictest -t 4 -q -D 5' --runs 20 \\
                 --style markdown linux-5.5 +asym-capacity
  alight compare -m juno-r0 -w 'hackbench -g 2 -l 100' --until 1% linux-5.5 +asym-capacity
  alight compare -m tc2 -w frames --base linux-6.5 bias-prev:spare=128 bias-prev:spare=256";

pub const EXPLAIN_EXAMPLES: &str = "\
Examples:
  alight explain -m juno-r0 -w 'hackbench -g 1 -l 10' --task hackbench --limit 3
  alight explain -m juno-r0 -w mp3.json --task AudioTick-0 --at 1.5s linux-5.5+asym-capacity
  alight explain -m juno-r0 -w 'hackbench -g 1 -l 100' --histogram linux-5.5+asym-capacity

For a scheduler with features, each answer is shown beside the answer of its base in the same
state. `explain` does not follow the base's answers further; `alight compare` runs both.";

/// What every simulation needs.
#[derive(Args)]
pub struct RunArgs {
    /// Machine: a name of `alight machine list`, a file ending in .toml, a copy of sysfs (a folder or a
    /// tar archive), a recording that holds its machine (FILE.alight), or `host` [default: the machine
    /// that a recorded workload holds]
    #[arg(short, long, value_name = "MACHINE")]
    pub machine: Option<String>,

    /// Workload: a recording (FILE.alight), an rt-app file ending in .json, or a command line of
    /// hackbench, sysbench, cyclictest, schbench, perf bench sched, adrestia, frames or housekeeping;
    /// taskset, chrt, nice, numactl, uclampset and cgexec may stand before the command; may be
    /// repeated: all run at once
    #[arg(
        short,
        long = "workload",
        value_name = "WORKLOAD",
        required = true,
        num_args = 1
    )]
    pub workloads: Vec<String>,

    /// Seed of the random streams: phases of ticks and timers, order of starts
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = seed,
        allow_negative_numbers = true
    )]
    pub seed: u64,

    /// Simulated time after which a run ends, like 5s or 200ms [default: the workloads' end]
    #[arg(long, value_name = "T", value_parser = duration::parse_length,
        allow_hyphen_values = true)]
    pub duration: Option<u64>,

    /// cpufreq governor: performance, powersave, schedutil or userspace:KHZ [default: the machine's]
    #[arg(long, value_name = "GOVERNOR")]
    pub governor: Option<Governor>,

    /// cpuidle governor: menu or teo [default: the machine's, else the kernel's]
    #[arg(long, value_name = "GOVERNOR")]
    pub idle_governor: Option<IdleGovernor>,

    /// CPUs that go offline and online during the run, like 100ms:off:2-3,500ms:on:2
    #[arg(long, value_name = "LIST", value_parser = changes::hotplug, allow_hyphen_values = true)]
    pub hotplug: Option<Changes>,

    /// Frequency limits (scaling_max_freq) that change during the run, like
    /// 1s:4-5:1200000,3s:4-5:max
    #[arg(long, value_name = "LIST", value_parser = changes::cap, allow_hyphen_values = true)]
    pub cap: Option<Changes>,

    /// Frequency limits set by a cooling device, in the form of --cap; Linux 5.7 to 6.9 tell the
    /// scheduler more of them
    #[arg(long, value_name = "LIST", value_parser = changes::thermal, allow_hyphen_values = true)]
    pub thermal: Option<Changes>,

    /// Count mechanism and energy from this time on, like 1s, to leave out the warm-up; does not
    /// affect the workloads' own measurements
    #[arg(long, value_name = "T", value_parser = changes::count_from, allow_hyphen_values = true)]
    pub count_from: Option<Changes>,

    /// Settings of a task group (cgroup): its path and the values of its files, like
    /// /background:weight=50,idle=0,uclamp.min=0,uclamp.max=40; tasks join it by cgexec or by rt-app's
    /// `taskgroup`; may be repeated [default of a group: weight 100, no clamps]
    #[arg(long = "group", value_name = "GROUP", value_parser = cgroups::group)]
    pub groups: Vec<GroupOption>,

    /// Sysctl to write before the run, like sched_rt_runtime_us=-1 (no limit): sched_rt_runtime_us,
    /// sched_rt_period_us, sched_base_slice_ns, sched_util_clamp_min, sched_util_clamp_max or
    /// sched_util_clamp_min_rt_default; may be repeated: written in this order, and refused where
    /// the kernel refuses
    #[arg(long = "sysctl", value_name = "NAME=VALUE", value_parser = sysctl::parse)]
    pub sysctls: Vec<SysctlOption>,

    /// `wakee_flips` of the shell that starts the workloads: the number of times that it woke another
    /// task than the time before; tasks inherit it, and a large value keeps wakers from pulling
    /// wakees [default: as measured in shells that run a script, by seed: 0 to 12]
    #[arg(long, value_name = "N", value_parser = wakee_flips, allow_negative_numbers = true)]
    pub wakee_flips: Option<u32>,

    /// Check the simulator's invariants after every event (slow)
    #[arg(long)]
    pub check: bool,
}

impl RunArgs {
    /// The same, for those who load it.
    pub fn options(&self) -> Options {
        Options {
            machine: self.machine.clone(),
            workloads: self.workloads.clone(),
            seed: self.seed,
            duration: self.duration,
            governor: self.governor,
            idle_governor: self.idle_governor,
            hotplug: self.hotplug.clone(),
            cap: self.cap.clone(),
            thermal: self.thermal.clone(),
            count_from: self.count_from.clone(),
            groups: self.groups.clone(),
            sysctls: self.sysctls.clone(),
            wakee_flips: self.wakee_flips,
            check: self.check,
        }
    }
}

fn scheduler_help() -> String {
    let newest = BASES.last().expect("there are bases").name;
    format!(
        "Scheduler: a base kernel and features of `alight policy list`, joined by `+`, like \
         linux-5.5+asym-capacity. Features without a base (bias-prev or +bias-prev) are added to \
         --base, else to the newest base that accepts them [default: --base, else {newest}]"
    )
}

/// One scheduler.
#[derive(Args)]
pub struct SchedulerArg {
    #[arg(value_name = "SCHEDULER", help = scheduler_help())]
    pub name: Option<String>,
    /// Scheduler that the features are added to: a base kernel, with or without other features
    #[arg(long, value_name = "SCHEDULER")]
    pub base: Option<String>,
}

#[derive(Args)]
pub struct SimulateArgs {
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub scheduler: SchedulerArg,
    /// Write the run's events to FILE: .pftrace (Perfetto), .txt or .ftrace (text), .alight (a
    /// recording that `alight verify workload` and -w read); with `-` the events go to standard output
    /// and the report to standard error
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Form of the report; `tool` prints the output of the simulated tools
    #[arg(long, value_name = "STYLE", default_value = "table",
        value_parser = style(single::STYLES))]
    pub style: Style,
    /// Print JSON (alight.simulate/1); the same as --style json
    #[arg(long, conflicts_with = "style")]
    pub json: bool,
    #[command(flatten)]
    pub shown: TimelineArgs,
    #[command(flatten)]
    pub told: ToldArgs,
}

#[derive(Args)]
pub struct CompareArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// Two or more schedulers; the first is the base, unless --base states it. Each is a base
    /// kernel and features of `alight policy list`, joined by `+`; features without a base kernel
    /// (bias-prev or +bias-prev) are added to the first scheduler
    #[arg(value_name = "SCHEDULER", required = true)]
    pub schedulers: Vec<String>,
    /// Base scheduler; the same as naming it first
    #[arg(long, value_name = "SCHEDULER")]
    pub base: Option<String>,
    /// Runs of each scheduler [default: 10; with --until at most 80]
    #[arg(long, value_name = "N", value_parser = runs, allow_negative_numbers = true)]
    pub runs: Option<NonZeroU32>,
    /// End as soon as a difference is known: when the half-width of the interval of each scheduler is
    /// at most this percentage of the base, like 1%, for the workload's first result, or for another
    /// number like energy_j=1%; --runs is then the most
    #[arg(long, value_name = "[METRIC=]PERCENT", value_parser = Target::from_str)]
    pub until: Option<Target>,
    /// Form of the report
    #[arg(long, value_name = "STYLE", default_value = "table", value_parser = style(report::STYLES))]
    pub style: Style,
    /// Print JSON (alight.compare/1); the same as --style json
    #[arg(long, conflicts_with = "style")]
    pub json: bool,
    /// With --style csv: print the value of each run, a row for each scheduler, number and seed,
    /// instead of means
    #[arg(long)]
    pub samples: bool,
    #[command(flatten)]
    pub shown: TimelineArgs,
    /// Write a picture (SVG) of the first run of each scheduler to FILE: frequencies, utilizations and
    /// the tasks that ran on each CPU, over simulated time, one scheduler above the other
    #[arg(long, value_name = "FILE")]
    pub picture: Option<PathBuf>,
    /// Part of the runs that the picture shows, like 1s:1.2s [default: all]
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
    /// Name (comm) of the task to watch
    #[arg(long, value_name = "NAME", required_unless_present = "histogram")]
    pub task: Option<String>,
    /// Count the steps that answered over the whole run, for all tasks or for --task
    #[arg(long, conflicts_with = "limit")]
    pub histogram: bool,
    /// Begin at this time of the run, like 1.5s; shows one decision unless --limit asks for more
    #[arg(long, value_name = "T", value_parser = duration::parse, allow_hyphen_values = true)]
    pub at: Option<u64>,
    /// Largest number of decisions to show [default: 10; with --at 1]
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>,
        allow_negative_numbers = true)]
    pub limit: Option<NonZeroUsize>,
    /// Print JSON (alight.explain/1, or alight.explain-histogram/1)
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub page: PageArg,
}
