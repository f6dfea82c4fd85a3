// SPDX-License-Identifier: GPL-2.0-only
//! What the running kernel says about its machine, CPU by CPU.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::clocks::FreqFacts;
use super::ranks::Ranks;
use super::sharing::Sharing;
use super::speeds::Speed;
use super::{Measured, MeasuredCore};
use crate::capacity::CAPACITY_SCALE;
use crate::cpuset::CpuSet;
use crate::error::Error;
use crate::guess::{CostKind, arm_part};
use crate::kernel::{CPU, NODE, PerfDomain, Topology, Tree, data_caches, energy_model_of};
use crate::schema::{CAPACITY, L2_KIB, TIME_US};

const ARM_IMPLEMENTER: u64 = 0x41;

/// What names the kinds of core of a hybrid x86: the counters that each has
/// (`/sys/devices/cpu_core` and `cpu_atom`).
const COUNTERS: [&str; 3] = ["cpu_core", "cpu_atom", "cpu_lowpower"];

/// Capacity of a CPU and where it comes from.
pub(super) type Capacity = (u64, CapacityFrom);

/// Everything about the machine, CPUs numbered without gaps.
pub(super) struct Facts {
    /// Name of the machine in its file.
    pub name: String,
    pub model: String,
    /// The CPUs are known to be x86.
    pub x86: bool,
    pub cpus: CpuSet,
    pub sharing: Sharing,
    /// `None`: the CPUs have no priorities, or one.
    pub ranks: Option<Ranks>,
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
    /// `None`: the capacity says it.
    pub speed: Option<Speed>,
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
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct IdleFacts {
    pub name: String,
    pub latency_us: u64,
    pub residency_us: u64,
    pub whole_cluster: bool,
}

pub(super) fn gather(name: &str, tree: &Tree, measured: &Measured) -> Result<Facts, Error> {
    let mut gatherer = Gatherer::new(tree)?;
    let cpus = CpuSet::first_n(gatherer.online.len());
    let sharing = gatherer.sharing()?;
    let capacities = gatherer.capacities(&sharing.core)?;
    let speeds = gatherer.speeds(&capacities, measured)?;
    let ranks = gatherer.ranks(&sharing.core)?;
    let core_types =
        gatherer.core_types(&sharing.core, &capacities, speeds.as_deref(), measured)?;
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
        name: name.to_owned(),
        model,
        x86: gatherer.x86()?,
        cpus,
        sharing,
        ranks,
        governor: governor.unwrap_or("performance"),
        governor_known,
        core_types,
        freq_domains,
        notes: gatherer.notes,
    })
}

/// Folders of cpufreq for CPUs that have none of their own: `cpuN/cpufreq` is a link, which `adb pull`
/// and `grep -r` leave out.
fn unlinked_policies(tree: &Tree) -> Result<BTreeMap<usize, String>, Error> {
    let mut policies = BTreeMap::new();
    for policy in tree.numbered(&format!("{CPU}/cpufreq"), "policy")? {
        let folder = format!("{CPU}/cpufreq/policy{policy}");
        let cpus = tree.cpus(&format!("{folder}/related_cpus"))?;
        for cpu in cpus.iter().flat_map(CpuSet::iter) {
            if !tree.exists(&format!("{CPU}/cpu{cpu}/cpufreq")) {
                policies.insert(cpu, folder.clone());
            }
        }
    }
    Ok(policies)
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
    /// Folders of cpufreq by the kernel's CPU, of CPUs whose link to it was not copied.
    policies: BTreeMap<usize, String>,
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
            policies: unlinked_policies(tree)?,
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
        let number = self.online[cpu];
        let policy = self
            .policies
            .get(&number)
            .zip(file.strip_prefix("cpufreq/"));
        match policy {
            Some((folder, file)) => format!("{folder}/{file}"),
            None => format!("{CPU}/cpu{number}/{file}"),
        }
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
        speeds: Option<&[Speed]>,
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
                speed: speeds.map(|speeds| speeds[cpu]),
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

    /// Name and cost class of a core.
    fn make(
        &mut self,
        cpu: usize,
        capacity: u64,
        model: &str,
    ) -> Result<(String, CostKind), Error> {
        let register = self.cpu_file(cpu, "regs/identification/midr_el1");
        let unknown_arm = CostKind::by_capacity(capacity, CAPACITY_SCALE);
        if let Some(midr) = self.tree.register(&register)? {
            let (implementer, part) = (midr >> 24 & 0xff, midr >> 4 & 0xfff);
            return Ok(match arm_part(part) {
                Some((name, kind)) if implementer == ARM_IMPLEMENTER => (name.to_owned(), kind),
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

    /// Only kernels for x86 and for s390 name a vendor.
    pub(super) fn x86(&self) -> Result<bool, Error> {
        let cpuinfo = self.tree.text("proc/cpuinfo")?.unwrap_or_default();
        let mut vendors = cpuinfo.lines().filter(|line| line.starts_with("vendor_id"));
        Ok(vendors.any(|line| !line.ends_with("IBM/S390")))
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
