// SPDX-License-Identifier: GPL-2.0-only
//! What the running kernel says about its machine, CPU by CPU.

use std::collections::BTreeMap;

use super::Measured;
use super::clocks::FreqFacts;
use crate::capacity::CAPACITY_SCALE;
use crate::cpuset::CpuSet;
use crate::error::Error;
use crate::kernel::{CPU, PerfDomain, Topology, Tree, data_caches, energy_model_of};

/// Arm cores that run in order, by part number of implementer 0x41 (Linux
/// `arch/arm64/include/asm/cputype.h`), and others often met.
const ARM_PARTS: [(u64, &str, CostKind); 17] = [
    (0xc07, "Cortex-A7", CostKind::Little),
    (0xc0f, "Cortex-A15", CostKind::Big),
    (0xd03, "Cortex-A53", CostKind::Little),
    (0xd04, "Cortex-A35", CostKind::Little),
    (0xd05, "Cortex-A55", CostKind::Little),
    (0xd07, "Cortex-A57", CostKind::Big),
    (0xd08, "Cortex-A72", CostKind::Big),
    (0xd09, "Cortex-A73", CostKind::Big),
    (0xd0a, "Cortex-A75", CostKind::Big),
    (0xd0b, "Cortex-A76", CostKind::Big),
    (0xd0c, "Neoverse-N1", CostKind::Big),
    (0xd40, "Neoverse-V1", CostKind::Big),
    (0xd41, "Cortex-A78", CostKind::Big),
    (0xd44, "Cortex-X1", CostKind::Big),
    (0xd46, "Cortex-A510", CostKind::Little),
    (0xd49, "Neoverse-N2", CostKind::Big),
    (0xd80, "Cortex-A520", CostKind::Little),
];
const ARM_IMPLEMENTER: u64 = 0x41;

/// Share of the biggest capacity, in percent, below which an arm core of
/// unknown make counts as little.
const LITTLE_BELOW_PERCENT: u64 = 60;

/// Cost class of a core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CostKind {
    X86,
    Little,
    Big,
}

/// Everything about the machine, CPUs numbered without gaps.
pub(super) struct Facts {
    pub model: String,
    pub cpus: CpuSet,
    pub core: Vec<CpuSet>,
    pub llc: Vec<CpuSet>,
    pub nodes: Vec<CpuSet>,
    pub distances: Vec<Vec<u64>>,
    pub governor: &'static str,
    /// The governor is the one in use, not assumed.
    pub governor_known: bool,
    pub core_types: BTreeMap<CoreFacts, CpuSet>,
    pub freq_domains: BTreeMap<FreqFacts, Vec<CpuSet>>,
    pub notes: Vec<String>,
}

/// What CPUs of one core type have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CoreFacts {
    pub capacity: u64,
    pub name: String,
    pub kind: CostKind,
    pub l2_kib: Option<u64>,
    pub idle_states: Vec<IdleFacts>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IdleFacts {
    pub name: String,
    pub latency_us: u64,
    pub residency_us: u64,
    pub whole_cluster: bool,
}

pub(super) fn gather(tree: &Tree, measured: &Measured) -> Result<Facts, Error> {
    let mut gatherer = Gatherer::new(tree)?;
    let cpus = CpuSet::first_n(gatherer.online.len());
    let core = gatherer.cores();
    let (nodes, distances) = gatherer.nodes();
    let llc = gatherer.llcs(&nodes);
    let core_types = gatherer.core_types(&core)?;
    let freq_domains = gatherer.freq_domains(&core)?;
    let governor = gatherer.governor()?;
    let governor_known = governor.is_some();
    let model = gatherer.model()?;
    if measured.hz.is_none() {
        gatherer.note("the tick frequency is not in sysfs: 250 Hz assumed");
    }
    gatherer.note(if measured.costs.is_empty() {
        "kernel path costs, memory times and idle powers are assumed by kind of core"
    } else {
        "kernel path costs that were not measured, and idle powers, are assumed by kind of core"
    });
    Ok(Facts {
        model,
        cpus,
        core,
        llc,
        nodes,
        distances,
        governor: governor.unwrap_or("performance"),
        governor_known,
        core_types,
        freq_domains,
        notes: gatherer.notes,
    })
}

/// Reads a tree, and keeps the notes on what it lacks.
pub(super) struct Gatherer<'a> {
    pub(super) tree: &'a Tree,
    pub(super) kernel: Topology,
    pub(super) energy_model: Vec<PerfDomain>,
    /// Kernel's numbers of the CPUs, in order: ours are the positions.
    pub(super) online: Vec<usize>,
    notes: Vec<String>,
}

