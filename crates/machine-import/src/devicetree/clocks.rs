// SPDX-License-Identifier: GPL-2.0-only
//! Which CPUs share a clock, and the operating points of each clock.

use alight_machine::CpuSet;

use super::map::Map;
use super::tables::{self, Table};
use super::tree::{Id, Tree};
use crate::error::Error;
use crate::platform::{Clock, Place};

/// Properties that say which clock a CPU has, with what counts their arguments, the first that is there.
const CLOCKS: [(&str, &str); 4] = [
    ("qcom,freq-domain", "#freq-domain-cells"),
    ("performance-domains", "#performance-domain-cells"),
    ("clocks", "#clock-cells"),
    ("power-domains", "#power-domain-cells"),
];

/// What CPUs of one clock have in common.
#[derive(Debug, Clone, PartialEq)]
enum Key {
    /// An `opp-shared` table.
    Table(Id),
    /// `operating-points`, which say nothing of sharing.
    Older,
    /// A property with its nodes and arguments.
    Link(&'static str, Vec<(Id, Vec<u32>)>),
    /// A cluster of the map.
    Cluster(usize),
    /// Nothing says it.
    All,
    /// A core: its table is not shared.
    Alone(usize),
}

pub(super) fn read(
    tree: &Tree,
    nodes: &[Id],
    map: &Map,
    notes: &mut Vec<String>,
) -> Result<Vec<Clock>, Error> {
    let tables = tables(tree, nodes, notes)?;
    let older = tables.iter().any(|table| matches!(table, Stated::Older(_)));
    let mut clocks: Vec<(Key, Clock, Option<Table>)> = Vec::new();
    for (cpu, &node) in nodes.iter().enumerate() {
        let key = match &tables[cpu] {
            Stated::Newer(id, _) if tree.has(*id, "opp-shared") => Key::Table(*id),
            Stated::Newer(..) => match link(tree, node)? {
                Some(key @ Key::Link("qcom,freq-domain" | "performance-domains", _)) => key,
                _ => Key::Alone(map.core_of(cpu).first().unwrap_or(cpu)),
            },
            _ if older => Key::Older,
            _ => match link(tree, node)? {
                Some(key) => key,
                None => cluster(map, cpu),
            },
        };
        let table = tables[cpu].table();
        let holds = |known: &&mut (Key, Clock, Option<Table>)| known.0 == key;
        let Some((_, clock, of_clock)) = clocks.iter_mut().find(holds) else {
            let clock = Clock::of(CpuSet::single(cpu), place(tree, node, &key));
            clocks.push((key, clock, table.cloned()));
            continue;
        };
        clock.cpus.value.insert(cpu);
        match (of_clock.as_ref(), table) {
            (None, Some(table)) => *of_clock = Some(table.clone()),
            (Some(first), Some(own)) if key == Key::Older && first.khz != own.khz => {
                notes.push(format!(
                    "{}: other frequencies than those of the CPUs before it. Linux gives all CPUs the first \
                     `operating-points` (dt_cpufreq_early_init()): these are left out",
                    tree.place_of(node, tables::OLDER)
                ));
            }
            _ => {}
        }
    }
    Ok(clocks
        .into_iter()
        .map(|(_, clock, table)| filled(clock, table))
        .collect())
}

/// The operating points that a CPU names.
enum Stated {
    None,
    /// `operating-points`.
    Older(Table),
    /// `operating-points-v2`.
    Newer(Id, Table),
}

impl Stated {
    fn table(&self) -> Option<&Table> {
        match self {
            Self::None => None,
            Self::Older(table) | Self::Newer(_, table) => Some(table),
        }
    }
}

/// The operating points of each CPU.
fn tables(tree: &Tree, nodes: &[Id], notes: &mut Vec<String>) -> Result<Vec<Stated>, Error> {
    let mut read: Vec<(Id, Table)> = Vec::new();
    let mut all = Vec::new();
    for &node in nodes {
        let id = tree.links(node, "operating-points-v2")?.first().copied();
        let mut stated = match id {
            None => match tables::version1(tree, node, notes)? {
                None => Stated::None,
                Some(table) => Stated::Older(table),
            },
            Some(id) => match read.iter().find(|(known, _)| *known == id) {
                Some((_, table)) => Stated::Newer(id, table.clone()),
                None => {
                    let table = tables::version2(tree, id, notes)?;
                    read.push((id, table.clone()));
                    Stated::Newer(id, table)
                }
            },
        };
        if let Stated::Older(table) | Stated::Newer(_, table) = &mut stated {
            tables::latency_of_cpu(tree, node, table)?;
        }
        all.push(stated);
    }
    Ok(all)
}

fn filled(mut clock: Clock, table: Option<Table>) -> Clock {
    if let Some(table) = table {
        clock.khz = Some(table.khz);
        clock.microvolt = table.microvolt;
        clock.power_uw = table.power_uw;
        clock.switch_us = table.switch_us;
    }
    clock
}

/// What names the clock of a CPU.
fn link(tree: &Tree, cpu: Id) -> Result<Option<Key>, Error> {
    for (name, count) in CLOCKS {
        if !tree.has(cpu, name) {
            continue;
        }
        let mut links = tree.links_with(cpu, name, count)?;
        if name == "power-domains" {
            let names = tree.texts(cpu, "power-domain-names")?;
            let Some(place) = names.iter().position(|name| name == "perf") else {
                continue;
            };
            links = links.get(place).cloned().into_iter().collect();
        } else if name == "clocks" {
            // The first is that of the CPU; others are of what is around it.
            links.truncate(1);
        }
        if !links.is_empty() {
            return Ok(Some(Key::Link(name, links)));
        }
    }
    Ok(None)
}

fn cluster(map: &Map, cpu: usize) -> Key {
    let clusters = map.cluster.iter().flat_map(|said| &said.value);
    let place = clusters.enumerate().find(|(_, span)| span.contains(cpu));
    place.map_or(Key::All, |(place, _)| Key::Cluster(place))
}

fn place(tree: &Tree, cpu: Id, key: &Key) -> Place {
    match key {
        Key::Table(id) => Place::File(format!("{}, opp-shared", tree.place(*id))),
        Key::Link(name, _) => Place::File(tree.place_of(cpu, name)),
        Key::Alone(_) => Place::File(format!(
            "{}: not opp-shared",
            tree.place_of(cpu, "operating-points-v2")
        )),
        Key::Older => Place::Rule(
            "all CPUs share the clock of `operating-points` (Linux 7.2 drivers/cpufreq/cpufreq-dt.c, \
             dt_cpufreq_early_init())"
                .into(),
        ),
        Key::Cluster(_) | Key::All => Place::Assumed(
            "which CPUs share a clock is not said: assumed are those of a cluster of the cpu-map"
                .into(),
        ),
    }
}
