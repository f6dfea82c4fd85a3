// SPDX-License-Identifier: GPL-2.0-only
//! What is predicted, and fitted: `card`, `study`, `calibrate`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use alight_compare::{Style, card};
use clap::{Args, Subcommand};

use super::values::{Threads, ToldArgs, runs, seed, style, wakee_flips};

pub const CARD_EXAMPLES: &str = "\
Harms come first, then helps, then what changes without being either; a line is listed if it is no
chance among all of them (false discovery rate 5 %) and 1 % or more. A harm is a result, not a
failure: the exit code is 0.

Examples:
  alight card bias-prev
  alight card bias-prev:spare=128 --base linux-6.5 -m juno-r0 -w hackbench -w frames
  alight card pack=full --base linux-3.9 --style markdown
  alight card sched-idle --quick";

pub const STUDY_EXAMPLES: &str = "\
Exit code 0 also where a prediction is far from what was measured, which is a result; 3 if a check
of a study fails.

Examples:
  alight study list
  alight study show juno-sysbench
  alight study run juno-sysbench
  alight study run juno-hackbench --runs 20 --sensitivity --style markdown
  alight study run --all --short
  alight study run my-study.toml";

pub const CALIBRATE_EXAMPLES: &str = "\
The rows are those of the built-in studies that say `calibrates`, of the machine and of those that
have their costs from it. The result is written below a mark into the machine's file and replaces
an earlier one; the same inputs give the same bytes. It takes minutes; of epyc-9654-2s,
an hour of two cores.

Examples:
  alight calibrate juno-r0                     writes machines/juno-r0.toml
  alight calibrate juno-r0 -o my-juno.toml";

#[derive(Args)]
pub struct CardArgs {
    /// Feature of `alight policy list`, with what it is told, like bias-prev:spare=128; several are
    /// joined by `+`, and a base may stand before them instead of --base
    #[arg(value_name = "FEATURE")]
    pub feature: String,
    /// What it is added to, and compared with: a base kernel, with other features if wanted
    /// [default: the newest base that lacks the feature]
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
        value_parser = style(card::STYLES))]
    pub style: Style,
    /// Print JSON (alight.card/1); the same as --style json
    #[arg(long, conflicts_with = "style")]
    pub json: bool,
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
    #[arg(long, value_name = "N", value_parser = wakee_flips, allow_negative_numbers = true)]
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
        value_parser = style(alight_published::STYLES))]
    pub style: Style,
    /// Print JSON (alight.study-answer/1); the same as --style json
    #[arg(long, conflicts_with = "style")]
    pub json: bool,
    #[command(flatten)]
    pub threads: Threads,
}

#[derive(Args)]
pub struct CalibrateArgs {
    /// Machine: a name of `alight machine list`
    #[arg(value_name = "MACHINE")]
    pub machine: String,
    /// Where to write the machine's file with its fitted costs [default: machines/MACHINE.toml]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub threads: Threads,
    /// Print JSON (alight.calibrate/1)
    #[arg(long)]
    pub json: bool,
}
