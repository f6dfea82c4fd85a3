// SPDX-License-Identifier: GPL-2.0-only
//! Who shares what, and the scheduling levels that the kernel makes of it.

use std::collections::BTreeSet;
use std::path::Path;

use super::{CPU, NODE, Tree};
use crate::cpuset::CpuSet;
use crate::error::Error;

/// The machine, CPUs and nodes as the kernel numbers them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    /// CPUs that are online.
    pub online: CpuSet,
    /// CPUs that are plugged in.
    pub present: CpuSet,
    /// All that may ever be there, index = number. Of one that is offline the kernel
    /// says its capacity at most.
    pub cpus: Vec<Cpu>,
    /// Nodes that have CPUs; without NUMA one with all.
    pub nodes: Vec<Node>,
}

/// One CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpu {
    /// `cpu_capacity`; kernels do not say it where all CPUs are equal.
    pub capacity: Option<u64>,
    /// Itself and its SMT siblings.
    pub core: CpuSet,
    /// CPUs of its cluster (since 5.16).
    pub cluster: Option<CpuSet>,
    /// CPUs of its package.
    pub package: Option<CpuSet>,
    /// CPUs that share its last-level cache.
    pub llc: Option<CpuSet>,
}

/// One NUMA node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// CPUs, offline ones included where the kernel says so.
    pub cpus: CpuSet,
    /// Distance to each of [`Topology::nodes`], itself included, 10 = local; `None`:
    /// the kernel does not say it.
    pub distance: Option<Vec<u32>>,
}

/// One level of scheduling domains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelLevel {
    /// `SMT`, `CLS`, `MC`, `PKG` or `NUMA`.
    pub name: &'static str,
    /// Of a NUMA level: nodes up to this distance.
    pub distance: Option<u32>,
    /// The span of each CPU; those of a NUMA level may overlap.
    pub spans: Vec<CpuSet>,
}

/// Distance that is assumed where the kernel says none.
const ELSEWHERE: u32 = 20;
const LOCAL: u32 = 10;

impl Topology {
    /// Reads it from the `sys` in the folder `root`.
    ///
    /// # Errors
    /// [`Error::Read`] when there is no list of CPUs, [`Error::Captured`] when a file says
    /// something unusable.
    pub fn read(root: &Path) -> Result<Self, Error> {
        Self::of(&Tree::new(root))
    }

    pub(crate) fn of(tree: &Tree) -> Result<Self, Error> {
        let file = format!("{CPU}/online");
        let online = match tree.cpus(&file)? {
            Some(online) => online,
            None => switched_on(tree)?,
        };
        if online.is_empty() {
            return Err(Error::Read {
                path: tree.path(&file),
                source: std::io::ErrorKind::NotFound.into(),
            });
        }
        let possible = tree.cpus(&format!("{CPU}/possible"))?.unwrap_or(online);
        let present = tree.cpus(&format!("{CPU}/present"))?.unwrap_or(possible);
        let count = possible
            .union(&present)
            .union(&online)
            .last()
            .map_or(0, |last| last + 1);
        Ok(Self {
            online,
            present,
            cpus: (0..count)
                .map(|cpu| Cpu::read(tree, cpu))
                .collect::<Result<_, _>>()?,
            nodes: nodes(tree, count)?,
        })
    }

    /// Index in [`Self::nodes`] of the node of `cpu`.
    pub fn node_of(&self, cpu: usize) -> usize {
        let holds = |node: &Node| node.cpus.contains(cpu);
        self.nodes.iter().position(holds).unwrap_or(0)
    }

    /// The levels from small spans to large ones, as the kernel has them (cpu_smt_mask(),
    /// cpu_clustergroup_mask(), cpu_coregroup_mask() of arm64, which on x86 come to the
    /// same, the CPUs of a node, and one level a distance). Levels that add nothing are
    /// there too; a CPU that is offline stands alone in each.
    pub fn levels(&self) -> Vec<KernelLevel> {
        let own: Vec<[CpuSet; 4]> = (0..self.cpus.len()).map(|cpu| self.spans(cpu)).collect();
        let names = ["SMT", "CLS", "MC", "PKG"].into_iter().enumerate();
        let mut levels: Vec<KernelLevel> = names
            .map(|(place, name)| KernelLevel {
                name,
                distance: None,
                spans: own.iter().map(|spans| spans[place]).collect(),
            })
            .collect();
        for distance in self.distances() {
            let reach = |cpu| self.reach(cpu, distance);
            levels.push(KernelLevel {
                name: "NUMA",
                distance: Some(distance),
                spans: (0..self.cpus.len()).map(reach).collect(),
            });
        }
        levels
    }

    /// Spans of the levels up to the node, each inside the next.
    fn spans(&self, cpu: usize) -> [CpuSet; 4] {
        if !self.online.contains(cpu) {
            return [CpuSet::single(cpu); 4];
        }
        let node = self.nodes[self.node_of(cpu)].cpus;
        let within = node.intersection(&self.online).union(&CpuSet::single(cpu));
        let facts = &self.cpus[cpu];
        let smaller = |of: CpuSet, than: Option<CpuSet>| match than {
            Some(than) if than.is_subset(&of) => than,
            _ => of,
        };
        let smt = facts.core.intersection(&within);
        let mut group = smaller(smaller(within, facts.package), facts.llc);
        if let Some(cluster) =
            (facts.cluster).filter(|c| group.is_subset(c) && c.is_subset(&within))
        {
            group = cluster;
        }
        group = group.union(&smt);
        // A cluster that is no smaller than the group says nothing.
        let cluster =
            (facts.cluster).filter(|c| c.is_subset(&group) && *c != group && smt.is_subset(c));
        [smt, cluster.unwrap_or(smt), group, within]
    }

