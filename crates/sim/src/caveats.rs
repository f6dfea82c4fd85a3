// SPDX-License-Identifier: GPL-2.0-only
//! What the model leaves out that could matter for a given run. A report that
//! does not say so would be wrong in silence.

use crate::kernel::{Clamps, Kernel};
use alight_machine::{Governor, Machine};
use alight_policy::Scheduler;
use alight_workload::program::{Policy, Workload};
use std::collections::BTreeSet;

/// Sentences to print with the results of such runs; empty if nothing is known
/// to be missing.
pub fn caveats(
    machine: &Machine,
    workloads: &[Workload],
    schedulers: &[Scheduler],
    governor: Governor,
) -> Vec<&'static str> {
    let asymmetric = machine
        .cpus
        .iter()
        .any(|cpu| cpu.capacity_orig != machine.cpus[0].capacity_orig);
    let powered = machine
        .freq_domains
        .iter()
        .all(|d| d.opps.iter().all(|opp| opp.core_power_uw != 0));
    let attributes = || {
        workloads.iter().flat_map(|w| {
            w.attributes
                .iter()
                .chain(w.tasks.iter().map(|t| &t.attributes))
        })
    };
    let kernels = || schedulers.iter().filter_map(Kernel::of);
    let clampless = kernels().any(|kernel| kernel.clamps == Clamps::Unknown);
    // CPUs that nothing slows, and their cores.
    let free =
        (machine.cpus.iter()).filter(|cpu| machine.core_types[cpu.core_type].smt_percent == 100);
    let cores: BTreeSet<_> = free.clone().map(|cpu| cpu.core).collect();
    [
        (
            cores.len() < free.count() && !machine.one_processor,
            "threads of a core do not slow each other: the machine file gives them no smt_percent below 100",
        ),
        (
            governor == Governor::Schedutil && asymmetric && !powered,
            "energy-aware placement is off: the machine file gives some operating point no power",
        ),
        (
            attributes().any(|a| a.slice_ns.is_some() && a.policy != Some(Policy::Deadline)),
            "custom slices (Linux 6.12) count in linux-7.2 only; older bases ignore them, as their \
             kernels do",
        ),
        (
            clampless && attributes().any(|a| a.uclamp_min.is_some() || a.uclamp_max.is_some()),
            "clamps of utilization (Linux 5.3) do not count in linux-3.9, whose kernel has none",
        ),
    ]
    .into_iter()
    .filter_map(|(applies, sentence)| applies.then_some(sentence))
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use alight_workload::Mode;

    #[test]
    fn what_is_missing_is_said_where_it_matters() {
        let caveats_of = |machine: &Machine, workload: &str, governor| {
            let workload = Workload::load(workload, Mode::Workgen)
                .expect("valid")
                .workload;
            caveats(machine, &[workload], &[], governor).join("\n")
        };
        let load = |machine| alight_machine::load(machine).expect("built in").machine;
        let mut unpowered = load("juno-r0");
        unpowered.freq_domains[0].opps[0].core_power_uw = 0;
        let said = caveats_of(&unpowered, "hackbench", Governor::Schedutil);
        assert!(said.contains("energy-aware"), "{said}");
        let mut even = load("epyc-9654-2s");
        even.core_types[0].smt_percent = 100;
        let said = caveats_of(&even, "hackbench", Governor::Performance);
        assert!(said.contains("smt_percent"), "{said}");
        for machine in ["juno-r0", "epyc-9654-2s"] {
            let said = caveats_of(&load(machine), "hackbench", Governor::Performance);
            assert_eq!(said, "", "{machine}");
        }
    }

    #[test]
    fn clamps_that_a_base_does_not_know_are_named() {
        let machine = alight_machine::load("juno-r0").expect("built in").machine;
        let mut workload = Workload::load("hackbench -g 1 -l 1", Mode::Workgen)
            .expect("valid")
            .workload;
        workload.tasks[0].attributes.uclamp_max = Some(100);
        for (base, named) in [("linux-3.9", true), ("linux-5.4", false)] {
            let schedulers = [Scheduler::parse(base).expect("valid")];
            let workloads = std::slice::from_ref(&workload);
            let said = caveats(&machine, workloads, &schedulers, Governor::Performance);
            let found = said.iter().any(|sentence| sentence.contains("clamps"));
            assert_eq!(found, named, "{base}: {said:?}");
        }
    }

    #[test]
    fn a_base_by_itself_has_no_caveats() {
        let machine = alight_machine::load("juno-r0").expect("built in").machine;
        let said = |names: &[&str], governor| {
            let schedulers: Vec<_> = names
                .iter()
                .map(|name| Scheduler::parse(name).expect("valid"))
                .collect();
            caveats(&machine, &[], &schedulers, governor)
        };
        for base in alight_policy::scheduler::BASES {
            for governor in [Governor::Performance, Governor::Schedutil] {
                assert_eq!(said(&[base.name], governor), [""; 0]);
            }
        }
    }
}