impl<'a> Gatherer<'a> {
    fn new(tree: &'a Tree) -> Result<Self, Error> {
        let kernel = Topology::of(tree)?;
        let online = kernel.online;
        let mut gatherer = Self {
            tree,
            kernel,
            energy_model: energy_model_of(tree)?,
            online: online.iter().collect(),
            notes: Vec::new(),
        };
        if online != CpuSet::first_n(online.len()) {
            let count = online.len();
            gatherer.note(&format!(
                "only the CPUs {online} are online: here they are 0-{}",
                count.saturating_sub(1)
            ));
        }
        Ok(gatherer)
    }

    pub(super) fn note(&mut self, text: &str) {
        if !self.notes.iter().any(|note| note == text) {
            self.notes.push(text.to_owned());
        }
    }

    /// Kernel numbers to ours; CPUs that are not online fall out.
    pub(super) fn ours(&self, kernel: &CpuSet) -> CpuSet {
        let positions = self.online.iter().enumerate();
        positions
            .filter(|(_, number)| kernel.contains(**number))
            .map(|(position, _)| position)
            .collect()
    }

    pub(super) fn cpu_file(&self, cpu: usize, file: &str) -> String {
        format!("{CPU}/cpu{}/{file}", self.online[cpu])
    }

    /// What the kernel says of one of our CPUs.
    fn facts(&self, cpu: usize) -> &crate::kernel::Cpu {
        &self.kernel.cpus[self.online[cpu]]
    }

    /// Disjoint sets, from what each CPU says of its own.
    pub(super) fn partition(&self, set_of: impl Fn(usize) -> CpuSet) -> Vec<CpuSet> {
        let mut sets = Vec::new();
        let mut placed = CpuSet::new();
        for cpu in 0..self.online.len() {
            if placed.contains(cpu) {
                continue;
            }
            let set = set_of(cpu).union(&CpuSet::single(cpu)).difference(&placed);
            placed = placed.union(&set);
            sets.push(set);
        }
        sets
    }

    fn cores(&self) -> Vec<CpuSet> {
        self.partition(|cpu| self.ours(&self.facts(cpu).core))
    }

    /// Nodes that have CPUs, and the distances between them.
    fn nodes(&mut self) -> (Vec<CpuSet>, Vec<Vec<u64>>) {
        let here: Vec<(usize, CpuSet)> = (self.kernel.nodes.iter().enumerate())
            .map(|(place, node)| (place, self.ours(&node.cpus)))
            .filter(|(_, cpus)| !cpus.is_empty())
            .collect();
        if here.len() < 2 {
            return (vec![CpuSet::first_n(self.online.len())], vec![vec![10]]);
        }
        let kernel = &self.kernel;
        let to = |from: usize| {
            here.iter()
                .map(move |(to, _)| kernel.distance(from, *to).into())
        };
        let distances = here.iter().map(|(from, _)| to(*from).collect()).collect();
        if (here.iter()).any(|(place, _)| kernel.nodes[*place].distance.is_none()) {
            self.note("distances between nodes are not known: 20 assumed");
        }
        (here.into_iter().map(|(_, cpus)| cpus).collect(), distances)
    }

    /// Last-level caches. The scheduler never lets one reach over nodes, so
    /// they end at the borders of nodes (sub-NUMA clustering).
    fn llcs(&mut self, nodes: &[CpuSet]) -> Vec<CpuSet> {
        if self.facts(0).llc.is_none() {
            self.note("caches are not known: each package is taken for one last-level cache");
        }
        self.partition(|cpu| {
            let facts = self.facts(cpu);
            let shared = match facts.llc.or(facts.package) {
                Some(shared) => self.ours(&shared),
                None => CpuSet::first_n(self.online.len()),
            };
            let node = nodes.iter().find(|node| node.contains(cpu));
            node.map_or(shared, |node| shared.intersection(node))
        })
    }

    /// L2 of a CPU in KiB, divided by the cores that share it.
    fn l2_kib(&self, cpu: usize, threads: usize) -> Result<Option<u64>, Error> {
        for (level, index) in data_caches(self.tree, self.online[cpu])? {
            if level != 2 {
                continue;
            }
            let file = |name: &str| self.cpu_file(cpu, &format!("cache/index{index}/{name}"));
            let shared = self.tree.cpus(&file("shared_cpu_list"))?;
            let cores = shared.map_or(1, |set| set.len() / threads.max(1)).max(1);
            return Ok(self
                .tree
                .kib(&file("size"))?
                .map(|size| (size / cores as u64).max(1)));
        }
        Ok(None)
    }

