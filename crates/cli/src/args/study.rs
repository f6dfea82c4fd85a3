// SPDX-License-Identifier: GPL-2.0-only
//! What is predicted, and fitted: `card`, `study`, `calibrate`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use alight_compare::{Style, card};
use clap::{Args, Subcommand};

use super::values::{PageArg, Threads, ToldArgs, runs, seed, style, wakee_flips};

pub const CARD_EXAMPLES: &str = "\
The card lists harms first, then helps, then changes that are neither. It lists a change that is
significant among all of them (false discovery rate 5 %), 1 % or more, and large enough to matter
(docs/reference/metrics.md). The exit code is 0 also with harms: a harm is a result, not a failure.

Examples:
  alight card bias-prev
  alight card bias-prev:spare=128 --base linux-6.5 -m juno-r0 -w hackbench -w frames
  alight card pack=full --base linux-3.9 --style markdown
  alight card sched-idle --quick";

pub const STUDY_EXAMPLES: &str = "\
Exit codes:
  0  the studies ran; a prediction far from the published figure is a result, not a failure
  3  a check of a study failed

Examples:
  alight study list
  alight study show juno-sysbench
  alight study run juno-sysbench
  alight study run juno-hackbench --runs 20 --sensitivity --style markdown
  alight study run --all --short
  alight study run my-study.toml";

pub const CALIBRATE_EXAMPLES: &str = "\
The figures are the rows marked `calibrates` of the built-in studies of this machine, and of the
machines that take their costs from it. The result is written below a mark in the machine's file,
and replaces an earlier result. The same inputs give the same bytes. A calibration takes half
an hour or more of a core; one that was interrupted goes on with --keep.

Examples:
  alight calibrate juno-r0                     writes machines/juno-r0.toml
  alight calibrate juno-r0 -o my-juno.toml --keep juno.points";

#[derive(Args)]
pub struct CardArgs {
    /// Feature of `alight policy list`, with its tunables, like bias-prev:spare=128; several features
    /// are joined by `+`; a base may stand before them instead of --base
    #[arg(value_name = "FEATURE")]
    pub feature: String,
    /// Scheduler that the feature is added to and compared with: a base kernel, with or without other
    /// features [default: the newest base that lacks the feature]
    #[arg(long, value_name = "SCHEDULER")]
    pub base: Option<String>,
    /// Machine: a name of `alight machine list`, a file ending in .toml, or `host`; may be
    /// repeated [default: of ten built-in machines, one of each shape, those on which the feature
    /// can act]
    #[arg(short, long = "machine", value_name = "MACHINE", num_args = 1)]
    pub machines: Vec<String>,
    /// Workload of the standard set; may be repeated; an unknown name lists the set [default: all]
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
    /// Take a first look: one machine and 3 runs, unless --machine and --runs name others
    #[arg(long)]
    pub quick: bool,
    /// Form of the card
    #[arg(long, value_name = "STYLE", default_value = "table",
        value_parser = style(card::STYLES))]
    pub style: Style,
    /// Print JSON (alight.card/1); the same as --style json
    #[arg(long, conflicts_with = "style")]
    pub json: bool,
    #[command(flatten)]
    pub page: PageArg,
    #[command(flatten)]
    pub told: ToldArgs,
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(Args)]
pub struct StudyArgs {
    #[command(subcommand)]
    pub verb: StudyVerb,
}

#[derive(Subcommand)]
pub enum StudyVerb {
    /// Lists the studies, with what came out when they last ran whole
    ///
    /// The column "before: off by" has how far the model is from the published figure of the base that it
    /// misses most. Beyond 25 % the base is not had. The columns after it have what is predicted of the
    /// study's first figure, its intervals over costs and over runs, and the published change.
    List {
        /// Print JSON (alight.studies/1)
        #[arg(long)]
        json: bool,
    },
    /// Shows the published figures, the runs, and the figures that the machine's costs are fitted to
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
    /// Run shortened loads few times: tests that a study runs, and predicts nothing
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
    /// `wakee_flips` of the shell that starts the workloads, as in `alight simulate`
    #[arg(long, value_name = "N", value_parser = wakee_flips, allow_negative_numbers = true)]
    pub wakee_flips: Option<u32>,
    /// Write pictures (SVG) into this folder, which is made if it is missing: one for each variant of
    /// each case whose file names a time to show, with frequencies, utilizations and the tasks of each
    /// CPU in the run with the first seed, base above variant
    #[arg(long, value_name = "DIR")]
    pub pictures: Option<PathBuf>,
    /// Write a trace (.pftrace, for ui.perfetto.dev) of the first run of each scheduler in each case
    /// into this folder, which is made if it is missing; traces of whole loads can be large
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
    /// Also predict the difference with each fitted factor, and each group of figures that the machine
    /// file states, a fifth larger and a fifth smaller, and with `wakee_flips` 0 and 22
    #[arg(long)]
    pub sensitivity: bool,
    /// Write the outcome in short into this file: how far the base is from what was published, and the
    /// predictions, as `studies/outcomes.toml` has them and `alight study list` shows them; of one study
    /// that ran whole
    #[arg(long, value_name = "FILE", conflicts_with = "short")]
    pub outcome: Option<PathBuf>,
    /// Form of the report
    #[arg(long, value_name = "STYLE", default_value = "table",
        value_parser = style(alight_published::STYLES))]
    pub style: Style,
    /// Print JSON (alight.study-answer/1); the same as --style json
    #[arg(long, conflicts_with = "style")]
    pub json: bool,
    #[command(flatten)]
    pub page: PageArg,
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(Args)]
pub struct CalibrateArgs {
    /// Machine: a name of `alight machine list`
    #[arg(value_name = "MACHINE")]
    pub machine: String,
    /// File to write, the machine's file with its fitted costs [default: machines/MACHINE.toml]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Keep what was evaluated in FILE. A calibration that was interrupted goes on from there, with
    /// the same program
    #[arg(long, value_name = "FILE")]
    pub keep: Option<PathBuf>,
    #[command(flatten)]
    pub threads: Threads,
    /// Print JSON (alight.calibrate/1)
    #[arg(long)]
    pub json: bool,
}
