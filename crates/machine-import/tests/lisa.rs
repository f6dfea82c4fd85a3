// SPDX-License-Identifier: GPL-2.0-only
//! LISA's platform information: what comes out of it, and what goes into it.

mod common;

use std::path::Path;

use alight_machine::{DataSheet, Machine};
use alight_machine_import::{Format, import_bytes, lisa};
use common::{import, sheet, source_of, spans};
use proptest::prelude::*;

const JUNO: &str = "platform-info:
    conf:
        abi: arm64
        name: juno
        cpus-count: 6
        numa-nodes-count: 1
        freq-domains:
            -   - 0
                - 3
                - 4
                - 5
            -   [1, 2]
        freqs:
            0: &little [450000, 850000]
            1: [450000, 625000, 1100000]
            2: [450000, 625000, 1100000]
            3: *little
            4: *little
            5: *little
        cpu-capacities:
            writeable: true
            orig: {0: 446, 1: 1024, 2: 1024, 3: 446, 4: 446, 5: 446}
        kernel:
            config: !call:devlib.target.TypedKernelConfig.from_str
                text: ''
        nrg-model: !var lisa.platforms.juno_r0.nrg_model
";

#[test]
fn capacities_domains_and_frequencies_come_out() {
    let imported = import("juno.yml", JUNO);
    let sheet = sheet(&imported);
    let machine = &sheet.machine;
    assert_eq!(machine.name, "juno");
    let capacities: Vec<_> = machine.cpus.iter().map(|cpu| cpu.capacity_orig).collect();
    assert_eq!(capacities, [446, 1024, 1024, 446, 446, 446]);
    assert_eq!(
        spans(machine.freq_domains.iter().map(|domain| &domain.cpus)),
        "0,3-5 1-2"
    );
    let points: Vec<Vec<u32>> = (machine.freq_domains.iter())
        .map(|domain| domain.opps.iter().map(|opp| opp.khz).collect())
        .collect();
    assert_eq!(
        points,
        [vec![450_000, 850_000], vec![450_000, 625_000, 1_100_000]]
    );
    assert_eq!(
        source_of(&sheet, "core_type.capacity-446.capacity"),
        "juno.yml, line 22, cpu-capacities (measured)"
    );
    let notes = imported.notes.join("\n");
    assert!(
        notes.contains("`nrg-model` is an object of LISA's Python code"),
        "{notes}"
    );
    assert!(
        notes.contains("juno.yml does not say which CPUs share the last-level cache"),
        "{notes}"
    );
}

#[test]
fn the_frequencies_of_a_domain_are_those_of_any_of_its_cpus() {
    const OWN: &str = "a CPU in none of `freq-domains` has a clock of its own";
    let all = vec![1_000_000, 2_000_000];
    for (domains, freqs, expected, own) in [
        (
            "[[0, 1]]",
            "{0: [1000000, 2000000]}",
            vec![all.clone()],
            false,
        ),
        (
            "[[0, 1]]",
            "{1: [2000000, 1000000]}",
            vec![all.clone()],
            false,
        ),
        (
            "[[0, 1]]",
            "{0: [1000000, 2000000], 1: [2000000, 1000000]}",
            vec![all.clone()],
            false,
        ),
        (
            "[[1]]",
            "{0: [500000], 1: [1000000, 2000000]}",
            vec![vec![500_000], all.clone()],
            true,
        ),
        (
            "[]",
            "{0: [500000], 1: [1000000, 2000000]}",
            vec![vec![500_000], all],
            true,
        ),
    ] {
        let text = format!(
            "platform-info:\n  conf:\n    abi: arm64\n    cpus-count: 2\n    freq-domains: \
             {domains}\n    freqs: {freqs}\n"
        );
        let imported = import("f.yml", &text);
        let points: Vec<Vec<u32>> = (sheet(&imported).machine.freq_domains.iter())
            .map(|domain| domain.opps.iter().map(|opp| opp.khz).collect())
            .collect();
        assert_eq!(points, expected, "{text}");
        let notes = imported.notes.join("\n");
        assert_eq!(notes.contains(OWN), own, "{text}{notes}");
    }
}

