// SPDX-License-Identifier: GPL-2.0-only
//! From a checked draft to the machine that a simulation reads: names become
//! dense indices in the order of the lowest CPU, defaults and derived figures
//! are filled in.

use crate::calibration::Calibration;
use crate::capacity;
use crate::check::{Finding, Severity, check};
use crate::costs::COST_FIELDS;
use crate::cpuset::CpuSet;
use crate::draft::{CoreTypeDraft, Draft, FreqDomainDraft, IdleDraft, Partition};
use crate::error::Error;
use crate::figure::{Confidence, Figure, Provenance};
use crate::levels;
use crate::model::{Cluster, CoreType, Cpu, FreqDomain, IdleState, Itmt, Machine, Opp};
use crate::reader::Ledger;
use crate::speed::{self, Speeds};

/// A machine with the provenance of its figures.
#[derive(Debug, Clone, PartialEq)]
pub struct DataSheet {
    /// The machine.
    pub machine: Machine,
    /// Every figure of its file and every figure derived from these, by section and key.
    pub figures: Vec<Figure>,
    /// Warnings of the checks.
    pub warnings: Vec<Finding>,
    /// The rows that the costs were fitted to; `None`: no fit, the costs are assumed.
    pub calibration: Option<Calibration>,
    /// The speeds of its CPUs, as far as they are known.
    pub speeds: Speeds,
    /// Of each of the machine's core types, the class of costs that its own is like in the end; of the
    /// built-in classes these are `x86`, `little` and `big`.
    pub cost_families: Vec<String>,
    /// Facts that were not known and had to be assumed, a sentence each.
    pub notes: Vec<String>,
    /// The machine file as one text: [`parse`](crate::parse) makes the machine of it on every host, for
    /// no file but the built-in ones is needed beside it.
    pub text: String,
}

impl Draft {
    /// Checks the machine and fills in what follows.
    ///
    /// # Errors
    /// [`Error::Impossible`] when a check finds an error.
    pub fn resolve(self) -> Result<DataSheet, Error> {
        let findings = check(&self);
        if findings.iter().any(|f| f.severity == Severity::Error) {
            return Err(Error::Impossible { findings });
        }
        let resolver = Resolver::new(&self);
        let machine = resolver.machine();
        let cost_families = (resolver.core_types.iter())
            .map(|core| core.costs.family.clone())
            .collect();
        resolver.record_derived_figures();
        let speeds = speed::known(&self);
        let Self {
            calibration,
            ledger,
            notes,
            text,
            ..
        } = self;
        let mut figures = ledger.into_figures();
        figures.sort_by(|a, b| a.section_and_key().cmp(&b.section_and_key()));
        Ok(DataSheet {
            machine,
            figures,
            warnings: findings,
            calibration,
            speeds,
            cost_families,
            notes,
            text,
        })
    }
}

/// Items of the draft with one CPU set each, in the order of their lowest CPU.
struct Ordered<'a, T> {
    items: Vec<(CpuSet, String, &'a T)>,
}

impl<'a, T> Ordered<'a, T> {
    /// Items of which each may stand for several sets: those are numbered.
    fn new(items: impl Iterator<Item = (&'a T, &'a str, &'a Partition)>) -> Self {
        let mut all = Vec::new();
        for (item, name, spans) in items {
            for (number, span) in spans.iter().enumerate() {
                let name = match spans.len() {
                    1 => name.to_owned(),
                    _ => format!("{name}{number}"),
                };
                all.push((span.value, name, item));
            }
        }
        all.sort_by_key(|(span, ..)| span.first());
        Self { items: all }
    }

    fn index_of(&self, cpu: usize) -> usize {
        self.items
            .iter()
            .position(|(span, ..)| span.contains(cpu))
            .unwrap_or(0)
    }
}

struct Resolver<'a> {
    draft: &'a Draft,
    /// Core types in the order of their lowest CPU.
    core_types: Vec<&'a CoreTypeDraft>,
    freq_domains: Ordered<'a, FreqDomainDraft>,
    clusters: Ordered<'a, crate::draft::ClusterDraft>,
}

impl<'a> Resolver<'a> {
    fn new(draft: &'a Draft) -> Self {
        let mut core_types: Vec<&CoreTypeDraft> = draft.core_types.iter().collect();
        core_types.sort_by_key(|core| core.cpus.iter().filter_map(|s| s.value.first()).min());
        let freq_domains = draft.freq_domains.iter();
        let clusters = draft.clusters.iter();
        Self {
            draft,
            core_types,
            freq_domains: Ordered::new(freq_domains.map(|d| (d, d.name.as_str(), &d.cpus))),
            clusters: Ordered::new(clusters.map(|c| (c, c.name.as_str(), &c.cpus))),
        }
    }

