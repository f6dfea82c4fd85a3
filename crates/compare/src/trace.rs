// SPDX-License-Identifier: GPL-2.0-only
//! What a trace file says of a run before its first event.

use std::collections::BTreeMap;

use alight_machine::Machine;
use alight_sim::Scenario;
use alight_trace::{CpuInfo, TaskInfo, TraceHeader};

/// The header of the trace of `scenario`, which `command` makes again; `tasks`
/// are the pid, comm and tgid of all tasks of the run.
pub fn header(scenario: &Scenario<'_>, command: &str, tasks: &[(u32, String, u32)]) -> TraceHeader {
    let leaders: BTreeMap<u32, &str> = tasks
        .iter()
        .map(|(pid, comm, _)| (*pid, comm.as_str()))
        .collect();
    let task = |(pid, comm, tgid): &(u32, String, u32)| TaskInfo {
        pid: *pid,
        tgid: *tgid,
        comm: comm.clone(),
        process: leaders.get(tgid).unwrap_or(&comm.as_str()).to_string(),
    };
    TraceHeader {
        machine: scenario.machine.name.clone(),
        scheduler: scenario.scheduler.name.clone(),
        seed: scenario.seed,
        command: command.to_owned(),
        start_ns: 0,
        cpus: cpus(scenario.machine),
        tasks: tasks.iter().map(task).collect(),
    }
}

fn cpus(machine: &Machine) -> Vec<CpuInfo> {
    let info = |cpu: &alight_machine::Cpu| CpuInfo {
        model: machine.core_types[cpu.core_type].name.clone(),
        capacity: cpu.capacity_orig,
        frequencies_khz: machine.freq_domains[cpu.freq_domain]
            .opps
            .iter()
            .map(|opp| opp.khz)
            .collect(),
    };
    machine.cpus.iter().map(info).collect()
}

#[cfg(test)]
mod tests;
