// SPDX-License-Identifier: GPL-2.0-only
//! From what the user named to what a simulation takes. What is odd about it goes to standard error.

use alight_machine::Machine;
use alight_policy::Scheduler;
use alight_sim::{Change, Group, Scenario, SystemClamps};
use alight_workload::{Mode, Workload};

use crate::args::RunArgs;
use crate::cgroups::system_clamps;
use crate::failure::Failure;
use crate::output::remark;

/// What all verbs that simulate load.
pub struct Input {
    /// Where.
    pub machine: Machine,
    /// What runs.
    pub workloads: Vec<Workload>,
    /// What is done to the machine meanwhile.
    pub changes: Vec<Change>,
    /// Task groups that were described.
    pub groups: Vec<Group>,
    /// Limits of clamps.
    pub clamps: SystemClamps,
}

impl Input {
    /// Loads the machine and the workloads.
    ///
    /// # Errors
    /// Whatever is wrong with either.
    pub fn load(args: &RunArgs) -> Result<Self, Failure> {
        let machine = load_machine(&args.machine)?;
        let workloads = args.workloads.iter().map(|text| load_workload(text));
        Ok(Input {
            workloads: workloads.collect::<Result<_, _>>()?,
            machine,
            changes: args.changes(),
            groups: args
                .groups
                .iter()
                .map(|option| option.group.clone())
                .collect(),
            clamps: system_clamps(&args.sysctls),
        })
    }

    /// One run of `scheduler`.
    pub fn scenario<'a>(&'a self, args: &RunArgs, scheduler: &'a Scheduler) -> Scenario<'a> {
        Scenario {
            machine: &self.machine,
            workloads: &self.workloads,
            scheduler,
            governor: args.governor,
            idle_governor: args.idle_governor,
            seed: args.seed,
            duration_ns: args.duration,
            groups: &self.groups,
            clamps: self.clamps,
            changes: &self.changes,
            check: args.check,
        }
    }
}

/// The machine of this name.
///
/// # Errors
/// Whatever is wrong with it.
pub fn load_machine(name: &str) -> Result<Machine, Failure> {
    let sheet = alight_machine::load(name)?;
    for warning in &sheet.warnings {
        remark(&warning.to_string());
    }
    for note in &sheet.notes {
        remark(&format!("machine {name}: {note}"));
    }
    Ok(sheet.machine)
}

fn load_workload(text: &str) -> Result<Workload, Failure> {
    let loaded = Workload::load(text, Mode::default()).map_err(Failure::bad_input)?;
    for diagnostic in &loaded.diagnostics {
        remark(&format!(
            "{text}:{}:{}: {}: {}",
            diagnostic.line,
            diagnostic.column,
            diagnostic.severity.as_str(),
            diagnostic.message
        ));
    }
    Ok(loaded.workload)
}

/// The scheduler of this name.
///
/// # Errors
/// Unknown names, with the nearest valid ones.
pub fn scheduler(name: &str) -> Result<Scheduler, Failure> {
    Scheduler::parse(name).map_err(Failure::bad_input)
}
