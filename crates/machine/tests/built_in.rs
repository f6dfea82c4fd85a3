// SPDX-License-Identifier: GPL-2.0-only
//! The built-in machines: all load without a finding, and come to the capacities, powers and levels of their publications.

use alight_machine::{CpuSet, HOST, Machine, check, load, names, open, open_bare};

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
        assert_eq!(check(&draft), [], "{name}");
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

#[test]
fn capacities_are_the_published_ones() {
    for (name, expected) in [
        ("juno-r0", vec![446, 1024]),
        ("juno-r2", vec![383, 1024]),
        ("tc2", vec![430, 1024]),
        ("ca9x4", vec![1024]),
        ("hikey620", vec![1024]),
        ("sdm845", vec![385, 1024]),
        ("sdm845-phantom", vec![385, 1024]),
        ("rk3588", vec![397, 1024]),
        ("gs101", vec![160, 498, 1024]),
        ("epyc-9654-2s", vec![1024]),
    ] {
        let mut found: Vec<u32> = machine(name).cpus.iter().map(|c| c.capacity_orig).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn levels_are_those_that_linux_builds() {
    for (name, expected) in [
        ("juno-r0", "MC 0,3-5 1-2 | PKG 0-5"),
        ("juno-r2", "MC 0-3 4-5 | PKG 0-5"),
        ("tc2", "MC 0-1 2-4 | PKG 0-4"),
        ("ca9x4", "MC 0-3"),
        ("hikey620", "MC 0-3 4-7 | PKG 0-7"),
        ("sdm845", "MC 0-7"),
        ("sdm845-phantom", "MC 0-3 4-7 | PKG 0-7"),
        ("rk3588", "MC 0-7"),
        ("gs101", "MC 0-7"),
    ] {
        let machine = machine(name);
        let levels = machine.levels.iter().map(|level| {
            let spans: Vec<String> = level.spans.iter().map(CpuSet::to_string).collect();
            format!("{} {}", level.name, spans.join(" "))
        });
        assert_eq!(levels.collect::<Vec<_>>().join(" | "), expected, "{name}");
    }
}

/// Powers published in whole mW next to the voltages they follow from.
#[test]
fn derived_powers_are_the_published_ones() {
    let published: [(&str, usize, &[u64]); 5] = [
        ("rk3588", 0, &[105, 139, 188, 265, 370]),
        ("rk3588", 4, &[227, 310, 389, 541, 718, 896, 998]),
        ("gs101", 0, &[6, 15, 20, 29, 39, 45, 54, 60, 77, 89, 104]),
        (
            "gs101",
            4,
            &[
                29, 45, 62, 77, 95, 114, 149, 178, 226, 284, 350, 428, 511, 600,
            ],
        ),
        (
            "gs101",
            6,
            &[
                81, 171, 212, 264, 331, 407, 495, 606, 668, 839, 983, 1058, 1229, 1394, 1604, 1758,
                2032,
            ],
        ),
    ];
    for (name, cpu, expected) in published {
        let machine = machine(name);
        let opps = &machine.freq_domains[machine.cpus[cpu].freq_domain].opps;
        assert_eq!(opps.len(), expected.len(), "{name} CPU {cpu}");
        for (opp, milliwatt) in opps.iter().zip(expected) {
            // The kernel drops fractions of a mV before it squares.
            let found = opp.core_power_uw;
            let (low, high) = (milliwatt * 990 - 1000, milliwatt * 1010 + 1000);
            assert!(
                (low..=high).contains(&found),
                "{name} {} kHz: {found} uW",
                opp.khz
            );
        }
    }
}

#[test]
fn phantom_domains_change_the_levels_and_nothing_else() {
    let (real, mut phantom) = (machine("sdm845"), machine("sdm845-phantom"));
    assert_ne!(phantom.levels, real.levels);
    phantom.levels.clone_from(&real.levels);
    phantom.name.clone_from(&real.name);
    phantom.description.clone_from(&real.description);
    assert_eq!(phantom, real);
}

#[test]
fn costs_follow_the_clock_and_fetches_do_not() {
    // Of one class; what was fitted to each board differs.
    let assumed = |name| open_bare(name).unwrap().resolve().unwrap().machine;
    let (slow, fast) = (assumed("ca9x4"), assumed("hikey620"));
    let (slow, fast) = (slow.core_types[0].costs, fast.core_types[0].costs);
    assert_eq!(slow.switch_ns, 3 * fast.switch_ns);
    assert_eq!(slow.scan_local_ns, fast.scan_local_ns);
}

#[test]
fn a_wakeup_latency_stated_apart_is_what_cpuidle_plans_with() {
    let hikey = machine("hikey620");
    let states = &hikey.core_types[0].idle_states;
    let latencies: Vec<(u64, u64)> = states.iter().map(|s| (s.exit_ns, s.wakeup_ns)).collect();
    assert_eq!(
        latencies,
        [(1_000, 1_000), (250_000, 950_000), (700_000, 1_500_000)]
    );
}

#[test]
fn the_host_is_a_machine() {
    let sheet = load(HOST).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(sheet.machine.name, HOST);
    assert!(!sheet.notes.is_empty());
}
