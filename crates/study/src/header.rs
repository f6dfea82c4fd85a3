// SPDX-License-Identifier: GPL-2.0-only
//! Under which conditions a number was got: what must stand above every report.

use alight_machine::{Governor, Machine};
use alight_workload::program::Workload;

use crate::compare::Question;

/// Version of the program, as every report states it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The conditions of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Name of the machine.
    pub machine: String,
    /// What it is.
    pub description: String,
    /// Its CPUs.
    pub cpus: usize,
    /// cpufreq governor.
    pub governor: &'static str,
    /// As typed.
    pub workloads: Vec<String>,
    /// Runs asked for.
    pub runs: u32,
    /// Seed of the first run.
    pub seed: u64,
    /// End of each run, ns, if it was cut.
    pub duration_ns: Option<u64>,
    /// The command that asks this again.
    pub command: String,
}

impl Header {
    /// The conditions of a question.
    pub fn of(question: &Question<'_>) -> Self {
        let machine = question.machine;
        Header {
            machine: machine.name.clone(),
            description: machine.description.clone(),
            cpus: machine.cpus.len(),
            governor: governor_in_force(machine, question.governor),
            workloads: names(question.workloads),
            runs: question.runs.get(),
            seed: question.seed,
            duration_ns: question.duration_ns,
            command: question.command.clone(),
        }
    }
}

/// All governors.
pub const GOVERNORS: [Governor; 3] = [
    Governor::Performance,
    Governor::Powersave,
    Governor::Schedutil,
];

/// The name that users type.
pub fn governor_name(governor: Governor) -> &'static str {
    match governor {
        Governor::Performance => "performance",
        Governor::Powersave => "powersave",
        Governor::Schedutil => "schedutil",
    }
}

/// The governor of a run: the one asked for, else the machine's.
pub fn governor_in_force(machine: &Machine, asked: Option<Governor>) -> &'static str {
    governor_name(asked.unwrap_or(machine.governor))
}

/// The workloads as typed.
pub fn names(workloads: &[Workload]) -> Vec<String> {
    workloads.iter().map(|w| w.name.clone()).collect()
}