#[test]
fn the_tick_is_that_of_the_kernel_s_configuration() {
    for (config, hz, assumed) in [
        (
            "CONFIG_HZ_100=n\n                    CONFIG_HZ=1000\n",
            1000,
            false,
        ),
        ("CONFIG_HZ = 100\n", 100, false),
        (
            "# CONFIG_HZ is not set\n                    CONFIG_HZ_300=y\n",
            250,
            true,
        ),
    ] {
        let text = format!(
            "platform-info:\n    conf:\n        abi: arm64\n        cpus-count: 1\n        kernel:\n            \
             config: !call:devlib.target.TypedKernelConfig.from_str\n                text: |\n                    {config}"
        );
        let imported = import("hz.yml", &text);
        let sheet = sheet(&imported);
        assert_eq!(sheet.machine.hz, hz, "{text}");
        let notes = imported.notes.join("\n");
        let said = notes.contains("does not say the tick frequency: assumed is 250 Hz");
        assert_eq!(said, assumed, "{notes}");
        assert!(
            notes.contains("of `kernel.config` only CONFIG_HZ is taken"),
            "{notes}"
        );
        let source = source_of(&sheet, "hz");
        assert_eq!(
            source.contains("kernel.config, CONFIG_HZ (measured)"),
            !assumed,
            "{source}"
        );
    }
}

#[test]
fn keys_that_are_not_read_are_named_with_their_line() {
    for (inside, said) in [
        (
            "rtapp: {calib: {0: 335}}",
            "line 5: `rtapp` has the speeds of CPUs as rt-app measured them",
        ),
        (
            "cpu-capacities: {orig: {0: 1024}, rtapp: {0: 1000}}",
            "line 5: `cpu-capacities.rtapp` has the speeds",
        ),
        (
            "cpu-capacities: {0: 1024, rtapp: {0: 1000}}",
            "line 5: `cpu-capacities.rtapp` has the",
        ),
        (
            "kernel: {version: !call:devlib.target.KernelVersion {version_string: '5.12'}}",
            "line 5: `kernel.version` is the kernel that ran",
        ),
        (
            "kernel: {symbols-address: {}}",
            "line 5: `kernel.symbols-address` has no place in a",
        ),
        (
            "nrg-model: !var x",
            "line 5: `nrg-model` is an object of LISA's Python code",
        ),
        (
            "capacity-classes: [[0]]",
            "line 5: `capacity-classes` follows from the capacities",
        ),
        (
            "colour: red",
            "line 5: `colour` has no place in a machine file: it is left out",
        ),
    ] {
        let text = format!(
            "platform-info:\n    conf:\n        abi: arm64\n        cpus-count: 1\n        {inside}\n"
        );
        let notes = import("k.yml", &text).notes;
        assert!(
            notes.iter().any(|note| note.starts_with(said)),
            "{said}: {notes:#?}"
        );
        let left_out = notes.iter().filter(|note| note.ends_with("it is left out"));
        assert_eq!(left_out.count(), 1, "{notes:#?}");
    }
}

/// What LISA's form can hold of a machine.
fn held(machine: &Machine) -> Vec<(u32, String, Vec<u32>)> {
    let cpu = |cpu: &alight_machine::Cpu| {
        let domain = &machine.freq_domains[cpu.freq_domain];
        let khz = domain.opps.iter().map(|opp| opp.khz).collect();
        (cpu.capacity_orig, domain.cpus.to_string(), khz)
    };
    machine.cpus.iter().map(cpu).collect()
}

fn back(there: &DataSheet) -> DataSheet {
    let yaml = lisa(there).yaml;
    let imported = import_bytes(Path::new("back.yml"), yaml.as_bytes(), Some(Format::Lisa));
    sheet(&imported.unwrap_or_else(|error| panic!("{error}\n{yaml}")))
}

/// Is the machine one of x86, by the costs of its core types?
fn x86(sheet: &DataSheet) -> Vec<bool> {
    let families = sheet.cost_families.iter();
    let mut found: Vec<bool> = families.map(|family| family == "x86").collect();
    found.dedup();
    found
}

#[test]
fn every_built_in_machine_comes_back_from_lisa() {
    for name in alight_machine::names() {
        let there = alight_machine::load(name).unwrap();
        let back = back(&there);
        assert_eq!(held(&back.machine), held(&there.machine), "{name}");
        assert_eq!(back.machine.name, there.machine.name);
        assert_eq!(x86(&back), x86(&there), "{name}");
    }
}

#[test]
fn the_abi_says_what_the_costs_are() {
    const UNSTATED: &str = "the architecture (`abi`) is not stated: kernel path costs of arm";
    for (abi, family, note) in [
        ("abi: arm64", "big", None),
        ("abi: armeabi", "big", None),
        ("abi: x86_64", "x86", None),
        ("abi: x86", "x86", None),
        (
            "abi: ppc64le",
            "x86",
            Some("line 3: `abi` is ppc64le: kernel path costs of x86"),
        ),
        ("os: linux", "big", Some(UNSTATED)),
    ] {
        let text = format!("platform-info:\n  conf:\n    {abi}\n    cpus-count: 1\n");
        let imported = import("a.yml", &text);
        let sheet = sheet(&imported);
        assert_eq!(sheet.cost_families, [family], "{abi}");
        assert_eq!(sheet.machine.hrtick, abi.contains("x86"), "{abi}");
        let notes = imported.notes.join("\n");
        assert_eq!(
            notes.contains("kernel path costs of"),
            note.is_some(),
            "{notes}"
        );
        assert!(notes.contains(note.unwrap_or_default()), "{notes}");
    }
}

