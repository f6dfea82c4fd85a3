// SPDX-License-Identifier: GPL-2.0-only
//! The map of CPUs, `/cpus/cpu-map`: sockets, clusters, cores, threads (parse_dt_topology()).

use alight_machine::CpuSet;

use super::tree::{DEEPEST, Id, Tree};
use crate::error::Error;
use crate::platform::{Said, Spans, named};

/// What the map says.
#[derive(Default)]
pub(super) struct Map {
    pub core: Option<Spans>,
    /// Clusters that have cores of their own.
    pub cluster: Option<Spans>,
    /// Sockets; none: all CPUs are of one package (parse_socket()).
    pub package: Option<Spans>,
}

impl Map {
    /// The core that a CPU is a thread of.
    pub fn core_of(&self, cpu: usize) -> CpuSet {
        let cores = self.core.iter().flat_map(|said| &said.value);
        let mut holding = cores.filter(|core| core.contains(cpu));
        holding
            .next()
            .copied()
            .unwrap_or_else(|| CpuSet::single(cpu))
    }
}

pub(super) fn read(tree: &Tree, nodes: &[Id], notes: &mut Vec<String>) -> Result<Map, Error> {
    let Some(map) = tree.at("/cpus/cpu-map") else {
        notes
            .push("there is no `cpu-map`: no CPU has siblings, and caches say what is near".into());
        return Ok(Map::default());
    };
    let mut walk = Walk {
        tree,
        nodes,
        cores: Vec::new(),
        clusters: Vec::new(),
        sockets: Vec::new(),
        placed: CpuSet::new(),
    };
    walk.level(map, 0)?;
    let lost = CpuSet::first_n(nodes.len()).difference(&walk.placed);
    if !lost.is_empty() {
        notes.push(format!(
            "the `cpu-map` lacks {}: Linux then uses nothing of it (init_cpu_topology()), no CPU has siblings",
            named(&lost)
        ));
        return Ok(Map::default());
    }
    let said = |spans: Vec<CpuSet>| {
        let spans: Vec<CpuSet> = spans.into_iter().filter(|span| !span.is_empty()).collect();
        (!spans.is_empty()).then(|| Said::new(spans, tree.place(map)))
    };
    Ok(Map {
        core: said(walk.cores),
        cluster: said(walk.clusters),
        package: said(walk.sockets),
    })
}

struct Walk<'a> {
    tree: &'a Tree,
    nodes: &'a [Id],
    cores: Vec<CpuSet>,
    clusters: Vec<CpuSet>,
    sockets: Vec<CpuSet>,
    placed: CpuSet,
}

impl Walk<'_> {
    /// The map, a socket or a cluster: all CPUs below it.
    fn level(&mut self, id: Id, depth: usize) -> Result<CpuSet, Error> {
        if depth > DEEPEST {
            return Err(self.tree.error(id, "is nested too deeply"));
        }
        let mut own = CpuSet::new();
        let mut all = CpuSet::new();
        for &child in self.tree.children(id) {
            let name = self.tree.name(child);
            let numbered = |stem: &str| {
                name.strip_prefix(stem)
                    .is_some_and(|number| number.parse::<u32>().is_ok())
            };
            if numbered("core") {
                let core = self.core(child)?;
                self.cores.push(core);
                own = own.union(&core);
            } else if numbered("cluster") {
                all = all.union(&self.level(child, depth + 1)?);
            } else if numbered("socket") {
                let socket = self.level(child, depth + 1)?;
                self.sockets.push(socket);
                all = all.union(&socket);
            }
        }
        if !own.is_empty() && depth > 0 {
            self.clusters.push(own);
        }
        Ok(all.union(&own))
    }

    /// A core with one CPU, or with threads that have one each.
    fn core(&mut self, id: Id) -> Result<CpuSet, Error> {
        let mut cpus: CpuSet = self.cpu(id)?.into_iter().collect();
        for &thread in self.tree.children(id) {
            if self.tree.name(thread).starts_with("thread") {
                cpus = cpus.union(&self.cpu(thread)?.into_iter().collect());
            }
        }
        Ok(cpus)
    }

    /// The CPU that a core or thread names; `None`: it has threads, or the CPU is not in use.
    fn cpu(&mut self, id: Id) -> Result<Option<usize>, Error> {
        let Some(&node) = self.tree.links(id, "cpu")?.first() else {
            return Ok(None);
        };
        let cpu = self.nodes.iter().position(|known| *known == node);
        if let Some(cpu) = cpu {
            if self.placed.contains(cpu) {
                let message =
                    format!("names CPU {cpu}, which another core has, expected one core for each");
                return Err(self.tree.error_in(id, "cpu", message));
            }
            self.placed.insert(cpu);
        }
        Ok(cpu)
    }
}
