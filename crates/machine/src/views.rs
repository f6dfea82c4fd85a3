// SPDX-License-Identifier: GPL-2.0-only
//! A machine as the placement core sees it: the description that its views are
//! built of, and its energy model. The machine may be one of a file
//! ([`of_machine`]) or the one that a kernel runs on ([`of_kernel`]); simulator
//! and live scheduler go the same way from there.

pub mod energy;

use alight_policy::Mask;
use alight_policy::topology::{CpuDescription, Description, Level, LevelKind, RECLAIM_DISTANCE};

use crate::{CpuSet, Machine, kernel};

/// Capacity of CPUs whose kernel does not say it, because all are equal.
const CAPACITY_SCALE: u32 = 1024;

/// These CPUs.
pub fn mask(cpus: &CpuSet) -> Mask {
    cpus.iter().map(|cpu| cpu as u32).collect()
}

/// The machine of a file.
pub fn of_machine(machine: &Machine) -> Description {
    let farthest = machine.numa_distance.iter().copied().max().unwrap_or(10);
    // What is far is the platform's to say; the builder knows the kernel's default.
    let distance = match farthest > machine.reclaim_distance {
        true => farthest.max(RECLAIM_DISTANCE + 1),
        false => farthest.min(RECLAIM_DISTANCE),
    };
    let level = |level: &crate::MachineLevel| {
        let mut spans = vec![Mask::EMPTY; machine.cpus.len()];
        for span in &level.spans {
            for cpu in span.iter() {
                spans[cpu] = mask(span);
            }
        }
        Level {
            kind: kind(&level.name, distance),
            spans,
            gated: level.power_gated,
            ranked: false,
        }
    };
    Description {
        cpus: machine
            .cpus
            .iter()
            .map(|cpu| CpuDescription {
                capacity: cpu.capacity_orig,
                node: cpu.node as u32,
            })
            .collect(),
        levels: machine.levels.iter().map(level).collect(),
    }
}

/// The machine that a kernel runs on; a CPU that is offline stands alone.
pub fn of_kernel(topology: &kernel::Topology) -> Description {
    let cpus = (topology.cpus.iter().enumerate())
        .map(|(number, cpu)| CpuDescription {
            capacity: cpu.capacity.map_or(CAPACITY_SCALE, |capacity| {
                u32::try_from(capacity).unwrap_or(u32::MAX)
            }),
            node: topology.node_of(number) as u32,
        })
        .collect();
    let level = |level: kernel::KernelLevel| Level {
        kind: kind(level.name, level.distance.unwrap_or(RECLAIM_DISTANCE)),
        spans: level.spans.iter().map(mask).collect(),
        gated: false,
        ranked: false,
    };
    Description {
        cpus,
        levels: topology.levels().into_iter().map(level).collect(),
    }
}

/// `distance`: what a NUMA level reaches.
fn kind(name: &str, distance: u32) -> LevelKind {
    match name {
        "SMT" => LevelKind::Smt,
        "CLS" => LevelKind::Cluster,
        "MC" => LevelKind::Cache,
        "NUMA" => LevelKind::Numa { distance },
        _ => LevelKind::Package,
    }
}
