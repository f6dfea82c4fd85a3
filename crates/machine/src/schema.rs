// SPDX-License-Identifier: GPL-2.0-only
//! The keys of a machine file, `alight.machine/1`: from document to
//! [`Draft`]. Ranges here only keep nonsense and overflow out; what a machine
//! can be is judged by `check.rs`.

use std::ops::RangeInclusive;

use crate::costs::{COST_FIELDS, CostClass, Otherwise};
use crate::cpuset::CpuSet;
use crate::document::{Document, Kind, Node, Table, overlay};
use crate::draft::{
    ClusterDraft, CoreTypeDraft, Draft, FreqDomainDraft, IdleDraft, OppDraft, Partition, Topology,
};
use crate::error::{Error, nearest};
use crate::figure::{Confidence, Provenance};
use crate::model::{Governor, IdleGovernor, IdleScope, MemoryCosts};
use crate::reader::{At, Ledger, Reader};

/// Name and version of the form, the value of the key `schema`.
pub const SCHEMA: &str = "alight.machine/1";

pub(crate) const KHZ: RangeInclusive<u64> = 1..=100_000_000;
const MICROVOLT: RangeInclusive<u64> = 1..=10_000_000;
pub(crate) const CAPACITY: RangeInclusive<u64> = 1..=65_535;
const POWER_MW: RangeInclusive<u64> = 0..=1_000_000_000;
pub(crate) const POWER_UW: RangeInclusive<u64> = 0..=1_000_000_000_000;
pub(crate) const TIME_US: RangeInclusive<u64> = 0..=10_000_000;
pub(crate) const L2_KIB: RangeInclusive<u64> = 1..=1_048_576;
const COST_NS: RangeInclusive<u64> = 0..=1_000_000_000;
const LINES: RangeInclusive<u64> = 0..=1_000_000;

const SCOPES: [(&str, IdleScope); 3] = [
    ("core", IdleScope::Core),
    ("cluster", IdleScope::Cluster),
    ("domain", IdleScope::Domain),
];

/// Reads a document in which everything inherited is already in place.
pub(crate) fn read(document: &Document) -> Result<Draft, Error> {
    let ledger = Ledger::default();
    let mut root = Reader::new(&document.root, "", &ledger)?;
    check_schema(&mut root)?;
    root.text("inherits")?;
    let costs_from = root.text("costs_from")?.map(|named| named.value);
    root.section("calibration")?; // read where its file is known
    let name = root.text("name")?;
    let name = root.required("name", name)?.value;
    let description = root.text("description")?;
    let description = root.required("description", description)?.value;
    let notes = root.texts("notes")?.unwrap_or_default();
    let hz = root.whole("hz", 1..=10_000)?;
    let hz = root.required("hz", hz)?;
    let governor = root.choice(
        "governor",
        &Governor::ALL.map(|governor| (governor.name(), governor)),
    )?;
    let governor = root.required("governor", governor)?;
    let idle_governor = root.choice(
        "idle_governor",
        &IdleGovernor::ALL.map(|governor| (governor.name(), governor)),
    )?;
    let hrtick = root.flag("hrtick")?.unwrap_or(false);
    let irq_time_accounting = root.flag("irq_time_accounting")?.unwrap_or(false);
    let one_processor = root.flag("one_processor")?.unwrap_or(false);
    let topology = root.section("topology")?;
    let topology = read_topology(root.required("topology", topology)?)?;
    let classes = CostClasses::new(&mut root, &document.root)?;
    let core_types = read_each(&mut root, "core_type", |name, section| {
        read_core_type(name, section, &classes)
    })?;
    let freq_domains = read_each(&mut root, "freq_domain", read_freq_domain)?;
    let clusters = read_each(&mut root, "cluster", read_cluster)?;
    let memory = root.section("memory")?;
    let memory = root.required("memory", memory)?;
    let memory_place = memory.place.clone();
    let memory = read_memory(memory)?;
    root.finish()?;
    capacities_are_known(&core_types)?;
    Ok(Draft {
        name,
        description,
        hz,
        governor,
        idle_governor,
        hrtick,
        irq_time_accounting,
        one_processor,
        topology,
        core_types,
        freq_domains,
        clusters,
        memory,
        memory_place,
        costs_from,
        calibration: document.calibration.clone(),
        ledger,
        notes,
    })
}

