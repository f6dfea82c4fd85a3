// SPDX-License-Identifier: GPL-2.0-only
//! The keys of a machine file, `alight.machine/1`: from document to
//! [`Draft`]. Ranges here only keep nonsense and overflow out; what a machine
//! can be is judged by `check.rs`.

mod classes;
mod itmt;
mod opps;

use std::ops::RangeInclusive;

use crate::cpuset::CpuSet;
use crate::document::Document;
use crate::draft::{
    ClusterDraft, CoreTypeDraft, Draft, FreqDomainDraft, IdleDraft, Partition, Topology,
};
use crate::error::Error;
use crate::model::{Governor, IdleGovernor, IdleScope, MemoryCosts};
use crate::reader::{At, Ledger, Reader};
use classes::CostClasses;
use itmt::read_itmt;
use opps::{power, read_opps};

/// Name and version of the form, the value of the key `schema`.
pub const SCHEMA: &str = "alight.machine/1";

pub(crate) const KHZ: RangeInclusive<u64> = 1..=100_000_000;
const MICROVOLT: RangeInclusive<u64> = 1..=10_000_000;
pub(crate) const CAPACITY: RangeInclusive<u64> = 1..=65_535;
const SPEED: RangeInclusive<u64> = 1..=1024;
const POWER_MW: RangeInclusive<u64> = 0..=1_000_000_000;
pub(crate) const POWER_UW: RangeInclusive<u64> = 0..=1_000_000_000_000;
pub(crate) const TIME_US: RangeInclusive<u64> = 0..=10_000_000;
pub(crate) const L2_KIB: RangeInclusive<u64> = 1..=1_048_576;
const COST_NS: RangeInclusive<u64> = 0..=1_000_000_000;
const PERMILLE: RangeInclusive<u64> = 1..=10_000;
const LINES: RangeInclusive<u64> = 0..=1_000_000;

const SCOPES: [(&str, IdleScope); 3] = [
    ("core", IdleScope::Core),
    ("cluster", IdleScope::Cluster),
    ("domain", IdleScope::Domain),
];

/// Reads a document in which everything inherited is already in place.
///
/// # Errors
/// All that is wrong with it.
pub(crate) fn read(document: &Document) -> Result<Draft, Error> {
    let ledger = Ledger::default();
    let draft = draft(document, &ledger);
    ledger.verdict()?;
    match draft {
        Some(draft) => Ok(Draft { ledger, ..draft }),
        None => Err(Error::written(
            &document.root.place,
            "the file describes no machine",
        )),
    }
}

/// `None`: the ledger tells why.
fn draft(document: &Document, ledger: &Ledger) -> Option<Draft> {
    let mut root = Reader::new(&document.root, "", ledger)?;
    check_schema(&mut root)?;
    root.text("inherits");
    let costs_from = root.text("costs_from").map(|named| named.value);
    root.section("calibration"); // read where its file is known
    let name = root.text("name");
    let name = root.required("name", name);
    let description = root.text("description");
    let description = root.required("description", description);
    let notes = root.texts("notes").unwrap_or_default();
    let hz = root.whole("hz", 1..=10_000);
    let hz = root.required("hz", hz);
    let governor = root.choice(
        "governor",
        &Governor::ALL.map(|governor| (governor.name(), governor)),
    );
    let governor = root.required("governor", governor);
    let idle_governor = root.choice(
        "idle_governor",
        &IdleGovernor::ALL.map(|governor| (governor.name(), governor)),
    );
    let hrtick = root.flag("hrtick").unwrap_or(false);
    let irq_time_accounting = root.flag("irq_time_accounting").unwrap_or(false);
    let one_processor = root.flag("one_processor").unwrap_or(false);
    let itmt = root.section("itmt");
    let itmt = itmt.map(read_itmt);
    let topology = root.section("topology");
    let topology = root.required("topology", topology).and_then(read_topology);
    let classes = CostClasses::new(&mut root, &document.root);
    let core_types = read_each(&mut root, "core_type", |name, section| {
        read_core_type(name, section, &classes)
    });
    let freq_domains = read_each(&mut root, "freq_domain", read_freq_domain);
    let clusters = read_each(&mut root, "cluster", read_cluster);
    let memory = root.section("memory");
    let memory = root.required("memory", memory);
    let memory = memory.and_then(|memory| Some((memory.place.clone(), read_memory(memory)?)));
    root.finish();
    let core_types = core_types?;
    capacities_are_known(&core_types, ledger);
    let (memory_place, memory) = memory?;
    Some(Draft {
        name: name?.value,
        description: description?.value,
        hz: hz?,
        governor: governor?,
        idle_governor,
        hrtick,
        irq_time_accounting,
        one_processor,
        itmt: match itmt {
            Some(read) => Some(read?),
            None => None,
        },
        topology: topology?,
        core_types,
        freq_domains: freq_domains?,
        clusters: clusters?,
        memory,
        memory_place,
        costs_from,
        calibration: document.calibration.clone(),
        ledger: Ledger::default(),
        text: document.text.clone(),
        notes,
    })
}

