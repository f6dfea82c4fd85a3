// SPDX-License-Identifier: GPL-2.0-only
//! What a captured machine has of the kernel's energy model, and of clocks where
//! that has none.

#[path = "common/host.rs"]
mod host;

use alight_machine::{Confidence, DataSheet};
use host::{Tree, notes_with, sheet};

/// Frequency, power, and `performance` if the kernel shows it (from 6.9 on).
type Point = (u64, u64, Option<u64>);

/// Two CPUs of the capacities 512 and 1024, each with a clock from 400 to 4800 MHz.
fn two_cpus() -> Tree {
    let tree = Tree::new();
    tree.online("0-1");
    for (cpu, capacity) in [(0, "512"), (1, "1024")] {
        tree.cpu(cpu, "topology/core_cpus_list", &cpu.to_string())
            .cpu(cpu, "cpu_capacity", capacity)
            .cpu(cpu, "cpufreq/related_cpus", &cpu.to_string())
            .cpu(cpu, "cpufreq/cpuinfo_min_freq", "400000")
            .cpu(cpu, "cpufreq/base_frequency", "2200000")
            .cpu(cpu, "cpufreq/cpuinfo_max_freq", "4800000")
            .cache(cpu, 2, 2, "1024K", "0-1");
    }
    tree
}

/// Writes the energy model of the CPU `cpu`.
fn energy_model(tree: &Tree, cpu: usize, flags: &str, points: &[Point]) {
    let folder = format!("sys/kernel/debug/energy_model/cpu{cpu}");
    tree.write(&format!("{folder}/cpus"), &cpu.to_string())
        .write(&format!("{folder}/flags"), flags);
    for (khz, power, performance) in points {
        let state = format!("{folder}/ps:{khz}");
        tree.write(&format!("{state}/frequency"), &khz.to_string())
            .write(&format!("{state}/power"), &power.to_string());
        if let Some(performance) = performance {
            tree.write(&format!("{state}/performance"), &performance.to_string());
        }
    }
}

/// The clock of CPU 0: kHz and power of each point, uW.
fn clock(sheet: &DataSheet) -> Vec<(u32, u64)> {
    let machine = &sheet.machine;
    let domain = &machine.freq_domains[machine.cpus[0].freq_domain];
    let point = |opp: &alight_machine::Opp| (opp.khz, opp.core_power_uw);
    domain.opps.iter().map(point).collect()
}

/// How far the figure `key` of the clock of CPU 0 can be trusted.
fn confidence(sheet: &DataSheet, key: &str) -> Confidence {
    let path = format!("freq_domain.policy0.{key}");
    let figure = sheet.figures.iter().find(|figure| figure.path == path);
    figure.expect(&path).provenance.confidence
}

/// intel_pstate registers a model that has costs alone: its frequencies are 2 to 5, and each of
/// its powers is `EM_MAX_POWER` (7.2 `hybrid_active_power()`).
#[test]
fn an_energy_model_without_powers_has_no_clocks_either() {
    let none = 64_000_000;
    let steps = [
        (2, none, Some(205)),
        (3, none, Some(307)),
        (4, none, Some(409)),
        (5, none, Some(512)),
    ];
    let noted = "the energy model of the CPUs 0-1 has costs but no powers";
    for (what, flags, points, clocks, power, note) in [
        (
            "intel_pstate",
            "0x4",
            &steps[..],
            &[400_000, 2_200_000, 4_800_000][..],
            Confidence::Assumed,
            true,
        ),
        (
            "a copy without flags",
            "",
            &steps[..],
            &[400_000, 2_200_000, 4_800_000],
            Confidence::Assumed,
            true,
        ),
        (
            "abstract powers (cppc_cpufreq)",
            "0x4",
            &[(600_000, 17, None), (2_000_000, 90, None)],
            &[600_000, 2_000_000],
            Confidence::Measured,
            false,
        ),
        (
            "64 W",
            "0x1",
            &[(600_000, none, None)],
            &[600_000],
            Confidence::Measured,
            false,
        ),
    ] {
        let tree = two_cpus();
        for cpu in 0..2 {
            energy_model(&tree, cpu, flags, points);
        }
        let sheet = sheet(&tree);
        let found: Vec<u32> = clock(&sheet).iter().map(|(khz, _)| *khz).collect();
        assert_eq!(found, clocks, "{what}");
        assert_eq!(confidence(&sheet, "khz"), Confidence::Measured, "{what}");
        assert_eq!(confidence(&sheet, "core_power_uw"), power, "{what}");
        assert_eq!(
            notes_with(&sheet, noted).len(),
            usize::from(note),
            "{what}: {:?}",
            sheet.notes
        );
        assert!(
            sheet.warnings.iter().all(|w| w.rule != "low-clock"),
            "{what}"
        );
    }
}

