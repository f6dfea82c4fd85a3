// SPDX-License-Identifier: GPL-2.0-only
//! Builds the views of a machine from a plain description: the scheduling
//! domains, groups and caches that Linux would build of it.
//!
//! The rules are those of kernel/sched/topology.c: `sd_init()` for flags and
//! `imbalance_pct`, `asym_cpu_capacity_level()` (5.5) or
//! `asym_cpu_capacity_classify()` (5.14), `cpu_attach_domain()` for levels that
//! add nothing, `update_top_cache_domain()`, `adjust_numa_imbalance()` (5.18).
//! [`Params`] has the differences between kernels.
//!
//! Groups are in CPU order. The kernel's ring starts at the CPU's own group, so a walk starts at
//! [`Place::group`] and wraps.
//!
//! One difference: a NUMA level that spans no more than its child is dropped for every base; Linux
//! does so since 5.10.

use crate::abi::{
    Cpu, Domain, Group, Llc, MAX_CPUS, MAX_DOMAINS, MAX_GROUPS, MAX_LEVELS, Mask, NONE, Params,
    Place, Topology, domain_flag as flag, rule,
};
use crate::core::Core;
use crate::pack;
use crate::shape::{Shape, Sound};
use std::collections::{BTreeMap, BTreeSet};

/// Above this NUMA distance tasks are neither pulled nor spread (`RECLAIM_DISTANCE`).
pub const RECLAIM_DISTANCE: u32 = 30;

/// A machine as the scheduler sees it.
#[derive(Debug, Clone, Default)]
pub struct Description {
    /// CPU 0, 1, ….
    pub cpus: Vec<CpuDescription>,
    /// Topology levels, from small spans to large ones.
    pub levels: Vec<Level>,
}

/// One CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CpuDescription {
    /// Capacity at the top frequency, 1..=1024; the biggest CPU has 1024.
    pub capacity: u32,
    /// NUMA node.
    pub node: u32,
}

/// What CPUs of one span of a level share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelKind {
    /// A core (`SMT`).
    Smt,
    /// CPUs that share an L2 or the tags of an L3 (`CLS`).
    Cluster,
    /// A cache (`MC`); the highest level that shares one is the last-level cache.
    Cache,
    /// A package or node (`DIE`, later `PKG`).
    Package,
    /// Nodes up to this distance (`NUMA`).
    Numa {
        /// As in the SLIT, 10 = local.
        distance: u32,
    },
}

/// One topology level (`struct sched_domain_topology_level`).
#[derive(Debug, Clone)]
pub struct Level {
    /// The part of the machine that the CPUs of a span share.
    pub kind: LevelKind,
    /// The span of each CPU; spans of NUMA levels may overlap.
    pub spans: Vec<Mask>,
    /// Each of its groups can be power gated alone (without `SD_SHARE_POWERDOMAIN`).
    pub gated: bool,
    /// Its CPUs have priorities, which balancing follows (`SD_ASYM_PACKING`).
    pub ranked: bool,
}

/// Why no views can be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTopology {
    /// The number of CPUs is 0, or more than a mask holds.
    #[error("found {0} CPUs, expected 1 to {MAX_CPUS}")]
    Cpus(usize),
    /// The capacity of a CPU is 0, or more than the biggest CPU's 1024.
    #[error("CPU {cpu} has capacity {capacity}, expected 1 to 1024")]
    Capacity {
        /// The CPU.
        cpu: u32,
        /// What was given.
        capacity: u32,
    },
    /// A level does not have one span for each CPU.
    #[error("level {level} ({kind:?}) has {found} spans, expected one for each of {expected} CPUs")]
    Spans {
        /// Index of the level.
        level: usize,
        /// Its kind.
        kind: LevelKind,
        /// Spans given.
        found: usize,
        /// Number of CPUs.
        expected: usize,
    },
    /// A span lacks its own CPU or the CPUs of the level below, or has CPUs that do not exist.
    #[error(
        "level {level} ({kind:?}): the span of CPU {cpu} must hold that CPU, its span of the level below, \
         and only CPUs that exist"
    )]
    Nesting {
        /// Index of the level.
        level: usize,
        /// Its kind.
        kind: LevelKind,
        /// The CPU.
        cpu: u32,
    },
    /// More levels, domains or groups than the core holds.
    #[error("{what}: found {found}, expected at most {most}")]
    TooMany {
        /// The kind of thing: levels, domains, groups.
        what: &'static str,
        /// How many.
        found: usize,
        /// The limit.
        most: usize,
    },
}

