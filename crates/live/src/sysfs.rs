// SPDX-License-Identifier: GPL-2.0-only
//! The machine as the running kernel describes it in sysfs, with the spans that
//! its own scheduler uses: `SMT`, `CLS` and `MC` (cpu_smt_mask(),
//! cpu_clustergroup_mask(), cpu_coregroup_mask() of arm64, which on x86 come to
//! the same), `PKG` (the CPUs of a node) and one `NUMA` level a distance.
//! A CPU that is possible but not online stands alone.

use alight_machine::CpuSet;
use alight_policy::topology::{CpuDescription, Description, Level, LevelKind};
use alight_policy::{MAX_CPUS, Mask};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Why the topology cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file is not there or cannot be read.
    #[error("{path}: {error}")]
    Unreadable {
        /// File.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file does not hold what it should.
    #[error("{path}: found '{found}', expected {expected}")]
    Unexpected {
        /// File.
        path: PathBuf,
        /// Its text.
        found: String,
        /// What should be there.
        expected: &'static str,
    },
    /// More CPUs than the core holds.
    #[error("this machine may have {0} CPUs; at most {MAX_CPUS} are supported")]
    TooManyCpus(usize),
}

/// The topology in `/sys`, or in a copy of it under another root.
///
/// # Errors
/// If a file is missing that every Linux has, or holds something else.
pub fn read(root: &Path) -> Result<Description, Error> {
    let tree = Tree {
        devices: root.join("sys/devices/system"),
    };
    let online = tree.cpu_list("cpu/online")?;
    let nr = tree
        .cpu_list("cpu/possible")?
        .last()
        .map_or(0, |last| last + 1);
    if nr > MAX_CPUS {
        return Err(Error::TooManyCpus(nr));
    }
    let nodes = tree.nodes(nr)?;
    let mut machine = Description {
        cpus: Vec::with_capacity(nr),
        levels: vec![
            Level {
                kind: LevelKind::Smt,
                spans: Vec::with_capacity(nr),
                gated: false,
            },
            Level {
                kind: LevelKind::Cluster,
                spans: Vec::with_capacity(nr),
                gated: false,
            },
            Level {
                kind: LevelKind::Cache,
                spans: Vec::with_capacity(nr),
                gated: false,
            },
            Level {
                kind: LevelKind::Package,
                spans: Vec::with_capacity(nr),
                gated: false,
            },
        ],
    };
    for cpu in 0..nr {
        let node = nodes.of_cpu(cpu);
        machine.cpus.push(CpuDescription {
            capacity: tree.capacity(cpu)?,
            node: node as u32,
        });
        let within = if online.contains(cpu) {
            nodes.cpus[node].intersection(&online)
        } else {
            CpuSet::single(cpu)
        };
        let spans = tree.spans(cpu, &within)?;
        for (level, span) in machine.levels.iter_mut().zip(spans) {
            level.spans.push(mask(&span));
        }
    }
    for distance in nodes.distances() {
        machine.levels.push(Level {
            kind: LevelKind::Numa { distance },
            spans: (0..nr)
                .map(|cpu| mask(&nodes.reach(cpu, distance, &online)))
                .collect(),
            gated: false,
        });
    }
    Ok(machine)
}

/// NUMA nodes, numbered without gaps.
struct Nodes {
    cpus: Vec<CpuSet>,
    distance: Vec<Vec<u32>>,
}

impl Nodes {
    fn of_cpu(&self, cpu: usize) -> usize {
        self.cpus
            .iter()
            .position(|cpus| cpus.contains(cpu))
            .unwrap_or(0)
    }

    /// Distances between different nodes, rising; without the distance of a node to itself.
    fn distances(&self) -> BTreeSet<u32> {
        let local = self
            .distance
            .iter()
            .enumerate()
            .map(|(n, d)| d[n])
            .max()
            .unwrap_or(0);
        self.distance
            .iter()
            .flatten()
            .copied()
            .filter(|&d| d > local)
            .collect()
    }

    /// Online CPUs at most `distance` away from that of `cpu`.
    fn reach(&self, cpu: usize, distance: u32, online: &CpuSet) -> CpuSet {
        if !online.contains(cpu) {
            return CpuSet::single(cpu);
        }
        let from = &self.distance[self.of_cpu(cpu)];
        (self.cpus.iter().zip(from))
            .filter(|(_, d)| **d <= distance)
            .fold(CpuSet::default(), |all, (cpus, _)| all.union(cpus))
            .intersection(online)
    }
}

/// `/sys/devices/system`.
struct Tree {
    devices: PathBuf,
}

