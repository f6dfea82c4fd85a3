// SPDX-License-Identifier: GPL-2.0-only
//! What the running kernel says about its machine, CPU by CPU.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::clocks::FreqFacts;
use super::sharing::Sharing;
use super::{Measured, MeasuredCore};
use crate::capacity::CAPACITY_SCALE;
use crate::cpuset::CpuSet;
use crate::error::Error;
use crate::kernel::{CPU, NODE, PerfDomain, Topology, Tree, data_caches, energy_model_of};
use crate::schema::{CAPACITY, L2_KIB, TIME_US};

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

/// What names the kinds of core of a hybrid x86: the counters that each has
/// (`/sys/devices/cpu_core` and `cpu_atom`).
const COUNTERS: [&str; 3] = ["cpu_core", "cpu_atom", "cpu_lowpower"];

/// Capacity of a CPU and where it comes from.
pub(super) type Capacity = (u64, CapacityFrom);

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
    /// The CPUs are known to be x86.
    pub x86: bool,
    pub cpus: CpuSet,
    pub sharing: Sharing,
    pub governor: &'static str,
    /// The governor is the one in use, not assumed.
    pub governor_known: bool,
    pub core_types: BTreeMap<CoreFacts, CpuSet>,
    /// By the capacity of the CPUs: a table of operating points has one capacity for each.
    pub freq_domains: BTreeMap<(u64, FreqFacts), Vec<CpuSet>>,
    pub notes: Vec<String>,
}

/// What CPUs of one core type have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CoreFacts {
    pub capacity: u64,
    pub capacity_from: CapacityFrom,
    pub name: String,
    pub kind: CostKind,
    pub l2_kib: Option<u64>,
    pub idle_states: Vec<IdleFacts>,
}

