// SPDX-License-Identifier: GPL-2.0-only
//! The command line.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use alight_machine::{Governor, IdleGovernor};
use alight_policy::scheduler::BASES;
use alight_study::{Style, card, published, single};
use alight_workload::Mode;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};

use crate::cgroups::{self, GroupOption, Sysctl};
use crate::changes::{self, Changes};
use crate::duration;

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    the machine that this runs on failed: a full disk, a closed pipe; or `suite` found
       a failure, `verify` a difference
  2    bad input: the message says where, what was found and what was expected
  3    a check of a study does not hold; its report is complete
  130  interrupted; what was complete is printed";

/// Finds out what a placement policy would do to a machine and a workload.
#[derive(Parser)]
#[command(name = "alight", version, max_term_width = 100, after_help = EXIT_CODES,
    after_long_help = format!("{EXIT_CODES}\n\n{EXAMPLES}"))]
pub struct Cli {
    #[command(subcommand)]
    pub verb: Verb,
}

const EXAMPLES: &str = "\
Examples:
  alight machine list
  alight policy list
  alight simulate -m juno-r0 -w 'hackbench -g 2 -l 100'
  alight compare -m juno-r0 -w 'sysbench threads --threads=6 --time=1 run' \\
                 linux-5.5 linux-5.5+asym-capacity
  alight explain -m juno-r0 -w 'hackbench -g 1 -l 10' --task hackbench --at 1ms";

#[derive(Subcommand)]
pub enum Verb {
    /// Runs a workload on a machine under a scheduler
    #[command(after_help = SIMULATE_EXAMPLES)]
    Simulate(SimulateArgs),
    /// Compares schedulers: by how much, with which certainty, and why
    #[command(after_help = COMPARE_EXAMPLES)]
    Compare(CompareArgs),
    /// A feature's report card: what it harms and helps, over machines and a standard set of workloads
    #[command(after_help = CARD_EXAMPLES)]
    Card(CardArgs),
    /// The published experiments: runs them, and holds what comes out against what was measured
    #[command(after_help = STUDY_EXAMPLES)]
    Study(StudyArgs),
    /// Fits the costs of a machine to what was published before a policy, and to nothing else
    #[command(after_help = CALIBRATE_EXAMPLES)]
    Calibrate(CalibrateArgs),
    /// Says why a task was placed where it was, and where the base would have placed it
    #[command(after_help = EXPLAIN_EXAMPLES)]
    Explain(ExplainArgs),
    /// Lists and shows schedulers: base kernels and features
    Policy(PolicyArgs),
    /// Lists, shows, checks and captures machines
    Machine(MachineArgs),
    /// Says what is wrong or odd in an rt-app file
    Lint(LintArgs),
    /// Writes down what this kernel's scheduler does, for `alight verify` (root)
    #[command(after_help = RECORD_EXAMPLES)]
    Record(RecordArgs),
    /// Schedules this machine by a policy, in its running kernel (root)
    #[command(after_help = RUN_EXAMPLES, disable_help_flag = true)]
    Run(RunLiveArgs),
    /// Shows what the scheduler of `alight run` decides and why, live in a terminal
    #[command(after_help = TOP_KEYS)]
    Top(TopArgs),
    /// Asks of the model what LISA's tests ask of Linux
    Suite(SuiteArgs),
    /// Holds the model against recordings of kernels
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
}

const RECORD_EXAMPLES: &str = "\
The recorder is a program of its own, alight-record, which must lie beside alight or in PATH:
it alone needs libelf and clang to be built (cargo build --release -p alight-live), and it
can be copied to a machine that has nothing else.

Examples:
  alight record pelt -o run.alight --duration 10
  alight record pelt -o run.alight -- hackbench -g 4
  alight record decisions -o run.alight -- sysbench threads run
  alight record behaviour -o run.alight -- hackbench -g 2 -l 500";

const RUN_EXAMPLES: &str = "\
The scheduler is a program of its own, scx_alight, which must lie beside alight or in PATH: it
alone needs libelf and clang to be built (cargo build --release -p alight-live).
`alight run --help` is its help: what it needs, its options and its exit codes.

Examples:
  alight run bias-prev sched-idle
  alight run --base linux-6.5 bias-prev:spare=128 --stats 5
  alight run --monitor 2";