/// Refuses other schemas and other versions.
pub(crate) fn check_schema(root: &mut Reader) -> Result<(), Error> {
    let schema = root.text("schema")?;
    let schema = root.required("schema", schema)?;
    if schema.value == SCHEMA {
        return Ok(());
    }
    let message = format!(
        "schema is `{}`, this program reads `{SCHEMA}`",
        schema.value
    );
    Err(Error::written(&schema.place, message))
}

/// Reads every table of a table of tables, of which there must be one at least.
fn read_each<'a, T>(
    root: &mut Reader<'a>,
    key: &'static str,
    read: impl Fn(String, Reader<'a>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let sections = root.named_sections(key)?;
    if sections.is_empty() {
        let message = format!("no [{key}.NAME] in the file, expected one at least");
        return Err(Error::written(&root.place, message));
    }
    sections
        .into_iter()
        .map(|(name, section)| read(name, section))
        .collect()
}

fn read_topology(mut section: Reader) -> Result<Topology, Error> {
    let cpus = section.partition("cpus")?;
    let cpus = one_span(&section, "cpus", cpus)?;
    let alone = || {
        cpus.value
            .iter()
            .map(|cpu| At {
                value: CpuSet::single(cpu),
                place: cpus.place.clone(),
            })
            .collect()
    };
    let core = section.partition("core")?.unwrap_or_else(alone);
    let llc = section.partition("llc")?;
    let llc = section.required("llc", llc)?;
    let cls = section.partition("cls")?;
    let mc = section.partition("mc")?;
    let node = section.partition("node")?;
    let node = node.unwrap_or_else(|| vec![cpus.clone()]);
    let numa_distance = section.matrix("numa_distance", 1..=255)?;
    let numa_distance = match numa_distance {
        Some(matrix) => matrix,
        None if node.len() <= 1 => At {
            value: vec![vec![10]],
            place: section.place.clone(),
        },
        None => section.required("numa_distance", None)?,
    };
    if numa_distance.value.len() != node.len()
        || numa_distance
            .value
            .iter()
            .any(|row| row.len() != node.len())
    {
        let message = format!(
            "`topology.numa_distance` must have {0} rows of {0} numbers, one for each node",
            node.len()
        );
        return Err(Error::written(&numa_distance.place, message));
    }
    let imb_numa_nr = section.whole("imb_numa_nr", 1..=CpuSet::MAX as u64)?;
    let reclaim_distance = section.whole("reclaim_distance", 10..=255)?;
    let power_gated = section.names("power_gated", &["SMT", "CLS", "MC", "PKG", "NUMA"])?;
    section.finish()?;
    Ok(Topology {
        cpus,
        core,
        llc,
        cls,
        mc,
        node,
        numa_distance,
        imb_numa_nr: imb_numa_nr.map(|number| number.value),
        reclaim_distance: reclaim_distance.map(|number| number.value),
        power_gated: power_gated.unwrap_or_default(),
    })
}

fn one_span(section: &Reader, key: &str, spans: Option<Partition>) -> Result<At<CpuSet>, Error> {
    let mut spans = section.required(key, spans)?;
    match spans.pop() {
        Some(span) if spans.is_empty() && !span.value.is_empty() => Ok(span),
        _ => {
            let path = section.path_of(key);
            let message = format!("`{path}` must be one list of CPUs such as \"0-5\"");
            Err(Error::written(&section.place, message))
        }
    }
}

fn read_core_type(
    name: String,
    mut section: Reader,
    classes: &CostClasses,
) -> Result<CoreTypeDraft, Error> {
    let place = section.place.clone();
    let cpus = section.partition("cpus")?;
    let cpus = section.required("cpus", cpus)?;
    let dmips_per_mhz = section.whole("capacity_dmips_mhz", 1..=1_000_000)?;
    let capacity = section.whole("capacity", CAPACITY)?;
    let l2_kib = section.whole("l2_kib", L2_KIB)?;
    let l2_bytes = section.required("l2_kib", l2_kib)?.value * 1024;
    let smt_percent = section.whole("smt_percent", 10..=100)?;
    let costs = section.text("costs")?;
    let costs = classes.class(&section.required("costs", costs)?)?;
    let mut idle_states = Vec::new();
    for (name, state) in section.listed_sections("idle_state")? {
        idle_states.push(read_idle_state(name, state)?);
    }
    if idle_states.is_empty() {
        let message = format!(
            "`{}` has no idle state, expected one at least",
            section.path
        );
        return Err(Error::written(&place, message));
    }
    section.finish()?;
    Ok(CoreTypeDraft {
        name,
        place,
        cpus,
        dmips_per_mhz,
        capacity,
        l2_bytes,
        smt_percent,
        idle_states,
        costs,
    })
}