impl Level {
    /// A level where CPUs with the same key share a span; `keys[cpu]`.
    pub fn by_key(kind: LevelKind, keys: &[u32]) -> Self {
        let mut members: BTreeMap<u32, Mask> = BTreeMap::new();
        for (cpu, key) in keys.iter().enumerate().take(MAX_CPUS) {
            members
                .entry(*key)
                .or_insert(Mask::EMPTY)
                .insert(cpu as u32);
        }
        Level {
            kind,
            spans: keys
                .iter()
                .filter_map(|key| members.get(key))
                .copied()
                .collect(),
            gated: false,
            ranked: false,
        }
    }

    /// The same level, each of whose groups can be power gated alone.
    pub fn gated(self) -> Self {
        Level {
            gated: true,
            ..self
        }
    }

    fn flags(&self) -> u32 {
        let all = flag::WAKE_AFFINE
            | flag::BALANCE_FORK
            | flag::BALANCE_EXEC
            | flag::NEWIDLE
            | flag::PREFER_SIBLING;
        match self.kind {
            LevelKind::Smt => all | flag::SMT | flag::SHARE_LLC,
            LevelKind::Cluster => all | flag::CLUSTER | flag::SHARE_LLC,
            LevelKind::Cache => all | flag::SHARE_LLC,
            LevelKind::Package => all,
            LevelKind::Numa { distance } => {
                let far = distance > RECLAIM_DISTANCE;
                let spread = flag::WAKE_AFFINE | flag::BALANCE_FORK | flag::BALANCE_EXEC;
                flag::NUMA | flag::NEWIDLE | if far { 0 } else { spread }
            }
        }
    }

    fn imbalance_pct(&self, params: &Params) -> u32 {
        match self.kind {
            LevelKind::Smt => 110,
            LevelKind::Cluster | LevelKind::Cache => params.cache_pct,
            LevelKind::Package | LevelKind::Numa { .. } => params.package_pct,
        }
    }
}

/// Builds the views of an idle machine.
///
/// # Errors
/// If the description contradicts itself or exceeds the core's limits.
pub fn build(machine: &Description, params: &Params) -> Result<Core, BadTopology> {
    let all = (0..machine.cpus.len().min(MAX_CPUS) as u32).collect();
    build_online(machine, params, all)
}

/// Builds the views of an idle machine in which only the CPUs `online` are online. The
/// other CPUs are in no domain and share nothing (`partition_sched_domains()` with
/// `cpu_active_mask`).
///
/// # Errors
/// As [`build`].
pub fn build_online(
    machine: &Description,
    params: &Params,
    online: Mask,
) -> Result<Core, BadTopology> {
    crate::abi::check();
    check(machine)?;
    let mut builder = Builder::new(machine, params, online);
    builder.add_domains();
    builder.mark_asymmetry();
    builder.set_numa_imbalance();
    builder.drop_degenerate();
    builder.renumber();
    builder.add_groups();
    builder.finish()
}

fn check(machine: &Description) -> Result<(), BadTopology> {
    let nr = machine.cpus.len();
    if !(1..=MAX_CPUS).contains(&nr) {
        return Err(BadTopology::Cpus(nr));
    }
    for (cpu, found) in machine.cpus.iter().enumerate() {
        if !(1..=1024).contains(&found.capacity) {
            return Err(BadTopology::Capacity {
                cpu: cpu as u32,
                capacity: found.capacity,
            });
        }
    }
    let existing: Mask = (0..nr as u32).collect();
    for (index, level) in machine.levels.iter().enumerate() {
        if level.spans.len() != nr {
            return Err(BadTopology::Spans {
                level: index,
                kind: level.kind,
                found: level.spans.len(),
                expected: nr,
            });
        }
        for (cpu, span) in level.spans.iter().enumerate() {
            let below = index.checked_sub(1).map(|i| &machine.levels[i].spans[cpu]);
            let nested = span.contains(cpu as u32)
                && span.is_subset_of(&existing)
                && below.is_none_or(|below| below.is_subset_of(span));
            if !nested {
                return Err(BadTopology::Nesting {
                    level: index,
                    kind: level.kind,
                    cpu: cpu as u32,
                });
            }
        }
    }
    Ok(())
}