const TOP_KEYS: &str = "\
Keys:
  q, Esc    leave
  s         order by count, or as the policy or the machine has it
  c, Tab    steps, or CPUs
  t         since the scheduler's start, or since the last look
  up, down  scroll

Exit codes: 0 left by key; 1 no scheduler, or no permission to ask it; 2 no terminal.";

const VERIFY_EXAMPLES: &str = "\
Exit code 0 if all is equal (of decisions 99.9 %: of all, and of those under which no CPU changed),
1 if not, 2 if the recording is not usable as a whole.

Examples:
  alight verify pelt run.alight
  alight verify pelt run.alight --json
  alight verify decisions run.alight
  alight verify decisions run.alight --explain 1
  alight verify behaviour run.alight --scheduler linux-6.1
  alight verify live decisions.alight";

const SIMULATE_EXAMPLES: &str = "\
Examples:
  alight simulate -m juno-r0 -w 'hackbench -g 2 -l 100' linux-5.5+asym-capacity
  alight simulate -m juno-r0 -w 'cyclictest -t 4 -q -D 2' --trace out.pftrace
  alight simulate -m host -w mp3.json --duration 5s --json
  alight simulate -m gs101 -w 'schbench -t 8 -r 5' --style tool";

const COMPARE_EXAMPLES: &str = "\
The first scheduler is the base. Each runs once a seed (--seed, --seed + 1, ...), and
the seeds are shared: the interval is that of the paired differences.

Examples:
  alight compare -m juno-r0 -w 'hackbench -g 2 -l 100' linux-5.5 linux-5.5+asym-capacity
  alight compare -m my-board.toml -w mp3.json -w 'cyclictest -t 4 -q -D 5' --runs 20 \\
                 --style markdown linux-5.5 linux-5.5+asym-capacity";

const CARD_EXAMPLES: &str = "\
Harms come first, then helps, then what changes without being either; a line is listed if it is no
chance among all of them (false discovery rate 5 %) and 1 % or more. A harm is a result, not a
failure: the exit code is 0.

Examples:
  alight card bias-prev
  alight card bias-prev:spare=128 --base linux-6.5 -m juno-r0 -w hackbench -w frames
  alight card pack=full --base linux-3.9 --style markdown
  alight card sched-idle --quick";

const STUDY_EXAMPLES: &str = "\
Exit code 0 also where a prediction is far from what was measured, which is a result; 3 if a check
of a study fails.

Examples:
  alight study list
  alight study show juno-sysbench
  alight study run juno-sysbench
  alight study run juno-hackbench --runs 20 --sensitivity --style markdown
  alight study run --all --short
  alight study run my-study.toml";

const CALIBRATE_EXAMPLES: &str = "\
The rows are those of the built-in studies that say `calibrates`, of the machine and of those that
have their costs from it. The result is written below a mark into the machine's file and replaces
an earlier one; the same inputs give the same bytes. It takes minutes; of epyc-9654-2s,
an hour of two cores.

Examples:
  alight calibrate juno-r0                     writes machines/juno-r0.toml
  alight calibrate juno-r0 -o my-juno.toml";

const EXPLAIN_EXAMPLES: &str = "\
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
    /// adrestia, frames or housekeeping, or an rt-app file ending in .json; several run at once
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

    /// Limits of utilization clamps: sched_util_clamp_min, sched_util_clamp_max or
    /// sched_util_clamp_min_rt_default, like sched_util_clamp_min=512 (both are 1024 by
    /// default, and no lower limit is above the upper one); may be repeated
    #[arg(long = "sysctl", value_name = "NAME=VALUE", value_parser = cgroups::sysctl)]
    pub sysctls: Vec<Sysctl>,

    /// What the shell that starts the workloads has for `wakee_flips`, how often it woke another
    /// task than the time before: their tasks inherit it, and more of it keeps senders from
    /// pulling receivers [default: as measured of shells that run a script, by seed: 0 to 12]
    #[arg(long, value_name = "N")]
    pub wakee_flips: Option<u32>,

    /// Prove the simulator's invariants after every event (slow)
    #[arg(long)]
    pub check: bool,
}

impl RunArgs {
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

/// One scheduler.
#[derive(Args)]
pub struct SchedulerArg {
    /// Scheduler: a base kernel of `alight policy list`, with features like
    /// linux-5.5+asym-capacity; the newest base if none is named
    #[arg(value_name = "SCHEDULER", default_value = default_base())]
    pub name: String,
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
        value_parser = one_of(single::Style::ALL))]
    pub style: single::Style,
    /// Print JSON (alight.simulate/1); the same as --style json
    #[arg(long, conflicts_with = "style")]
    pub json: bool,
}