/// A point that takes more power than a faster one stays: the kernel never chooses it.
#[test]
fn powers_that_fall_are_those_of_the_kernel() {
    for (what, powers, dips) in [
        ("a dip", [100_000, 90_000, 300_000], true),
        ("two dips", [300_000, 200_000, 100_000], true),
        ("none", [90_000, 100_000, 300_000], false),
        ("equal powers", [90_000, 90_000, 90_000], false),
    ] {
        let tree = two_cpus();
        let khz = [500_000, 1_000_000, 1_500_000];
        let points: Vec<Point> = (khz.into_iter().zip(powers))
            .map(|(khz, power)| (khz, power, None))
            .collect();
        energy_model(&tree, 0, "0x1", &points);
        let sheet = sheet(&tree);
        let found: Vec<u64> = clock(&sheet).iter().map(|(_, power)| *power).collect();
        assert_eq!(found, powers, "{what}");
        let warned = sheet.warnings.iter().any(|w| w.rule == "falling-power");
        assert_eq!(warned, dips, "{what}");
        let powers_noted = notes_with(&sheet, "lower frequency");
        assert!(powers_noted.is_empty(), "{what}: {powers_noted:?}");
    }
}

/// The `performance` of points at 500, 1000 and 1500 MHz of CPU 0, whose capacity is 512.
#[test]
fn the_performance_that_a_kernel_states_is_the_capacity() {
    let by_frequency = [170, 341, 512];
    for (what, stated, capacities, trusted, noted) in [
        (
            "a kernel before 6.9",
            [None; 3],
            by_frequency,
            Confidence::Derived,
            false,
        ),
        (
            "its own",
            [Some(170), Some(341), Some(512)],
            by_frequency,
            Confidence::Derived,
            false,
        ),
        (
            "rounded up",
            [Some(171), Some(342), Some(512)],
            by_frequency,
            Confidence::Derived,
            false,
        ),
        (
            "before the capacities are known",
            [Some(341), Some(682), Some(1024)],
            by_frequency,
            Confidence::Derived,
            false,
        ),
        (
            "a driver's",
            [Some(200), Some(400), Some(512)],
            [200, 400, 512],
            Confidence::Measured,
            false,
        ),
        (
            "a driver's, of another top",
            [Some(400), Some(800), Some(1024)],
            [200, 400, 512],
            Confidence::Measured,
            false,
        ),
        (
            "of some points",
            [Some(200), None, Some(512)],
            by_frequency,
            Confidence::Derived,
            false,
        ),
        (
            "one that falls",
            [Some(400), Some(200), Some(512)],
            by_frequency,
            Confidence::Derived,
            true,
        ),
        (
            "one that stays",
            [Some(512); 3],
            by_frequency,
            Confidence::Derived,
            true,
        ),
        (
            "none at all",
            [Some(0); 3],
            by_frequency,
            Confidence::Derived,
            true,
        ),
    ] {
        let tree = two_cpus();
        let khz = [500_000, 1_000_000, 1_500_000];
        let points: Vec<Point> = (khz.into_iter().zip(stated))
            .map(|(khz, performance)| (khz, khz / 10, performance))
            .collect();
        energy_model(&tree, 0, "0x1", &points);
        let sheet = sheet(&tree);
        let machine = &sheet.machine;
        let domain = &machine.freq_domains[machine.cpus[0].freq_domain];
        let found: Vec<u32> = domain.opps.iter().map(|opp| opp.capacity).collect();
        assert_eq!(found, capacities, "{what}");
        assert_eq!(confidence(&sheet, "capacity"), trusted, "{what}");
        let notes = notes_with(&sheet, "which does not rise with the frequency");
        assert_eq!(notes.len(), usize::from(noted), "{what}: {:?}", sheet.notes);
    }
}

const MIN: &str = "cpufreq/cpuinfo_min_freq";
const MAX: &str = "cpufreq/cpuinfo_max_freq";
const BASE: &str = "cpufreq/base_frequency";
const NOMINAL: &str = "acpi_cppc/nominal_freq";

/// Without a table of frequencies: the files of CPU 0, the clocks in MHz, and how they are named.
#[test]
fn clocks_without_a_table_are_named_as_they_are_known() {
    type Files = &'static [(&'static str, &'static str)];
    let cases: &[(Files, &[u32], &str)] = &[
        (
            &[(MIN, "400000"), (BASE, "2200000"), (MAX, "4800000")],
            &[400, 2200, 4800],
            "the lowest, base and highest frequencies are used",
        ),
        (
            &[(MIN, "400000"), (NOMINAL, "4500"), (MAX, "5881000")],
            &[400, 4500, 5881],
            "the lowest, base and highest frequencies are used",
        ),
        (
            &[(MIN, "400000"), (MAX, "5881000")],
            &[400, 5881],
            "the lowest and highest frequencies are used",
        ),
        (
            &[(MIN, "400000"), (NOMINAL, "0"), (MAX, "5881000")],
            &[400, 5881],
            "the lowest and highest frequencies are used",
        ),
        (
            &[(MIN, "400000"), (NOMINAL, "4500"), (MAX, "4500000")],
            &[400, 4500],
            "the lowest and highest frequencies are used",
        ),
        (
            &[(MAX, "5881000")],
            &[5881],
            "the highest frequency is used",
        ),
        (
            &[(NOMINAL, "4500")],
            &[4500],
            "the frequencies are not known: one frequency is used",
        ),
    ];
    for (files, mhz, note) in cases {
        let tree = Tree::new();
        tree.online("0");
        for (file, text) in *files {
            tree.cpu(0, file, text);
        }
        let sheet = sheet(&tree);
        let found: Vec<u32> = clock(&sheet).iter().map(|(khz, _)| khz / 1000).collect();
        assert_eq!(found, *mhz, "{files:?}");
        assert_eq!(
            notes_with(&sheet, note).len(),
            1,
            "{files:?}: {:?}",
            sheet.notes
        );
    }
}