/// Capacities are relative: either all core types state theirs, or all state
/// the speed that they follow from.
fn capacities_are_known(core_types: &[CoreTypeDraft]) -> Result<(), Error> {
    let all_speeds = core_types.iter().all(|core| core.dmips_per_mhz.is_some());
    match core_types.iter().find(|core| core.capacity.is_none()) {
        Some(core) if !all_speeds => {
            let message = format!(
                "[core_type.{}] has no `capacity`, and it cannot be derived, as not every core \
                 type has a `capacity_dmips_mhz`",
                core.name
            );
            Err(Error::written(&core.place, message))
        }
        _ => Ok(()),
    }
}

fn read_idle_state(name: At<String>, mut state: Reader) -> Result<IdleDraft, Error> {
    let entry_us = state.whole("entry_us", TIME_US)?;
    let exit_us = state.whole("exit_us", TIME_US)?;
    let exit_us = state.required("exit_us", exit_us)?;
    let wakeup_us = state.whole("wakeup_us", TIME_US)?;
    let residency_us = state.whole("residency_us", TIME_US)?;
    let residency_us = state.required("residency_us", residency_us)?;
    let power_uw = power(&mut state, "power_mw", "power_uw")?;
    let power_uw = state.required("power_mw", power_uw)?;
    let scope = state.choice("scope", &SCOPES)?;
    let polling = state.flag("polling")?;
    let timer_stops = state.flag("timer_stops")?;
    state.finish()?;
    Ok(IdleDraft {
        name,
        entry_us: entry_us.map_or(0, |time| time.value),
        exit_us,
        wakeup_us,
        residency_us,
        power_uw,
        scope: scope.unwrap_or(IdleScope::Core),
        polling: polling.unwrap_or(false),
        timer_stops: timer_stops.unwrap_or(false),
    })
}

/// A power in mW or, under another key, in uW.
fn power(
    section: &mut Reader,
    milliwatt: &'static str,
    microwatt: &'static str,
) -> Result<Option<At<u64>>, Error> {
    let coarse = section.whole(milliwatt, POWER_MW)?;
    let fine = section.whole(microwatt, POWER_UW)?;
    match (coarse, fine) {
        (Some(_), Some(fine)) => {
            let message = format!("both `{milliwatt}` and `{microwatt}`, expected one of them");
            Err(Error::written(&fine.place, message))
        }
        (coarse, fine) => Ok(fine.or(coarse.map(|power| At {
            value: power.value * 1000,
            place: power.place,
        }))),
    }
}

/// As [`power`], a column of an operating point table.
fn powers(
    section: &mut Reader,
    milliwatt: &'static str,
    microwatt: &'static str,
) -> Result<Option<At<Vec<At<u64>>>>, Error> {
    let coarse = section.wholes(milliwatt, POWER_MW)?;
    let fine = section.wholes(microwatt, POWER_UW)?;
    match (coarse, fine) {
        (Some(_), Some(fine)) => {
            let message = format!("both `{milliwatt}` and `{microwatt}`, expected one of them");
            Err(Error::written(&fine.place, message))
        }
        (coarse, fine) => Ok(fine.or(coarse.map(|mut column| {
            for power in &mut column.value {
                power.value *= 1000;
            }
            column
        }))),
    }
}

fn read_freq_domain(name: String, mut section: Reader) -> Result<FreqDomainDraft, Error> {
    let place = section.place.clone();
    let cpus = section.partition("cpus")?;
    let cpus = section.required("cpus", cpus)?;
    let opps = read_opps(&mut section)?;
    let switch_us = section.whole("switch_us", TIME_US)?;
    let switch_us = section.required("switch_us", switch_us)?.value;
    let fast_switch = section.flag("fast_switch")?.unwrap_or(false);
    let rate_limit_us = section.whole("rate_limit_us", TIME_US)?;
    section.finish()?;
    Ok(FreqDomainDraft {
        name,
        place,
        cpus,
        opps,
        switch_us,
        fast_switch,
        rate_limit_us: rate_limit_us.map(|limit| limit.value),
    })
}

