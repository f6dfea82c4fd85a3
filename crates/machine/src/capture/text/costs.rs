// SPDX-License-Identifier: GPL-2.0-only
//! What was measured of costs and memory times as sections of a machine file.

use std::fmt::Write;

use super::super::facts::{CoreFacts, Facts};
use super::super::{Measured, MeasuredCore};
use super::line;
use crate::cpuset::CpuSet;
use crate::guess::{self, CostKind};

/// No kernel path is free, and no line: what was measured as less is given as this.
const LEAST_NS: u32 = 1;

/// The class of costs of the CPUs `cpus`.
pub(super) fn class(core: &CoreFacts, cpus: &CpuSet, measured: &Measured) -> String {
    let class = core.kind.class();
    match of_type(cpus, measured) {
        Some((number, _)) => format!("measured{number}-{class}"),
        None if measured.costs.is_empty() => class.to_owned(),
        None => format!("measured-{class}"),
    }
}

/// What was measured of the core type of `cpus` alone, with its number.
fn of_type<'m>(cpus: &CpuSet, measured: &'m Measured) -> Option<(usize, &'m MeasuredCore)> {
    let first = cpus.first()?;
    let mut cores = measured.cores.iter().enumerate();
    let (number, core) = cores.find(|(_, core)| core.cpus.contains(first))?;
    (!core.costs.is_empty()).then_some((number, core))
}

/// A class for each core type, or for each kind of core, at the clock of its CPUs: what was measured,
/// over what is assumed.
pub(super) fn classes(text: &mut String, facts: &Facts, measured: &Measured) {
    let mut written: Vec<String> = Vec::new();
    for (core, cpus) in &facts.core_types {
        let name = class(core, cpus, measured);
        if name == core.kind.class() || written.contains(&name) {
            continue;
        }
        let (like, khz) = (core.kind.class(), top_khz(facts, cpus));
        line!(text, "\n[costs.{name}]\nlike = \"{like}\"");
        line!(text, "source = \"benchmark\"\nreference_khz = {khz}");
        match of_type(cpus, measured) {
            Some((_, of_type)) => {
                for (key, reading) in &of_type.costs {
                    line!(text, "{key} = {}", reading.figure(LEAST_NS));
                }
                for key in &of_type.within {
                    line!(
                        text,
                        "{key} = {{ value = {LEAST_NS}, source = \"within\" }}"
                    );
                }
            }
            None => {
                for (key, ns) in &measured.costs {
                    line!(text, "{key} = {}", ns.max(&LEAST_NS));
                }
            }
        }
        written.push(name);
    }
}

/// Top clock of these CPUs, kHz.
fn top_khz(facts: &Facts, cpus: &CpuSet) -> u64 {
    let clock = |((_, freq), spans): (&(u64, super::FreqFacts), &Vec<CpuSet>)| {
        let holds = spans.iter().any(|span| span.intersects(cpus));
        holds.then(|| freq.khz.last().copied()).flatten()
    };
    facts.freq_domains.iter().find_map(clock).unwrap_or(1)
}

/// The section `[memory]`.
pub(super) fn memory(text: &mut String, facts: &Facts, measured: &Measured) {
    let x86 = facts
        .core_types
        .keys()
        .any(|core| core.kind == CostKind::X86);
    let assumed = guess::memory(x86);
    let ([llc, cross_llc, cross_node], dram, mlp) = (assumed.lines, assumed.dram, assumed.mlp);
    line!(text, "\n[memory]\nsource = \"assumed\"");
    let read = |key: &str| {
        let readings = measured.memory.iter();
        let mut found = readings.filter(|(known, _)| *known == key);
        found.next().map(|(_, reading)| reading)
    };
    // What is assumed takes no less than what is nearer and was measured.
    let mut nearer = 0;
    for (key, ns) in [
        ("llc_line_ns", llc),
        ("cross_llc_line_ns", cross_llc),
        ("cross_node_line_ns", cross_node),
        ("dram_line_ns", dram),
    ] {
        if let Some(reading) = read(key) {
            line!(text, "{key} = {}", reading.sourced(LEAST_NS));
            nearer = reading.value;
            continue;
        }
        let less = |&line_ns: &u32| key == "dram_line_ns" || line_ns < ns;
        let measured = measured.line_ns.filter(less);
        let measured = measured.map(|ns| (ns.max(LEAST_NS), "benchmark"));
        let (ns, source) = measured.unwrap_or((ns.max(nearer), "assumed"));
        line!(text, "{key} = {{ value = {ns}, source = \"{source}\" }}");
    }
    let mlp = read("refill_mlp").map_or(mlp.to_string(), |reading| reading.sourced(1));
    line!(text, "refill_mlp = {mlp}");
    line!(text, "channel_lines = {}", assumed.channel_lines);
    if let Some(reading) = read("messages_kept") {
        line!(text, "messages_kept = {}", reading.sourced(1));
    } else if let Some(kept) = measured.messages_kept {
        line!(
            text,
            "messages_kept = {{ value = {kept}, source = \"benchmark\" }}"
        );
    }
    line!(text, "working_set_kib = {}", assumed.working_set_kib);
}
