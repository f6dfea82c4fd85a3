// SPDX-License-Identifier: GPL-2.0-only
//! What the running kernel says about its machine, CPU by CPU.

use std::collections::BTreeMap;

use super::tree::Tree;
use crate::capacity::CAPACITY_SCALE;
use crate::cpuset::CpuSet;
use crate::error::Error;

const CPU: &str = "sys/devices/system/cpu";
const NODE: &str = "sys/devices/system/node";
const ENERGY_MODEL: &str = "sys/kernel/debug/energy_model";

/// cpufreq drivers that can change the clock from the scheduler's context.
const FAST_SWITCH_DRIVERS: [&str; 6] = [
    "acpi-cpufreq",
    "amd-pstate",
    "cppc_cpufreq",
    "intel_cpufreq",
    "qcom-cpufreq-hw",
    "scmi",
];

/// Drivers whose governor `powersave` follows the load.
const SELF_GOVERNED_DRIVERS: [&str; 2] = ["intel_pstate", "amd-pstate-epp"];

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

/// What clocks of one kind have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FreqFacts {
    pub khz: Vec<u64>,
    /// From the energy model, uW.
    pub power_uw: Option<Vec<u64>>,
    pub switch_us: Option<u64>,
    pub fast_switch: bool,
    pub rate_limit_us: Option<u64>,
    /// Frequencies were read, not assumed.
    pub known: bool,
}

pub(super) fn gather(tree: &Tree) -> Result<Facts, Error> {
    let mut gatherer = Gatherer::new(tree)?;
    let cpus = CpuSet::first_n(gatherer.online.len());
    let core = gatherer.cores()?;
    let (nodes, distances) = gatherer.nodes()?;
    let llc = gatherer.llcs(&nodes)?;
    let core_types = gatherer.core_types(&core)?;
    let freq_domains = gatherer.freq_domains(&core)?;
    let governor = gatherer.governor()?;
    let governor_known = governor.is_some();
    let model = gatherer.model()?;
    gatherer.note("the tick frequency is not in sysfs: 250 Hz assumed");
    gatherer.note("kernel path costs, memory times and idle powers are assumed by kind of core");
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

struct Gatherer<'a> {
    tree: &'a Tree,
    /// Kernel's numbers of the CPUs, in order: ours are the positions.
    online: Vec<usize>,
    notes: Vec<String>,
}

