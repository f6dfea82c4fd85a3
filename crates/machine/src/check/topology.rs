// SPDX-License-Identifier: GPL-2.0-only
//! Which CPUs belong together: every CPU in one of each, spans that nest,
//! distances that make sense.

use super::Findings;
use crate::cpuset::CpuSet;
use crate::draft::{Draft, ItmtDraft, Partition, RankDraft};
use crate::levels;
use crate::reader::At;
use std::collections::BTreeSet;

/// Distance of a node to itself (`LOCAL_DISTANCE`, Linux `include/linux/topology.h`).
const LOCAL_DISTANCE: u64 = 10;

pub(super) fn check(draft: &Draft, findings: &mut Findings) {
    numbers_have_no_gaps(draft, findings);
    for (name, partition) in partitions(draft) {
        every_cpu_in_one(draft, name, &partition, findings);
    }
    spans_nest(draft, findings);
    distances(draft, findings);
    nearness(draft, findings);
    gated_levels_exist(draft, findings);
    if let Some(itmt) = &draft.itmt {
        priorities_differ(itmt, findings);
        cores_have_one_priority(draft, itmt, findings);
    }
}

/// Kernels follow priorities once two CPUs differ (7.3 `intel_pstate_set_itmt_prio`).
fn priorities_differ(itmt: &ItmtDraft, findings: &mut Findings) {
    let of = |rank: &RankDraft| rank.priority.value;
    let all: BTreeSet<u64> = itmt.ranks.iter().map(of).collect();
    if all.len() < 2 {
        findings.error(
            "itmt-rank",
            &itmt.place,
            "itmt.rank",
            if all.is_empty() {
                "no priority"
            } else {
                "one priority"
            },
            "two at least, [itmt.rank.NAME] for each; a machine whose CPUs are alike has no [itmt]",
        );
    }
}

/// The firmware ranks cores, not their threads (arch/x86/kernel/itmt.c, `sched_set_itmt_core_prio`).
fn cores_have_one_priority(draft: &Draft, itmt: &ItmtDraft, findings: &mut Findings) {
    for rank in &itmt.ranks {
        for core in &draft.topology.core {
            let outside = core.value.difference(&rank.cpus.value);
            let split = outside.len() < core.value.len() && !outside.is_empty();
            if split {
                findings.error(
                    "itmt-core",
                    &rank.cpus.place,
                    "itmt.rank",
                    format!("CPUs {} without the others of a core", rank.cpus.value),
                    format!("all CPUs of the core {}", core.value),
                );
            }
        }
    }
}

fn gated_levels_exist(draft: &Draft, findings: &mut Findings) {
    let levels = levels::build(&draft.topology);
    for name in &draft.topology.power_gated {
        if levels.iter().any(|level| level.name == name.value) {
            continue;
        }
        let known: Vec<&str> = levels.iter().map(|level| level.name.as_str()).collect();
        findings.error(
            "power-gated",
            &name.place,
            "topology.power_gated",
            format!("the level {}", name.value),
            format!("a level of this machine: {}", known.join(", ")),
        );
    }
}

/// Every division of the CPUs with the name of its key.
fn partitions(draft: &Draft) -> Vec<(&'static str, Vec<&At<CpuSet>>)> {
    let topology = &draft.topology;
    let core_types = draft.core_types.iter().flat_map(|core| &core.cpus);
    let freq_domains = draft.freq_domains.iter().flat_map(|domain| &domain.cpus);
    let clusters = draft.clusters.iter().flat_map(|cluster| &cluster.cpus);
    let mut partitions = vec![
        ("core_type", core_types.collect()),
        ("freq_domain", freq_domains.collect()),
        ("cluster", clusters.collect()),
        ("topology.core", topology.core.iter().collect()),
        ("topology.llc", topology.llc.iter().collect()),
        ("topology.node", topology.node.iter().collect()),
    ];
    let optional = [
        ("topology.cls", &topology.cls),
        ("topology.mc", &topology.mc),
    ];
    if let Some(itmt) = &draft.itmt {
        partitions.push((
            "itmt.rank",
            itmt.ranks.iter().map(|rank| &rank.cpus).collect(),
        ));
    }
    for (name, partition) in optional {
        if let Some(partition) = partition {
            partitions.push((name, partition.iter().collect()));
        }
    }
    partitions
}

fn numbers_have_no_gaps(draft: &Draft, findings: &mut Findings) {
    let cpus = &draft.topology.cpus;
    let expected = CpuSet::first_n(cpus.value.len());
    if cpus.value != expected {
        findings.error(
            "cpu-gap",
            &cpus.place,
            "topology.cpus",
            format!("the CPUs {}", cpus.value),
            format!("numbers without gaps, {expected}"),
        );
    }
}

fn every_cpu_in_one(draft: &Draft, name: &str, partition: &[&At<CpuSet>], findings: &mut Findings) {
    let all = &draft.topology.cpus;
    let mut seen = CpuSet::new();
    for span in partition {
        let unknown = span.value.difference(&all.value);
        if !unknown.is_empty() {
            findings.error(
                "unknown-cpu",
                &span.place,
                name,
                format!("CPU {unknown}"),
                format!("only CPUs of `topology.cpus`, {}", all.value),
            );
        }
        let twice = span.value.intersection(&seen);
        if !twice.is_empty() {
            findings.error(
                "cpu-in-two",
                &span.place,
                name,
                format!("CPU {twice} in two of them"),
                "each CPU in one",
            );
        }
        if span.value.is_empty() {
            findings.error(
                "empty-span",
                &span.place,
                name,
                "no CPU",
                "one CPU at least",
            );
        }
        seen = seen.union(&span.value);
    }
    let nowhere = all.value.difference(&seen);
    if !nowhere.is_empty() {
        let place = partition.first().map_or(&all.place, |span| &span.place);
        findings.error(
            "cpu-in-none",
            place,
            name,
            format!("CPU {nowhere} in none of them"),
            "each CPU in one",
        );
    }
}

