// SPDX-License-Identifier: GPL-2.0-only
//! XML of hwloc, versions 1 to 3, as `lstopo FILE.xml` writes it.

mod kinds;
mod objects;
mod xml;

use std::collections::BTreeSet;
use std::path::Path;

use alight_machine::CpuSet;
use alight_machine::guess::CostKind;

use crate::error::Error;
use crate::platform::{Cpu, Place, Platform, Said, Spans, named};
use objects::{Objects, Pu};
use xml::File;

/// Reads the topology of `text`, the content of `path`.
pub(crate) fn read(path: &Path, text: &str) -> Result<Platform, Error> {
    let document = xml::parse(path, text)?;
    let file = File::new(path, &document);
    let root = document.root_element();
    if root.tag_name().name() != "topology" {
        let found = root.tag_name().name();
        let message = format!("the root is `{found}`, expected `topology`, as hwloc writes it");
        return Err(file.error(root, message));
    }
    let objects = Objects::of(&file, root)?;
    let kinds = kinds::of(&file, root, &objects)?;
    let mut platform = Platform {
        x86: kinds.x86,
        ..Platform::default()
    };
    platform.name = path
        .file_stem()
        .map_or_else(String::new, |name| name.to_string_lossy().into());
    platform.description = format!("{}, {} CPUs, from hwloc", kinds.model, objects.pus.len());
    for pu in &objects.pus {
        platform.cpus.push(cpu(pu, &objects, &kinds));
    }
    platform.clocks = kinds::clocks(&kinds, &objects);
    platform.notes.extend(kinds::mixed_cores(&kinds, &objects));
    sharing(&mut platform, &objects);
    platform.distances = objects.distances.clone();
    platform.notes.extend(objects.notes.iter().cloned());
    platform.notes.extend(kinds.notes);
    Ok(platform)
}

fn cpu(pu: &Pu, objects: &Objects, kinds: &kinds::Kinds) -> Cpu {
    let kind = kinds.kinds.iter().find(|kind| kind.cpus.contains(pu.cpu));
    let capacity = kind.and_then(|kind| kind.capacity.clone());
    let name = kind.and_then(|kind| kind.core_type.clone());
    let (make, cost) = match (kinds.x86, &capacity) {
        (false, Some(said)) if kinds.arm => {
            let cost = CostKind::by_capacity(said.value, kinds.biggest_capacity());
            (format!("capacity-{}", said.value), cost)
        }
        (false, _) if kinds.arm => (kinds.model.clone(), CostKind::Big),
        _ => (kinds.model.clone(), CostKind::X86),
    };
    let make = match name {
        Some(name) => format!("{make} {name}"),
        None => make,
    };
    Cpu {
        capacity,
        l2_kib: l2_kib(pu, objects),
        ..Cpu::new(make, cost)
    }
}

/// L2 of a CPU, divided by the cores that share it.
fn l2_kib(pu: &Pu, objects: &Objects) -> Option<Said<u64>> {
    let l2 = pu.l2()?;
    let shares = |other: &&Pu| other.caches.iter().any(|cache| cache.id == l2.id);
    // Threads of one core need not be neighbours by number. A PU without a core is one.
    let core = |pu: &Pu| pu.core.ok_or(pu.cpu);
    let cores: BTreeSet<_> = objects.pus.iter().filter(shares).map(core).collect();
    let kib = l2.bytes / 1024 / cores.len().max(1) as u64;
    (1..=1_048_576)
        .contains(&kib)
        .then(|| Said::new(kib, format!("line {}, its L2", l2.line)))
}

/// Sets of CPUs by what they share. Where some CPUs are in no such object, what stands for it is said.
fn sharing(platform: &mut Platform, objects: &Objects) {
    let spans = |key: &dyn Fn(&Pu) -> Option<usize>, place: Place| -> Option<Spans> {
        let sets = sets(objects, key);
        (!sets.is_empty()).then(|| Said::new(sets, place))
    };
    let objects_of = |what: &str| Place::File(format!("its objects `{what}`"));
    let unless_some_lack = |key: &dyn Fn(&Pu) -> Option<usize>, what: &str, otherwise: &str| {
        let lacking: CpuSet = (objects.pus.iter())
            .filter(|pu| key(pu).is_none())
            .map(|pu| pu.cpu)
            .collect();
        match lacking.is_empty() {
            true => objects_of(what),
            false => Place::Assumed(format!(
                "there is no `{what}` of {}: {otherwise}",
                named(&lacking)
            )),
        }
    };
    let core = |pu: &Pu| pu.core;
    let alone = "each of them counts as a core";
    platform.core = spans(&core, unless_some_lack(&core, "Core", alone));
    let node = |pu: &Pu| pu.node;
    let first = "they are put into the first node";
    platform.node = spans(&node, unless_some_lack(&node, "NUMANode", first));
    if let Some(node) = &mut platform.node {
        // The rows of the distances are in the order of the nodes' numbers.
        let number = |cpus: &CpuSet| cpus.first().and_then(|cpu| objects.pus[cpu].node);
        node.value.sort_by_key(number);
    }
    platform.cls = spans(&|pu| pu.cluster, objects_of("Group of the subtype Cluster"));
    if platform.cls.is_none() && platform.x86 {
        let rule = "CPUs of x86 that share an L2 are a cluster, from 5.16 on \
                    (arch/x86/kernel/smpboot.c, cpu_clustergroup_mask())";
        platform.cls = spans(&|pu| pu.l2().map(|l2| l2.id), Place::Rule(rule.into()));
    }
    let llc = |pu: &Pu| pu.llc();
    let own = "each core of them counts as one last-level cache";
    platform.llc = spans(&llc, unless_some_lack(&llc, "Cache", own));
    if platform.llc.is_none() {
        let sentence = "there are no caches: each package counts as one last-level cache";
        platform.llc = spans(&|pu| pu.package, Place::Assumed(sentence.to_owned()));
    }
}

/// Sets of CPUs of one key, in the order of their lowest CPU.
fn sets(objects: &Objects, key: &dyn Fn(&Pu) -> Option<usize>) -> Vec<CpuSet> {
    let mut sets: Vec<(usize, CpuSet)> = Vec::new();
    for pu in &objects.pus {
        let Some(key) = key(pu) else { continue };
        match sets.iter_mut().find(|(known, _)| *known == key) {
            Some((_, set)) => {
                set.insert(pu.cpu);
            }
            None => sets.push((key, CpuSet::single(pu.cpu))),
        }
    }
    sets.into_iter().map(|(_, set)| set).collect()
}
