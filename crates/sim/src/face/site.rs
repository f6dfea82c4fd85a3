// SPDX-License-Identifier: GPL-2.0-only
//! A machine as the command lines of workloads see it.

use alight_machine::Machine;
use alight_workload::Site;

/// What workload command lines may use of `machine`: the number of CPUs, and their NUMA nodes.
pub fn site(machine: &Machine) -> Site {
    let nodes = machine.cpus.iter().map(|cpu| cpu.node as u32);
    Site::new(&machine.name, nodes)
}
