// SPDX-License-Identifier: GPL-2.0-only
//! What each CPU is, and the NUMA nodes.

use alight_machine::CpuSet;
use alight_machine::guess::{self, CostKind};

use super::tree::{Id, Tree};
use crate::error::Error;
use crate::platform::{Clock, Cpu, Distances, Place, Said, Spans, named};

/// What each CPU is.
pub(super) fn read(
    tree: &Tree,
    nodes: &[Id],
    clocks: &[Clock],
    notes: &mut Vec<String>,
) -> Result<Vec<Cpu>, Error> {
    let mut cpus = nodes
        .iter()
        .map(|&node| cpu(tree, node))
        .collect::<Result<Vec<_>, _>>()?;
    let capacities = capacities(&cpus, clocks);
    let biggest = capacities.iter().copied().max().unwrap_or(0);
    for (number, cpu) in cpus.iter_mut().enumerate() {
        if guess::arm_name(&cpu.make).is_some() {
            continue;
        }
        cpu.kind = CostKind::by_capacity(capacities[number], biggest);
        let note = guessed(&compatible(tree, nodes[number])?, cpu.kind);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    Ok(cpus)
}

/// Work at the top clock; equal where the tree does not say it of all CPUs.
fn capacities(cpus: &[Cpu], clocks: &[Clock]) -> Vec<u64> {
    let top_khz = |cpu: usize| {
        let clock = clocks.iter().find(|clock| clock.cpus.value.contains(cpu));
        let khz = clock.and_then(|clock| clock.khz.as_ref());
        khz.and_then(|khz| khz.value.last().copied())
            .unwrap_or(guess::CLOCK_KHZ)
    };
    let work = |(number, cpu): (usize, &Cpu)| {
        let dmips = cpu.dmips_per_mhz.as_ref()?.value;
        Some(dmips.saturating_mul(top_khz(number)))
    };
    let stated = cpus.iter().enumerate().map(work);
    stated
        .collect::<Option<_>>()
        .unwrap_or_else(|| vec![1; cpus.len()])
}

/// What is said of a core that is not known.
fn guessed(compatible: &str, kind: CostKind) -> String {
    let executes = match kind {
        CostKind::Little => "in order, because its capacity is small beside the biggest",
        CostKind::Big | CostKind::X86 => "out of order",
    };
    format!(
        "the core `{compatible}` is not known: costs and powers are those of the class `{}`, a core of Arm \
         that executes {executes}",
        kind.class()
    )
}

fn cpu(tree: &Tree, node: Id) -> Result<Cpu, Error> {
    let number = |name: &str, most: u32| match tree.cell(node, name)? {
        None => Ok(None),
        Some(value) if (1..=most).contains(&value) => {
            Ok(Some(Said::new(u64::from(value), tree.place_of(node, name))))
        }
        Some(value) => Err(tree.error_in(node, name, format!("is {value}, expected 1 to {most}"))),
    };
    let compatible = compatible(tree, node)?;
    let name = compatible
        .split_once(',')
        .map_or(compatible.as_str(), |(_, name)| name);
    let (name, kind) = guess::arm_name(name).unwrap_or((name, CostKind::Big));
    Ok(Cpu {
        coefficient: number("dynamic-power-coefficient", 1_000_000)?,
        dmips_per_mhz: number("capacity-dmips-mhz", 1_000_000)?,
        ..Cpu::new(name, kind)
    })
}

fn compatible(tree: &Tree, node: Id) -> Result<String, Error> {
    let stated = tree.text(node, "compatible")?;
    Ok(stated.unwrap_or_else(|| "cpu".to_owned()))
}

/// NUMA nodes by `numa-node-id`, and their distances. CPUs without one are in node 0
/// (early_map_cpu_to_node()).
pub(super) fn numa(tree: &Tree, nodes: &[Id]) -> Result<(Option<Spans>, Option<Distances>), Error> {
    const NAME: &str = "numa-node-id";
    let mut homes: Vec<(u32, CpuSet)> = Vec::new();
    let mut without = CpuSet::new();
    for (cpu, &node) in nodes.iter().enumerate() {
        let stated = tree.cell(node, NAME)?;
        if stated.is_none() {
            without.insert(cpu);
        }
        let home = stated.unwrap_or(0);
        match homes.iter_mut().find(|(known, _)| *known == home) {
            Some((_, cpus)) => {
                cpus.insert(cpu);
            }
            None => homes.push((home, CpuSet::single(cpu))),
        }
    }
    if without.len() == nodes.len() {
        return Ok((None, None));
    }
    let place = match without.is_empty() {
        true => Place::File(format!("{NAME} of its CPUs")),
        false => Place::Assumed(format!(
            "there is no `{NAME}` of {}, but one of other CPUs: Linux takes node 0 \
             (early_map_cpu_to_node())",
            named(&without)
        )),
    };
    let spans = homes.iter().map(|(_, cpus)| *cpus).collect();
    let spans = Said::new(spans, place);
    let numbers: Vec<u32> = homes.iter().map(|(number, _)| *number).collect();
    Ok((Some(spans), distances(tree, &numbers)?))
}

/// Distances of `/distance-map`: from, to, distance (numa-distance-map-v1).
fn distances(tree: &Tree, nodes: &[u32]) -> Result<Option<Distances>, Error> {
    const NAME: &str = "distance-matrix";
    let Some(map) = tree.at("/distance-map") else {
        return Ok(None);
    };
    let Some(cells) = tree.cells(map, NAME)? else {
        return Ok(None);
    };
    if !cells.len().is_multiple_of(3) {
        let message = format!(
            "has {} cells, expected three for each pair of nodes",
            cells.len()
        );
        return Err(tree.error_in(map, NAME, message));
    }
    let between = |from: u32, to: u32| {
        let stated = |from, to| {
            let mut rows = cells
                .chunks_exact(3)
                .filter(|row| row[0] == from && row[1] == to);
            rows.next().map(|row| u64::from(row[2]))
        };
        // One direction is enough (of_numa_parse_distance_map_v1()).
        let own = if from == to { 10 } else { guess::NUMA_DISTANCE };
        stated(from, to).or(stated(to, from)).unwrap_or(own)
    };
    let row = |&from: &u32| nodes.iter().map(|&to| between(from, to)).collect();
    let rows = nodes.iter().map(row).collect();
    Ok(Some(Said::new(rows, tree.place_of(map, NAME))))
}
