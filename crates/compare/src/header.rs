// SPDX-License-Identifier: GPL-2.0-only
//! Under which conditions a number was got: what must stand above every report.

use alight_machine::{IdleGovernor, Trust};
use alight_sim::Scenario;
use alight_workload::program::Workload;
use serde::Serialize;

use crate::compare::Question;
use crate::report::number;
use crate::rests::RestsOn;

/// Version of the program, as every report states it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The conditions of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparisonHeader {
    /// Name of the machine.
    pub machine: String,
    /// Description of the machine, one line.
    pub description: String,
    /// Number of its CPUs.
    pub cpus: usize,
    /// cpufreq governor.
    pub governor: String,
    /// cpuidle governor, if it is not the kernel's own choice.
    pub idle_governor: Option<&'static str>,
    /// The workloads, as typed.
    pub workloads: Vec<String>,
    /// Runs of each scheduler that were asked for.
    pub runs: u32,
    /// Seed of the first run.
    pub seed: u64,
    /// End of each run, ns, if it was cut.
    pub duration_ns: Option<u64>,
    /// What the answer rests on.
    pub rests: RestsOn,
    /// The command line that repeats this comparison.
    pub command: String,
}

impl ComparisonHeader {
    /// The conditions of a question.
    pub fn of(question: &Question<'_>) -> Self {
        let scenario = &question.scenario;
        let machine = scenario.machine;
        ComparisonHeader {
            machine: machine.name.clone(),
            description: machine.description.clone(),
            cpus: machine.cpus.len(),
            governor: scenario.governor_in_force().to_string(),
            idle_governor: scenario.idle_governor_chosen().map(IdleGovernor::name),
            workloads: names(scenario.workloads),
            runs: question.runs.get(),
            seed: scenario.seed,
            duration_ns: scenario.duration_ns,
            rests: RestsOn::of(question.trust, scenario, question.schedulers),
            command: question.command.clone(),
        }
    }
}

/// The conditions of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conditions {
    /// The command that makes this run again.
    pub command: String,
    /// Name of the machine.
    pub machine: String,
    /// cpufreq governor.
    pub governor: String,
    /// cpuidle governor, if it is not the kernel's own choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_governor: Option<&'static str>,
    /// The workloads, as typed.
    pub workloads: Vec<String>,
    /// Name of the scheduler.
    pub scheduler: String,
    /// Seed.
    pub seed: u64,
    /// End of the run, ns, if it was cut.
    pub duration_ns: Option<u64>,
    /// What the answer rests on.
    #[serde(flatten)]
    pub rests: RestsOn,
}

impl Conditions {
    /// The conditions of a scenario on the machine that `trust` is of; `command` makes it again.
    pub fn of(scenario: &Scenario<'_>, trust: &Trust, command: String) -> Self {
        Conditions {
            command,
            machine: scenario.machine.name.clone(),
            governor: scenario.governor_in_force().to_string(),
            idle_governor: scenario.idle_governor_chosen().map(IdleGovernor::name),
            workloads: names(scenario.workloads),
            scheduler: scenario.scheduler.name.clone(),
            seed: scenario.seed,
            duration_ns: scenario.duration_ns,
            rests: RestsOn::of(trust, scenario, std::slice::from_ref(scenario.scheduler)),
        }
    }

    /// Pairs of a label and a text, for the head of a report.
    pub fn rows(&self) -> Vec<(&'static str, String)> {
        let mut machine = format!("{}, {}", self.machine, self.governor);
        if let Some(governor) = self.idle_governor {
            machine += &format!(", idle governor {governor}");
        }
        let mut rows = vec![("machine", machine)];
        rows.extend(self.workloads.iter().map(|w| ("workload", w.clone())));
        rows.push(("scheduler", self.scheduler.clone()));
        rows.push(("seed", self.seed.to_string()));
        if let Some(ns) = self.duration_ns {
            rows.push(("cut at", number::time(ns)));
        }
        rows.extend(self.rests.rows());
        rows
    }
}

/// The workloads as typed.
pub fn names(workloads: &[Workload]) -> Vec<String> {
    workloads.iter().map(|w| w.name.clone()).collect()
}
