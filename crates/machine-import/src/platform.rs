// SPDX-License-Identifier: GPL-2.0-only
//! What a description says of a machine, whatever its format: the one form that all readers give and
//! that the writer takes. `None` is what it does not say.

use alight_machine::CpuSet;
use alight_machine::guess::CostKind;

/// CPUs in a sentence: `CPU 1`, `the CPUs 2-3`.
pub(crate) fn named(cpus: &CpuSet) -> String {
    match cpus.len() {
        1 => format!("CPU {cpus}"),
        _ => format!("the CPUs {cpus}"),
    }
}

/// Where a figure comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// The file, there: `line 12`, `/cpus/cpu@0`.
    File(String),
    /// It follows by this rule.
    Rule(String),
    /// The file does not say it; the sentence says what is assumed.
    Assumed(String),
}

impl From<String> for Place {
    fn from(place: String) -> Self {
        Self::File(place)
    }
}

impl From<&str> for Place {
    fn from(place: &str) -> Self {
        Self::File(place.to_owned())
    }
}

/// A figure, with where it comes from. Equal figures are equal wherever they stand.
#[derive(Debug, Clone)]
pub(crate) struct Said<T> {
    pub value: T,
    pub place: Place,
}

impl<T> Said<T> {
    pub fn new(value: T, place: impl Into<Place>) -> Self {
        Self {
            value,
            place: place.into(),
        }
    }
}

impl<T: PartialEq> PartialEq for Said<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

/// Disjoint sets of CPUs, with the place that says so.
pub(crate) type Spans = Said<Vec<CpuSet>>;

/// Distances between nodes, in their order.
pub(crate) type Distances = Said<Vec<Vec<u64>>>;

/// What a description says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Platform {
    pub name: String,
    pub description: String,
    /// It is one of x86.
    pub x86: bool,
    /// Tick frequency (`CONFIG_HZ`).
    pub hz: Option<Said<u64>>,
    /// By number, without gaps.
    pub cpus: Vec<Cpu>,
    /// Threads of one core.
    pub core: Option<Spans>,
    /// Clusters inside a last-level cache.
    pub cls: Option<Spans>,
    pub llc: Option<Spans>,
    /// The level MC where it is not that of the last-level caches.
    pub mc: Option<Spans>,
    pub node: Option<Spans>,
    /// Between the nodes, in their order.
    pub distances: Option<Distances>,
    /// CPUs that share a clock; CPUs of none have one of their own.
    pub clocks: Vec<Clock>,
    /// CPUs that are switched off together.
    pub power: Option<Spans>,
    /// What was left out, and what of it was changed; a sentence each.
    pub notes: Vec<String>,
}

/// One CPU.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cpu {
    /// Name of its core type.
    pub make: String,
    /// Class of costs, order of magnitude of powers.
    pub kind: CostKind,
    pub dmips_per_mhz: Option<Said<u64>>,
    pub capacity: Option<Said<u64>>,
    pub l2_kib: Option<Said<u64>>,
    /// uW/MHz/V².
    pub coefficient: Option<Said<u64>>,
    /// From the shallowest to the deepest.
    pub idle_states: Vec<IdleState>,
}

impl Cpu {
    /// A CPU of which nothing but the make is known.
    pub fn new(make: impl Into<String>, kind: CostKind) -> Self {
        Self {
            make: make.into(),
            kind,
            dmips_per_mhz: None,
            capacity: None,
            l2_kib: None,
            coefficient: None,
            idle_states: Vec::new(),
        }
    }
}

/// An idle state.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct IdleState {
    pub name: String,
    /// Entry, exit and shortest stay, us.
    pub times: Said<[u64; 3]>,
    pub wakeup_us: Option<u64>,
    pub timer_stops: bool,
    pub scope: Scope,
}

/// Whom an idle state concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    Core,
    /// Every CPU of the cluster chooses it.
    Cluster,
    /// The last CPU of the cluster chooses it.
    Domain,
}

/// CPUs that share a clock.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Clock {
    pub cpus: Said<CpuSet>,
    /// Rising.
    pub khz: Option<Said<Vec<u64>>>,
    /// By frequency.
    pub microvolt: Option<Said<Vec<u64>>>,
    /// Power of a busy core by frequency, uW.
    pub power_uw: Option<Said<Vec<u64>>>,
    pub switch_us: Option<Said<u64>>,
}

impl Clock {
    /// A clock of which nothing but the CPUs is known.
    pub fn of(cpus: CpuSet, place: impl Into<Place>) -> Self {
        Self {
            cpus: Said::new(cpus, place),
            khz: None,
            microvolt: None,
            power_uw: None,
            switch_us: None,
        }
    }
}
