// SPDX-License-Identifier: GPL-2.0-only
//! What is known of the speed at which CPUs do work.
//!
//! The capacity that the scheduler sees and the speed at which work is done are
//! two figures. Many kernels have one capacity for all CPUs of a hybrid x86
//! machine, 1024. A file states the speed apart from the capacity, as `speed`, or
//! the model takes it from the capacity. Where CPUs of one capacity differ and
//! nobody states their speeds, this is an assumption, and it is told here.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::capacity;
use crate::cpuset::CpuSet;
use crate::draft::{CoreTypeDraft, Draft};
use crate::figure::{Confidence, Figure};

/// Where the speeds of a machine's CPUs come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "are", content = "groups", rename_all = "snake_case")]
pub enum Speeds {
    /// All CPUs are of one kind, with one top clock.
    Alike,
    /// The CPUs differ, and the file says by how much: by `capacity_dmips_mhz`, or by capacities
    /// that differ.
    Stated,
    /// The file says how CPUs differ, but nobody measured it: the capacities are assumed, or the clocks
    /// that they follow from.
    Assumed,
    /// The file states the speeds apart from the capacities, which are what the scheduler sees.
    Apart {
        /// The CPUs by their speeds.
        kinds: Vec<SpeedKind>,
        /// The least confidence among the speeds.
        confidence: Confidence,
    },
    /// The CPUs of a group differ in their clock or make, but have one capacity and no stated speed.
    /// They are taken to do the same work in the same time.
    AssumedEqual(Vec<Vec<SpeedKind>>),
}

/// CPUs of one core type with one top clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SpeedKind {
    /// Name of the core type.
    pub core_type: String,
    /// The CPUs.
    pub cpus: CpuSet,
    /// Their top frequency, kHz.
    pub top_khz: u64,
    /// Their capacity, the biggest CPU is 1024.
    pub capacity: u64,
    /// Their speed, the fastest CPU is 1024.
    pub speed: u64,
}

impl Speeds {
    /// Nothing is assumed about the speeds.
    pub fn are_known(&self) -> bool {
        match self {
            Self::Alike | Self::Stated => true,
            Self::Apart { confidence, .. } => *confidence != Confidence::Assumed,
            Self::Assumed | Self::AssumedEqual(_) => false,
        }
    }
}

/// One sentence for reports, without a full stop.
impl fmt::Display for Speeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alike => f.write_str("all CPUs are alike"),
            Self::Stated => f.write_str("stated by core type"),
            Self::Assumed => f.write_str(
                "ASSUMED: nobody measured the capacities of the core types, or the clocks that they \
                 follow from",
            ),
            Self::Apart { kinds, confidence } => {
                let assumed = match confidence {
                    Confidence::Assumed => "ASSUMED: ",
                    _ => "",
                };
                let kinds: Vec<String> = (kinds.iter())
                    .map(|kind| format!("{} of {kind}", kind.speed))
                    .collect();
                write!(
                    f,
                    "{assumed}stated apart from the capacities: {}",
                    kinds.join(", ")
                )
            }
            Self::AssumedEqual(groups) => {
                let groups: Vec<String> = groups.iter().map(|kinds| listed(kinds)).collect();
                write!(
                    f,
                    "ASSUMED EQUAL: {} do the same work in the same time",
                    groups.join("; likewise ")
                )
            }
        }
    }
}

/// For instance `CPU 0 (P, 5200 MHz) and CPU 1 (E, 3900 MHz)`.
pub(crate) fn listed(kinds: &[SpeedKind]) -> String {
    let words: Vec<String> = kinds.iter().map(SpeedKind::to_string).collect();
    match words.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => words.concat(),
    }
}

impl fmt::Display for SpeedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpus = if self.cpus.len() == 1 { "CPU" } else { "CPUs" };
        let mhz = self.top_khz / 1000;
        write!(f, "{cpus} {} ({}, {mhz} MHz)", self.cpus, self.core_type)
    }
}