#[derive(Args)]
pub struct CompareArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// Schedulers: two or more; the first is the base
    #[arg(value_name = "SCHEDULER", required = true, num_args = 2..)]
    pub schedulers: Vec<String>,
    /// Runs of each scheduler
    #[arg(long, value_name = "N", default_value = "10", value_parser = runs,
        allow_negative_numbers = true)]
    pub runs: NonZeroU32,
    /// Form of the report
    #[arg(long, value_name = "STYLE", default_value = "table", value_parser = style())]
    pub style: Style,
    /// Print JSON (alight.compare/1); the same as --style json
    #[arg(long, conflicts_with = "style")]
    pub json: bool,
    /// Threads to spread the runs over [default: one a core]
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>,
        allow_negative_numbers = true)]
    pub jobs: Option<NonZeroUsize>,
}

#[derive(Args)]
pub struct CardArgs {
    /// Feature of `alight policy list`, with what it is told, like bias-prev:spare=128
    #[arg(value_name = "FEATURE")]
    pub feature: String,
    /// What it is added to: a base kernel, with other features if wanted [default: the newest
    /// base that lacks the feature]
    #[arg(long, value_name = "SCHEDULER")]
    pub base: Option<String>,
    /// Machine: a name of `alight machine list`, a file ending in .toml, or `host`; may be
    /// repeated [default: the built-in ones where the feature can act]
    #[arg(short, long = "machine", value_name = "MACHINE", num_args = 1)]
    pub machines: Vec<String>,
    /// Workload of the standard set, may be repeated; a wrong name lists them [default: all]
    #[arg(short, long = "workload", value_name = "NAME", num_args = 1)]
    pub workloads: Vec<String>,
    /// Runs of each scheduler on each machine with each workload [default: 10]
    #[arg(long, value_name = "N", value_parser = runs,
        allow_negative_numbers = true)]
    pub runs: Option<NonZeroU32>,
    /// Seed of the first run
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed,
        allow_negative_numbers = true)]
    pub seed: u64,
    /// A first look: one machine and 3 runs, unless they are named
    #[arg(long)]
    pub quick: bool,
    /// Form of the card
    #[arg(long, value_name = "STYLE", default_value = "table",
        value_parser = one_of(card::Style::ALL))]
    pub style: card::Style,
    /// Print JSON (alight.card/1); the same as --style json
    #[arg(long, conflicts_with = "style")]
    pub json: bool,
    /// Threads to spread the runs over [default: one a core]
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>,
        allow_negative_numbers = true)]
    pub jobs: Option<NonZeroUsize>,
}

#[derive(Args)]
pub struct StudyArgs {
    #[command(subcommand)]
    pub verb: StudyVerb,
}

#[derive(Subcommand)]
pub enum StudyVerb {
    /// Lists the studies
    List {
        /// Print JSON (alight.studies/1)
        #[arg(long)]
        json: bool,
    },
    /// Shows what was published, what is run, and what the machine's costs are fitted to
    Show {
        /// A name of `alight study list`, or a file ending in .toml
        #[arg(value_name = "NAME")]
        name: String,
        /// Print JSON (alight.studies/1)
        #[arg(long)]
        json: bool,
    },
    /// Runs studies as they were published
    Run(StudyRunArgs),
}

