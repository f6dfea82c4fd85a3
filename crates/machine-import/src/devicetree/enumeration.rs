// SPDX-License-Identifier: GPL-2.0-only
//! Which nodes Linux makes CPUs of, and in which order it numbers them.

use alight_machine::CpuSet;

use super::architecture::{self, Architecture};
use super::tree::{Id, Tree};
use crate::error::Error;

/// The nodes of the CPUs by number: the boot CPU, then the others in the order of the tree (arm64:
/// of_parse_and_init_cpus(), arm: arm_dt_init_cpu_maps()).
pub(super) fn nodes(tree: &Tree, notes: &mut Vec<String>) -> Result<Vec<Id>, Error> {
    let Some(cpus) = tree.at("/cpus") else {
        return Err(tree.error(
            tree.root(),
            "has no node `cpus`, expected one with the CPUs",
        ));
    };
    let all = of_cpus(tree, cpus)?;
    let (used, architecture) = used(tree, cpus, &all, notes)?;
    let mut used = with_own_reg(tree, cpus, used, notes)?;
    if used.len() > CpuSet::MAX {
        let message = format!("has {} CPUs, expected at most {}", used.len(), CpuSet::MAX);
        return Err(tree.error(cpus, message));
    }
    let Some(&(first, _)) = used.first() else {
        return Err(tree.error(cpus, "has no CPU in use, expected nodes such as `cpu@0`"));
    };
    match boots(tree, architecture, &used)? {
        Some(place) => used[..=place].rotate_right(1),
        None if used.len() > 1 => notes.push(format!(
            "the tree does not say which CPU boots: assumed is {}. Linux gives the boot CPU the number 0, \
             and numbers the others in the order of the tree. `dtc -b REG` writes another one into a blob",
            tree.name(first)
        )),
        None => {}
    }
    Ok(used.into_iter().map(|(node, _)| node).collect())
}

fn of_cpus(tree: &Tree, cpus: Id) -> Result<Vec<Id>, Error> {
    let mut found = Vec::new();
    for &child in tree.children(cpus) {
        let kind = tree.text(child, "device_type")?;
        // Sources that are no older than 2014 say it by the name alone, too.
        if kind.is_some_and(|kind| kind == "cpu") || tree.stem(child) == "cpu" {
            found.push(child);
        }
    }
    Ok(found)
}

/// The CPUs that Linux uses, by their `status`. RISC-V leaves all out that are not `okay`
/// (riscv_early_of_processor_hartid()). Arm leaves out those that failed (of_get_next_cpu_node()), and
/// starts the others if they say how.
fn used(
    tree: &Tree,
    cpus: Id,
    all: &[Id],
    notes: &mut Vec<String>,
) -> Result<(Vec<Id>, Architecture), Error> {
    let mut available = Vec::new();
    for &cpu in all {
        if tree.is_enabled(cpu)? {
            available.push(cpu);
        }
    }
    let architecture = architecture::of(tree, &available)?;
    let (mut used, mut started, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for &cpu in all {
        let name = tree.name(cpu).to_owned();
        let failed = tree
            .text(cpu, "status")?
            .is_some_and(|status| status.starts_with("fail"));
        let can_start = [cpu, cpus]
            .into_iter()
            .any(|node| tree.has(node, "enable-method"));
        if available.contains(&cpu) {
            used.push(cpu);
        } else if architecture == Architecture::Arm
            && can_start
            && !failed
            && architecture::of(tree, &[cpu]).ok() == Some(Architecture::Arm)
        {
            used.push(cpu);
            started.push(name);
        } else {
            left_out.push(name);
        }
    }
    notes.extend(told(
        &started,
        "its status is not `okay`, but Linux starts it by its `enable-method`: it is kept",
        "their status is not `okay`, but Linux starts them by their `enable-method`: they are kept",
    ));
    notes.extend(told(
        &left_out,
        "its status is not `okay`: it is left out",
        "their status is not `okay`: they are left out",
    ));
    Ok((used, architecture))
}

/// What is to be said of one node, or of several.
fn told(names: &[String], one: &str, several: &str) -> Option<String> {
    match names {
        [] => None,
        [name] => Some(format!("{name}: {one}")),
        _ => Some(format!("{}: {several}", names.join(", "))),
    }
}

/// A node, and the number that its processor has in hardware.
type Numbered = (Id, Option<u64>);

/// The nodes without those that have the `reg` of one before them: it is one processor.
fn with_own_reg(
    tree: &Tree,
    cpus: Id,
    nodes: Vec<Id>,
    notes: &mut Vec<String>,
) -> Result<Vec<Numbered>, Error> {
    let mut own: Vec<Numbered> = Vec::new();
    for node in nodes {
        let number = reg(tree, cpus, node)?;
        let same = own
            .iter()
            .find(|(_, other)| number.is_some() && *other == number);
        match same {
            Some((first, _)) => notes.push(format!(
                "{}: it has the `reg` of {}, and Linux skips it (of_parse_and_init_cpus()): it is left out",
                tree.name(node),
                tree.name(*first)
            )),
            None => own.push((node, number)),
        }
    }
    Ok(own)
}

/// The number of a processor in hardware, MPIDR or hart (of_get_cpu_hwid()).
fn reg(tree: &Tree, cpus: Id, node: Id) -> Result<Option<u64>, Error> {
    const COUNT: &str = "#address-cells";
    let stated = tree.cell(cpus, COUNT)?.or(tree.cell(tree.root(), COUNT)?);
    let count = stated.unwrap_or(1) as usize;
    let cells = tree.cells(node, "reg")?.unwrap_or_default();
    let own = cells.get(..count).filter(|cells| !cells.is_empty());
    Ok(own.map(number))
}

fn number(cells: &[u32]) -> u64 {
    cells
        .iter()
        .fold(0, |number, cell| number << 32 | u64::from(*cell))
}

/// The place of the CPU that boots. `None`: the tree does not say it.
fn boots(
    tree: &Tree,
    architecture: Architecture,
    cpus: &[Numbered],
) -> Result<Option<usize>, Error> {
    let place = |number: u64| cpus.iter().position(|(_, own)| *own == Some(number));
    if architecture == Architecture::RiscV
        && let Some(chosen) = tree.at("/chosen")
        && let Some(cells) = tree.cells(chosen, "boot-hartid")?
    {
        return Ok(place(number(&cells)));
    }
    // Compilers write 0 there, or the `reg` of the first node (guess_boot_cpuid() of dtc).
    let stated = tree.boot_cpu.filter(|&number| number != 0);
    Ok(stated
        .and_then(|number| place(number.into()))
        .filter(|&place| place > 0))
}
