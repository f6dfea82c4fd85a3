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
    let gathers = kernels().any(|kernel| kernel.balance.gathers_threads);
    let clampless = kernels().any(|kernel| kernel.clamps == Clamps::Unknown);
    [
        (
            governor == Governor::Schedutil && asymmetric && !powered,
            "energy-aware placement is off: the machine file gives some operating point no power",
        ),
        (
            gathers && several_caches(machine) && workloads.iter().any(threads_share_a_process),
            "cache-aware balancing (Linux 7.2, SCHED_CACHE), which draws the threads of a process to \
             one last-level cache while they are few, is not modelled",
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

/// Has a NUMA node several last-level caches?
fn several_caches(machine: &Machine) -> bool {
    let caches: BTreeSet<_> = machine.cpus.iter().map(|cpu| (cpu.node, cpu.llc)).collect();
    let nodes: BTreeSet<_> = machine.cpus.iter().map(|cpu| cpu.node).collect();
    caches.len() > nodes.len()
}

/// Is there a process of several threads?
fn threads_share_a_process(workload: &Workload) -> bool {
    let processes: BTreeSet<u32> = workload.tasks.iter().map(|task| task.process).collect();
    processes.len() < workload.tasks.len()
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
        for machine in ["juno-r0", "epyc-9654-2s"] {
            let said = caveats_of(&load(machine), "hackbench", Governor::Performance);
            assert_eq!(said, "", "{machine}");
        }
    }

    /// SCHED_CACHE of 7.2: a node with several caches, a process with several threads.
    #[test]
    fn threads_that_7_2_would_gather_are_told_of() {
        for (base, machine, workload, said) in [
            ("linux-7.2", "epyc-9654-2s", "hackbench --threads", true),
            ("linux-7.2", "juno-r0", "hackbench --threads", true),
            ("linux-7.2", "sdm845", "hackbench --threads", false),
            ("linux-6.5", "epyc-9654-2s", "hackbench --threads", false),
            ("linux-7.2", "epyc-9654-2s", "hackbench --processes", false),
        ] {
            let machine = alight_machine::load(machine).expect("built in").machine;
            let workload = Workload::load(workload, Mode::Workgen)
                .expect("valid")
                .workload;
            let scheduler = Scheduler::parse(base).expect("valid");
            let found = caveats(&machine, &[workload], &[scheduler], Governor::Performance);
            let found = found
                .iter()
                .any(|sentence| sentence.contains("SCHED_CACHE"));
            assert_eq!(found, said, "{base}");
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
