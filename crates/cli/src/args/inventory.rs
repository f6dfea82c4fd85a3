// SPDX-License-Identifier: GPL-2.0-only
//! What there is to simulate with: `policy`, `machine`, `lint`.

use std::path::PathBuf;

use alight_workload::Mode;
use clap::{Args, Subcommand};

use super::values::mode;

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
        /// For instance linux-5.5, asym-capacity or linux-5.5+asym-capacity; bias-prev:spare=128 is
        /// over the newest base that goes with it
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
