// SPDX-License-Identifier: GPL-2.0-only
//! The built-in machines: all load without a finding, and come to the capacities, powers and levels of their publications.

use alight_machine::{CpuSet, HOST, Machine, check, load, names, open, open_bare};

fn machine(name: &str) -> Machine {
    Machine::load(name).unwrap_or_else(|error| panic!("{error}"))
}

/// Without what was fitted: costs of its classes, and the times of idle states that the file states.
fn stated(name: &str) -> Machine {
    let draft = open_bare(name).unwrap_or_else(|error| panic!("{error}"));
    draft
        .resolve()
        .unwrap_or_else(|error| panic!("{error}"))
        .machine
}

fn cpus(text: &str) -> CpuSet {
    text.parse().unwrap()
}

/// Published tables that are odd, and the warnings that say so.
const ODD: [(&str, &[&str]); 2] = [
    ("sm8250", &["falling-power"]),
    ("x1e80100", &["latency-above-residency"]),
];

#[test]
fn all_load_under_their_own_name() {
    for name in names() {
        let draft = open(name).unwrap_or_else(|error| panic!("{error}"));
        let mut rules: Vec<&str> = check(&draft).iter().map(|finding| finding.rule).collect();
        rules.dedup();
        let odd = ODD.iter().find(|(odd, _)| *odd == name);
        assert_eq!(rules, odd.map_or(&[][..], |(_, rules)| *rules), "{name}");
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
    let stated = stated("juno-r0");
    let deepest = stated.core_types[0].idle_states.last().unwrap();
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

/// Threads of a core, caches and nodes of x86, whose second threads are numbered after the first.
#[test]
fn x86_machines_have_their_threads_caches_and_nodes() {
    type Level = (&'static str, usize, &'static str);
    let cases: [(&str, usize, &[Level]); 4] = [
        ("ryzen-7840u", 16, &[("SMT", 8, "0,8"), ("MC", 1, "0-15")]),
        (
            "ryzen-7950x",
            32,
            &[
                ("SMT", 16, "0,16"),
                ("MC", 2, "0-7,16-23"),
                ("PKG", 1, "0-31"),
            ],
        ),
        (
            "epyc-7763-2s",
            256,
            &[
                ("SMT", 128, "0,128"),
                ("MC", 16, "0-7,128-135"),
                ("PKG", 2, "0-63,128-191"),
                ("NUMA", 1, "0-255"),
            ],
        ),
        (
            "xeon-8480-2s",
            224,
            &[
                ("SMT", 112, "0,112"),
                ("MC", 2, "0-55,112-167"),
                ("NUMA", 1, "0-223"),
            ],
        ),
    ];
    for (name, cpus, expected) in cases {
        let machine = machine(name);
        assert_eq!(machine.cpus.len(), cpus, "{name}");
        let levels: Vec<(&str, usize, String)> = (machine.levels.iter())
            .map(|level| (&*level.name, level.spans.len(), level.spans[0].to_string()))
            .collect();
        let expected: Vec<_> = (expected.iter())
            .map(|&(level, spans, first)| (level, spans, first.to_owned()))
            .collect();
        assert_eq!(levels, expected, "{name}");
    }
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
        ("rk3399", vec![381, 1024]),
        ("rk3399-bin3", vec![381, 1024]),
        ("mt8183", vec![741, 1024]),
        ("bcm2711", vec![1024]),
        ("bcm2712", vec![1024]),
        ("sm8250", vec![284, 871, 1024]),
        ("sm8550", vec![222, 657, 1024]),
        ("zumapro", vec![281, 711, 1024]),
        ("zumapro-em", vec![189, 731, 1024]),
        ("t8103", vec![493, 1024]),
        ("x1e80100", vec![1024]),
        ("i7-1370p", vec![1024]),
        ("i7-12700", vec![1024]),
        ("i9-13900k", vec![1024]),
        ("ultra7-155h", vec![1024]),
        ("ultra7-258v", vec![689, 1024]),
        ("ryzen-hx370", vec![1024]),
        ("ryzen-7840u", vec![1024]),
        ("ryzen-7950x", vec![1024]),
        ("epyc-7763-2s", vec![1024]),
        ("xeon-8480-2s", vec![1024]),
        ("xeon-64-2s", vec![1024]),
        ("graviton3-c7g", vec![1024]),
        ("graviton4-c8g", vec![1024]),
    ] {
        let mut found: Vec<u32> = machine(name).cpus.iter().map(|c| c.capacity_orig).collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, expected, "{name}");
    }
}