/// The inner spans that must lie within one outer span.
fn spans_nest(draft: &Draft, findings: &mut Findings) {
    let topology = &draft.topology;
    let core_types: Partition = spans(draft.core_types.iter().flat_map(|core| &core.cpus));
    let domains: Partition = spans(draft.freq_domains.iter().flat_map(|domain| &domain.cpus));
    let clusters: Partition = spans(draft.clusters.iter().flat_map(|cluster| &cluster.cpus));
    let mc = topology.mc.as_ref().unwrap_or(&topology.llc);
    let core = ("topology.core", &topology.core);
    nest(
        core,
        ("core_type", &core_types),
        "smt-siblings-differ",
        findings,
    );
    nest(
        core,
        ("freq_domain", &domains),
        "spans-do-not-nest",
        findings,
    );
    nest(core, ("cluster", &clusters), "spans-do-not-nest", findings);
    nest(
        core,
        ("topology.llc", &topology.llc),
        "spans-do-not-nest",
        findings,
    );
    nest(core, ("topology.mc", mc), "spans-do-not-nest", findings);
    if let Some(cls) = &topology.cls {
        nest(core, ("topology.cls", cls), "spans-do-not-nest", findings);
        nest(
            ("topology.cls", cls),
            ("topology.mc", mc),
            "spans-do-not-nest",
            findings,
        );
    }
    let node = ("topology.node", &topology.node);
    nest(
        ("topology.llc", &topology.llc),
        node,
        "llc-straddles-nodes",
        findings,
    );
    nest(("topology.mc", mc), node, "llc-straddles-nodes", findings);
    nest(("cluster", &clusters), node, "spans-do-not-nest", findings);
    either_contains_the_other(&domains, &clusters, findings);
}

/// The spans in the order of their first CPUs.
fn spans<'a>(spans: impl Iterator<Item = &'a At<CpuSet>>) -> Partition {
    let mut spans: Partition = spans.cloned().collect();
    spans.sort_by_key(|span| span.value.first());
    spans
}

fn nest(
    (inner_name, inner): (&str, &Partition),
    (outer_name, outer): (&str, &Partition),
    rule: &'static str,
    findings: &mut Findings,
) {
    for span in inner {
        let touched = outer.iter().filter(|o| o.value.intersects(&span.value));
        let touched: Vec<String> = touched.map(|o| o.value.to_string()).collect();
        if touched.len() > 1 {
            findings.error(
                rule,
                &span.place,
                inner_name,
                format!("the span {} across {}", span.value, touched.join(" and ")),
                format!("the span within one `{outer_name}`"),
            );
        }
    }
}

/// One clock may drive several clusters, a cluster may hold several clocks;
/// partly overlapping they cannot be powered.
fn either_contains_the_other(domains: &Partition, clusters: &Partition, findings: &mut Findings) {
    for domain in domains {
        for cluster in clusters {
            let (clock, power) = (&domain.value, &cluster.value);
            if clock.intersects(power) && !clock.is_subset(power) && !power.is_subset(clock) {
                findings.error(
                    "spans-do-not-nest",
                    &domain.place,
                    "freq_domain",
                    format!("the span {clock} partly in the cluster {power}"),
                    "one span within the other",
                );
            }
        }
    }
}

fn distances(draft: &Draft, findings: &mut Findings) {
    let matrix = &draft.topology.numa_distance;
    let path = "topology.numa_distance";
    for (from, row) in matrix.value.iter().enumerate() {
        for (to, &distance) in row.iter().enumerate() {
            let back = matrix.value[to][from];
            if from == to && distance != LOCAL_DISTANCE {
                findings.error(
                    "numa-local",
                    &matrix.place,
                    path,
                    format!("{distance} from node {from} to itself"),
                    LOCAL_DISTANCE.to_string(),
                );
            } else if from < to && distance != back {
                findings.error(
                    "numa-asymmetric",
                    &matrix.place,
                    path,
                    format!("{distance} from node {from} to {to} but {back} back"),
                    "the same distance both ways",
                );
            } else if from != to && distance <= LOCAL_DISTANCE {
                findings.error(
                    "numa-remote",
                    &matrix.place,
                    path,
                    format!("{distance} from node {from} to {to}"),
                    format!("more than the local {LOCAL_DISTANCE}"),
                );
            }
        }
    }
}

/// Nodes that are near the same node need not be near each other (rings, meshes): the kernel's
/// spans overlap there, the model's do not.
fn nearness(draft: &Draft, findings: &mut Findings) {
    let matrix = &draft.topology.numa_distance;
    let rows = &matrix.value;
    let all = || 0..rows.len();
    let apart = |a: usize, b: usize| {
        let between = |c: usize| rows[a][c].max(rows[c][b]) < rows[a][b];
        all().filter(|&c| c != a && c != b).find(|&c| between(c))
    };
    let found = all()
        .flat_map(|a| all().skip(a + 1).map(move |b| (a, b)))
        .find_map(|(a, b)| Some((a, b, apart(a, b)?)));
    if let Some((a, b, c)) = found {
        findings.warning(
            "numa-spans-overlap",
            &matrix.place,
            "topology.numa_distance",
            format!("nodes {a} and {b} both nearer to node {c} than to each other"),
            "spans that do not overlap; the model merges spans that overlap in the kernel",
        );
    }
}