/// Refuses other schemas and other versions: nothing else is read then.
pub(crate) fn check_schema(root: &mut Reader) -> Option<()> {
    let schema = root.text("schema");
    let schema = root.required_at_once("schema", schema)?;
    if schema.value == SCHEMA {
        return Some(());
    }
    let message = format!(
        "schema is `{}`, this program reads `{SCHEMA}`",
        schema.value
    );
    root.complain(&schema.place, message);
    None
}

/// Reads every table of a table of tables, of which there must be one at least.
fn read_each<'a, T>(
    root: &mut Reader<'a>,
    key: &'static str,
    read: impl Fn(String, Reader<'a>) -> Option<T>,
) -> Option<Vec<T>> {
    let sections = root.named_sections(key);
    if sections.is_empty() {
        let message = format!("the file has no [{key}.NAME], expected at least one");
        root.complain(root.place, message);
        return None;
    }
    // Each of them tells what is wrong with it.
    let read: Vec<Option<T>> = (sections.into_iter())
        .map(|(name, section)| read(name, section))
        .collect();
    read.into_iter().collect()
}

fn read_topology(mut section: Reader) -> Option<Topology> {
    let cpus = section.partition("cpus");
    let cpus = section.required("cpus", cpus);
    let cpus = cpus.and_then(|spans| one_span(&section, "cpus", spans));
    let core = section.partition("core");
    let llc = section.partition("llc");
    let llc = section.required("llc", llc);
    let cls = section.partition("cls");
    let mc = section.partition("mc");
    let node = section.partition("node");
    let numa_distance = section.matrix("numa_distance", 1..=255);
    let numa_distance = match node.as_ref().map_or(1, Vec::len) {
        0 | 1 => numa_distance.or_else(|| {
            let place = section.place.clone();
            let value = vec![vec![10]];
            Some(At { value, place })
        }),
        _ => section.required("numa_distance", numa_distance),
    };
    let imb_numa_nr = section.whole("imb_numa_nr", 1..=CpuSet::MAX as u64);
    let reclaim_distance = section.whole("reclaim_distance", 10..=255);
    let power_gated = section.names("power_gated", &["SMT", "CLS", "MC", "PKG", "NUMA"]);
    let place = section.place.clone();
    let path = section.path_of("numa_distance");
    let nodes = node.as_ref().map_or(1, Vec::len);
    if let Some(matrix) = &numa_distance
        && (matrix.value.len() != nodes || matrix.value.iter().any(|row| row.len() != nodes))
    {
        let message =
            format!("`{path}` must have {nodes} rows of {nodes} numbers, one for each node");
        section.complain(&matrix.place, message);
    }
    section.finish();
    let cpus = cpus?;
    let alone = || {
        let single = |cpu| At {
            value: CpuSet::single(cpu),
            place: place.clone(),
        };
        cpus.value.iter().map(single).collect()
    };
    Some(Topology {
        core: core.unwrap_or_else(alone),
        node: node.unwrap_or_else(|| vec![cpus.clone()]),
        cpus,
        llc: llc?,
        cls,
        mc,
        numa_distance: numa_distance?,
        imb_numa_nr: imb_numa_nr.map(|number| number.value),
        reclaim_distance: reclaim_distance.map(|number| number.value),
        power_gated: power_gated.unwrap_or_default(),
    })
}

pub(super) fn one_span(section: &Reader, key: &str, mut spans: Partition) -> Option<At<CpuSet>> {
    let place = section.place_of(key);
    match spans.pop() {
        Some(span) if spans.is_empty() && !span.value.is_empty() => Some(span),
        _ => {
            let path = section.path_of(key);
            let message = format!("`{path}` must be one list of CPUs such as \"0-5\"");
            section.complain(place, message);
            None
        }
    }
}

fn read_core_type(
    name: String,
    mut section: Reader,
    classes: &CostClasses,
) -> Option<CoreTypeDraft> {
    let place = section.place.clone();
    let cpus = section.partition("cpus");
    let cpus = section.required("cpus", cpus);
    let dmips_per_mhz = section.whole("capacity_dmips_mhz", 1..=1_000_000);
    let capacity = section.whole("capacity", CAPACITY);
    let speed = section.whole("speed", SPEED);
    let l2_kib = section.whole("l2_kib", L2_KIB);
    let l2_kib = section.required("l2_kib", l2_kib);
    let smt_percent = section.whole("smt_percent", 10..=100);
    let costs = section.text("costs");
    let costs = section.required("costs", costs);
    let costs = costs.and_then(|named| classes.class(&named, &section));
    let listed = section.listed_sections("idle_state");
    if listed.as_ref().is_some_and(Vec::is_empty) {
        let message = format!(
            "`{}` has no idle state, expected at least one",
            section.path
        );
        section.complain(&place, message);
    }
    let read: Vec<Option<IdleDraft>> = (listed.into_iter().flatten())
        .map(|(name, state)| read_idle_state(name, state))
        .collect();
    section.finish();
    Some(CoreTypeDraft {
        name,
        place,
        cpus: cpus?,
        dmips_per_mhz,
        capacity,
        speed,
        l2_bytes: l2_kib?.value * 1024,
        smt_percent,
        idle_states: read.into_iter().collect::<Option<_>>()?,
        costs: costs?,
    })
}