    fn machine(&self) -> Machine {
        let draft = self.draft;
        let topology = &draft.topology;
        let nodes: Vec<CpuSet> = topology.node.iter().map(|span| span.value).collect();
        Machine {
            name: draft.name.clone(),
            description: draft.description.clone(),
            hz: narrow(draft.hz.value),
            hrtick: draft.hrtick,
            irq_time_accounting: draft.irq_time_accounting,
            one_processor: draft.one_processor,
            governor: draft.governor,
            idle_governor: draft.idle_governor,
            itmt: self.itmt(),
            cpus: self.cpus(&nodes),
            core_types: self
                .core_types
                .iter()
                .map(|core| self.core_type(core))
                .collect(),
            freq_domains: self
                .freq_domains
                .items
                .iter()
                .map(|(cpus, _, domain)| self.freq_domain(*cpus, domain))
                .collect(),
            clusters: self
                .clusters
                .items
                .iter()
                .map(|(cpus, name, cluster)| Cluster {
                    name: name.clone(),
                    cpus: *cpus,
                    idle_power_uw: cluster.idle_power_uw.value,
                    off_power_uw: cluster.off_power_uw.value,
                })
                .collect(),
            levels: levels::build(topology),
            numa_distance: topology
                .numa_distance
                .value
                .iter()
                .flatten()
                .map(|&distance| narrow(distance))
                .collect(),
            imb_numa_nr: topology
                .imb_numa_nr
                .map_or_else(|| levels::imb_numa_nr(topology) as u32, narrow),
            // kernel/sched/topology.c: RECLAIM_DISTANCE unless the platform sets another.
            reclaim_distance: topology.reclaim_distance.map_or(30, narrow),
            memory: draft.memory,
        }
    }

    fn itmt(&self) -> Option<Itmt> {
        let itmt = self.draft.itmt.as_ref()?;
        let of = |cpu: usize| {
            let mut ranks = itmt.ranks.iter();
            let rank = ranks.find(|rank| rank.cpus.value.contains(cpu));
            rank.map_or(0, |rank| narrow(rank.priority.value))
        };
        Some(Itmt {
            driver: itmt.driver,
            priority: self.draft.topology.cpus.value.iter().map(of).collect(),
        })
    }

    fn cpus(&self, nodes: &[CpuSet]) -> Vec<Cpu> {
        let topology = &self.draft.topology;
        let cores = by_lowest_cpu(&topology.core);
        let llcs = by_lowest_cpu(&topology.llc);
        topology
            .cpus
            .value
            .iter()
            .map(|cpu| {
                let core_type = self.core_type_index(cpu);
                let freq_domain = self.freq_domains.index_of(cpu);
                let (_, _, domain) = self.freq_domains.items[freq_domain];
                let core = self.core_types[core_type];
                let capacity = capacity::at_top(self.draft, core, domain.top_khz());
                Cpu {
                    core_type,
                    freq_domain,
                    cluster: self.clusters.index_of(cpu),
                    core: index_of(&cores, cpu),
                    llc: index_of(&llcs, cpu),
                    node: index_of(nodes, cpu),
                    capacity_orig: narrow(capacity),
                    stated_speed: core.speed.as_ref().map(|speed| narrow(speed.value)),
                }
            })
            .collect()
    }

    fn core_type_index(&self, cpu: usize) -> usize {
        self.core_types
            .iter()
            .position(|core| core.cpus.iter().any(|span| span.value.contains(cpu)))
            .unwrap_or(0)
    }

    fn core_type(&self, core: &CoreTypeDraft) -> CoreType {
        CoreType {
            name: core.name.clone(),
            idle_states: {
                let times = core.costs.idle_times;
                (core.idle_states.iter())
                    .map(|state| idle_state(state, times))
                    .collect()
            },
            costs: core.costs.costs(capacity::top_khz(self.draft, core)),
            l2_bytes: core.l2_bytes,
            smt_percent: match (&core.smt_percent, self.draft.has_siblings(core)) {
                (Some(stated), true) => stated.value as u32,
                _ => 100,
            },
        }
    }

    fn freq_domain(&self, cpus: CpuSet, domain: &FreqDomainDraft) -> FreqDomain {
        let top_capacity = self.domain_capacity(domain);
        let opps = domain.opps.iter().map(|opp| {
            let capacity = match &opp.capacity {
                Some(stated) => stated.value,
                None => capacity::at_frequency(top_capacity, opp.khz.value, domain.top_khz()),
            };
            Opp {
                khz: narrow(opp.khz.value),
                capacity: narrow(capacity),
                core_power_uw: opp.core_power_uw.value,
                em_power_uw: opp.em_power_uw,
                cluster_power_uw: opp.cluster_power_uw.value,
            }
        });
        FreqDomain {
            cpus,
            opps: opps.collect(),
            switch_ns: domain.switch_us * 1000,
            fast_switch: domain.fast_switch,
            rate_limit_ns: domain.rate_limit_us.map(|limit| limit * 1000),
        }
    }

