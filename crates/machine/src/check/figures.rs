// SPDX-License-Identifier: GPL-2.0-only
//! Numbers that contradict each other or physics: idle states, capacities, costs.

use super::Findings;
use crate::capacity::{self, CAPACITY_SCALE};
use crate::costs::COST_FIELDS;
use crate::draft::{CoreTypeDraft, Draft, FreqDomainDraft, IdleDraft};
use crate::model::IdleScope;
use crate::speed::{self, Speeds};

/// Stated capacities may differ so much from derived ones: kernels before 6.8
/// truncate frequencies at other places.
const CAPACITY_TOLERANCE: u64 = 1;

/// Tick frequencies that a kernel can be configured for (`CONFIG_HZ`).
const TICK_RATES: [u64; 8] = [24, 48, 100, 128, 200, 250, 300, 1000];

pub(super) fn check(draft: &Draft, findings: &mut Findings) {
    tick_rate(draft, findings);
    for core in &draft.core_types {
        idle_states(core, findings);
        first_state_stands_alone(core, findings);
        idle_saves_power(draft, core, findings);
        costs(core, findings);
        siblings_exist(draft, core, findings);
    }
    clusters(draft, findings);
    one_domain_has_one_list(draft, findings);
    capacities(draft, findings);
    stated_speeds(draft, findings);
    speeds(draft, findings);
    memory(draft, findings);
}

fn tick_rate(draft: &Draft, findings: &mut Findings) {
    if !TICK_RATES.contains(&draft.hz.value) {
        findings.warning(
            "tick-rate",
            &draft.hz.place,
            "hz",
            draft.hz.value.to_string(),
            format!("one of {TICK_RATES:?}"),
        );
    }
}

fn siblings_exist(draft: &Draft, core: &CoreTypeDraft, findings: &mut Findings) {
    if let Some(stated) = &core.smt_percent
        && !draft.has_siblings(core)
    {
        findings.warning(
            "smt-without-siblings",
            &stated.place,
            format!("core_type.{}.smt_percent", core.name),
            stated.value.to_string(),
            "`topology.core` with several threads a core, because only a sibling slows a thread",
        );
    }
}

fn idle_states(core: &CoreTypeDraft, findings: &mut Findings) {
    let path = |state: &IdleDraft, key: &str| {
        format!(
            "core_type.{}.idle_state.{}.{key}",
            core.name, state.name.value
        )
    };
    for state in &core.idle_states {
        let latency = state.latency_us().max(state.entry_us + state.exit_us.value);
        if latency > state.residency_us.value {
            findings.warning(
                "latency-above-residency",
                &state.residency_us.place,
                path(state, "residency_us"),
                format!("a residency of {} us", state.residency_us.value),
                format!("at least entry plus exit, {latency} us; the value is used unchanged"),
            );
        }
        if state
            .wakeup_us
            .as_ref()
            .is_some_and(|w| w.value < state.exit_us.value)
        {
            findings.error(
                "wakeup-below-exit",
                &state.exit_us.place,
                path(state, "wakeup_us"),
                format!("{} us", state.latency_us()),
                format!("at least the exit latency, {} us", state.exit_us.value),
            );
        }
    }
    for pair in core.idle_states.windows(2) {
        let [shallow, deep] = pair else { continue };
        if out_of_order(shallow, deep) {
            findings.error(
                "domain-state-order",
                &deep.name.place,
                format!("core_type.{}.idle_state.{}", core.name, deep.name.value),
                format!("a state after `{}`", shallow.name.value),
                "states of scope `domain` last, after one of scope `core`",
            );
        }
        deeper_is_slower(core, shallow, deep, findings);
    }
}

/// Domain states come on top of what a core does for itself.
fn out_of_order(shallow: &IdleDraft, deep: &IdleDraft) -> bool {
    use IdleScope::{Cluster, Domain};
    let (shallow, deep) = (shallow.scope, deep.scope);
    (shallow == Domain && deep != Domain) || (shallow == Cluster && deep == Domain)
}

/// Domain states are those of the domain, so all its core types list the same ones. A core type
/// without any has CPUs that keep the domain up.
fn one_domain_has_one_list(draft: &Draft, findings: &mut Findings) {
    let domain = |state: &&IdleDraft| state.scope == IdleScope::Domain;
    let times = |core: &CoreTypeDraft| -> Vec<(u64, u64, u64)> {
        let states = core.idle_states.iter().filter(domain);
        let times = |s: &IdleDraft| (s.entry_us, s.exit_us.value, s.residency_us.value);
        states.map(times).collect()
    };
    for cluster in draft.clusters.iter().flat_map(|cluster| &cluster.cpus) {
        let cpus = cluster.value.iter();
        let cores = cpus.filter_map(|cpu| capacity::core_type_of(draft, cpu));
        let mut cores = cores.filter(|core| !times(core).is_empty());
        let Some(first) = cores.next() else { continue };
        if let Some(other) = cores.find(|core| times(core) != times(first)) {
            findings.error(
                "domain-states-differ",
                &other.place,
                format!("core_type.{}.idle_state", other.name),
                format!(
                    "states of scope `domain` with entry, exit, residency {:?} us",
                    times(other)
                ),
                format!(
                    "{:?} us as in core_type.{}, whose CPUs are in the same cluster",
                    times(first),
                    first.name
                ),
            );
        }
    }
}

