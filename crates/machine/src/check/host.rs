// SPDX-License-Identifier: GPL-2.0-only
//! Is a machine file one of the machine that a kernel runs on? What the kernel
//! says must not contradict it: the number of CPUs, who shares a core, a
//! last-level cache, a node. Capacities, clocks and powers are the file's to say.

use super::{Finding, Findings};
use crate::cpuset::CpuSet;
use crate::draft::{Draft, Partition};
use crate::kernel::Topology;

/// What the kernel contradicts; nothing is looked at of CPUs that are offline.
pub fn contradictions(draft: &Draft, host: &Topology) -> Vec<Finding> {
    let mut findings = Findings::default();
    let stated = &draft.topology.cpus;
    if stated.value != host.present {
        findings.error(
            "host-cpus",
            &stated.place,
            "topology.cpus",
            format!("the CPUs {}", stated.value),
            format!("the CPUs of this host, {}", host.present),
        );
        return findings.0;
    }
    let topology = &draft.topology;
    let node = |cpu: usize| host.nodes[host.node_of(cpu)].cpus;
    let shared = [
        Shared {
            rule: "host-cores",
            path: "topology.core",
            by: &topology.core,
            kernel: &|cpu| Some(host.cpus[cpu].core),
        },
        Shared {
            rule: "host-caches",
            path: "topology.llc",
            by: &topology.llc,
            kernel: &|cpu| Some(host.cpus[cpu].llc?.intersection(&node(cpu))),
        },
        Shared {
            rule: "host-nodes",
            path: "topology.node",
            by: &topology.node,
            kernel: &|cpu| (host.nodes.len() > 1).then(|| node(cpu)),
        },
    ];
    for shared in shared {
        shared.compare(&host.online, &mut findings);
    }
    findings.0
}

/// Something that CPUs share, by the file and by the kernel.
struct Shared<'a> {
    rule: &'static str,
    path: &'static str,
    by: &'a Partition,
    /// `None`: the kernel does not say it.
    kernel: &'a dyn Fn(usize) -> Option<CpuSet>,
}

impl Shared<'_> {
    /// One finding a set of the file.
    fn compare(&self, online: &CpuSet, findings: &mut Findings) {
        for stated in self.by {
            let there = stated.value.intersection(online);
            let differs = |&cpu: &usize| {
                (self.kernel)(cpu).is_some_and(|known| known.intersection(online) != there)
            };
            let Some(cpu) = there.iter().find(differs) else {
                continue;
            };
            let known = (self.kernel)(cpu).unwrap_or_default().intersection(online);
            findings.error(
                self.rule,
                &stated.place,
                self.path,
                format!("`{}`", stated.value),
                format!("the CPUs that CPU {cpu} of this host shares it with, `{known}`"),
            );
        }
    }
}