#[test]
fn an_export_names_what_it_leaves_out() {
    let always = "LISA has no keys for caches, clusters, idle states, powers";
    for (name, said, unsaid) in [
        (
            "juno-r0",
            vec![always],
            vec!["threads", "speeds", "itmt", "NUMA", "abi"],
        ),
        (
            "epyc-7763-2s",
            vec![
                always,
                "threads of one core, which the CPUs 0-",
                "the CPUs of NUMA nodes",
            ],
            vec!["speeds", "abi"],
        ),
        (
            "i7-1370p",
            vec![
                "threads of one core, which the CPUs 0-11 are",
                "speeds apart",
                "`[itmt]`",
            ],
            vec!["NUMA", "abi"],
        ),
    ] {
        let notes = lisa(&alight_machine::load(name).unwrap()).notes.join("\n");
        for said in said {
            assert!(notes.contains(said), "{name}, {said}: {notes}");
        }
        for unsaid in unsaid {
            assert!(!notes.contains(unsaid), "{name}, {unsaid}: {notes}");
        }
    }
}

#[test]
fn cores_of_two_architectures_have_no_abi() {
    let text = file("both", &[(1, 512, vec![1000]), (1, 1024, vec![2000])]);
    let text = text.replacen("costs = \"big\"", "costs = \"x86\"", 1);
    let sheet = alight_machine::parse("both.toml", &text).and_then(alight_machine::Draft::resolve);
    let exported = lisa(&sheet.unwrap());
    assert!(!exported.yaml.contains("abi"), "{}", exported.yaml);
    assert!(
        exported
            .notes
            .join("\n")
            .contains("the key `abi` is left out")
    );
}

/// A machine file of clocks with these CPUs each, this capacity and these steps of the clock.
fn file(name: &str, clocks: &[(usize, u32, Vec<u32>)]) -> String {
    let mut first = 0;
    let (mut types, mut domains, mut sets) = (String::new(), String::new(), Vec::new());
    let biggest = clocks.iter().map(|clock| clock.1).max().unwrap();
    for (number, (count, capacity, steps)) in clocks.iter().enumerate() {
        let cpus = format!("{first}-{}", first + count - 1);
        first += count;
        let capacity = (capacity * 1024 / biggest).max(1);
        let khz: Vec<u32> = steps
            .iter()
            .scan(0, |at, step| {
                *at += step;
                Some(*at)
            })
            .collect();
        let power = vec![1000; khz.len()];
        types += &format!(
            "[core_type.t{number}]\ncpus = \"{cpus}\"\ncapacity = {capacity}\nl2_kib = 1\ncosts = \"big\"\n\
             [[core_type.t{number}.idle_state]]\nname = \"WFI\"\nexit_us = 1\nresidency_us = 1\npower_mw = 0\n"
        );
        domains += &format!(
            "[freq_domain.d{number}]\ncpus = \"{cpus}\"\nkhz = {khz:?}\ncore_power_mw = {power:?}\n\
             cluster_power_percent = 10\nswitch_us = 1\n"
        );
        sets.push(format!("\"{cpus}\""));
    }
    let sets = sets.join(", ");
    format!(
        "schema = \"alight.machine/1\"\nname = {}\ndescription = \"d\"\nsource = \"s\"\nhz = 250\n\
         governor = \"schedutil\"\n[sources]\ns = {{ text = \"t\", confidence = \"assumed\" }}\n\
         [topology]\ncpus = \"0-{}\"\nllc = [{sets}]\n{types}{domains}\
         [cluster.c]\ncpus = [{sets}]\nidle_power_mw = 1\noff_power_mw = 0\n\
         [memory]\nllc_line_ns = 1\ncross_llc_line_ns = 1\ncross_node_line_ns = 1\ndram_line_ns = 1\n\
         refill_mlp = 1\nchannel_lines = 1\nworking_set_kib = 1\n",
        toml::Value::String(name.to_owned()),
        first - 1,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn export_and_import_keep_capacities_clocks_and_points(
        name in "[ -~]{1,20}",
        clocks in prop::collection::vec(
            (1_usize..5, 1_u32..1025, prop::collection::vec(1_u32..1_000_000, 1..8)), 1..6),
    ) {
        let text = file(&name, &clocks);
        let sheet = alight_machine::parse("any.toml", &text).and_then(alight_machine::Draft::resolve);
        let there = sheet.unwrap_or_else(|error| panic!("{error}\n{text}"));
        let back = back(&there);
        prop_assert_eq!(held(&back.machine), held(&there.machine));
        prop_assert_eq!(back.machine.name, there.machine.name);
    }
}