/// The operating points: columns of equal length, one value a point.
fn read_opps(section: &mut Reader) -> Result<Vec<OppDraft>, Error> {
    let khz = section.wholes("khz", KHZ)?;
    let khz = section.required("khz", khz)?;
    if khz.value.is_empty() {
        let message = format!(
            "`{}.khz` is empty, expected one frequency at least",
            section.path
        );
        return Err(Error::written(&khz.place, message));
    }
    let capacity = section.wholes("capacity", CAPACITY)?;
    let core_power = read_core_power(section, &khz)?;
    let cluster_power = read_cluster_power(section, &core_power)?;
    let columns = [
        ("capacity", capacity.as_ref()),
        ("core power", Some(&core_power)),
        ("cluster power", Some(&cluster_power)),
    ];
    for (name, column) in columns {
        equal_length(section, &khz, name, column)?;
    }
    let mut capacity = capacity.map(|column| column.value.into_iter());
    Ok(khz
        .value
        .into_iter()
        .zip(core_power.value)
        .zip(cluster_power.value)
        .map(|((khz, core_power_uw), cluster_power_uw)| OppDraft {
            khz,
            capacity: capacity.as_mut().and_then(Iterator::next),
            core_power_uw,
            cluster_power_uw,
        })
        .collect())
}

type Column = At<Vec<At<u64>>>;

fn equal_length(
    section: &Reader,
    khz: &Column,
    name: &str,
    column: Option<&Column>,
) -> Result<(), Error> {
    match column {
        Some(column) if column.value.len() != khz.value.len() => {
            let message = format!(
                "the {name} column of [{}] has {} values, expected {}, one for each `khz`",
                section.path,
                column.value.len(),
                khz.value.len()
            );
            Err(Error::written(&column.place, message))
        }
        _ => Ok(()),
    }
}

/// Power of a busy core, stated or by the rule of the kernel's energy model
/// (Linux 6.5 `drivers/opp/of.c`, `_get_power`): C * f * V^2 with whole MHz
/// and mV.
fn read_core_power(section: &mut Reader, khz: &Column) -> Result<Column, Error> {
    let stated = powers(section, "core_power_mw", "core_power_uw")?;
    let coefficient = section.whole("dynamic_power_coefficient", 1..=1_000_000)?;
    let microvolt = section.wholes("microvolt", MICROVOLT)?;
    if let Some(stated) = stated {
        return Ok(stated);
    }
    let (Some(coefficient), Some(microvolt)) = (coefficient, microvolt) else {
        let message = format!(
            "[{}] has neither `core_power_mw` nor `dynamic_power_coefficient` with `microvolt`",
            section.path
        );
        return Err(Error::written(&section.place, message));
    };
    equal_length(section, khz, "microvolt", Some(&microvolt))?;
    let value: Vec<At<u64>> = khz
        .value
        .iter()
        .zip(&microvolt.value)
        .map(|(khz, microvolt)| {
            let (mhz, mv) = (khz.value / 1000, microvolt.value / 1000);
            let power = u128::from(coefficient.value * mhz) * u128::from(mv * mv) / 1_000_000;
            At {
                value: u64::try_from(power).unwrap_or(u64::MAX),
                place: microvolt.place.clone(),
            }
        })
        .collect();
    derived(
        section,
        "core_power_uw",
        &value,
        "dynamic_power_coefficient * MHz * V^2 (Linux 6.5 drivers/opp/of.c _get_power)",
    );
    let place = microvolt.place;
    Ok(At { value, place })
}

/// Power of a cluster's shared part, stated or a share of a core's power.
fn read_cluster_power(section: &mut Reader, core_power: &Column) -> Result<Column, Error> {
    let stated = powers(section, "cluster_power_mw", "cluster_power_uw")?;
    let percent = section.whole("cluster_power_percent", 0..=1000)?;
    if let Some(stated) = stated {
        return Ok(stated);
    }
    let percent = section.required("cluster_power_mw", percent)?;
    let value: Vec<At<u64>> = core_power
        .value
        .iter()
        .map(|core| At {
            value: core.value.saturating_mul(percent.value) / 100,
            place: percent.place.clone(),
        })
        .collect();
    derived(
        section,
        "cluster_power_uw",
        &value,
        "cluster_power_percent of the core power",
    );
    let place = percent.place;
    Ok(At { value, place })
}

fn derived(section: &Reader, key: &str, column: &[At<u64>], rule: &str) {
    let words: Vec<String> = column.iter().map(|v| v.value.to_string()).collect();
    let provenance = Provenance {
        source: rule.to_owned(),
        confidence: Confidence::Derived,
    };
    section.record_derived(key, words.join(" "), provenance);
}

