// SPDX-License-Identifier: GPL-2.0-only
//! The scheduling levels as a tree, the CPUs at its leaves.

use std::fmt::Write;

use crate::cpuset::CpuSet;
use crate::model::{Level, Machine};

/// Siblings printed before the rest is only counted.
const SHOWN: usize = 4;

pub(super) fn tree(machine: &Machine) -> String {
    let mut text = String::new();
    let all = CpuSet::first_n(machine.cpus.len());
    branch(machine, &machine.levels, &all, 1, &mut text);
    text
}

/// Prints what of the topmost of `levels` is within `span`.
fn branch(machine: &Machine, levels: &[Level], span: &CpuSet, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    let Some((top, below)) = levels.split_last() else {
        leaves(machine, span, &indent, text);
        return;
    };
    let spans: Vec<&CpuSet> = top.spans.iter().filter(|s| s.is_subset(span)).collect();
    if below.is_empty() && top.name == "SMT" {
        let threads = spans.iter().map(|s| s.len()).max().unwrap_or(1);
        let _ = writeln!(
            text,
            "{indent}SMT {} cores, {threads} threads each",
            spans.len()
        );
        leaves(machine, span, &indent, text);
        return;
    }
    for span in spans.iter().take(SHOWN) {
        let _ = writeln!(text, "{indent}{} {span}", top.name);
        branch(machine, below, span, depth + 1, text);
    }
    if spans.len() > SHOWN {
        let rest = spans.len() - SHOWN;
        let _ = writeln!(text, "{indent}… {rest} more of {}", top.name);
    }
}

/// One line for the CPUs of `span` that are of one type, capacity and clock.
fn leaves(machine: &Machine, span: &CpuSet, indent: &str, text: &mut String) {
    let mut groups: Vec<(String, CpuSet)> = Vec::new();
    for cpu in span {
        let Some(facts) = machine.cpus.get(cpu) else {
            continue;
        };
        let core_type = &machine.core_types[facts.core_type];
        let words = format!(
            "{}, capacity {}, cluster {}, L2 {} KiB",
            core_type.name,
            facts.capacity_orig,
            machine.clusters[facts.cluster].name,
            core_type.l2_bytes / 1024
        );
        let words = match core_type.smt_percent {
            100 => words,
            percent => format!("{words}, {percent} % beside another thread"),
        };
        match groups.iter_mut().find(|(known, _)| *known == words) {
            Some((_, cpus)) => {
                cpus.insert(cpu);
            }
            None => groups.push((words, CpuSet::single(cpu))),
        }
    }
    for (words, cpus) in groups {
        let _ = writeln!(text, "{indent}CPU {cpus}: {words}");
    }
}
