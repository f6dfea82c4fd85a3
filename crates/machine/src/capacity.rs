// SPDX-License-Identifier: GPL-2.0-only
//! Capacity of CPUs: speed per MHz times top frequency, the biggest CPU being
//! 1024, truncated (Linux 6.5 `drivers/base/arch_topology.c`,
//! `topology_normalize_cpu_scale`). Frequencies count in kHz.

use crate::draft::{CoreTypeDraft, Draft, FreqDomainDraft};

/// Capacity of the biggest CPU (`SCHED_CAPACITY_SCALE`).
pub(crate) const CAPACITY_SCALE: u64 = 1024;

/// Frequency domain of a CPU: the first that names it.
pub(crate) fn domain_of(draft: &Draft, cpu: usize) -> Option<&FreqDomainDraft> {
    draft
        .freq_domains
        .iter()
        .find(|domain| domain.cpus.iter().any(|span| span.value.contains(cpu)))
}

/// Core type of a CPU: the first that names it.
pub(crate) fn core_type_of(draft: &Draft, cpu: usize) -> Option<&CoreTypeDraft> {
    draft
        .core_types
        .iter()
        .find(|core| core.cpus.iter().any(|span| span.value.contains(cpu)))
}

/// Top frequency of a core type: the highest among its CPUs, kHz.
pub(crate) fn top_khz(draft: &Draft, core: &CoreTypeDraft) -> u64 {
    core.cpus
        .iter()
        .flat_map(|span| span.value.iter())
        .filter_map(|cpu| domain_of(draft, cpu))
        .map(FreqDomainDraft::top_khz)
        .max()
        .unwrap_or(0)
}

/// Speed of a core type at a frequency, in an arbitrary unit; `None` if the
/// file states no speed for it.
fn speed(core: &CoreTypeDraft, khz: u64) -> Option<u64> {
    core.dmips_per_mhz.as_ref().map(|dmips| dmips.value * khz)
}

/// Capacity that follows from the speed per MHz at the frequency `khz`;
/// `None` unless every core type states its speed.
pub(crate) fn derived(draft: &Draft, core: &CoreTypeDraft, khz: u64) -> Option<u64> {
    let mut fastest = 1;
    for other in &draft.core_types {
        fastest = fastest.max(speed(other, top_khz(draft, other))?);
    }
    let scaled = u128::from(speed(core, khz)?) * u128::from(CAPACITY_SCALE) / u128::from(fastest);
    u64::try_from(scaled).ok()
}

/// Capacity of a CPU of this type in a domain whose top frequency is `khz`:
/// as stated, else as derived.
pub(crate) fn at_top(draft: &Draft, core: &CoreTypeDraft, khz: u64) -> u64 {
    match &core.capacity {
        Some(stated) => stated.value,
        None => derived(draft, core, khz).unwrap_or(0),
    }
}

/// Capacity at an operating point that states none: it follows the frequency,
/// truncated (Linux 6.5 `arch_set_freq_scale`).
pub(crate) fn at_frequency(top_capacity: u64, khz: u64, top_khz: u64) -> u64 {
    top_capacity * khz / top_khz.max(1)
}
