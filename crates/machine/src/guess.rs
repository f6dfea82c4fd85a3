// SPDX-License-Identifier: GPL-2.0-only
//! What is assumed of a machine where its description says nothing: orders of magnitude by kind of
//! core. [`capture`](crate::capture) and importers of other descriptions assume the same.

use crate::cpuset::CpuSet;

/// Timer tick, Hz.
pub const HZ: u64 = 250;
/// L2 of a core that does not say, KiB.
pub const L2_KIB: u64 = 512;
/// Two threads of a core together get done a quarter more than one.
pub const SMT_PERCENT: u64 = 62;
/// Time of a clock change that nobody states, us.
pub const SWITCH_US: u64 = 50;
/// Clock that nobody states, kHz.
pub const CLOCK_KHZ: u64 = 1_000_000;
/// Power of the shared part of a cluster, percent of that of a core.
pub const CLUSTER_POWER_PERCENT: u64 = 20;
/// Power of the shared part while all cores are idle, mW.
pub const CLUSTER_IDLE_MW: u64 = 20;
/// Distance between two nodes.
pub const NUMA_DISTANCE: u64 = 20;

/// Share of the biggest capacity, in percent, below which an arm core of
/// unknown make counts as little.
const LITTLE_BELOW_PERCENT: u64 = 60;

/// Kind of a core: the class of costs that it has, and the order of magnitude of its powers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CostKind {
    /// Any core of x86, and of architectures that have no class of their own.
    X86,
    /// An arm core that executes in order.
    Little,
    /// An arm core that executes out of order.
    Big,
}

/// Arm cores by part number of implementer 0x41 (Linux `arch/arm64/include/asm/cputype.h`).
const ARM_CORES: [(u64, &str, CostKind); 38] = [
    (0xc05, "Cortex-A5", CostKind::Little),
    (0xc07, "Cortex-A7", CostKind::Little),
    (0xc08, "Cortex-A8", CostKind::Little),
    (0xc09, "Cortex-A9", CostKind::Big),
    (0xc0d, "Cortex-A12", CostKind::Big),
    (0xc0e, "Cortex-A17", CostKind::Big),
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
    (0xd0d, "Cortex-A77", CostKind::Big),
    (0xd0e, "Cortex-A76AE", CostKind::Big),
    (0xd40, "Neoverse-V1", CostKind::Big),
    (0xd41, "Cortex-A78", CostKind::Big),
    (0xd42, "Cortex-A78AE", CostKind::Big),
    (0xd44, "Cortex-X1", CostKind::Big),
    (0xd46, "Cortex-A510", CostKind::Little),
    (0xd47, "Cortex-A710", CostKind::Big),
    (0xd48, "Cortex-X2", CostKind::Big),
    (0xd49, "Neoverse-N2", CostKind::Big),
    (0xd4b, "Cortex-A78C", CostKind::Big),
    (0xd4c, "Cortex-X1C", CostKind::Big),
    (0xd4d, "Cortex-A715", CostKind::Big),
    (0xd4e, "Cortex-X3", CostKind::Big),
    (0xd4f, "Neoverse-V2", CostKind::Big),
    (0xd80, "Cortex-A520", CostKind::Little),
    (0xd81, "Cortex-A720", CostKind::Big),
    (0xd82, "Cortex-X4", CostKind::Big),
    (0xd84, "Neoverse-V3", CostKind::Big),
    (0xd85, "Cortex-X925", CostKind::Big),
    (0xd87, "Cortex-A725", CostKind::Big),
    (0xd8e, "Neoverse-N3", CostKind::Big),
];

/// The core of Arm with this part number.
pub fn arm_part(part: u64) -> Option<(&'static str, CostKind)> {
    let found = ARM_CORES.iter().find(|(number, ..)| *number == part);
    found.map(|(_, name, kind)| (*name, *kind))
}