/// Capacities are relative: either all core types state theirs, or all state
/// the speed that they follow from.
fn capacities_are_known(core_types: &[CoreTypeDraft], ledger: &Ledger) {
    let all_speeds = core_types.iter().all(|core| core.dmips_per_mhz.is_some());
    if all_speeds {
        return;
    }
    for core in core_types.iter().filter(|core| core.capacity.is_none()) {
        let message = format!(
            "[core_type.{}] has no `capacity`, and none can be derived, because not every core \
             type has a `capacity_dmips_mhz`",
            core.name
        );
        ledger.complain(&core.place, message);
    }
}

fn read_idle_state(name: At<String>, mut state: Reader) -> Option<IdleDraft> {
    let entry_us = state.whole("entry_us", TIME_US);
    let exit_us = state.whole("exit_us", TIME_US);
    let exit_us = state.required("exit_us", exit_us);
    let wakeup_us = state.whole("wakeup_us", TIME_US);
    let residency_us = state.whole("residency_us", TIME_US);
    let residency_us = state.required("residency_us", residency_us);
    let power_uw = power(&mut state, "power_mw", "power_uw");
    let scope = state.choice("scope", &SCOPES);
    let polling = state.flag("polling");
    let timer_stops = state.flag("timer_stops");
    state.finish();
    Some(IdleDraft {
        name,
        entry_us: entry_us.map_or(0, |time| time.value),
        exit_us: exit_us?,
        wakeup_us,
        residency_us: residency_us?,
        power_uw: power_uw?,
        scope: scope.unwrap_or(IdleScope::Core),
        polling: polling.unwrap_or(false),
        timer_stops: timer_stops.unwrap_or(false),
    })
}

fn read_freq_domain(name: String, mut section: Reader) -> Option<FreqDomainDraft> {
    let place = section.place.clone();
    let cpus = section.partition("cpus");
    let cpus = section.required("cpus", cpus);
    let opps = read_opps(&mut section);
    let switch_us = section.whole("switch_us", TIME_US);
    let switch_us = section.required("switch_us", switch_us);
    let fast_switch = section.flag("fast_switch").unwrap_or(false);
    let rate_limit_us = section.whole("rate_limit_us", TIME_US);
    section.finish();
    Some(FreqDomainDraft {
        name,
        place,
        cpus: cpus?,
        opps: opps?,
        switch_us: switch_us?.value,
        fast_switch,
        rate_limit_us: rate_limit_us.map(|limit| limit.value),
    })
}

fn read_cluster(name: String, mut section: Reader) -> Option<ClusterDraft> {
    let cpus = section.partition("cpus");
    let cpus = section.required("cpus", cpus);
    let idle_power_uw = power(&mut section, "idle_power_mw", "idle_power_uw");
    let off_power_uw = power(&mut section, "off_power_mw", "off_power_uw");
    section.finish();
    Some(ClusterDraft {
        name,
        cpus: cpus?,
        idle_power_uw: idle_power_uw?,
        off_power_uw: off_power_uw?,
    })
}

fn read_memory(mut section: Reader) -> Option<MemoryCosts> {
    let mut number = |key, range| {
        let value = section.whole(key, range);
        section.required(key, value).map(|number| number.value)
    };
    let llc_line_ns = number("llc_line_ns", LINES);
    let cross_llc_line_ns = number("cross_llc_line_ns", LINES);
    let cross_node_line_ns = number("cross_node_line_ns", LINES);
    let dram_line_ns = number("dram_line_ns", LINES);
    let refill_mlp = number("refill_mlp", LINES);
    let channel_lines = number("channel_lines", LINES);
    let working_set_kib = number("working_set_kib", 0..=1_048_576);
    let messages_kept = section.whole("messages_kept", 1..=1_000_000);
    section.finish();
    Some(MemoryCosts {
        llc_line_ns: llc_line_ns? as u32,
        cross_llc_line_ns: cross_llc_line_ns? as u32,
        cross_node_line_ns: cross_node_line_ns? as u32,
        dram_line_ns: dram_line_ns? as u32,
        refill_mlp: refill_mlp? as u32,
        channel_lines: channel_lines? as u32,
        messages_kept: messages_kept.map_or(0, |kept| kept.value as u32),
        working_set_bytes: working_set_kib? * 1024,
    })
}