impl Tree {
    /// Text of a file, trimmed; None if there is no such file.
    fn text(&self, file: &str) -> Result<Option<String>, Error> {
        let path = self.devices.join(file);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text.trim().to_string())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::Unreadable { path, error }),
        }
    }

    fn unexpected(&self, file: &str, found: String, expected: &'static str) -> Error {
        let path = self.devices.join(file);
        Error::Unexpected {
            path,
            found,
            expected,
        }
    }

    fn optional_list(&self, file: &str) -> Result<Option<CpuSet>, Error> {
        let Some(text) = self.text(file)? else {
            return Ok(None);
        };
        match text.parse() {
            Ok(cpus) => Ok(Some(cpus)),
            Err(_) => Err(self.unexpected(file, text, "a list of CPUs such as 0-3,8")),
        }
    }

    fn cpu_list(&self, file: &str) -> Result<CpuSet, Error> {
        self.optional_list(file)?
            .ok_or_else(|| self.unexpected(file, String::new(), "a list of CPUs such as 0-3,8"))
    }

    fn number(&self, file: &str) -> Result<Option<u32>, Error> {
        let Some(text) = self.text(file)? else {
            return Ok(None);
        };
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(self.unexpected(file, text, "a number")),
        }
    }

    /// Of equal CPUs the kernel does not say a capacity.
    fn capacity(&self, cpu: usize) -> Result<u32, Error> {
        Ok(self
            .number(&format!("cpu/cpu{cpu}/cpu_capacity"))?
            .unwrap_or(1024))
    }

    /// Spans of the levels up to the node, `within`, each inside the next.
    fn spans(&self, cpu: usize, within: &CpuSet) -> Result<[CpuSet; 4], Error> {
        let shared = |name: &str| -> Result<Option<CpuSet>, Error> {
            let list = self.optional_list(&format!("cpu/cpu{cpu}/topology/{name}"))?;
            Ok(list.filter(|list| list.contains(cpu)))
        };
        let smaller = |of: CpuSet, than: Option<CpuSet>| match than {
            Some(than) if than.is_subset(&of) => than,
            _ => of,
        };
        let cluster = shared("cluster_cpus_list")?;
        let smt = shared("core_cpus_list")?
            .unwrap_or(CpuSet::single(cpu))
            .intersection(within);
        let mut group = smaller(*within, shared("package_cpus_list")?);
        group = smaller(group, self.last_level_cache(cpu)?);
        if let Some(cluster) = cluster.filter(|c| group.is_subset(c) && c.is_subset(within)) {
            group = cluster;
        }
        group = group.union(&smt);
        /* A cluster that is no smaller than the group says nothing. */
        let cluster = cluster.filter(|c| c.is_subset(&group) && *c != group && smt.is_subset(c));
        Ok([smt, cluster.unwrap_or(smt), group, *within])
    }

    /// CPUs that share the largest cache of `cpu`, if the kernel knows its caches.
    fn last_level_cache(&self, cpu: usize) -> Result<Option<CpuSet>, Error> {
        let mut last = None;
        let mut highest = 0;
        for index in 0.. {
            let directory = format!("cpu/cpu{cpu}/cache/index{index}");
            let Some(level) = self.number(&format!("{directory}/level"))? else {
                break;
            };
            if level > highest {
                highest = level;
                last = self.optional_list(&format!("{directory}/shared_cpu_list"))?;
            }
        }
        Ok(last.filter(|cpus| cpus.contains(cpu)))
    }

    /// A kernel without NUMA has one node.
    fn nodes(&self, nr: usize) -> Result<Nodes, Error> {
        let Some(numbers) = self.optional_list("node/has_cpu")? else {
            return Ok(Nodes {
                cpus: vec![CpuSet::first_n(nr)],
                distance: vec![vec![10]],
            });
        };
        let existing = self.cpu_list("node/online")?;
        let mut nodes = Nodes {
            cpus: Vec::new(),
            distance: Vec::new(),
        };
        for node in &numbers {
            nodes
                .cpus
                .push(self.cpu_list(&format!("node/node{node}/cpulist"))?);
            let file = format!("node/node{node}/distance");
            let text = self.text(&file)?.unwrap_or_default();
            let row: Option<Vec<u32>> = text.split_whitespace().map(|d| d.parse().ok()).collect();
            let row = row
                .filter(|row| row.len() == existing.len())
                .ok_or_else(|| {
                    self.unexpected(
                        &file,
                        text.clone(),
                        "a distance for each node that is online",
                    )
                })?;
            /* Nodes of memory alone have distances too. */
            nodes.distance.push(
                (existing.iter().zip(row))
                    .filter(|(node, _)| numbers.contains(*node))
                    .map(|(_, d)| d)
                    .collect(),
            );
        }
        Ok(nodes)
    }
}

fn mask(cpus: &CpuSet) -> Mask {
    cpus.iter().map(|cpu| cpu as u32).collect()
}