#[derive(Args)]
pub struct StudyRunArgs {
    /// Names of `alight study list`, or files ending in .toml
    #[arg(value_name = "NAME", required_unless_present = "all")]
    pub names: Vec<String>,
    /// All studies
    #[arg(long, conflicts_with = "names")]
    pub all: bool,
    /// Shortened loads and few runs: whether a study runs, not what it predicts
    #[arg(long)]
    pub short: bool,
    /// Runs of each scheduler in each case [default: as published]
    #[arg(long, value_name = "N", value_parser = runs,
        allow_negative_numbers = true)]
    pub runs: Option<NonZeroU32>,
    /// Seed of the first run
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed,
        allow_negative_numbers = true)]
    pub seed: u64,
    /// What the shell that starts the workloads has for `wakee_flips`, as of `alight simulate`
    #[arg(long, value_name = "N")]
    pub wakee_flips: Option<u32>,
    /// Write a picture of each case that says which time to show, and each variant, into this folder,
    /// which is made if it is not there: frequencies, utilizations and who ran where, base above
    /// variant, of a run with the first seed (SVG)
    #[arg(long, value_name = "DIR")]
    pub pictures: Option<PathBuf>,
    /// Write a trace (.pftrace, for ui.perfetto.dev) of the first run of each scheduler in each case
    /// into this folder, which is made if it is not there; those of whole loads can be large
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
    /// Also the predicted difference when each factor that was fitted, or group of figures that the machine
    /// file states and nothing fits, is a fifth larger or smaller, and with 0 and 22 for `wakee_flips`
    #[arg(long)]
    pub sensitivity: bool,
    /// Form of the report
    #[arg(long, value_name = "STYLE", default_value = "table",
        value_parser = one_of(published::Style::ALL))]
    pub style: published::Style,
    /// Print JSON (alight.study-answer/1); the same as --style json
    #[arg(long, conflicts_with = "style")]
    pub json: bool,
    /// Threads to spread the runs over [default: one a core]
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>,
        allow_negative_numbers = true)]
    pub jobs: Option<NonZeroUsize>,
}

#[derive(Args)]
pub struct CalibrateArgs {
    /// Machine: a name of `alight machine list`
    #[arg(value_name = "MACHINE")]
    pub machine: String,
    /// Where to write the machine's file with its fitted costs [default: machines/MACHINE.toml]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Threads to spread the runs over [default: one a core]
    #[arg(long, value_name = "N", value_parser = count::<NonZeroUsize>,
        allow_negative_numbers = true)]
    pub jobs: Option<NonZeroUsize>,
    /// Print JSON (alight.calibrate/1)
    #[arg(long)]
    pub json: bool,
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
    /// Runs scenarios and says PASS, FAIL or UNDECIDED; exit code 1 if one fails
    Run {
        /// Names of `alight suite list`, one or more
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// All scenarios
        #[arg(long, conflicts_with = "names")]
        all: bool,
        /// Scheduler, may be repeated [default: linux-6.5; with --all linux-7.2 too]
        #[arg(long = "base", value_name = "SCHEDULER")]
        bases: Vec<String>,
        /// Machine, may be repeated: a name of `alight machine list`, a file ending in .toml, or
        /// `host` [default: juno-r0; with --all the five of the suite and epyc-9654-2s]
        #[arg(short, long = "machine", value_name = "MACHINE")]
        machines: Vec<String>,
        /// Names the random streams
        #[arg(long, value_name = "N", default_value_t = 1)]
        seed: u64,
        /// Write what was seen to a file, for `alight suite judge`
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Print JSON (alight.suite/2)
        #[arg(long)]
        json: bool,
    },
    /// Judges what `alight suite run -o` has written; exit code 1 if a verdict is FAIL
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
pub struct PolicyArgs {
    #[command(subcommand)]
    pub verb: PolicyVerb,
}

