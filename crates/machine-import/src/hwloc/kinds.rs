// SPDX-License-Identifier: GPL-2.0-only
//! Kinds of CPU: architecture and model, and the `cpukind`s of hwloc 2.4 and newer.

use alight_machine::CpuSet;
use roxmltree::Node;

use super::objects::{Objects, Pu};
use super::xml::File;
use crate::error::Error;
use crate::platform::{Clock, Place, Said};

/// CPUs of one kind.
pub(super) struct Kind {
    pub cpus: CpuSet,
    line: usize,
    pub core_type: Option<String>,
    pub capacity: Option<Said<u64>>,
    /// Rising, of the base and the top clock those that are stated.
    khz: Vec<u64>,
    /// hwloc's rank of the kind, where whoever made the file set it.
    efficiency: Option<String>,
}

/// What there is of kinds.
pub(super) struct Kinds {
    pub kinds: Vec<Kind>,
    pub x86: bool,
    pub arm: bool,
    /// Name of the processor.
    pub model: String,
    pub notes: Vec<String>,
}

impl Kinds {
    pub fn biggest_capacity(&self) -> u64 {
        let stated = self.kinds.iter().filter_map(|kind| kind.capacity.as_ref());
        stated.map(|said| said.value).max().unwrap_or(1)
    }
}

pub(super) fn of(file: &File, root: Node, objects: &Objects) -> Result<Kinds, Error> {
    let find = |name: &str| {
        let infos = root.descendants().filter(|node| node.has_tag_name("info"));
        let mut named = infos.filter(|info| info.attribute("name") == Some(name));
        named
            .find_map(|info| info.attribute("value"))
            .map(str::trim)
    };
    let architecture = find("Architecture");
    let vendor = find("CPUVendor");
    let x86 = architecture.map_or(vendor.is_some(), |name| {
        matches!(name, "x86_64" | "i686" | "i386")
    });
    let arm = architecture.is_some_and(|name| name == "aarch64" || name.starts_with("arm"));
    let mut notes = Vec::new();
    match architecture {
        None if !x86 => {
            notes.push(
                "the architecture is not stated: kernel path costs of x86 are assumed".into(),
            );
        }
        Some(name) if !x86 && !arm => {
            notes.push(format!(
                "the architecture is {name}: kernel path costs of x86 are assumed"
            ));
        }
        _ => {}
    }
    let elements = root.children().filter(|node| node.has_tag_name("cpukind"));
    let kinds = elements
        .map(|element| kind(file, element, objects))
        .collect::<Result<Vec<_>, _>>()?;
    notes.extend(left_out(&kinds, x86));
    Ok(Kinds {
        kinds,
        x86,
        arm,
        model: find("CPUModel")
            .filter(|model| !model.is_empty())
            .unwrap_or("unknown processor")
            .into(),
        notes,
    })
}

/// What differs between the kinds and is not in the machine file.
fn left_out(kinds: &[Kind], x86: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if kinds.len() < 2 {
        return notes;
    }
    let ranks: Vec<String> = (kinds.iter())
        .filter(|kind| kind.capacity.is_none())
        .filter_map(|kind| {
            Some(format!(
                "{} in line {}",
                kind.efficiency.as_ref()?,
                kind.line
            ))
        })
        .collect();
    if !ranks.is_empty() {
        notes.push(format!(
            "`forced_efficiency` ({}) ranks the kinds of CPU and says nothing of their speeds: it is \
             left out",
            ranks.join(", ")
        ));
    }
    if x86 {
        notes.push(
            "hwloc does not say the priorities of CPUs, by which Linux fills the fast cores of x86 \
             first: the file has no `[itmt]`"
                .into(),
        );
    }
    notes
}

fn kind(file: &File, element: Node, objects: &Objects) -> Result<Kind, Error> {
    let cpus = file.cpus(element, "cpuset")?.unwrap_or_default();
    let line = file.line(element);
    let mut kind = Kind {
        cpus: objects.ours(&cpus),
        line,
        core_type: None,
        capacity: None,
        khz: Vec::new(),
        efficiency: element.attribute("forced_efficiency").map(str::to_owned),
    };
    for info in element.children().filter(|node| node.has_tag_name("info")) {
        let Some(value) = info.attribute("value") else {
            continue;
        };
        let number = |least: u64, most: u64| match value.trim().parse::<u64>() {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            _ => Err(file.error(
                info,
                format!("`{value}` is given, expected a whole number from {least} to {most}"),
            )),
        };
        match info.attribute("name") {
            Some("CoreType") => kind.core_type = Some(value.trim().to_owned()),
            Some("LinuxCapacity") => {
                let place = format!("line {}, LinuxCapacity", file.line(info));
                kind.capacity = Some(Said::new(number(1, 65_535)?, place));
            }
            Some("FrequencyBaseMHz" | "FrequencyMaxMHz") => {
                kind.khz.push(number(1, 100_000)? * 1000)
            }
            _ => {}
        }
    }
    kind.khz.sort_unstable();
    kind.khz.dedup();
    Ok(kind)
}

/// Each core of a kind whose clocks are stated has one of its own: hwloc does not say who shares one.
pub(super) fn clocks(kinds: &Kinds, objects: &Objects) -> Vec<Clock> {
    let mut clocks: Vec<(Option<usize>, Clock)> = Vec::new();
    for pu in &objects.pus {
        let kind = kinds.kinds.iter().find(|kind| kind.cpus.contains(pu.cpu));
        let Some(kind) = kind.filter(|kind| !kind.khz.is_empty()) else {
            continue;
        };
        let same = |(core, _): &&mut (Option<usize>, Clock)| core.is_some() && *core == pu.core;
        if let Some((_, clock)) = clocks.iter_mut().find(same) {
            clock.cpus.value.insert(pu.cpu);
            continue;
        }
        let alone = "hwloc does not say which CPUs share a clock: each core has one of its own";
        let mut clock = Clock::of(CpuSet::single(pu.cpu), Place::Assumed(alone.into()));
        let place = format!("line {}, cpukind", kind.line);
        clock.khz = Some(Said::new(kind.khz.clone(), place));
        clocks.push((pu.core, clock));
    }
    clocks.into_iter().map(|(_, clock)| clock).collect()
}

/// Names the cores whose threads are of several kinds: a core is of the kind of its lowest CPU.
pub(super) fn mixed_cores(kinds: &Kinds, objects: &Objects) -> Vec<String> {
    let kind_of = |cpu: usize| {
        let mut kinds = kinds.kinds.iter();
        kinds.position(|kind| kind.cpus.contains(cpu))
    };
    let mut notes = Vec::new();
    for first in &objects.pus {
        let of_core = |pu: &&Pu| pu.core.is_some() && pu.core == first.core;
        let threads: CpuSet = objects
            .pus
            .iter()
            .filter(of_core)
            .map(|pu| pu.cpu)
            .collect();
        let differs = threads.iter().any(|cpu| kind_of(cpu) != kind_of(first.cpu));
        if threads.first() == Some(first.cpu) && differs {
            notes.push(format!(
                "the CPUs {threads} are threads of one core and not of one kind (`cpukind`): all are \
                 taken to be of that of CPU {}",
                first.cpu
            ));
        }
    }
    notes
}