    fn core_types(&mut self, core: &[CpuSet]) -> Result<BTreeMap<CoreFacts, CpuSet>, Error> {
        let capacities = self.capacities();
        let model = self.model()?;
        let mut types: BTreeMap<CoreFacts, CpuSet> = BTreeMap::new();
        for (cpu, &capacity) in capacities.iter().enumerate() {
            let threads = core
                .iter()
                .find(|set| set.contains(cpu))
                .map_or(1, CpuSet::len);
            let (name, kind) = self.make(cpu, capacity, &model)?;
            let facts = CoreFacts {
                capacity,
                name,
                kind,
                l2_kib: self.l2_kib(cpu, threads)?,
                idle_states: self.idle_states(cpu)?,
            };
            types.entry(facts).or_default().insert(cpu);
        }
        if types.keys().any(|facts| facts.l2_kib.is_none()) {
            self.note("the size of the L2 is not known: 512 KiB assumed");
        }
        if core.iter().any(|set| set.len() > 1) {
            self.note(
                "how threads of a core slow each other is not in sysfs: `smt_percent` assumed",
            );
        }
        if types.keys().any(|facts| facts.idle_states.is_empty()) {
            self.note("idle states are not known: one with a latency of 1 us assumed");
        }
        Ok(types)
    }

    /// Capacities with the biggest at 1024, as the kernel has them when all
    /// CPUs are online.
    fn capacities(&mut self) -> Vec<u64> {
        let stated = |cpu| self.facts(cpu).capacity.unwrap_or(CAPACITY_SCALE);
        let mut capacities: Vec<u64> = (0..self.online.len()).map(stated).collect();
        let biggest = capacities
            .iter()
            .copied()
            .max()
            .unwrap_or(CAPACITY_SCALE)
            .max(1);
        if biggest != CAPACITY_SCALE {
            self.note(&format!(
                "the biggest CPU online has the capacity {biggest}: all scaled to 1024"
            ));
            for capacity in &mut capacities {
                let scaled = u128::from(*capacity) * u128::from(CAPACITY_SCALE);
                let scaled = scaled / u128::from(biggest);
                *capacity = u64::try_from(scaled).unwrap_or(CAPACITY_SCALE).max(1);
            }
        }
        capacities
    }

    /// Name and cost class of a core.
    fn make(
        &mut self,
        cpu: usize,
        capacity: u64,
        model: &str,
    ) -> Result<(String, CostKind), Error> {
        let register = self.cpu_file(cpu, "regs/identification/midr_el1");
        let unknown_arm = if capacity * 100 < CAPACITY_SCALE * LITTLE_BELOW_PERCENT {
            CostKind::Little
        } else {
            CostKind::Big
        };
        if let Some(midr) = self.tree.register(&register)? {
            let (implementer, part) = (midr >> 24 & 0xff, midr >> 4 & 0xfff);
            let known = ARM_PARTS.iter().find(|(number, ..)| *number == part);
            return Ok(match known {
                Some((_, name, kind)) if implementer == ARM_IMPLEMENTER => {
                    ((*name).to_owned(), *kind)
                }
                _ => (format!("arm-{implementer:02x}-{part:03x}"), unknown_arm),
            });
        }
        // Kernels for x86 have capacities too since 6.12; only they name a vendor.
        let cpuinfo = self.tree.text("proc/cpuinfo")?.unwrap_or_default();
        let x86 = cpuinfo.lines().any(|line| line.starts_with("vendor_id"));
        if !x86 && self.facts(cpu).capacity.is_some() {
            return Ok((format!("capacity-{capacity}"), unknown_arm));
        }
        if !x86 {
            self.note("the kind of core is not known: x86 assumed");
        }
        Ok((model.to_owned(), CostKind::X86))
    }

    /// Name of the processor.
    fn model(&mut self) -> Result<String, Error> {
        let cpuinfo = self.tree.text("proc/cpuinfo")?.unwrap_or_default();
        let model = cpuinfo
            .lines()
            .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
            .map(|(_, name)| name.trim().to_owned());
        Ok(match model {
            Some(name) if !name.is_empty() => name,
            _ => "unknown processor".to_owned(),
        })
    }

    fn idle_states(&self, cpu: usize) -> Result<Vec<IdleFacts>, Error> {
        let mut states = Vec::new();
        for number in self
            .tree
            .numbered(&self.cpu_file(cpu, "cpuidle"), "state")?
        {
            let file = |name: &str| self.cpu_file(cpu, &format!("cpuidle/state{number}/{name}"));
            let name = self.tree.text(&file("name"))?;
            let name = name.unwrap_or_else(|| format!("state{number}"));
            let latency_us = self.tree.number(&file("latency"))?.unwrap_or(0);
            // Kernels before 4.14 do not show it; the governor then has none either.
            let residency_us = self.tree.number(&file("residency"))?.unwrap_or(latency_us);
            let whole_cluster = name.to_ascii_lowercase().contains("cluster");
            states.push(IdleFacts {
                name,
                latency_us,
                residency_us,
                whole_cluster,
            });
        }
        Ok(states)
    }
}
