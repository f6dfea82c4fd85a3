// SPDX-License-Identifier: GPL-2.0-only
//! The recorded machine as the core sees it: its scheduling domains are those
//! that the kernel had, not those that we think it should have.

use super::layout::{DomainState, Wakeup};
use alight_policy::abi::{MAX_PERF_STATES, domain_flag as flag, state_flag};
use alight_policy::topology::{self, BadTopology, CpuDescription, Description, Level, LevelKind};
use alight_policy::{Core, Mask, Params, PerfDomain, PerfState};
use alight_recording::{Header, KernelVersion};
use serde::Deserialize;

/// Why the recorded machine cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BadRecordedMachine {
    /// The domains contradict each other.
    #[error("the recorded domains: {0}")]
    Topology(#[from] BadTopology),
    /// A domain that the core would build otherwise.
    #[error(
        "CPU {cpu} has a domain of the CPUs {found:#x} at level {level}, but the core builds \
         {built:#x}"
    )]
    Domain {
        /// CPU.
        cpu: usize,
        /// Level, 0 is the lowest.
        level: usize,
        /// Recorded span.
        found: u64,
        /// Span that the core builds, 0: none.
        built: u64,
    },
    /// A wakeup of other CPUs than those of the domains.
    #[error("a wakeup has {found} CPUs, but the domains recorded last have {expected}")]
    Cpus {
        /// CPUs of the wakeup.
        found: usize,
        /// CPUs of the domains.
        expected: usize,
    },
    /// The header's energy model.
    #[error("the header's energy model: {0}")]
    EnergyModel(String),
}

/// Which flags of scheduling domains the core knows, by their names in the kernel. SD_OVERLAP is set
/// on NUMA domains only, as SD_NUMA is.
const FLAGS: [(&str, u32); 14] = [
    ("SD_BALANCE_NEWIDLE", flag::NEWIDLE),
    ("SD_BALANCE_EXEC", flag::BALANCE_EXEC),
    ("SD_BALANCE_FORK", flag::BALANCE_FORK),
    ("SD_BALANCE_WAKE", flag::BALANCE_WAKE),
    ("SD_WAKE_AFFINE", flag::WAKE_AFFINE),
    ("SD_ASYM_CPUCAPACITY", flag::ASYM),
    ("SD_ASYM_CPUCAPACITY_FULL", flag::ASYM_FULL),
    ("SD_SHARE_CPUCAPACITY", flag::SMT),
    ("SD_CLUSTER", flag::CLUSTER),
    ("SD_SHARE_LLC", flag::SHARE_LLC),
    ("SD_SHARE_PKG_RESOURCES", flag::SHARE_LLC),
    ("SD_PREFER_SIBLING", flag::PREFER_SIBLING),
    ("SD_OVERLAP", flag::NUMA),
    ("SD_NUMA", flag::NUMA),
];

/// Where a kernel keeps which flag of its scheduling domains.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainFlags(Vec<(u32, u32)>);

impl DomainFlags {
    /// As the recorder read them in the kernel's type information; recordings that do not tell are of
    /// 6.1 to 7.2.
    pub fn of(header: &Header, kernel: KernelVersion) -> Self {
        match header.facts.get("sd_flags") {
            Some(told) => Self::told(told),
            None => Self::of_version(kernel),
        }
    }

    /// `SD_ASYM_CPUCAPACITY 32, SD_BALANCE_EXEC 2`
    fn told(text: &str) -> Self {
        let value = |name: &str| {
            text.split(", ")
                .find_map(|one| one.strip_prefix(name)?.strip_prefix(' ')?.parse().ok())
        };
        DomainFlags(
            (FLAGS.iter())
                .filter_map(|(name, flag)| Some((value(name)?, *flag)))
                .collect(),
        )
    }

    /// Their numbers moved when SD_CLUSTER came in 6.7.
    fn of_version(kernel: KernelVersion) -> Self {
        const OLD: [u32; 14] = [0, 1, 2, 3, 4, 5, 6, 7, 31, 31, 8, 11, 12, 13];
        const NEW: [u32; 14] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 31, 12, 13, 14];
        let bits = if (kernel.major, kernel.minor) < (6, 7) {
            OLD
        } else {
            NEW
        };
        // 31: has no such flag.
        DomainFlags(
            (bits.iter().zip(FLAGS))
                .filter(|(bit, _)| **bit != 31)
                .map(|(bit, (_, flag))| (1 << bit, flag))
                .collect(),
        )
    }

    /// The core's flags for the kernel's.
    fn named(&self, sd: u32) -> u32 {
        (self.0.iter())
            .filter(|(of_kernel, _)| sd & of_kernel != 0)
            .fold(0, |flags, (_, flag)| flags | flag)
    }
}

/// Builds the machine of a wakeup whose domains were recorded.
///
/// # Errors
/// If its domains cannot be built, or would be others.
pub fn build(
    flags: &DomainFlags,
    wakeup: &Wakeup,
    params: &Params,
) -> Result<Core, BadRecordedMachine> {
    let machine = Description {
        cpus: (wakeup.cpus.iter())
            .map(|cpu| CpuDescription {
                capacity: cpu.capacity_orig.into(),
                node: 0,
            })
            .collect(),
        levels: levels(flags, &wakeup.domains),
    };
    let mut core = topology::build(&machine, params)?;
    for (cpu, recorded) in wakeup.domains.iter().enumerate() {
        let place = core.places[cpu];
        let built = &place.domain[..place.nr_domains as usize];
        for level in 0..recorded.len().max(built.len()) {
            let span =
                |domain: Option<&u32>| domain.map_or(0, |&d| core.domains[d as usize].span.w[0]);
            let (found, built_span) = (
                recorded.get(level).map_or(0, |domain| domain.span),
                span(built.get(level)),
            );
            if found != built_span {
                return Err(BadRecordedMachine::Domain {
                    cpu,
                    level,
                    found,
                    built: built_span,
                });
            }
            let DomainState {
                imbalance_pct,
                imb_numa_nr,
                ..
            } = recorded[level];
            let named = flags.named(recorded[level].flags);
            core.set_domain(built[level] as usize, named, imbalance_pct, imb_numa_nr);
        }
    }
    update_groups(&mut core, wakeup);
    Ok(core)
}