/// Deeper states should take longer and save more. Real tables have deeper states that
/// take less long: cpuidle takes them as they stand, and so does the model. Powers are
/// this file's own, and of these a deeper state cannot take more.
fn deeper_is_slower(
    core: &CoreTypeDraft,
    shallow: &IdleDraft,
    deep: &IdleDraft,
    findings: &mut Findings,
) {
    let name = &shallow.name.value;
    let path = |key: &str| {
        format!(
            "core_type.{}.idle_state.{}.{key}",
            core.name, deep.name.value
        )
    };
    let times = [
        (
            "exit_us",
            &deep.exit_us,
            "latency",
            (shallow.latency_us(), deep.latency_us()),
            "a longer latency for the deeper state; both are used in this order",
        ),
        (
            "residency_us",
            &deep.residency_us,
            "residency",
            (shallow.residency_us.value, deep.residency_us.value),
            "a longer residency for the deeper state; both are used in this order",
        ),
    ];
    for (key, at, what, (below, above), expected) in times {
        if above < below {
            findings.warning(
                "idle-order",
                &at.place,
                path(key),
                format!("a {what} of {above} us, less than the {below} us of `{name}` before it"),
                expected,
            );
        }
    }
    let (below, above) = (shallow.power_uw.value, deep.power_uw.value);
    if above > below {
        findings.error(
            "idle-order",
            &deep.power_uw.place,
            path("power_mw"),
            format!("{above} uW, more than the {below} uW of `{name}` before it"),
            "less power for the deeper state",
        );
    }
}

/// A CPU must always have a state that it can enter alone and leave by its own
/// timer.
fn first_state_stands_alone(core: &CoreTypeDraft, findings: &mut Findings) {
    let Some(first) = core.idle_states.first() else {
        return;
    };
    if first.scope != IdleScope::Core || first.timer_stops {
        findings.error(
            "first-idle-state",
            &first.name.place,
            format!("core_type.{}.idle_state.{}", core.name, first.name.value),
            "a first state that stops the timer or needs the cluster",
            "a state such as WFI or POLL",
        );
    }
}

fn idle_saves_power(draft: &Draft, core: &CoreTypeDraft, findings: &mut Findings) {
    let domain = core
        .cpus
        .iter()
        .filter_map(|span| span.value.first())
        .find_map(|cpu| capacity::domain_of(draft, cpu));
    let busy = domain.and_then(|domain| domain.opps.first());
    // A power of 0 is an unknown one, which another rule tells.
    let Some(busy) = busy.filter(|opp| opp.core_power_uw.value > 0) else {
        return;
    };
    for state in core.idle_states.iter().filter(|state| !state.polling) {
        if state.power_uw.value > busy.core_power_uw.value {
            findings.error(
                "idle-power-above-busy",
                &state.power_uw.place,
                format!(
                    "core_type.{}.idle_state.{}.power_mw",
                    core.name, state.name.value
                ),
                format!("{} uW", state.power_uw.value),
                format!(
                    "at most the power of a busy core at its lowest frequency, {} uW",
                    busy.core_power_uw.value
                ),
            );
        }
    }
}

fn costs(core: &CoreTypeDraft, findings: &mut Findings) {
    for (field, stated) in COST_FIELDS.iter().zip(&core.costs.values) {
        let Some((value, _)) = stated else { continue };
        if value.value == 0 {
            findings.error(
                "zero-cost",
                &value.place,
                format!("costs.{}.{}", core.costs.name, field.key),
                "0",
                "a cost above 0, because every kernel path takes time",
            );
        }
    }
}

fn clusters(draft: &Draft, findings: &mut Findings) {
    for cluster in &draft.clusters {
        if cluster.off_power_uw.value > cluster.idle_power_uw.value {
            findings.error(
                "cluster-off-power",
                &cluster.off_power_uw.place,
                format!("cluster.{}.off_power_mw", cluster.name),
                format!("{} uW", cluster.off_power_uw.value),
                format!("at most its idle power, {} uW", cluster.idle_power_uw.value),
            );
        }
    }
}