fn read_cluster(name: String, mut section: Reader) -> Result<ClusterDraft, Error> {
    let cpus = section.partition("cpus")?;
    let cpus = section.required("cpus", cpus)?;
    let idle_power_uw = power(&mut section, "idle_power_mw", "idle_power_uw")?;
    let idle_power_uw = section.required("idle_power_mw", idle_power_uw)?;
    let off_power_uw = power(&mut section, "off_power_mw", "off_power_uw")?;
    let off_power_uw = section.required("off_power_mw", off_power_uw)?;
    section.finish()?;
    Ok(ClusterDraft {
        name,
        cpus,
        idle_power_uw,
        off_power_uw,
    })
}

fn read_memory(mut section: Reader) -> Result<MemoryCosts, Error> {
    let number = |section: &mut Reader, key, range| -> Result<u64, Error> {
        let value = section.whole(key, range)?;
        Ok(section.required(key, value)?.value)
    };
    let memory = MemoryCosts {
        llc_line_ns: number(&mut section, "llc_line_ns", LINES)? as u32,
        cross_llc_line_ns: number(&mut section, "cross_llc_line_ns", LINES)? as u32,
        cross_node_line_ns: number(&mut section, "cross_node_line_ns", LINES)? as u32,
        dram_line_ns: number(&mut section, "dram_line_ns", LINES)? as u32,
        refill_mlp: number(&mut section, "refill_mlp", LINES)? as u32,
        channel_lines: number(&mut section, "channel_lines", LINES)? as u32,
        messages_kept: section
            .whole("messages_kept", 1..=1_000_000)?
            .map_or(0, |kept| kept.value as u32),
        working_set_bytes: number(&mut section, "working_set_kib", 0..=1_048_576)? * 1024,
    };
    section.finish()?;
    Ok(memory)
}

/// The tables under `[costs]`.
struct CostClasses<'a> {
    table: Option<&'a Table>,
}

/// Longest chain of cost classes that are `like` another.
const LONGEST_CHAIN: usize = 8;

impl<'a> CostClasses<'a> {
    fn new(root: &mut Reader, document: &'a Node) -> Result<Self, Error> {
        // Asked for here so that the key is known; read only where it is used.
        root.named_sections("costs")?;
        let table = match &document.kind {
            Kind::Table(table) => match table.get("costs").map(|entry| &entry.node.kind) {
                Some(Kind::Table(classes)) => Some(classes),
                _ => None,
            },
            _ => None,
        };
        Ok(Self { table })
    }

    /// The class called `name`, complete with what it takes from another.
    fn class(&self, name: &At<String>) -> Result<CostClass, Error> {
        let node = self.node(name, LONGEST_CHAIN)?;
        let unrecorded = Ledger::default();
        let path = format!("costs.{}", name.value);
        let mut section = Reader::new(&node, &path, &unrecorded)?;
        section.text("like")?;
        let reference_khz = section.whole("reference_khz", KHZ)?;
        let reference_khz = section.required("reference_khz", reference_khz)?;
        let mut values: Vec<Option<(At<u64>, Provenance)>> = Vec::new();
        for field in &COST_FIELDS {
            let value = section.whole_with_provenance(field.key, COST_NS)?;
            let value = match field.otherwise {
                Otherwise::Missing => Some(section.required(field.key, value)?),
                Otherwise::Part(percent, key) => value.or_else(|| {
                    let other = COST_FIELDS.iter().position(|other| other.key == key)?;
                    let (mut whole, of) = values.get(other)?.clone()?;
                    whole.value = whole.value * percent / 100;
                    Some((whole, of))
                }),
                Otherwise::Within => value,
            };
            values.push(value);
        }
        section.finish()?;
        Ok(CostClass {
            name: name.value.clone(),
            reference_khz,
            values,
        })
    }

    fn node(&self, name: &At<String>, depth: usize) -> Result<Node, Error> {
        let found = self.table.and_then(|table| table.get(&name.value));
        let Some(entry) = found else {
            let valid = self.table.into_iter().flat_map(Table::keys);
            let hint = nearest(&name.value, valid.map(String::as_str));
            let message = format!("unknown cost class `{}`, {hint}", name.value);
            return Err(Error::written(&name.place, message));
        };
        let unrecorded = Ledger::default();
        let path = format!("costs.{}", name.value);
        let base = Reader::new(&entry.node, &path, &unrecorded)?.text("like")?;
        match base {
            None => Ok(entry.node.clone()),
            Some(base) if depth == 0 => {
                let message = format!(
                    "`{path}` is like `{}`, at the end of a chain of more than {LONGEST_CHAIN} \
                     classes, or in a circle",
                    base.value
                );
                Err(Error::written(&base.place, message))
            }
            Some(base) => Ok(overlay(self.node(&base, depth - 1)?, entry.node.clone())),
        }
    }
}