    /// Distance between two of [`Self::nodes`].
    pub fn distance(&self, from: usize, to: usize) -> u32 {
        let assumed = if from == to { LOCAL } else { ELSEWHERE };
        let row = self.nodes[from].distance.as_ref();
        row.map_or(assumed, |row| row[to])
    }

    /// Distances between different nodes, rising; without that of a node to itself.
    fn distances(&self) -> BTreeSet<u32> {
        let nodes = 0..self.nodes.len();
        let local = nodes.clone().map(|n| self.distance(n, n)).max();
        (nodes.clone())
            .flat_map(|from| nodes.clone().map(move |to| self.distance(from, to)))
            .filter(|&distance| Some(distance) > local)
            .collect()
    }

    /// Online CPUs at most `distance` away from that of `cpu`.
    fn reach(&self, cpu: usize, distance: u32) -> CpuSet {
        if !self.online.contains(cpu) {
            return CpuSet::single(cpu);
        }
        let from = self.node_of(cpu);
        (self.nodes.iter().enumerate())
            .filter(|(to, _)| self.distance(from, *to) <= distance)
            .fold(CpuSet::single(cpu), |all, (_, node)| all.union(&node.cpus))
            .intersection(&self.online)
    }
}

impl Cpu {
    fn read(tree: &Tree, cpu: usize) -> Result<Self, Error> {
        let folder = format!("{CPU}/cpu{cpu}/topology");
        let own = |set: Option<CpuSet>| set.filter(|set| set.contains(cpu));
        let first = |files: [&str; 2]| -> Result<Option<CpuSet>, Error> {
            for file in files {
                let set = tree.cpus_or_mask(&folder, file)?;
                if set.is_some() {
                    return Ok(own(set));
                }
            }
            Ok(None)
        };
        let core = first(["core_cpus_list", "thread_siblings_list"])?;
        let cluster = tree.cpus_or_mask(&folder, "cluster_cpus_list")?;
        Ok(Self {
            capacity: tree.number(&format!("{CPU}/cpu{cpu}/cpu_capacity"))?,
            core: core.unwrap_or(CpuSet::single(cpu)),
            cluster: own(cluster),
            package: first(["package_cpus_list", "core_siblings_list"])?,
            llc: own(last_level_cache(tree, cpu)?),
        })
    }
}

/// CPUs with a folder that does not say they are offline: old kernels have no list of them.
fn switched_on(tree: &Tree) -> Result<CpuSet, Error> {
    let mut online = CpuSet::new();
    for number in tree.numbered(CPU, "cpu")? {
        let number = usize::try_from(number).unwrap_or(CpuSet::MAX);
        if number < CpuSet::MAX && tree.number(&format!("{CPU}/cpu{number}/online"))? != Some(0) {
            online.insert(number);
        }
    }
    Ok(online)
}

fn last_level_cache(tree: &Tree, cpu: usize) -> Result<Option<CpuSet>, Error> {
    let mut highest = None;
    for (level, index) in data_caches(tree, cpu)? {
        if highest.is_none_or(|(known, _)| level > known) {
            highest = Some((level, index));
        }
    }
    let Some((_, index)) = highest else {
        return Ok(None);
    };
    tree.cpus_or_mask(
        &format!("{CPU}/cpu{cpu}/cache/index{index}"),
        "shared_cpu_list",
    )
}

/// Level and index of the caches of `cpu` that hold data.
pub(crate) fn data_caches(tree: &Tree, cpu: usize) -> Result<Vec<(u64, u64)>, Error> {
    let mut caches = Vec::new();
    for index in tree.numbered(&format!("{CPU}/cpu{cpu}/cache"), "index")? {
        let file = |name: &str| format!("{CPU}/cpu{cpu}/cache/index{index}/{name}");
        let instructions = tree.text(&file("type"))?.as_deref() == Some("Instruction");
        if let Some(level) = tree.number(&file("level"))?
            && !instructions
        {
            caches.push((level, index));
        }
    }
    Ok(caches)
}

/// Nodes that have CPUs. Nodes of memory alone have distances too: a row has a place for each
/// node that there is.
fn nodes(tree: &Tree, count: usize) -> Result<Vec<Node>, Error> {
    let numbers = tree.numbered(NODE, "node")?;
    let mut found = Vec::new();
    for (column, number) in numbers.iter().enumerate() {
        let cpus = tree.cpus_or_mask(&format!("{NODE}/node{number}"), "cpulist")?;
        let cpus = cpus.unwrap_or_default();
        if !cpus.is_empty() {
            let file = format!("{NODE}/node{number}/distance");
            found.push((column, cpus, file));
        }
    }
    if found.is_empty() {
        return Ok(vec![Node {
            cpus: CpuSet::first_n(count),
            distance: None,
        }]);
    }
    let columns: Vec<usize> = found.iter().map(|(column, ..)| *column).collect();
    let node = |(_, cpus, file): (usize, CpuSet, String)| {
        let expected = "a distance for each node";
        let row = tree.parsed(&file, expected, |text| {
            let words = text.split_whitespace().map(|word| word.parse().ok());
            let row: Vec<u32> = words.collect::<Option<_>>()?;
            (row.len() == numbers.len()).then_some(row)
        })?;
        let distance = row.map(|row| columns.iter().map(|&column| row[column]).collect());
        Ok(Node { cpus, distance })
    };
    found.into_iter().map(node).collect()
}