fn capacities(draft: &Draft, findings: &mut Findings) {
    let mut biggest = 0;
    for core in &draft.core_types {
        let top_khz = capacity::top_khz(draft, core);
        let derived = capacity::derived(draft, core, top_khz);
        if let (Some(stated), Some(derived)) = (&core.capacity, derived)
            && stated.value.abs_diff(derived) > CAPACITY_TOLERANCE
        {
            findings.error(
                "capacity-mismatch",
                &stated.place,
                format!("core_type.{}.capacity", core.name),
                stated.value.to_string(),
                format!("{derived}, as `capacity_dmips_mhz` and the top frequency give it"),
            );
        }
        biggest = biggest.max(capacity::at_top(draft, core, top_khz));
    }
    if biggest != CAPACITY_SCALE {
        let place = &draft.core_types[0].place;
        findings.error(
            "biggest-capacity",
            place,
            "core_type",
            format!("{biggest} as the biggest capacity"),
            CAPACITY_SCALE.to_string(),
        );
    }
    for domain in &draft.freq_domains {
        top_opp_capacity(draft, domain, findings);
    }
}

/// Speeds are relative, as capacities are: of all core types or of none.
fn stated_speeds(draft: &Draft, findings: &mut Findings) {
    let stated = |core: &CoreTypeDraft| core.speed.as_ref().map(|speed| speed.value);
    let Some(fastest) = draft.core_types.iter().filter_map(stated).max() else {
        return;
    };
    for core in draft.core_types.iter().filter(|core| core.speed.is_none()) {
        findings.error(
            "speed-missing",
            &core.place,
            format!("core_type.{}", core.name),
            "no `speed`",
            "a `speed` in each core type, because another one states it and speeds are relative",
        );
    }
    if fastest != CAPACITY_SCALE {
        findings.error(
            "fastest-speed",
            &draft.core_types[0].place,
            "core_type",
            format!("{fastest} as the greatest speed"),
            CAPACITY_SCALE.to_string(),
        );
    }
}

/// The last operating point's capacity is that of the CPUs.
fn top_opp_capacity(draft: &Draft, domain: &FreqDomainDraft, findings: &mut Findings) {
    let cpus = domain.cpus.iter().flat_map(|span| span.value.iter());
    let mut capacities: Vec<u64> = cpus
        .filter_map(|cpu| capacity::core_type_of(draft, cpu))
        .map(|core| capacity::at_top(draft, core, domain.top_khz()))
        .collect();
    capacities.sort_unstable();
    capacities.dedup();
    let path = format!("freq_domain.{}", domain.name);
    let [capacity] = capacities[..] else {
        if capacities.len() > 1 {
            findings.error(
                "mixed-freq-domain",
                &domain.place,
                path,
                format!("CPUs of the capacities {capacities:?} on one clock"),
                "CPUs of one capacity, because its table has one capacity for each frequency",
            );
        }
        return;
    };
    let stated = domain.opps.last().and_then(|opp| opp.capacity.as_ref());
    if let Some(stated) = stated
        && stated.value != capacity
    {
        findings.error(
            "capacity-mismatch",
            &stated.place,
            format!("{path}.capacity"),
            format!("{} at the top frequency", stated.value),
            format!("{capacity}, the capacity of its CPUs"),
        );
    }
}

/// What the scheduler takes for equal need not be equally fast.
fn speeds(draft: &Draft, findings: &mut Findings) {
    let Speeds::AssumedEqual(groups) = speed::known(draft) else {
        return;
    };
    for kinds in groups {
        let of_first = |core: &&CoreTypeDraft| core.name == kinds[0].core_type;
        let core = draft.core_types.iter().find(of_first);
        let place = core.map_or(&draft.topology.cpus.place, |core| &core.place);
        findings.warning(
            "speeds-assumed-equal",
            place,
            "core_type",
            format!(
                "the capacity {} for {}",
                kinds[0].capacity,
                speed::listed(&kinds)
            ),
            "a `speed` in each core type, unless the types are equally fast; now they do the same \
             work in the same time",
        );
    }
}

fn memory(draft: &Draft, findings: &mut Findings) {
    let memory = &draft.memory;
    let lines = [
        ("llc_line_ns", memory.llc_line_ns),
        ("cross_llc_line_ns", memory.cross_llc_line_ns),
        ("cross_node_line_ns", memory.cross_node_line_ns),
        ("dram_line_ns", memory.dram_line_ns),
        ("refill_mlp", memory.refill_mlp),
        ("channel_lines", memory.channel_lines),
    ];
    for (key, value) in lines {
        if value == 0 {
            findings.error(
                "zero-cost",
                &draft.memory_place,
                format!("memory.{key}"),
                "0",
                "1 or more",
            );
        }
    }
    if memory.cross_llc_line_ns < memory.llc_line_ns
        || memory.cross_node_line_ns < memory.cross_llc_line_ns
    {
        findings.error(
            "memory-order",
            &draft.memory_place,
            "memory",
            format!(
                "lines in {} ns from the LLC, {} ns from another, {} ns from another node",
                memory.llc_line_ns, memory.cross_llc_line_ns, memory.cross_node_line_ns
            ),
            "times that rise with the distance",
        );
    }
}
