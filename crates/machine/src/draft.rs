// SPDX-License-Identifier: GPL-2.0-only
//! A machine as its file states it, well formed but perhaps impossible: the
//! checks look at this, and only what they pass is resolved to a
//! [`Machine`](crate::Machine).

use crate::calibration::Calibration;
use crate::costs::CostClass;
use crate::cpuset::CpuSet;
use crate::error::Place;
use crate::figure::Confidence;
use crate::model::{Governor, IdleGovernor, IdleScope, ItmtDriver, MemoryCosts};
use crate::reader::{At, Ledger};

/// CPU sets that should be disjoint and cover the machine.
pub(crate) type Partition = Vec<At<CpuSet>>;

/// A machine as stated.
#[derive(Debug)]
pub struct Draft {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) hz: At<u64>,
    pub(crate) hrtick: bool,
    pub(crate) irq_time_accounting: bool,
    pub(crate) one_processor: bool,
    pub(crate) governor: Governor,
    pub(crate) idle_governor: Option<IdleGovernor>,
    pub(crate) itmt: Option<ItmtDraft>,
    pub(crate) topology: Topology,
    pub(crate) core_types: Vec<CoreTypeDraft>,
    pub(crate) freq_domains: Vec<FreqDomainDraft>,
    pub(crate) clusters: Vec<ClusterDraft>,
    pub(crate) memory: MemoryCosts,
    pub(crate) memory_place: Place,
    /// The machine that the costs are taken from, if it is another.
    pub(crate) costs_from: Option<String>,
    pub(crate) calibration: Option<Calibration>,
    pub(crate) ledger: Ledger,
    /// The file, as one text.
    pub(crate) text: String,
    /// What was not known and had to be assumed, for people.
    pub(crate) notes: Vec<String>,
}

impl Draft {
    /// How far the figure can be trusted that is at `path`; `None`: the file does not state it.
    pub(crate) fn confidence_of(&self, path: &str) -> Option<Confidence> {
        let figures = self.ledger.figures();
        let figure = figures.iter().find(|figure| figure.path == path);
        figure.map(|figure| figure.provenance.confidence)
    }

    /// Has some core of this type several threads?
    pub(crate) fn has_siblings(&self, core_type: &CoreTypeDraft) -> bool {
        let of_type = |core: &&At<CpuSet>| {
            let mut spans = core_type.cpus.iter();
            spans.any(|span| span.value.intersects(&core.value))
        };
        let mut cores = self.topology.core.iter().filter(of_type);
        cores.any(|core| core.value.len() > 1)
    }
}

#[derive(Debug)]
pub(crate) struct Topology {
    /// The CPUs there are.
    pub cpus: At<CpuSet>,
    /// SMT siblings.
    pub core: Partition,
    /// Last-level caches of the hardware.
    pub llc: Partition,
    /// Level `CLS`, if the kernel builds it.
    pub cls: Option<Partition>,
    /// Level `MC` where the kernel takes it from elsewhere than the LLC.
    pub mc: Option<Partition>,
    pub node: Partition,
    pub numa_distance: At<Vec<Vec<u64>>>,
    pub imb_numa_nr: Option<u64>,
    pub reclaim_distance: Option<u64>,
    /// Levels whose groups can be power gated each for itself.
    pub power_gated: Vec<At<String>>,
}

/// The section `itmt`.
#[derive(Debug)]
pub(crate) struct ItmtDraft {
    pub place: Place,
    pub driver: ItmtDriver,
    pub ranks: Vec<RankDraft>,
}

/// CPUs of one priority.
#[derive(Debug)]
pub(crate) struct RankDraft {
    pub cpus: At<CpuSet>,
    pub priority: At<u64>,
}

#[derive(Debug)]
pub(crate) struct CoreTypeDraft {
    pub name: String,
    pub place: Place,
    pub cpus: Partition,
    /// Relative speed per MHz (`capacity-dmips-mhz`).
    pub dmips_per_mhz: Option<At<u64>>,
    /// Capacity at the top frequency where it is stated.
    pub capacity: Option<At<u64>>,
    /// Speed at the top frequency where it is stated apart from the capacity.
    pub speed: Option<At<u64>>,
    pub l2_bytes: u64,
    pub smt_percent: Option<At<u64>>,
    pub idle_states: Vec<IdleDraft>,
    pub costs: CostClass,
}

#[derive(Debug)]
pub(crate) struct IdleDraft {
    pub name: At<String>,
    pub entry_us: u64,
    pub exit_us: At<u64>,
    /// `wakeup-latency-us` where it is stated.
    pub wakeup_us: Option<At<u64>>,
    pub residency_us: At<u64>,
    pub power_uw: At<u64>,
    pub scope: IdleScope,
    pub polling: bool,
    pub timer_stops: bool,
}

impl IdleDraft {
    /// Latency that cpuidle plans with, us.
    pub fn latency_us(&self) -> u64 {
        self.wakeup_us
            .as_ref()
            .map_or(self.entry_us + self.exit_us.value, |stated| stated.value)
    }
}

#[derive(Debug)]
pub(crate) struct FreqDomainDraft {
    pub name: String,
    pub place: Place,
    /// Several: so many domains of this kind.
    pub cpus: Partition,
    pub opps: Vec<OppDraft>,
    pub switch_us: u64,
    pub fast_switch: bool,
    pub rate_limit_us: Option<u64>,
}

impl FreqDomainDraft {
    /// Frequency of the last operating point, kHz.
    pub fn top_khz(&self) -> u64 {
        self.opps.last().map_or(0, |opp| opp.khz.value)
    }
}

#[derive(Debug)]
pub(crate) struct OppDraft {
    pub khz: At<u64>,
    /// Where it is stated; else it follows the frequency.
    pub capacity: Option<At<u64>>,
    pub core_power_uw: At<u64>,
    /// By the kernel's energy model.
    pub em_power_uw: u64,
    pub cluster_power_uw: At<u64>,
}

#[derive(Debug)]
pub(crate) struct ClusterDraft {
    pub name: String,
    /// Several: so many clusters of this kind.
    pub cpus: Partition,
    pub idle_power_uw: At<u64>,
    pub off_power_uw: At<u64>,
}