/// The core of Arm with this name, whatever its case: `cortex-a53`.
pub fn arm_name(name: &str) -> Option<(&'static str, CostKind)> {
    let found = ARM_CORES
        .iter()
        .find(|core| core.1.eq_ignore_ascii_case(name));
    found.map(|(_, name, kind)| (*name, *kind))
}

impl CostKind {
    /// An arm core of unknown make with this share of `biggest`, the biggest capacity of its machine.
    pub fn by_capacity(capacity: u64, biggest: u64) -> Self {
        let little = capacity.saturating_mul(100) < biggest.saturating_mul(LITTLE_BELOW_PERCENT);
        if little { Self::Little } else { Self::Big }
    }

    /// Name of the class of costs.
    pub fn class(self) -> &'static str {
        match self {
            Self::X86 => "x86",
            Self::Little => "little",
            Self::Big => "big",
        }
    }

    /// Name of the idle state of a kernel without cpuidle.
    pub fn idle_state(self) -> &'static str {
        match self {
            Self::X86 => "C1",
            Self::Little | Self::Big => "WFI",
        }
    }

    /// Power of a busy core at its top frequency, uW.
    fn top_power_uw(self) -> u64 {
        match self {
            Self::X86 => 3_000_000,
            Self::Little => 200_000,
            Self::Big => 1_000_000,
        }
    }

    /// Powers of a busy core at rising frequencies, uW. They grow with the square of the frequency:
    /// voltage grows with it over a part of the range.
    pub fn powers_uw(self, khz: &[u64]) -> Vec<u64> {
        // Nothing clocks above 4 THz: what does is refused when the file is read.
        let bounded = |khz: u64| u128::from(khz.clamp(1, u64::from(u32::MAX)));
        let top = bounded(khz.last().copied().unwrap_or(1));
        let power = |&khz: &u64| {
            let khz = bounded(khz);
            let power = u128::from(self.top_power_uw()) * khz * khz / (top * top);
            u64::try_from(power).unwrap_or(u64::MAX).max(1)
        };
        khz.iter().map(power).collect()
    }
}

/// Power of a core in its idle state number `depth` of `states`, uW: that of the busy core at its
/// lowest frequency, divided into equal steps.
pub fn idle_power_uw(busy_uw: u64, depth: usize, states: usize) -> u64 {
    let steps = states as u64 + 1;
    busy_uw.min(u64::from(u32::MAX)) * (steps - 1 - depth as u64) / steps
}

/// Times of cache lines, ns, and lines in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// A line of the own last-level cache, of another one, of another node.
    pub lines: [u32; 3],
    /// A line of memory.
    pub dram: u32,
    /// Lines in flight at a time.
    pub mlp: u32,
    /// Lines that a message moves.
    pub channel_lines: u32,
    /// Working set of a task that states none, KiB.
    pub working_set_kib: u32,
}

/// Times of memory of a machine of x86, or of another one.
pub fn memory(x86: bool) -> Memory {
    let (lines, dram, mlp) = match x86 {
        true => ([14, 100, 200], 110, 4),
        false => ([20, 120, 200], 150, 3),
    };
    Memory {
        lines,
        dram,
        mlp,
        channel_lines: 4,
        working_set_kib: 32,
    }
}

/// `caches` as power domains: where a clock reaches over one of them in part, the
/// cache's CPUs are divided between the clocks, so that the one lies within the other.
pub fn power_domains<'a>(
    caches: &[CpuSet],
    clocks: impl Iterator<Item = &'a CpuSet> + Clone,
) -> Vec<CpuSet> {
    let mut domains = caches.to_vec();
    for clock in clocks {
        domains = (domains.iter())
            .flat_map(|domain| {
                let (inside, outside) = (domain.intersection(clock), domain.difference(clock));
                match clock.is_subset(domain) || inside.is_empty() || outside.is_empty() {
                    true => vec![*domain],
                    false => vec![inside, outside],
                }
            })
            .collect();
    }
    domains.sort_by_key(CpuSet::first);
    domains
}
