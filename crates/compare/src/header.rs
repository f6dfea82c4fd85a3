// SPDX-License-Identifier: GPL-2.0-only
//! Under which conditions a number was got: what must stand above every report.

use alight_machine::{Governor, IdleGovernor, Machine, Trust};
use alight_sim::Scenario;
use alight_workload::program::Workload;
use serde::Serialize;

use crate::compare::Question;
use crate::report::number;
use crate::rests::{Ran, RestsOn};

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
    pub governor: String,
    /// cpuidle governor, if it is not the kernel's own choice.
    pub idle_governor: Option<&'static str>,
    /// As typed.
    pub workloads: Vec<String>,
    /// Runs asked for.
    pub runs: u32,
    /// Seed of the first run.
    pub seed: u64,
    /// End of each run, ns, if it was cut.
    pub duration_ns: Option<u64>,
    /// What the answer rests on.
    pub rests: RestsOn,
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
            idle_governor: idle_governor_chosen(machine, question.idle_governor),
            workloads: names(question.workloads),
            runs: question.runs.get(),
            seed: question.seed,
            duration_ns: question.duration_ns,
            rests: RestsOn::of(
                question.trust,
                &Ran {
                    machine,
                    workloads: question.workloads,
                    schedulers: question.schedulers,
                    governor: question.governor,
                    changes: question.changes,
                    sysctls: question.sysctls,
                },
            ),
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
    /// As typed.
    pub workloads: Vec<String>,
    /// Who decides.
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
            governor: governor_in_force(scenario.machine, scenario.governor),
            idle_governor: idle_governor_chosen(scenario.machine, scenario.idle_governor),
            workloads: names(scenario.workloads),
            scheduler: scenario.scheduler.name.clone(),
            seed: scenario.seed,
            duration_ns: scenario.duration_ns,
            rests: RestsOn::of(
                trust,
                &Ran {
                    machine: scenario.machine,
                    workloads: scenario.workloads,
                    schedulers: std::slice::from_ref(scenario.scheduler),
                    governor: scenario.governor,
                    changes: scenario.changes,
                    sysctls: scenario.sysctls,
                },
            ),
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

/// The governor of a run: the one asked for, else the machine's.
pub fn governor_in_force(machine: &Machine, asked: Option<Governor>) -> String {
    asked.unwrap_or(machine.governor).to_string()
}

/// The idle governor of a run if the run or the machine names one; else the kernel
/// takes its own, which is menu.
pub fn idle_governor_chosen(
    machine: &Machine,
    asked: Option<IdleGovernor>,
) -> Option<&'static str> {
    asked.or(machine.idle_governor).map(IdleGovernor::name)
}

/// The workloads as typed.
pub fn names(workloads: &[Workload]) -> Vec<String> {
    workloads.iter().map(|w| w.name.clone()).collect()
}
