// SPDX-License-Identifier: GPL-2.0-only
//! Operating points of clocks that contradict each other or physics, or that nobody measured.

use super::Findings;
use crate::capacity;
use crate::draft::{Draft, FreqDomainDraft, OppDraft};
use crate::figure::Confidence;

/// Clocks of CPUs are above it, clocks that somebody wrote in MHz below.
const LEAST_KHZ: u64 = 10_000;

/// Measured tables of shared power fall by so much from point to point (6 % in
/// the one of TC2): no proof of a mistake.
const CLUSTER_POWER_WOBBLE_PERCENT: u64 = 10;

pub(super) fn check(draft: &Draft, findings: &mut Findings) {
    for domain in &draft.freq_domains {
        clock_is_one(domain, findings);
        opps_rise(domain, findings);
        power_is_known(domain, findings);
    }
    capacities_rest_on_guesses(draft, findings);
}

fn clock_is_one(domain: &FreqDomainDraft, findings: &mut Findings) {
    let slow = |opp: &&OppDraft| opp.khz.value < LEAST_KHZ;
    if let Some(opp) = domain.opps.iter().find(slow) {
        findings.warning(
            "low-clock",
            &opp.khz.place,
            format!("freq_domain.{}.khz", domain.name),
            format!("{} kHz", opp.khz.value),
            format!("a clock of a CPU in kHz, {LEAST_KHZ} or more"),
        );
    }
}

fn opps_rise(domain: &FreqDomainDraft, findings: &mut Findings) {
    let path = |column: &str| format!("freq_domain.{}.{column}", domain.name);
    for pair in domain.opps.windows(2) {
        let [low, high] = pair else { continue };
        let khz = high.khz.value;
        if khz <= low.khz.value {
            findings.error(
                "opp-order",
                &high.khz.place,
                path("khz"),
                format!("{khz} after {}", low.khz.value),
                "rising frequencies",
            );
        }
        if let (Some(a), Some(b)) = (&low.capacity, &high.capacity)
            && b.value <= a.value
        {
            findings.error(
                "falling-capacity",
                &b.place,
                path("capacity"),
                format!("{} at {khz} kHz after {}", b.value, a.value),
                "a capacity that rises with the frequency",
            );
        }
        let (a, b) = (&low.core_power_uw, &high.core_power_uw);
        if b.value < a.value {
            findings.warning(
                "falling-power",
                &b.place,
                path("core_power"),
                format!("{} uW at {khz} kHz after {} uW", b.value, a.value),
                "power that does not fall when the frequency rises",
            );
        }
        let (a, b) = (&low.cluster_power_uw, &high.cluster_power_uw);
        let wobble = u128::from(a.value) * u128::from(CLUSTER_POWER_WOBBLE_PERCENT) / 100;
        if u128::from(b.value) + wobble < u128::from(a.value) {
            findings.warning(
                "falling-cluster-power",
                &b.place,
                path("cluster_power"),
                format!("{} uW at {khz} kHz after {} uW", b.value, a.value),
                "power that does not fall when the frequency rises",
            );
        }
    }
}

fn power_is_known(domain: &FreqDomainDraft, findings: &mut Findings) {
    let path = |column: &str| format!("freq_domain.{}.{column}", domain.name);
    if let Some(opp) = domain.opps.iter().find(|opp| opp.core_power_uw.value == 0) {
        findings.warning(
            "core-power-missing",
            &opp.core_power_uw.place,
            path("core_power"),
            format!("0 at {} kHz", opp.khz.value),
            "the power of a busy core",
        );
    }
    if domain
        .opps
        .iter()
        .all(|opp| opp.cluster_power_uw.value == 0)
    {
        findings.warning(
            "cluster-power-missing",
            &domain.place,
            path("cluster_power"),
            "0 at every frequency",
            "the power of the shared part; without it an awake cluster costs nothing",
        );
    }
}

/// Works per MHz that somebody published, times clocks that nobody did: the capacities look known.
fn capacities_rest_on_guesses(draft: &Draft, findings: &mut Findings) {
    let is_known = |key: &str| draft.confidence_of(key) != Some(Confidence::Assumed);
    let published = |name: &str| is_known(&format!("core_type.{name}.capacity_dmips_mhz"));
    let derived = draft
        .core_types
        .iter()
        .filter(|core| core.capacity.is_none());
    if draft.core_types.len() < 2 || !derived.clone().any(|core| published(&core.name)) {
        return;
    }
    for domain in &draft.freq_domains {
        let path = format!("freq_domain.{}.khz", domain.name);
        let cpus = domain.cpus.iter().filter_map(|span| span.value.first());
        let mut cores = cpus.filter_map(|cpu| capacity::core_type_of(draft, cpu));
        let derives = cores.any(|core| core.capacity.is_none());
        if let (Some(opp), true, false) = (domain.opps.last(), derives, is_known(&path)) {
            findings.warning(
                "capacity-of-assumed-clock",
                &opp.khz.place,
                &path,
                format!(
                    "an assumed top clock of {} kHz, which the capacities follow from",
                    opp.khz.value
                ),
                "the top clock that the machine has (cpufreq/cpuinfo_max_freq): the capacities are \
                 `capacity_dmips_mhz` times top clock",
            );
        }
    }
}