impl<'a> Gatherer<'a> {
    fn new(tree: &'a Tree) -> Result<Self, Error> {
        let path = format!("{CPU}/online");
        let Some(online) = tree.cpus(&path)? else {
            let source = std::io::Error::from(std::io::ErrorKind::NotFound);
            return Err(Error::Read {
                path: tree.path(&path),
                source,
            });
        };
        let mut gatherer = Self {
            tree,
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

    fn note(&mut self, text: &str) {
        if !self.notes.iter().any(|note| note == text) {
            self.notes.push(text.to_owned());
        }
    }

    /// Kernel numbers to ours; CPUs that are not online fall out.
    fn ours(&self, kernel: &CpuSet) -> CpuSet {
        let positions = self.online.iter().enumerate();
        positions
            .filter(|(_, number)| kernel.contains(**number))
            .map(|(position, _)| position)
            .collect()
    }

    fn cpu_file(&self, cpu: usize, file: &str) -> String {
        format!("{CPU}/cpu{}/{file}", self.online[cpu])
    }

    /// Disjoint sets, from what each CPU says of its own.
    fn partition(
        &self,
        set_of: impl Fn(usize) -> Result<CpuSet, Error>,
    ) -> Result<Vec<CpuSet>, Error> {
        let mut sets = Vec::new();
        let mut placed = CpuSet::new();
        for cpu in 0..self.online.len() {
            if placed.contains(cpu) {
                continue;
            }
            let set = set_of(cpu)?.union(&CpuSet::single(cpu)).difference(&placed);
            placed = placed.union(&set);
            sets.push(set);
        }
        Ok(sets)
    }

    fn cores(&mut self) -> Result<Vec<CpuSet>, Error> {
        self.partition(|cpu| {
            for file in ["topology/core_cpus_list", "topology/thread_siblings_list"] {
                if let Some(set) = self.tree.cpus(&self.cpu_file(cpu, file))? {
                    return Ok(self.ours(&set));
                }
            }
            Ok(CpuSet::single(cpu))
        })
    }

    /// Nodes that have CPUs, and the distances between them.
    fn nodes(&mut self) -> Result<(Vec<CpuSet>, Vec<Vec<u64>>), Error> {
        let mut nodes = Vec::new();
        let mut rows = Vec::new();
        for (column, number) in self.tree.numbered(NODE, "node")?.into_iter().enumerate() {
            let cpus = self.tree.cpus(&format!("{NODE}/node{number}/cpulist"))?;
            let cpus = self.ours(&cpus.unwrap_or_default());
            if cpus.is_empty() {
                continue;
            }
            let row = self
                .tree
                .numbers(&format!("{NODE}/node{number}/distance"))?;
            nodes.push(cpus);
            rows.push((column, row.unwrap_or_default()));
        }
        if nodes.len() < 2 {
            return Ok((vec![CpuSet::first_n(self.online.len())], vec![vec![10]]));
        }
        let columns: Vec<usize> = rows.iter().map(|(column, _)| *column).collect();
        let mut assumed = false;
        let mut distances = Vec::new();
        for (column, row) in &rows {
            let mut to = |other: &usize| {
                row.get(*other).copied().unwrap_or_else(|| {
                    assumed = true;
                    if other == column { 10 } else { 20 }
                })
            };
            distances.push(columns.iter().map(&mut to).collect());
        }
        if assumed {
            self.note("distances between nodes are not known: 20 assumed");
        }
        Ok((nodes, distances))
    }

    /// Last-level caches. The scheduler never lets one reach over nodes, so
    /// they end at the borders of nodes (sub-NUMA clustering).
    fn llcs(&mut self, nodes: &[CpuSet]) -> Result<Vec<CpuSet>, Error> {
        if self.llc(0)?.is_none() {
            self.note("caches are not known: each package is taken for one last-level cache");
        }
        self.partition(|cpu| {
            let shared = match self.llc(cpu)? {
                Some(shared) => shared,
                None => self.package(cpu)?,
            };
            let node = nodes.iter().find(|node| node.contains(cpu));
            Ok(node.map_or(shared, |node| shared.intersection(node)))
        })
    }

    fn llc(&self, cpu: usize) -> Result<Option<CpuSet>, Error> {
        let mut highest = None;
        for (level, index) in self.caches(cpu)? {
            if highest.is_none_or(|(known, _)| level > known) {
                highest = Some((level, index));
            }
        }
        let Some((_, index)) = highest else {
            return Ok(None);
        };
        let path = self.cpu_file(cpu, &format!("cache/index{index}/shared_cpu_list"));
        Ok(self.tree.cpus(&path)?.map(|set| self.ours(&set)))
    }

    /// Level and index of the caches that hold data.
    fn caches(&self, cpu: usize) -> Result<Vec<(u64, u64)>, Error> {
        let mut caches = Vec::new();
        for index in self.tree.numbered(&self.cpu_file(cpu, "cache"), "index")? {
            let file = |name: &str| self.cpu_file(cpu, &format!("cache/index{index}/{name}"));
            let instructions = self.tree.text(&file("type"))?.as_deref() == Some("Instruction");
            if let Some(level) = self.tree.number(&file("level"))?
                && !instructions
            {
                caches.push((level, index));
            }
        }
        Ok(caches)
    }

    fn package(&self, cpu: usize) -> Result<CpuSet, Error> {
        for file in ["topology/package_cpus_list", "topology/core_siblings_list"] {
            if let Some(set) = self.tree.cpus(&self.cpu_file(cpu, file))? {
                return Ok(self.ours(&set));
            }
        }
        Ok(CpuSet::first_n(self.online.len()))
    }

    /// L2 of a CPU in KiB, divided by the cores that share it.
    fn l2_kib(&self, cpu: usize, threads: usize) -> Result<Option<u64>, Error> {
        for (level, index) in self.caches(cpu)? {
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
        let capacities = self.capacities()?;
        let model = self.model()?;
        let mut types: BTreeMap<CoreFacts, CpuSet> = BTreeMap::new();
        for cpu in 0..self.online.len() {
            let threads = core
                .iter()
                .find(|set| set.contains(cpu))
                .map_or(1, CpuSet::len);
            let capacity = capacities[cpu];
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
        if types.keys().any(|facts| facts.idle_states.is_empty()) {
            self.note("idle states are not known: one with a latency of 1 us assumed");
        }
        Ok(types)
    }

    /// Capacities with the biggest at 1024, as the kernel has them when all
    /// CPUs are online.
    fn capacities(&mut self) -> Result<Vec<u64>, Error> {
        let mut capacities = Vec::new();
        for cpu in 0..self.online.len() {
            let stated = self.tree.number(&self.cpu_file(cpu, "cpu_capacity"))?;
            capacities.push(stated.unwrap_or(CAPACITY_SCALE));
        }
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
        let stated = self.tree.text(&self.cpu_file(cpu, "cpu_capacity"))?;
        if !x86 && stated.is_some() {
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

    fn freq_domains(&mut self, core: &[CpuSet]) -> Result<BTreeMap<FreqFacts, Vec<CpuSet>>, Error> {
        let spans = self.partition(|cpu| {
            for file in ["cpufreq/related_cpus", "cpufreq/affected_cpus"] {
                if let Some(set) = self.tree.cpus(&self.cpu_file(cpu, file))? {
                    return Ok(self.ours(&set));
                }
            }
            Ok(CpuSet::single(cpu))
        })?;
        let spans = merge_siblings(spans, core);
        let mut domains: BTreeMap<FreqFacts, Vec<CpuSet>> = BTreeMap::new();
        for span in spans {
            let Some(cpu) = span.first() else { continue };
            let facts = self.freq(cpu)?;
            domains.entry(facts).or_default().push(span);
        }
        if domains.keys().any(|facts| !facts.known) {
            self.note("frequencies are not known: one frequency is used");
        }
        if domains.keys().any(|facts| facts.power_uw.is_none()) {
            self.note("there is no readable energy model: powers are assumed");
        }
        Ok(domains)
    }

    fn freq(&mut self, cpu: usize) -> Result<FreqFacts, Error> {
        let file = |name: &str| format!("cpufreq/{name}");
        let number = |name: &str| self.tree.number(&self.cpu_file(cpu, &file(name)));
        // The kernel says "unknown" with the largest number of 32 bits.
        let known = |latency: &u64| *latency < u64::from(u32::MAX);
        let switch_us = number("cpuinfo_transition_latency")?
            .filter(known)
            .map(|ns| ns / 1000);
        let rate_limit_us = number("schedutil/rate_limit_us")?;
        let driver = self
            .tree
            .text(&self.cpu_file(cpu, &file("scaling_driver")))?;
        let fast_switch = driver.is_some_and(|d| FAST_SWITCH_DRIVERS.contains(&d.as_str()));
        let (khz, power_uw) = match self.energy_model(cpu)? {
            Some((khz, power)) => (khz, Some(power)),
            None => (self.frequencies(cpu)?, None),
        };
        let known = !khz.is_empty();
        Ok(FreqFacts {
            khz: if known {
                khz
            } else {
                vec![self.nominal_khz(cpu)?]
            },
            power_uw,
            switch_us,
            fast_switch,
            rate_limit_us,
            known,
        })
    }

    /// The frequency table, or what is known of it: lowest, base and highest.
    fn frequencies(&mut self, cpu: usize) -> Result<Vec<u64>, Error> {
        let mut khz = Vec::new();
        for name in ["scaling_available_frequencies", "scaling_boost_frequencies"] {
            let path = self.cpu_file(cpu, &format!("cpufreq/{name}"));
            khz.extend(self.tree.numbers(&path)?.unwrap_or_default());
        }
        if khz.is_empty() {
            for name in ["cpuinfo_min_freq", "base_frequency", "cpuinfo_max_freq"] {
                let path = self.cpu_file(cpu, &format!("cpufreq/{name}"));
                khz.extend(self.tree.number(&path)?);
            }
            if !khz.is_empty() {
                self.note("there is no frequency table: lowest, base and highest are used");
            }
        }
        khz.retain(|&khz| khz > 0);
        khz.sort_unstable();
        khz.dedup();
        Ok(khz)
    }

    /// The one frequency of a machine without cpufreq.
    fn nominal_khz(&mut self, cpu: usize) -> Result<u64, Error> {
        let nominal = self
            .tree
            .number(&self.cpu_file(cpu, "acpi_cppc/nominal_freq"))?;
        if let Some(mhz) = nominal.filter(|&mhz| mhz > 0) {
            return Ok(mhz.saturating_mul(1000));
        }
        let cpuinfo = self.tree.text("proc/cpuinfo")?.unwrap_or_default();
        let mhz = cpuinfo
            .lines()
            .find_map(|line| line.strip_prefix("cpu MHz")?.split_once(':'))
            .and_then(|(_, mhz)| mhz.trim().split('.').next()?.parse::<u64>().ok());
        match mhz.filter(|&mhz| mhz > 0) {
            Some(mhz) => Ok(mhz.saturating_mul(1000)),
            None => {
                self.note("the clock is not known: 1 GHz assumed");
                Ok(1_000_000)
            }
        }
    }

    /// Frequencies (kHz) and powers (uW) of the kernel's energy model.
    fn energy_model(&mut self, cpu: usize) -> Result<Option<(Vec<u64>, Vec<u64>)>, Error> {
        /// `EM_PERF_DOMAIN_MICROWATTS` and `EM_PERF_DOMAIN_ARTIFICIAL` of
        /// Linux 6.5 `include/linux/energy_model.h`.
        const MICROWATTS: u64 = 1;
        const ARTIFICIAL: u64 = 4;
        let domain = format!("{ENERGY_MODEL}/cpu{}", self.online[cpu]);
        let flags = self.tree.register(&format!("{domain}/flags"))?.unwrap_or(0);
        let factor = if flags & MICROWATTS != 0 { 1 } else { 1000 };
        let (mut khz, mut power) = (Vec::new(), Vec::new());
        for step in self.tree.numbered(&domain, "ps:")? {
            if let Some(value) = self.tree.number(&format!("{domain}/ps:{step}/power"))? {
                khz.push(step);
                power.push(value.saturating_mul(factor));
            }
        }
        if khz.is_empty() {
            return Ok(None);
        }
        if flags & ARTIFICIAL != 0 {
            self.note(
                "the energy model has powers in a unit of its own: only ratios mean anything",
            );
        }
        Ok(Some((khz, power)))
    }

    /// The governor in use, as far as it is modelled; `None` without cpufreq.
    fn governor(&mut self) -> Result<Option<&'static str>, Error> {
        let governor = self
            .tree
            .text(&self.cpu_file(0, "cpufreq/scaling_governor"))?;
        let driver = self
            .tree
            .text(&self.cpu_file(0, "cpufreq/scaling_driver"))?;
        let self_governed = driver.is_some_and(|d| SELF_GOVERNED_DRIVERS.contains(&d.as_str()));
        Ok(match governor.as_deref() {
            Some("performance") => Some("performance"),
            Some("powersave") if !self_governed => Some("powersave"),
            Some("schedutil") => Some("schedutil"),
            Some(other) => {
                self.note(&format!(
                    "the governor `{other}` is modelled as `schedutil`"
                ));
                Some("schedutil")
            }
            None => {
                self.note("there is no cpufreq: `performance` assumed");
                None
            }
        })
    }
}

/// SMT siblings have one clock, whatever their policies are.
fn merge_siblings(spans: Vec<CpuSet>, core: &[CpuSet]) -> Vec<CpuSet> {
    let mut merged: Vec<CpuSet> = Vec::new();
    for span in spans {
        let siblings = core.iter().filter(|set| set.intersects(&span));
        let whole = siblings.fold(span, |whole, set| whole.union(set));
        match merged.iter_mut().find(|known| known.intersects(&whole)) {
            Some(known) => *known = known.union(&whole),
            None => merged.push(whole),
        }
    }
    merged
}
