// SPDX-License-Identifier: GPL-2.0-only
//! What there is to simulate with: `policy`, `machine`, `lint`.

use std::path::PathBuf;

use alight_machine_import::Format as ImportFormat;
use alight_workload::Mode;
use clap::{Args, Subcommand};

use super::values::{import_format, mode};

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
        /// A base, a feature or both, like linux-5.5, asym-capacity or linux-5.5+asym-capacity; a
        /// feature with a tunable, like bias-prev:spare=128, is added to the newest base that accepts it
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
    /// Shows a machine: topology, frequencies, idle states, and the source of every figure
    Show {
        /// A name of `alight machine list`, a file ending in .toml, a copy of sysfs (a folder or a tar
        /// archive), or `host`
        #[arg(value_name = "MACHINE")]
        machine: String,
        /// Print JSON (alight.machine/1)
        #[arg(long)]
        json: bool,
    },
    /// Checks a machine for impossible figures; exit code 2 if there is one
    Check {
        /// A name of `alight machine list`, a file ending in .toml, a copy of sysfs (a folder or a tar
        /// archive), or `host`
        #[arg(value_name = "MACHINE")]
        machine: String,
        /// Print JSON (alight.machine-check/1)
        #[arg(long)]
        json: bool,
    },
    /// Measures this host, a minute or two, and writes it as a machine file: what `capture` reads, and
    /// what kernel paths, cache lines, idle states and core types take by micro-benchmarks
    ///
    /// Each measured figure is the median of several rounds, with its spread. What cannot be measured
    /// keeps the assumed figure and is listed. Run it as root on an idle machine: root may also hold
    /// the clocks and switch off idle states, for a while. Everything is put back, after ctrl-C too.
    ///
    /// The exit code is 1 if this host cannot be measured or the file not be written, 130 after
    /// ctrl-C.
    Measure {
        /// Machine file to write; without, it goes to standard output
        #[arg(short, long, value_name = "FILE.toml")]
        output: Option<PathBuf>,
        /// Rounds; more of them take longer and say more about the spread
        #[arg(long, value_name = "N", default_value_t = 25, value_parser = clap::value_parser!(u32).range(1..=99))]
        rounds: u32,
    },
    /// Makes a machine file of a description in another form, and lists what that lacks with the
    /// assumed values
    ///
    /// Taken are device trees (FILE.dtb, or FILE.dts after the preprocessor), XML of hwloc, the platform
    /// information of LISA (YAML), and copies of sysfs: a folder, a tar archive, or what
    /// `adb shell grep -rs "" /sys/devices/system/cpu` prints. Each figure names its place in the file.
    Import {
        /// File or folder
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Format: dtb, dts, hwloc, lisa or sysfs [default: what the content shows]
        #[arg(long, value_name = "FORMAT", value_parser = import_format())]
        format: Option<ImportFormat>,
        /// Machine file to write; without, it goes to standard output
        #[arg(short, long, value_name = "FILE.toml", conflicts_with = "json")]
        output: Option<PathBuf>,
        /// Print JSON (alight.machine-import/1)
        #[arg(long)]
        json: bool,
    },
    /// Prints a machine as the platform information of LISA, YAML
    Export {
        /// A name of `alight machine list`, a file ending in .toml, a copy of sysfs, or `host`
        #[arg(value_name = "MACHINE")]
        machine: String,
        /// Format: lisa
        #[arg(long, value_name = "FORMAT", value_parser = ["lisa"], hide_possible_values = true, default_value = "lisa")]
        format: String,
    },
    /// Prints this host as a machine file; the variable ROOT_PREFIX names a folder to
    /// read in the place of `/`
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
    /// How to read the file: as its author meant it (workgen), or as the rt-app binary reads it (rtapp)
    #[arg(long, value_name = "MODE", default_value = "workgen", value_parser = mode())]
    pub mode: Mode,
    /// Print JSON (alight.lint/1)
    #[arg(long)]
    pub json: bool,
}
