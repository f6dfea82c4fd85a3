// SPDX-License-Identifier: GPL-2.0-only
//! A machine as command lines see it.

use alight_machine::Machine;
use alight_workload::Site;

/// What the command lines of workloads may ask of `machine`: how many CPUs there are, and on which
/// NUMA nodes they are.
pub fn site(machine: &Machine) -> Site {
    let nodes = machine.cpus.iter().map(|cpu| cpu.node as u32);
    Site::new(&machine.name, nodes)
}
