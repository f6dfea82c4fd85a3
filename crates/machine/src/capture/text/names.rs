// SPDX-License-Identifier: GPL-2.0-only
//! Names of the core types.

use super::super::facts::{CoreFacts, Facts};
use crate::cpuset::CpuSet;

/// A core type, and its top clock in kHz.
type Kind<'f> = (&'f CoreFacts, u64);

/// How core types of one make are told apart: by the clock, then by the speed or what says it.
const MARKS: [fn(&Kind<'_>) -> String; 2] = [
    |(_, khz)| format!("{} MHz", khz / 1000),
    |(core, _)| match core.speed {
        Some(speed) => format!("speed {}", speed.value),
        None => format!("capacity {}", core.capacity),
    },
];

/// A name for each core type: its make, with marks where several have it. Those that have all marks
/// in common are numbered.
pub(super) fn distinct(facts: &Facts) -> Vec<String> {
    let kinds: Vec<Kind<'_>> = (facts.core_types.iter())
        .map(|(core, cpus)| (core, top_khz(facts, cpus)))
        .collect();
    let makes = kinds.iter().map(|(core, _)| core.name.clone()).collect();
    let marked = MARKS.iter().fold(makes, |names, mark| {
        with_marks(names, &kinds.iter().map(mark).collect::<Vec<_>>())
    });
    numbered(&marked)
}

/// The names, those that several have with their marks, if these differ.
fn with_marks(names: Vec<String>, marks: &[String]) -> Vec<String> {
    let marked = |(name, mark): (&String, &String)| {
        let mut same = names.iter().zip(marks).filter(|(other, _)| *other == name);
        match same.any(|(_, other)| other != mark) {
            true => format!("{name} {mark}"),
            false => name.clone(),
        }
    };
    names.iter().zip(marks).map(marked).collect()
}

/// The names, those that several have with numbers, and no two alike.
fn numbered(names: &[String]) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for name in names {
        let same = names.iter().filter(|other| *other == name).count();
        let alone = (same == 1).then(|| name.clone());
        let numbers = (0..).map(|number| format!("{name} #{number}"));
        let mut candidates = alone.into_iter().chain(numbers);
        let free = candidates.find(|candidate| {
            let of_another = same > 1 && names.contains(candidate);
            !of_another && !distinct.contains(candidate)
        });
        distinct.extend(free);
    }
    distinct
}

/// Top clock of these CPUs, kHz.
fn top_khz(facts: &Facts, cpus: &CpuSet) -> u64 {
    let of_cpus = |spans: &Vec<CpuSet>| spans.iter().any(|span| span.intersects(cpus));
    (facts.freq_domains.iter())
        .filter(|(_, spans)| of_cpus(spans))
        .filter_map(|((_, freq), _)| freq.khz.last().copied())
        .max()
        .unwrap_or(0)
}
