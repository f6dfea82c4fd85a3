// SPDX-License-Identifier: GPL-2.0-only
//! Scheduling levels as the kernel builds them from a topology (Linux 6.5
//! `kernel/sched/topology.c`, `default_topology` and `sched_init_numa`).

use crate::cpuset::CpuSet;
use crate::draft::{Partition, Topology};
use crate::model::MachineLevel;

/// The levels from the smallest to the largest, without those that add nothing
/// to the one below for any CPU.
pub(crate) fn build(topology: &Topology) -> Vec<MachineLevel> {
    let mc = topology.mc.as_ref().unwrap_or(&topology.llc);
    let mut candidates = vec![level("SMT", &topology.core)];
    candidates.extend(topology.cls.as_ref().map(|cls| level("CLS", cls)));
    candidates.push(level("MC", mc));
    candidates.push(level("PKG", &topology.node));
    candidates.extend(numa_levels(topology));

    for candidate in &mut candidates {
        let names = &mut topology.power_gated.iter();
        candidate.power_gated = names.any(|name| name.value == candidate.name);
    }
    let mut below: Vec<CpuSet> = topology.cpus.value.iter().map(CpuSet::single).collect();
    let mut levels = Vec::new();
    for candidate in candidates {
        if candidate.spans != below {
            below.clone_from(&candidate.spans);
            levels.push(candidate);
        }
    }
    levels
}

fn level(name: &str, partition: &Partition) -> MachineLevel {
    let spans = partition.iter().map(|span| span.value).collect();
    ordered(name, spans)
}

/// A level with its spans in the order of their first CPUs.
fn ordered(name: &str, mut spans: Vec<CpuSet>) -> MachineLevel {
    spans.sort_by_key(CpuSet::first);
    MachineLevel {
        name: name.to_owned(),
        spans,
        power_gated: false,
    }
}

/// One level for each distance beyond the local one: nodes no further than
/// that from each other. Where nearness is not transitive (rings, meshes) the
/// kernel's spans overlap; here they grow until they do not.
fn numa_levels(topology: &Topology) -> Vec<MachineLevel> {
    let matrix = &topology.numa_distance.value;
    let mut distances: Vec<u64> = matrix.iter().flatten().copied().collect();
    distances.sort_unstable();
    distances.dedup();
    distances
        .into_iter()
        .skip(1)
        .map(|limit| ordered("NUMA", reachable_groups(topology, limit)))
        .collect()
}

/// CPUs of the nodes that can reach each other by hops of at most `limit`.
fn reachable_groups(topology: &Topology, limit: u64) -> Vec<CpuSet> {
    let matrix = &topology.numa_distance.value;
    let count = matrix.len();
    let mut grouped = vec![false; count];
    let mut groups = Vec::new();
    for start in 0..count {
        if grouped[start] {
            continue;
        }
        grouped[start] = true;
        let mut group = vec![start];
        let mut next = 0;
        while let Some(&node) = group.get(next) {
            for other in 0..count {
                if !grouped[other] && matrix[node][other] <= limit {
                    grouped[other] = true;
                    group.push(other);
                }
            }
            next += 1;
        }
        let span = group
            .iter()
            .map(|&node| topology.node[node].value)
            .fold(CpuSet::new(), |span, node| span.union(&node));
        groups.push(span);
    }
    groups
}

/// Imbalance that NUMA balancing of loads tolerates, in tasks: the number of
/// LLCs in a node, or an eighth of its CPUs where the node is one LLC; 0 with
/// one node (Linux 6.5 `build_sched_domains`).
pub(crate) fn imb_numa_nr(topology: &Topology) -> usize {
    if topology.node.len() < 2 {
        return 0;
    }
    let mc = topology.mc.as_ref().unwrap_or(&topology.llc);
    let weight =
        |partition: &Partition| partition.first().map_or(1, |span| span.value.len().max(1));
    let node = weight(&topology.node);
    let llcs = node / weight(mc);
    let tolerated = if llcs <= 1 { node / 8 } else { llcs };
    tolerated.max(1)
}
