// SPDX-License-Identifier: GPL-2.0-only
//! Why a policy has nothing to do: what its features need that a base has already, that the machine
//! lacks, or that the load never asks for.

use alight_machine::Machine;
use alight_policy::Scheduler;
use alight_policy::scheduler::{BASES, Feature, Needs, On};
use alight_sim::{Cgroup, Scenario, Sysctl, SysctlName};
use alight_workload::program::{Attributes, Policy};

/// Why runs of `variant` are those of `base`, event for event; of schedulers on two bases nothing is known.
pub fn why(base: &Scheduler, variant: &Scheduler, scenario: &Scenario<'_>) -> Option<String> {
    if base.parts().0.name != variant.parts().0.name {
        return None;
    }
    if variant.is_same_run(base) {
        return Some(nothing_new(base, variant));
    }
    let added = added(base, variant);
    let lacks: Vec<String> = (added.iter())
        .filter_map(|feature| Some(format!("{} {}", feature.name, lack(feature, scenario)?)))
        .collect();
    // One that could act is why the others' lacks explain nothing.
    Some(match lacks.len() == added.len() && !added.is_empty() {
        true => lacks.join("; "),
        false => "it could act, but every choice was the base's".to_owned(),
    })
}

/// What this machine lacks for the added features to act at all; `None` if one of them can.
pub fn lacks(base: &Scheduler, variant: &Scheduler, machine: &Machine) -> Option<&'static str> {
    let needs: Vec<Needs> = (added(base, variant).iter())
        .map(|feature| feature.needs)
        .collect();
    match needs.first() {
        Some(first) if !needs.iter().any(|needs| machine_has(*needs, machine)) => {
            Some(first.as_str())
        }
        _ => None,
    }
}

/// Why the rules of `variant` are those of `base`: what it adds is part of the base, or told to do
/// what that does.
pub fn nothing_new(base: &Scheduler, variant: &Scheduler) -> String {
    let (on, features) = (base.parts().0, added(base, variant));
    let merged = features
        .iter()
        .find_map(|feature| match feature.meaning(on) {
            On::Merged(since) => Some((*feature, since)),
            _ => None,
        });
    match merged {
        Some((feature, since)) => {
            let without: Vec<&str> = (BASES.iter())
                .filter(|base| feature.meaning(base) == On::New)
                .map(|base| base.name)
                .collect();
            format!(
                "{} is {}: {} is part of it since {since}, and only other values of its tunables change something; \
                 bases that lack it: {}",
                variant.name,
                base.name,
                feature.name,
                without.join(", ")
            )
        }
        None if variant.name == base.name => format!("both are {}", base.name),
        None => format!(
            "the tunables of {} make it equal to {}",
            variant.name, base.name
        ),
    }
}

/// The features that `variant` has and `base` has not.
fn added(base: &Scheduler, variant: &Scheduler) -> Vec<&'static Feature> {
    let known = base.parts().1;
    let new = |feature: &&Feature| !known.iter().any(|other| other.name == feature.name);
    variant.parts().1.into_iter().filter(new).collect()
}

/// What the feature needs and does not find, as `needs ..., which juno-r0 lacks`.
fn lack(feature: &Feature, scenario: &Scenario<'_>) -> Option<String> {
    let needs = feature.needs;
    let needed = needs.as_str();
    if !machine_has(needs, scenario.machine) {
        return Some(format!(
            "needs {needed}, which {} lacks",
            scenario.machine.name
        ));
    }
    (!load_has(needs, scenario)).then(|| format!("needs {needed}, and this run has none"))
}

fn machine_has(needs: Needs, machine: &Machine) -> bool {
    match needs {
        Needs::Asymmetry => {
            let first = machine.cpus[0].capacity_orig;
            machine.cpus.iter().any(|cpu| cpu.capacity_orig != first)
        }
        Needs::PowerGating => machine.levels.iter().any(|level| level.power_gated),
        // Of the load.
        Needs::Wakeups | Needs::SchedIdle | Needs::Clamps => true,
    }
}

fn load_has(needs: Needs, scenario: &Scenario<'_>) -> bool {
    let mut attributes = scenario.workloads.iter().flat_map(|workload| {
        let at_start = workload.tasks.iter().map(|task| &task.attributes);
        at_start.chain(&workload.attributes)
    });
    match needs {
        Needs::SchedIdle => {
            attributes.any(|a| a.policy == Some(Policy::Idle))
                || scenario.groups.iter().any(|group| group.idle)
        }
        Needs::Clamps => {
            let asks = |a: &Attributes| a.uclamp_min.is_some() || a.uclamp_max.is_some();
            attributes.any(asks)
                || scenario.groups.iter().any(Cgroup::clamps)
                || scenario.sysctls.iter().any(limits_clamps)
        }
        // Of the machine; and nobody knows beforehand who will wake.
        Needs::Asymmetry | Needs::PowerGating | Needs::Wakeups => true,
    }
}

/// Whether it sets a limit of clamps to another value than the kernel begins with.
fn limits_clamps(sysctl: &Sysctl) -> bool {
    const BEGINS_WITH: i64 = 1024;
    match sysctl.name {
        SysctlName::UtilClampMin | SysctlName::UtilClampMax | SysctlName::UtilClampMinRtDefault => {
            sysctl.value != BEGINS_WITH
        }
        SysctlName::RtPeriodUs | SysctlName::RtRuntimeUs | SysctlName::BaseSliceNs => false,
    }
}

#[cfg(test)]
mod tests;