#[derive(Subcommand)]
pub enum PolicyVerb {
    /// Lists the base kernels and the features
    List {
        /// Print JSON (alight.policies/1)
        #[arg(long)]
        json: bool,
    },
    /// Shows a base, a feature or a scheduler
    Show {
        /// For instance linux-5.5, asym-capacity or linux-5.5+asym-capacity
        #[arg(value_name = "NAME")]
        name: String,
        /// Print JSON (alight.policy/1)
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub struct MachineArgs {
    #[command(subcommand)]
    pub verb: MachineVerb,
}

#[derive(Subcommand)]
pub enum MachineVerb {
    /// Lists the built-in machines
    List {
        /// Print JSON (alight.machines/1)
        #[arg(long)]
        json: bool,
    },
    /// Shows a machine: topology, frequencies, idle states, every figure with its source
    Show {
        /// A name of `alight machine list`, a file ending in .toml, or `host`
        #[arg(value_name = "MACHINE")]
        machine: String,
        /// Print JSON (alight.machine/1)
        #[arg(long)]
        json: bool,
    },
    /// Finds what cannot be in a machine: exit code 2 if there is such a thing
    Check {
        /// A name of `alight machine list`, a file ending in .toml, or `host`
        #[arg(value_name = "MACHINE")]
        machine: String,
        /// Print JSON (alight.machine-check/1)
        #[arg(long)]
        json: bool,
    },
    /// Prints this host as a machine file; the variable ROOT_PREFIX names a copied tree to read
    Capture {
        /// Print JSON (alight.machine-capture/1)
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
pub struct LintArgs {
    /// rt-app file
    #[arg(value_name = "WORKLOAD.json")]
    pub file: PathBuf,
    /// How to read it: as its author meant it (workgen) or as the rt-app binary does (rtapp)
    #[arg(long, value_name = "MODE", default_value = "workgen", value_parser = mode())]
    pub mode: Mode,
    /// Print JSON (alight.lint/1)
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct RecordArgs {
    /// What and how: the command line of alight-record; `alight record -- --help` lists it
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

#[derive(Args)]
pub struct VerifyArgs {
    #[command(subcommand)]
    pub verb: VerifyVerb,
}

#[derive(Subcommand)]
pub enum VerifyVerb {
    /// Load tracking: every change of a signal, made again by the core
    Pelt {
        /// Recording of `alight record pelt`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print JSON (alight.verify-pelt/1)
        #[arg(long)]
        json: bool,
    },
    /// Choices of a CPU: every call of select_task_rq_fair(), decided again by the core
    Decisions {
        /// Recording of `alight record decisions`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Show both sides of the N-th difference: what the kernel had and chose, and every
        /// candidate of the core
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        explain: Option<u64>,
        /// Rules to hold the recording against; those of the recorded kernel by default
        #[arg(long, value_name = "SCHEDULER")]
        scheduler: Option<String>,
        /// Print JSON (alight.verify-decisions/1)
        #[arg(long, conflicts_with = "explain")]
        json: bool,
    },
    /// Behaviour: who ran where, when and for how long, compared with the model on that machine
    Behaviour {
        /// Recordings of `alight record behaviour`; several of the same are runs of one
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Rules to simulate; those of the recorded kernel by default
        #[arg(long, value_name = "SCHEDULER")]
        scheduler: Option<String>,
        /// Print JSON (alight.verify-behaviour/1)
        #[arg(long)]
        json: bool,
    },
    /// The scheduler in a kernel: every decision of scx_alight, made again by the host's build
    Live {
        /// Log of `scx_alight --log-decisions`
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print JSON (alight.verify-live/1)
        #[arg(long)]
        json: bool,
    },
    /// The fidelity page: what the reports of a directory found, disagreements first (Markdown)
    Report {
        /// Directory of reports, NAME.json, that `alight verify ... --json` wrote
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Which model it is, for the head of the page: "commit 1ff1833 of 2026-11-21"
        #[arg(long, value_name = "TEXT")]
        of: Option<String>,
    },
}

/// The newest base: whoever names none asks what Linux does today.
fn default_base() -> &'static str {
    BASES.last().expect("there are bases").name
}

fn interval(text: &str) -> Result<Duration, String> {
    duration::parse_length(text).map(Duration::from_nanos)
}

/// A parser of one of a few words.
fn one_of<T: Clone + Send + Sync + 'static>(
    choices: impl IntoIterator<Item = (&'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let choices: Vec<(&'static str, T)> = choices.into_iter().collect();
    let names: Vec<&'static str> = choices.iter().map(|(name, _)| *name).collect();
    PossibleValuesParser::new(names).try_map(move |given| {
        let choice = choices.iter().find(|(name, _)| *name == given);
        choice
            .map(|(_, value)| value.clone())
            .ok_or("no such choice")
    })
}

fn style() -> impl TypedValueParser<Value = Style> {
    one_of(Style::ALL)
}

fn mode() -> impl TypedValueParser<Value = Mode> {
    one_of([Mode::Workgen, Mode::Rtapp].map(|mode| (mode.as_str(), mode)))
}

fn seed(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("expected a whole number, 0 to {}", u64::MAX))
}

/// A whole number from 1.
fn count<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse()
        .map_err(|_| "expected a whole number, 1 or more".to_owned())
}

/// The most runs of a scheduler: more do not make a mean better that a figure is read from.
const MOST_RUNS: u32 = 1_000_000;

fn runs(text: &str) -> Result<NonZeroU32, String> {
    let runs: NonZeroU32 = count(text)?;
    match runs.get() <= MOST_RUNS {
        true => Ok(runs),
        false => Err(format!("expected at most {MOST_RUNS} runs")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