struct Builder<'a> {
    machine: &'a Description,
    params: &'a Params,
    /// The CPUs for which domains are built.
    online: Mask,
    domains: Vec<Domain>,
    /// Domains of each CPU, small to large.
    of_cpu: Vec<Vec<usize>>,
    groups: Vec<Group>,
}

impl<'a> Builder<'a> {
    fn new(machine: &'a Description, params: &'a Params, online: Mask) -> Self {
        Builder {
            machine,
            params,
            online,
            domains: Vec::new(),
            of_cpu: vec![Vec::new(); machine.cpus.len()],
            groups: Vec::new(),
        }
    }

    /// Capacities of the CPUs that are online.
    fn capacities(&self) -> impl Iterator<Item = u32> + '_ {
        let online = self.online.iter();
        online.map(|cpu| self.machine.cpus[cpu as usize].capacity)
    }

    /// The levels that this kernel builds.
    fn levels(&self) -> impl Iterator<Item = &'a Level> + use<'a> {
        let clusters = self.params.cluster_level != 0;
        (self.machine.levels.iter()).filter(move |l| clusters || l.kind != LevelKind::Cluster)
    }

    /// If capacities differ: the lowest level at which the span of every CPU has a CPU of the
    /// highest capacity.
    fn asym_level(&self) -> Option<usize> {
        let cpus = &self.machine.cpus;
        let biggest = self.capacities().max()?;
        if self.capacities().all(|capacity| capacity == biggest) {
            return None;
        }
        let big: Mask = (self.online.iter())
            .filter(|&cpu| cpus[cpu as usize].capacity == biggest)
            .collect();
        let mut asym = None;
        for cpu in self.online.iter().map(|cpu| cpu as usize) {
            if cpus[cpu].capacity == biggest {
                continue;
            }
            let seen = (self.levels()).position(|l| l.spans[cpu].intersects(&big, MAX_CPUS / 64));
            asym = asym.max(seen);
        }
        asym
    }

    /// Adds all domains, also those that `drop_degenerate` will remove.
    fn add_domains(&mut self) {
        let asym = self.asym_level();
        for (index, level) in self.levels().enumerate() {
            let mut flags = level.flags();
            if self.params.pack != rule::PACK_NONE && !level.gated {
                flags |= flag::SHARE_POWERDOMAIN;
            }
            if level.ranked {
                flags |= flag::ASYM_PACKING;
            }
            if let (Some(asym), 0) = (asym, self.params.asym_partial) {
                if index == asym {
                    flags |= flag::ASYM | flag::ASYM_FULL;
                }
                if index + 1 == asym {
                    flags &= !flag::PREFER_SIBLING;
                }
                if index <= asym && self.params.wake_cap != 0 {
                    flags |= flag::BALANCE_WAKE;
                }
            }
            let mut known: BTreeMap<Mask, usize> = BTreeMap::new();
            for cpu in self.online.iter().map(|cpu| cpu as usize) {
                let span: Mask = level.spans[cpu].and(&self.online, MAX_CPUS / 64).collect();
                let domain = *known.entry(span).or_insert_with(|| {
                    let pct = level.imbalance_pct(self.params);
                    let domain = Domain::new(span, span.len(), flags, pct);
                    self.domains.push(domain);
                    self.domains.len() - 1
                });
                self.of_cpu[cpu].push(domain);
            }
        }
    }

    /// From 5.14 a domain with two or more capacities is asymmetric, and fully so if it has CPUs of
    /// all capacities.
    fn mark_asymmetry(&mut self) {
        if self.params.asym_partial == 0 {
            return;
        }
        let capacities = |span: &Mask| -> BTreeSet<u32> {
            let of = |cpu: u32| self.machine.cpus[cpu as usize].capacity;
            span.iter().map(of).collect()
        };
        let all = self.capacities().collect::<BTreeSet<_>>();
        let marks: Vec<u32> = (self.domains.iter())
            .map(|domain| match capacities(&domain.span) {
                found if found.len() < 2 => 0,
                found if found == all => flag::ASYM | flag::ASYM_FULL,
                _ => flag::ASYM,
            })
            .collect();
        for (domain, mark) in self.domains.iter_mut().zip(marks) {
            domain.flags |= mark;
        }
        if self.params.unlike_spread != 0 {
            return;
        }
        for chain in &self.of_cpu {
            for pair in chain.windows(2) {
                if self.domains[pair[1]].flags & flag::ASYM != 0 {
                    self.domains[pair[0]].flags &= !flag::PREFER_SIBLING;
                }
            }
        }
    }

    /// Sets how many tasks a node may run before they spread: one for each cache, or an eighth of
    /// the CPUs if the node has only one cache.
    fn set_numa_imbalance(&mut self) {
        for chain in &self.of_cpu {
            let shares = |d: &usize| self.domains[*d].flags & flag::SHARE_LLC != 0;
            let Some(llc) = chain.iter().rposition(shares) else {
                continue;
            };
            let Some(&parent) = chain.get(llc + 1) else {
                continue;
            };
            let weight = |d: usize| self.domains[d].weight;
            let nr_llcs = weight(parent) / weight(chain[llc]);
            let imbalance = match nr_llcs {
                1 => weight(parent) / 8,
                _ => nr_llcs,
            };
            let numa = (chain[llc + 1..].iter().skip(1))
                .find(|&&d| self.domains[d].flags & flag::NUMA != 0);
            let span = numa.map_or(weight(parent), |&d| weight(d));
            for &domain in &chain[llc + 1..] {
                let domain = &mut self.domains[domain];
                domain.imb_numa_nr = imbalance.max(1) * (domain.weight / span).max(1);
            }
        }
    }

    /// Removes domains of one CPU, and those that span no more than their child.
    fn drop_degenerate(&mut self) {
        for chain in &mut self.of_cpu {
            let mut kept: Vec<usize> = Vec::with_capacity(chain.len());
            for &domain in chain.iter() {
                let Domain { weight, flags, .. } = self.domains[domain];
                match kept.last() {
                    _ if weight == 1 => {}
                    Some(&child) if self.domains[child].weight == weight => {
                        self.domains[child].flags |= flags & flag::PREFER_SIBLING;
                    }
                    _ => kept.push(domain),
                }
            }
            *chain = kept;
        }
    }

    /// Removes domains that no CPU has any more. The others stay in order of level and first CPU.
    fn renumber(&mut self) {
        let mut used = vec![false; self.domains.len()];
        self.of_cpu.iter().flatten().for_each(|&d| used[d] = true);
        let mut number = vec![usize::MAX; self.domains.len()];
        let mut kept = Vec::new();
        for (old, domain) in self.domains.iter().enumerate().filter(|(d, _)| used[*d]) {
            number[old] = kept.len();
            kept.push(*domain);
        }
        self.domains = kept;
        self.of_cpu
            .iter_mut()
            .flatten()
            .for_each(|d| *d = number[*d]);
    }

    /// The domain of `cpu` that is a group of `parent`: the highest that is smaller and inside it.
    fn child_within(&self, cpu: u32, parent: usize) -> Option<usize> {
        let Domain { span, weight, .. } = self.domains[parent];
        (self.of_cpu[cpu as usize].iter().rev().copied())
            .find(|&d| self.domains[d].weight < weight && self.domains[d].span.is_subset_of(&span))
    }

    fn add_groups(&mut self) {
        for parent in 0..self.domains.len() {
            let span = self.domains[parent].span;
            let first = self.groups.len();
            let mut covered = Mask::EMPTY;
            for cpu in span.iter() {
                if covered.contains(cpu) {
                    continue;
                }
                let child = self.child_within(cpu, parent);
                let members = match child {
                    Some(child) => self.domains[child].span,
                    None => Mask::from_iter([cpu]),
                };
                members.iter().for_each(|c| covered.insert(c));
                self.groups.push(self.group(child, &members));
            }
            self.domains[parent].first_group = first as u32;
            self.domains[parent].nr_groups = (self.groups.len() - first) as u32;
        }
    }

    fn group(&self, child: Option<usize>, members: &Mask) -> Group {
        let capacity = |cpu: u32| self.machine.cpus[cpu as usize].capacity;
        let first = members.iter().next().unwrap_or(0);
        let mut group = Group::new(child.map_or(NONE, |c| c as u32), first, members.len());
        group.capacity = members.iter().map(capacity).sum();
        group.min_capacity = members.iter().map(capacity).min().unwrap_or(0);
        group.max_capacity = members.iter().map(capacity).max().unwrap_or(0);
        group
    }

    /// Index of the group of `domain` that holds `cpu`; if groups overlap, of the first.
    fn group_of(&self, domain: usize, cpu: u32) -> u32 {
        let d = &self.domains[domain];
        (d.first_group..d.first_group + d.nr_groups)
            .find(|&g| {
                let group = &self.groups[g as usize];
                match group.child {
                    NONE => group.cpu == cpu,
                    child => self.domains[child as usize].span.contains(cpu),
                }
            })
            .unwrap_or(NONE)
    }

    fn place(&self, cpu: u32, llc: u32) -> Place {
        let chain = &self.of_cpu[cpu as usize];
        let with = |bit: u32| move |d: &&usize| self.domains[**d].flags & bit != 0;
        let mut place = Place {
            domain: [NONE; MAX_LEVELS],
            group: [NONE; MAX_LEVELS],
            nr_domains: chain.len() as u32,
            llc,
            llc_domain: number(chain.iter().rfind(with(flag::SHARE_LLC))),
            asym_domain: number(chain.iter().find(with(flag::ASYM_FULL))),
            smt_domain: number(chain.iter().rfind(with(flag::SMT))),
            shared: llc,
            share: self.share(chain, cpu),
            cluster_domain: number(self.cluster_below_llc(chain)),
            node: self.machine.cpus[cpu as usize].node,
        };
        for (level, &domain) in chain.iter().enumerate() {
            place.domain[level] = domain as u32;
            place.group[level] = self.group_of(domain, cpu);
        }
        place
    }

    /// The cluster domain just below the LLC, if the LLC consists of clusters.
    fn cluster_below_llc<'c>(&self, chain: &'c [usize]) -> Option<&'c usize> {
        let llc = chain
            .iter()
            .rposition(|&d| self.domains[d].flags & flag::SHARE_LLC != 0)?;
        let below = chain.get(llc.checked_sub(1)?)?;
        (self.domains[*below].flags & flag::CLUSTER != 0).then_some(below)
    }

    /// First CPU of the lowest cluster, else of the LLC (`sd_share_id`).
    fn share(&self, chain: &[usize], cpu: u32) -> u32 {
        let with = |bit: u32| move |d: &&usize| self.domains[**d].flags & bit != 0;
        let domain = (chain.iter().find(with(flag::CLUSTER)))
            .or_else(|| chain.iter().rfind(with(flag::SHARE_LLC)));
        domain
            .and_then(|&d| self.domains[d].span.iter().next())
            .unwrap_or(cpu)
    }

    /// Numbers the last-level caches in CPU order; a CPU without a cache domain has one of its own.
    fn llcs(&mut self) -> (Vec<u32>, Vec<Llc>) {
        let mut of_cpu = Vec::with_capacity(self.of_cpu.len());
        let mut llcs: Vec<Llc> = Vec::new();
        for chain in &self.of_cpu {
            let top =
                (chain.iter().copied()).rfind(|&d| self.domains[d].flags & flag::SHARE_LLC != 0);
            let known = top.map_or(NONE, |d| self.domains[d].llc);
            if known != NONE {
                of_cpu.push(known);
                continue;
            }
            let llc = llcs.len() as u32;
            llcs.push(Llc {
                has_idle_cores: 1,
                nr_busy: top.map_or(1, |d| self.domains[d].weight),
                nr_idle_scan: top.map_or(1, |d| self.domains[d].weight),
                unused: 0,
            });
            if let Some(top) = top {
                self.domains[top].llc = llc;
            }
            of_cpu.push(llc);
        }
        (of_cpu, llcs)
    }

    /// From 7.2 the state of searches belongs to the asymmetric domain, unless that is a NUMA
    /// domain or the LLC itself.
    fn share_by_asym(&self, places: &mut [Place], llcs: &mut Vec<Llc>) {
        let mut known: BTreeMap<u32, u32> = BTreeMap::new();
        for place in places {
            let asym = place.asym_domain;
            if asym == NONE
                || asym == place.llc_domain
                || self.domains[asym as usize].flags & flag::NUMA != 0
            {
                continue;
            }
            let weight = self.domains[asym as usize].weight;
            place.shared = *known.entry(asym).or_insert_with(|| {
                llcs.push(Llc {
                    has_idle_cores: 1,
                    nr_busy: weight,
                    nr_idle_scan: weight,
                    unused: 0,
                });
                llcs.len() as u32 - 1
            });
        }
    }

    fn any(&self, bit: u32) -> u32 {
        self.domains.iter().any(|d| d.flags & bit != 0).into()
    }

    fn finish(mut self) -> Result<Core, BadTopology> {
        let levels = self.of_cpu.iter().map(Vec::len).max().unwrap_or(0);
        within("domain levels", levels, MAX_LEVELS)?;
        within("domains", self.domains.len(), MAX_DOMAINS)?;
        within("groups", self.groups.len(), MAX_GROUPS)?;
        let (llc_of_cpu, mut llcs) = self.llcs();
        let mut places: Vec<Place> = (0..self.machine.cpus.len())
            .map(|cpu| self.place(cpu as u32, llc_of_cpu[cpu]))
            .collect();
        if self.params.shared_by_asym != 0 {
            self.share_by_asym(&mut places, &mut llcs);
        }
        within("caches and asymmetric domains", llcs.len(), MAX_CPUS)?;
        let cpus = &self.machine.cpus;
        let biggest = self.capacities().max().unwrap_or(0);
        let asym = self.capacities().any(|c| c != biggest);
        let view = pack::View {
            places: &places,
            domains: &self.domains,
            groups: &self.groups,
        };
        let buddies = view.buddies(self.params);
        let cpus = (cpus.iter().zip(buddies))
            .map(|(cpu, buddy)| idle_cpu(cpu.capacity, buddy))
            .collect();
        let shape = Shape {
            topology: Topology {
                nr_cpus: self.machine.cpus.len() as u32,
                nr_domains: self.domains.len() as u32,
                nr_groups: self.groups.len() as u32,
                max_capacity: biggest,
                asym: asym.into(),
                smt: self.any(flag::SMT),
                cluster: self.any(flag::CLUSTER),
                unused: 0,
            },
            nr_llcs: llcs.len(),
            places: places.into(),
            domains: self.domains.into(),
            groups: self.groups.into(),
            perf: Vec::new(),
            sound: Sound,
        };
        Ok(Core::new(shape, cpus, llcs.into(), *self.params))
    }
}

fn number(domain: Option<&usize>) -> u32 {
    domain.map_or(NONE, |&d| d as u32)
}

fn within(what: &'static str, found: usize, most: usize) -> Result<(), BadTopology> {
    if found > most {
        return Err(BadTopology::TooMany { what, found, most });
    }
    Ok(())
}

fn idle_cpu(capacity: u32, buddy: u32) -> Cpu {
    Cpu {
        buddy,
        capacity_orig: capacity,
        capacity,
        ..Cpu::default()
    }
}