/// Where a capacity comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CapacityFrom {
    /// The kernel states it.
    Sysfs,
    /// The kernel states it of no CPU: all have the same.
    AllEqual,
    /// The kernel states it of other CPUs.
    Assumed,
    /// The kernel states the same of all CPUs, but they were measured to differ in speed.
    Measured,
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
    let sharing = gatherer.sharing()?;
    let mut capacities = gatherer.capacities(&sharing.core)?;
    gatherer.speeds(&mut capacities, measured);
    let core_types = gatherer.core_types(&sharing.core, &capacities, measured)?;
    let freq_domains = gatherer.freq_domains(&sharing.core, &capacities)?;
    let governor = gatherer.governor()?;
    let governor_known = governor.is_some();
    let model = gatherer.model()?;
    if measured.hz.is_none() {
        gatherer.note("sysfs does not give the tick frequency: 250 Hz is assumed");
    }
    let of_types = |core: &MeasuredCore| !core.costs.is_empty();
    let costs = !measured.costs.is_empty() || measured.cores.iter().any(of_types);
    gatherer.note(if costs {
        "kernel path costs that were not measured, and idle powers, are assumed by kind of core"
    } else {
        "kernel path costs, memory times and idle powers are assumed by kind of core"
    });
    measured.notes.iter().for_each(|note| gatherer.note(note));
    Ok(Facts {
        model,
        x86: gatherer.x86()?,
        cpus,
        sharing,
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
    /// Kernel's numbers of the nodes, those without CPUs too.
    pub(super) node_numbers: Vec<u64>,
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
            node_numbers: tree.numbered(NODE, "node")?,
            notes: Vec::new(),
        };
        if online != CpuSet::first_n(online.len()) {
            let count = online.len();
            gatherer.note(&format!(
                "only the CPUs {online} are online: they are renumbered to 0-{}",
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

    /// Our numbers to those of the kernel.
    pub(super) fn theirs(&self, ours: &CpuSet) -> CpuSet {
        ours.iter().map(|cpu| self.online[cpu]).collect()
    }

    pub(super) fn cpu_file(&self, cpu: usize, file: &str) -> String {
        format!("{CPU}/cpu{}/{file}", self.online[cpu])
    }

    /// A number in `range`.
    pub(super) fn number(
        &self,
        path: &str,
        range: &RangeInclusive<u64>,
    ) -> Result<Option<u64>, Error> {
        let expected = format!("a whole number from {} to {}", range.start(), range.end());
        let parse = |text: &str| text.parse().ok().filter(|number| range.contains(number));
        self.tree.parsed(path, &expected, parse)
    }

    /// What the kernel says of one of our CPUs.
    pub(super) fn facts(&self, cpu: usize) -> &crate::kernel::Cpu {
        &self.kernel.cpus[self.online[cpu]]
    }

    /// L2 of a CPU in KiB, divided by the cores that share it.
    fn l2_kib(&self, cpu: usize, threads: usize) -> Result<Option<u64>, Error> {
        for (level, index) in data_caches(self.tree, self.online[cpu])? {
            if level != 2 {
                continue;
            }
            let folder = self.cpu_file(cpu, &format!("cache/index{index}"));
            let shared = self.tree.cpus_or_mask(&folder, "shared_cpu_list")?;
            let cores = shared.map_or(1, |set| set.len() / threads.max(1)).max(1);
            let size = self
                .tree
                .kib(&format!("{folder}/size"), &(0..=*L2_KIB.end()))?;
            let size = size.filter(|&size| size > 0);
            return Ok(size.map(|size| (size / cores as u64).max(1)));
        }
        Ok(None)
    }

    /// The core types. The threads of a core are of one: that of its lowest CPU.
    fn core_types(
        &mut self,
        core: &[CpuSet],
        capacities: &[Capacity],
        measured: &Measured,
    ) -> Result<BTreeMap<CoreFacts, CpuSet>, Error> {
        let model = self.model()?;
        let mut types: BTreeMap<CoreFacts, CpuSet> = BTreeMap::new();
        for threads in core {
            let cpu = threads.first().unwrap_or(0);
            let (capacity, capacity_from) = capacities[cpu];
            let (name, kind) = self.make(cpu, capacity, &model)?;
            let facts = CoreFacts {
                capacity,
                capacity_from,
                name,
                kind,
                l2_kib: self.l2_kib(cpu, threads.len())?,
                idle_states: self.idle_states(cpu)?,
            };
            let of_type = types.entry(facts).or_default();
            *of_type = of_type.union(threads);
        }
        if types.keys().any(|facts| facts.l2_kib.is_none()) {
            self.note("the size of the L2 is not known: 512 KiB is assumed");
        }
        let share_known = |set: &CpuSet| {
            let core = set.first().and_then(|cpu| measured.core(cpu));
            core.is_some_and(|core| core.smt_percent.is_some())
        };
        if core.iter().any(|set| set.len() > 1 && !share_known(set)) {
            self.note(
                "sysfs does not say how threads of a core slow each other: `smt_percent` is \
                 assumed",
            );
        }
        if types.keys().any(|facts| facts.idle_states.is_empty()) {
            self.note("the idle states are not known: one with a latency of 1 us is assumed");
        }
        Ok(types)
    }

    /// Capacities with the biggest at 1024, as the kernel has them when all
    /// CPUs are online. The threads of a core have that of its lowest CPU.
    fn capacities(&mut self, core: &[CpuSet]) -> Result<Vec<Capacity>, Error> {
        let mut stated = Vec::new();
        for cpu in 0..self.online.len() {
            let file = self.cpu_file(cpu, "cpu_capacity");
            stated.push(self.number(&file, &CAPACITY)?);
        }
        let unstated: CpuSet = (0..stated.len())
            .filter(|&cpu| stated[cpu].is_none())
            .collect();
        let missing = match unstated.len() == stated.len() {
            true => CapacityFrom::AllEqual,
            false => CapacityFrom::Assumed,
        };
        if !unstated.is_empty() && missing == CapacityFrom::Assumed {
            self.note(&format!(
                "the capacity of the CPUs {} is not known: {CAPACITY_SCALE} is assumed",
                self.theirs(&unstated)
            ));
        }
        let mut capacities: Vec<Capacity> = (stated.iter())
            .map(|known| known.map_or((CAPACITY_SCALE, missing), |c| (c, CapacityFrom::Sysfs)))
            .collect();
        for threads in core {
            let of_core = capacities[threads.first().unwrap_or(0)];
            if threads.iter().any(|cpu| capacities[cpu].0 != of_core.0) {
                self.note(&format!(
                    "the capacities of the threads {} of one core differ: the first thread's is \
                     used",
                    self.theirs(threads)
                ));
            }
            threads.iter().for_each(|cpu| capacities[cpu] = of_core);
        }
        let biggest = capacities.iter().map(|(capacity, _)| *capacity).max();
        let biggest = biggest.unwrap_or(CAPACITY_SCALE);
        if biggest != CAPACITY_SCALE {
            self.note(&format!(
                "the biggest online CPU has the capacity {biggest}: all capacities are scaled to \
                 1024"
            ));
            for (capacity, _) in &mut capacities {
                *capacity = (*capacity * CAPACITY_SCALE / biggest).max(1);
            }
        }
        Ok(capacities)
    }

    /// Speeds in the place of capacities, where the kernel says of all CPUs that they are alike and
    /// they are not: the model has one figure for the two.
    fn speeds(&mut self, capacities: &mut [Capacity], measured: &Measured) {
        let alike = capacities
            .iter()
            .all(|(capacity, _)| *capacity == CAPACITY_SCALE);
        if !alike || !measured.speeds_differ() {
            return;
        }
        self.note(
            "the kernel gives all CPUs one capacity, but they were measured to differ in speed: \
             `capacity` is the speed, and the simulated scheduler sees it too",
        );
        for (cpu, capacity) in capacities.iter_mut().enumerate() {
            if let Some(speed) = measured.core(cpu).and_then(|core| core.speed) {
                *capacity = (u64::from(speed.value), CapacityFrom::Measured);
            }
        }
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
        // Kernels for x86 have capacities too since 6.12.
        let x86 = self.x86()?;
        if !x86 && self.facts(cpu).capacity.is_some() {
            return Ok((format!("capacity-{capacity}"), unknown_arm));
        }
        if !x86 {
            self.note("the kind of core is not known: x86 is assumed");
        }
        for counters in COUNTERS {
            let cpus = self.tree.cpus(&format!("sys/devices/{counters}/cpus"))?;
            if cpus.is_some_and(|cpus| cpus.contains(self.online[cpu])) {
                return Ok((format!("{model} {counters}"), CostKind::X86));
            }
        }
        Ok((model.to_owned(), CostKind::X86))
    }

    /// Only kernels for x86 name a vendor.
    fn x86(&self) -> Result<bool, Error> {
        let cpuinfo = self.tree.text("proc/cpuinfo")?.unwrap_or_default();
        Ok(cpuinfo.lines().any(|line| line.starts_with("vendor_id")))
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

    fn idle_states(&mut self, cpu: usize) -> Result<Vec<IdleFacts>, Error> {
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
            let disabled = self.tree.number(&file("disable"))? == Some(1);
            if disabled && !states.is_empty() {
                self.note(&format!(
                    "the idle state {name} is disabled: it is left out"
                ));
                continue;
            }
            let longest = *TIME_US.end();
            if latency_us.max(residency_us) > longest {
                self.note(&format!(
                    "the times of the idle state {name} are above {longest} us: {longest} us is \
                     used"
                ));
            }
            let whole_cluster = name.to_ascii_lowercase().contains("cluster");
            states.push(IdleFacts {
                name,
                latency_us: latency_us.min(longest),
                residency_us: residency_us.min(longest),
                whole_cluster,
            });
        }
        for pair in states.windows(2) {
            let [shallow, deep] = pair else { continue };
            if deep.latency_us < shallow.latency_us || deep.residency_us < shallow.residency_us {
                self.note(&format!(
                    "the idle state {} (latency {} us, residency {} us) comes before {} ({} us, {} \
                     us): the kernel's order is kept, because its governors choose by it",
                    shallow.name,
                    shallow.latency_us,
                    shallow.residency_us,
                    deep.name,
                    deep.latency_us,
                    deep.residency_us
                ));
            }
        }
        Ok(states)
    }
}