    /// Capacity of the CPUs of a domain, which all have the same.
    fn domain_capacity(&self, domain: &FreqDomainDraft) -> u64 {
        let mut cpus = domain.cpus.iter().flat_map(|span| span.value.iter());
        cpus.find_map(|cpu| capacity::core_type_of(self.draft, cpu))
            .map_or(0, |core| {
                capacity::at_top(self.draft, core, domain.top_khz())
            })
    }

    fn record_derived_figures(&self) {
        for core in &self.core_types {
            self.record_capacity(core);
            self.record_costs(core);
        }
        for domain in &self.draft.freq_domains {
            self.record_opp_capacities(domain);
        }
    }

    fn record_capacity(&self, core: &CoreTypeDraft) {
        if core.capacity.is_some() {
            return;
        }
        let top_khz = capacity::top_khz(self.draft, core);
        let rule = "capacity_dmips_mhz * top frequency, biggest CPU 1024 (Linux 6.5 \
                    drivers/base/arch_topology.c topology_normalize_cpu_scale)";
        self.draft.ledger.record(
            format!("core_type.{}.capacity", core.name),
            capacity::at_top(self.draft, core, top_khz).to_string(),
            Provenance::new(rule.to_owned(), self.confidence_of_capacities()),
        );
    }

    /// Capacities are relative: they are known no better than the clocks of all CPUs. With one core type
    /// and one clock the capacity is 1024, whatever the clock is.
    fn confidence_of_capacities(&self) -> Confidence {
        let draft = self.draft;
        if draft.core_types.len() < 2 {
            return Confidence::Derived;
        }
        let clocks = draft.freq_domains.iter();
        let paths = clocks.map(|domain| format!("freq_domain.{}.khz", domain.name));
        let known = paths.filter_map(|path| draft.confidence_of(&path)).max();
        known.map_or(Confidence::Derived, |least| least.max(Confidence::Derived))
    }

    fn record_opp_capacities(&self, domain: &FreqDomainDraft) {
        if domain.opps.iter().any(|opp| opp.capacity.is_some()) {
            return;
        }
        let top = self.domain_capacity(domain);
        let values = domain
            .opps
            .iter()
            .map(|opp| capacity::at_frequency(top, opp.khz.value, domain.top_khz()).to_string());
        derived(
            &self.draft.ledger,
            format!("freq_domain.{}.capacity", domain.name),
            values.collect::<Vec<_>>().join(" "),
            "capacity * frequency / top frequency (Linux 6.5 arch_set_freq_scale)",
        );
    }

    /// Costs at the clock of this core, each with the source of its class.
    fn record_costs(&self, core: &CoreTypeDraft) {
        let top_khz = capacity::top_khz(self.draft, core);
        for (index, field) in COST_FIELDS.iter().enumerate() {
            let Some((stated, provenance)) = &core.costs.values[index] else {
                continue;
            };
            let value = core.costs.at(index, top_khz);
            let reference_mhz = core.costs.reference_khz.value / 1000;
            let scaled = u64::from(value) != stated.value;
            self.draft.ledger.push(Figure {
                path: format!("core_type.{}.costs.{}", core.name, field.key),
                value: value.to_string(),
                basis: scaled.then(|| format!("{} at {reference_mhz} MHz", stated.value)),
                provenance: provenance.clone(),
            });
        }
    }
}

fn derived(ledger: &Ledger, path: String, value: String, rule: &str) {
    let provenance = Provenance::new(rule.to_owned(), Confidence::Derived);
    ledger.record(path, value, provenance);
}

/// `times`: of what is stated, in thousandths, for what the hardware takes. What cpuidle plans with
/// stays as it is stated, since the kernel knows no better.
fn idle_state(state: &IdleDraft, times: u64) -> IdleState {
    IdleState {
        name: state.name.value.clone(),
        entry_ns: state.entry_us * times,
        exit_ns: state.exit_us.value * times,
        wakeup_ns: state.latency_us() * 1000,
        residency_ns: state.residency_us.value * 1000,
        power_uw: state.power_uw.value,
        scope: state.scope,
        polling: state.polling,
        timer_stops: state.timer_stops,
    }
}

fn by_lowest_cpu(partition: &Partition) -> Vec<CpuSet> {
    let mut spans: Vec<CpuSet> = partition.iter().map(|span| span.value).collect();
    spans.sort_by_key(CpuSet::first);
    spans
}

fn index_of(spans: &[CpuSet], cpu: usize) -> usize {
    spans
        .iter()
        .position(|span| span.contains(cpu))
        .unwrap_or(0)
}

/// Narrows a number that the schema's ranges keep within 32 bits.
fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