/// What the file says of the speeds.
pub(crate) fn known(draft: &Draft) -> Speeds {
    let kinds = kinds(draft);
    if draft.core_types.iter().any(|core| core.speed.is_some()) {
        return Speeds::Apart {
            kinds: kinds.into_iter().map(|(kind, _)| kind).collect(),
            confidence: least_of(&*draft.ledger.figures(), &["speed"]),
        };
    }
    let follows = |(kind, core): &Kind<'_>| {
        let derived = capacity::derived(draft, core, kind.top_khz);
        derived.is_some_and(|derived| derived.abs_diff(kind.capacity) <= ROUNDING)
    };
    let equal = match kinds.iter().all(follows) {
        true => Vec::new(),
        false => assumed_equal(&kinds),
    };
    if !equal.is_empty() {
        return Speeds::AssumedEqual(equal);
    }
    let capacities = kinds.iter().map(|(kind, _)| kind.capacity);
    match capacities.clone().min() == capacities.max() {
        true => Speeds::Alike,
        false if confidence(&*draft.ledger.figures()) == Confidence::Assumed => Speeds::Assumed,
        false => Speeds::Stated,
    }
}

/// The least confidence among the capacities of the core types and the speeds per MHz that they
/// follow from. A capacity that follows from an assumed clock is assumed, too.
pub(crate) fn confidence<'a>(figures: impl IntoIterator<Item = &'a Figure>) -> Confidence {
    least_of(figures, &["capacity", "capacity_dmips_mhz"])
}

/// The least confidence among the figures of core types under these keys.
fn least_of<'a>(figures: impl IntoIterator<Item = &'a Figure>, keys: &[&str]) -> Confidence {
    let wanted = |figure: &&Figure| {
        let (section, key) = figure.section_and_key();
        section.starts_with("core_type.") && keys.contains(&key)
    };
    let confidence = (figures.into_iter().filter(wanted)).map(|f| f.provenance.confidence);
    confidence.max().unwrap_or(Confidence::Assumed)
}

type Kind<'a> = (SpeedKind, &'a CoreTypeDraft);

/// Capacities that follow from speeds per MHz may be rounded.
const ROUNDING: u64 = 1;

/// The kinds of CPUs, in the order of their lowest CPU.
fn kinds(draft: &Draft) -> Vec<Kind<'_>> {
    let mut kinds: Vec<Kind<'_>> = Vec::new();
    for cpu in &draft.topology.cpus.value {
        let core = capacity::core_type_of(draft, cpu);
        let domain = capacity::domain_of(draft, cpu);
        let (Some(core), Some(domain)) = (core, domain) else {
            continue;
        };
        let top_khz = domain.top_khz();
        let same = |(kind, of): &&mut Kind<'_>| {
            kind.top_khz == top_khz && std::ptr::eq::<CoreTypeDraft>(*of, core)
        };
        match kinds.iter_mut().find(same) {
            Some((kind, _)) => {
                kind.cpus.insert(cpu);
            }
            None => {
                let capacity = capacity::at_top(draft, core, top_khz);
                let kind = SpeedKind {
                    core_type: core.name.clone(),
                    cpus: CpuSet::single(cpu),
                    top_khz,
                    capacity,
                    speed: core.speed.as_ref().map_or(capacity, |stated| stated.value),
                };
                kinds.push((kind, core));
            }
        }
    }
    kinds
}

/// The kinds that have the capacity of another kind, though they differ from it; by capacity.
fn assumed_equal(kinds: &[Kind<'_>]) -> Vec<Vec<SpeedKind>> {
    let mut groups: BTreeMap<u64, Vec<SpeedKind>> = BTreeMap::new();
    for one in kinds {
        if kinds.iter().any(|other| is_taken_for(one, other)) {
            let (kind, _) = one;
            groups.entry(kind.capacity).or_default().push(kind.clone());
        }
    }
    groups.into_values().collect()
}

/// The performance counters by which a kernel tells the cores of a hybrid apart, as a capture puts them
/// into the name of a core type.
fn counters(name: &str) -> Option<&'static str> {
    ["cpu_core", "cpu_atom"]
        .into_iter()
        .find(|kind| name.contains(kind))
}

/// Have the two one capacity, though their clocks or their makes differ?
fn is_taken_for((one, a): &Kind<'_>, (other, b): &Kind<'_>) -> bool {
    let differ = one.top_khz != other.top_khz
        || a.l2_bytes != b.l2_bytes
        || a.costs.name != b.costs.name
        || counters(&a.name) != counters(&b.name);
    one.capacity == other.capacity && differ
}
