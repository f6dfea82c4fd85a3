// SPDX-License-Identifier: GPL-2.0-only
//! The built-in machines: all load without a finding worse than a warning, and
//! come to the capacities, powers and levels of their publications.

use alight_machine::{CpuSet, Machine, Severity, check, load, names, open};

fn machine(name: &str) -> Machine {
    Machine::load(name).unwrap_or_else(|error| panic!("{error}"))
}

fn cpus(text: &str) -> CpuSet {
    text.parse().unwrap()
}

#[test]
fn all_load_under_their_own_name() {
    for name in names() {
        let draft = open(name).unwrap_or_else(|error| panic!("{error}"));
        let findings = check(&draft);
        let errors = findings.iter().filter(|f| f.severity == Severity::Error);
        assert_eq!(errors.collect::<Vec<_>>(), Vec::<&_>::new(), "{name}");
        assert_eq!(machine(name).name, name);
    }
}

#[test]
fn every_figure_has_a_source() {
    for name in names() {
        let sheet = load(name).unwrap();
        assert!(sheet.figures.len() > 40, "{name}: {}", sheet.figures.len());
        for figure in &sheet.figures {
            assert!(figure.provenance.source.len() > 10, "{name}: {figure:?}");
        }
    }
}

#[test]
fn juno_r0_is_the_board_of_its_publications() {
    let juno = machine("juno-r0");
    let capacities: Vec<u32> = juno.cpus.iter().map(|cpu| cpu.capacity_orig).collect();
    assert_eq!(capacities, [446, 1024, 1024, 446, 446, 446]);
    let levels: Vec<(&str, Vec<String>)> = juno
        .levels
        .iter()
        .map(|level| {
            let spans = level.spans.iter().map(CpuSet::to_string);
            (level.name.as_str(), spans.collect())
        })
        .collect();
    assert_eq!(
        levels,
        [
            ("MC", vec!["0,3-5".to_owned(), "1-2".to_owned()]),
            ("PKG", vec!["0-5".to_owned()])
        ]
    );
    let big = &juno.freq_domains[juno.cpus[1].freq_domain];
    assert_eq!(big.cpus, cpus("1-2"));
    assert_eq!(big.opps.last().unwrap().core_power_uw, 616_000);
    let deepest = juno.core_types[0].idle_states.last().unwrap();
    assert_eq!((deepest.exit_ns, deepest.wakeup_ns), (1_200_000, 1_600_000));
}

#[test]
fn epyc_has_its_cores_caches_and_nodes() {
    let epyc = machine("epyc-9654-2s");
    assert_eq!(epyc.cpus.len(), 384);
    let shape: Vec<(&str, usize, usize)> = epyc
        .levels
        .iter()
        .map(|level| (level.name.as_str(), level.spans.len(), level.spans[0].len()))
        .collect();
    assert_eq!(
        shape,
        [
            ("SMT", 192, 2),
            ("MC", 24, 16),
            ("PKG", 2, 192),
            ("NUMA", 1, 384)
        ]
    );
    assert_eq!(epyc.cpus[5].core, epyc.cpus[197].core);
    assert_eq!(epyc.levels[2].spans[0], cpus("0-95,192-287"));
    assert_eq!(epyc.imb_numa_nr, 12);
    assert_eq!(epyc.numa_distance, [10, 32, 32, 10]);
    assert_eq!(epyc.freq_domains.len(), 192);
    assert_eq!(epyc.clusters.len(), 24);
}