/// What the kernels of hybrids with SMT do not know.
#[test]
fn hybrids_have_speeds_apart_from_their_capacities() {
    for (name, expected) in [
        ("i7-1370p", vec![624, 1024]),
        ("i7-12700", vec![604, 1024]),
        ("i9-13900k", vec![642, 1024]),
        ("ultra7-155h", vec![455, 691, 1024]),
        ("ryzen-hx370", vec![656, 1024]),
    ] {
        let mut found: Vec<u32> = machine(name).cpus.iter().map(|c| c.speed()).collect();
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
        ("rk3399", "MC 0-3 4-5 | PKG 0-5"),
        ("mt8183", "MC 0-3 4-7 | PKG 0-7"),
        ("bcm2711", "MC 0-3"),
        ("bcm2712", "MC 0-3"),
        ("sm8250", "MC 0-7"),
        ("sm8550", "MC 0-7"),
        ("zumapro", "MC 0-7"),
        ("t8103", "MC 0-3 4-7 | PKG 0-7"),
        ("x1e80100", "MC 0-3 4-7 8-11 | PKG 0-11"),
        ("graviton3-c7g", "MC 0-63"),
        ("graviton4-c8g", "MC 0-95"),
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
        ("rk3399", 0, &[27, 40, 58, 86, 120, 179]),
        ("rk3399", 4, &[121, 178, 242, 336, 472, 648, 848, 1130]),
        ("gs101", 0, &[6, 15, 20, 29, 39, 45, 54, 60, 77, 89, 104]),
    ];
    for (name, cpu, expected) in published {
        let machine = machine(name);
        let opps = &machine.freq_domains[machine.cpus[cpu].freq_domain].opps;
        assert_eq!(opps.len(), expected.len(), "{name} CPU {cpu}");
        for (opp, milliwatt) in opps.iter().zip(expected) {
            // The kernel drops fractions of a mV before it squares.
            let found = opp.em_power_uw;
            let (low, high) = (milliwatt * 990 - 1000, milliwatt * 1010 + 1000);
            assert!(
                (low..=high).contains(&found),
                "{name} {} kHz: {found} uW",
                opp.khz
            );
        }
    }
}

/// By the coefficient tasks are placed; what was measured is metered.
#[test]
fn a_measured_power_stands_beside_the_one_of_the_energy_model() {
    let machine = machine("gs101");
    let little = &machine.freq_domains[machine.cpus[0].freq_domain];
    let top = little.opps.last().unwrap();
    assert_eq!((top.core_power_uw, top.em_power_uw / 1000), (261_400, 103));
    let points = alight_machine::views::energy::clock_of(little)
        .points
        .unwrap();
    assert_eq!(u64::from(points.last().unwrap().power_uw), top.em_power_uw);
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
    let (slow, fast) = (stated("ca9x4"), stated("hikey620"));
    let (slow, fast) = (slow.core_types[0].costs, fast.core_types[0].costs);
    assert_eq!(slow.switch_ns, 3 * fast.switch_ns);
    assert_eq!(slow.scan_local_ns, fast.scan_local_ns);
}

#[test]
fn a_wakeup_latency_stated_apart_is_what_cpuidle_plans_with() {
    let hikey = stated("hikey620");
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