/// The levels of the domains; a CPU that lacks a level has its span of the one below.
fn levels(of_kernel: &DomainFlags, domains: &[Vec<DomainState>]) -> Vec<Level> {
    let kind = |flags: u32| {
        if flags & flag::SMT != 0 {
            LevelKind::Smt
        } else if flags & flag::CLUSTER != 0 {
            LevelKind::Cluster
        } else if flags & flag::SHARE_LLC != 0 {
            LevelKind::Cache
        } else if flags & flag::NUMA != 0 {
            LevelKind::Numa { distance: 20 }
        } else {
            LevelKind::Package
        }
    };
    let nr = domains.iter().map(Vec::len).max().unwrap_or(0);
    (0..nr)
        .filter_map(|level| {
            let flags = domains
                .iter()
                .find_map(|of_cpu| of_cpu.get(level))
                .map(|domain| of_kernel.named(domain.flags))?;
            let spans = (domains.iter().enumerate())
                .map(|(cpu, of_cpu)| {
                    let domain = of_cpu.get(level).or(of_cpu.last());
                    mask(domain.map_or(1 << cpu, |domain| domain.span))
                })
                .collect();
            Some(Level {
                kind: kind(flags),
                spans,
                gated: false,
                ranked: false,
            })
        })
        .collect()
}

/// Brings what changes of the groups (`struct sched_group_capacity`) up to date.
pub fn update_groups(core: &mut Core, wakeup: &Wakeup) {
    for (cpu, recorded) in wakeup.domains.iter().enumerate() {
        let own = core.places[cpu].group;
        for (domain, &group) in recorded.iter().zip(&own) {
            let group = group as usize;
            if group < core.groups.len() {
                let (least, most) = (domain.min_capacity, domain.max_capacity);
                core.set_group_capacity(group, domain.capacity, least, most);
                core.set_group_imbalance(group, domain.imbalance);
            }
        }
    }
}

/// A mask of the first 64 CPUs.
pub fn mask(bits: u64) -> Mask {
    let mut mask = Mask::EMPTY;
    mask.w[0] = bits;
    mask
}

#[derive(Debug, Deserialize)]
struct RecordedDomain {
    cpus: String,
    states: Vec<RecordedState>,
}

#[derive(Debug, Deserialize)]
struct RecordedState {
    frequency: u64,
    cost: u64,
    performance: Option<u64>,
    inefficient: bool,
}

/// The energy model of the header's JSON, in the order of the kernel's list:
/// the domain of the last CPU first. `capacity`: of each CPU.
///
/// # Errors
/// If it is not what the recorder writes.
pub fn energy_model(
    json: &str,
    capacity: impl Fn(usize) -> u32,
) -> Result<Vec<PerfDomain>, BadRecordedMachine> {
    let wrong = |what: String| BadRecordedMachine::EnergyModel(what);
    let recorded: Vec<RecordedDomain> =
        serde_json::from_str(json).map_err(|error| wrong(error.to_string()))?;
    let mut domains = Vec::new();
    for domain in recorded.iter().rev() {
        let span = cpu_list(&domain.cpus)
            .filter(|span| *span != 0)
            .ok_or_else(|| wrong(format!("'{}' is not a list of CPUs below 64", domain.cpus)))?;
        let nr = domain.states.len();
        if !(1..=MAX_PERF_STATES).contains(&nr) {
            return Err(wrong(format!(
                "found {nr} operating points, expected 1 to {MAX_PERF_STATES}"
            )));
        }
        let top = domain.states[nr - 1].frequency.max(1);
        let biggest = u64::from(capacity(span.trailing_zeros() as usize));
        let mut built = PerfDomain {
            span: mask(span),
            nr_states: nr as u32,
            first_state: 0,
            last_state: nr as u32 - 1,
            unused: 0,
            state: [PerfState::default(); MAX_PERF_STATES],
        };
        for (state, recorded) in built.state.iter_mut().zip(&domain.states) {
            *state = PerfState {
                cost: recorded.cost,
                // Before 6.9 the kernel compares frequencies: the same order.
                performance: (recorded.performance).unwrap_or(recorded.frequency * biggest / top)
                    as u32,
                frequency: recorded.frequency as u32,
                flags: if recorded.inefficient {
                    state_flag::INEFFICIENT
                } else {
                    0
                },
                ..PerfState::default()
            };
        }
        domains.push(built);
    }
    Ok(domains)
}

/// May `core` have this energy model?
///
/// # Errors
/// If it is of CPUs that there are not.
pub fn check_energy_model(core: &mut Core, perf: &[PerfDomain]) -> Result<(), BadRecordedMachine> {
    let set = core.set_perf(perf.to_vec());
    let had = set.map_err(|error| BadRecordedMachine::EnergyModel(error.to_string()))?;
    core.set_perf(had).expect("it was its own");
    Ok(())
}

/// A list such as `0-3,6`, as bits.
fn cpu_list(list: &str) -> Option<u64> {
    let mut bits = 0u64;
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        for cpu in first..=last {
            bits |= 1u64.checked_shl(cpu)?;
        }
    }
    Some(bits)
}

#[cfg(test)]
mod tests;
