// SPDX-License-Identifier: GPL-2.0-only
//! Capturing machines with unlike cores on x86, and how their kernels rank cores.

#[path = "common/host.rs"]
mod host;

use alight_machine::{Severity, capture, check, parse};
use host::{Tree, has_note, notes_with, sheet};

/// A hybrid whose kernel has one capacity for all CPUs.
fn hybrid() -> Tree {
    let tree = Tree::new();
    tree.online("0-1");
    tree.write(
        "proc/cpuinfo",
        "vendor_id\t: GenuineIntel\nmodel name\t: 13th Gen",
    );
    for (cpu, khz) in [(0, "5200000"), (1, "3900000")] {
        tree.cpu(cpu, "topology/core_cpus_list", &cpu.to_string())
            .cpu(cpu, "cpufreq/related_cpus", &cpu.to_string())
            .cpu(cpu, "cpufreq/cpuinfo_min_freq", "400000")
            .cpu(cpu, "cpufreq/cpuinfo_max_freq", khz)
            .cache(cpu, 2, 2, "2048K", &cpu.to_string())
            .cache(cpu, 3, 3, "24576K", "0-1");
    }
    tree
}

#[test]
fn equal_speeds_of_a_hybrid_are_an_assumption_that_is_said() {
    let plain = hybrid();
    let named = hybrid();
    named.write("sys/devices/cpu_core/cpus", "0");
    named.write("sys/devices/cpu_atom/cpus", "1");
    for (tree, said) in [
        (
            plain,
            "ASSUMED EQUAL: CPU 0 (13th Gen, 5200 MHz) and CPU 1 (13th Gen, 3900 MHz) do the same \
             work in the same time",
        ),
        (
            named,
            "ASSUMED EQUAL: CPU 0 (13th Gen cpu_core, 5200 MHz) and CPU 1 (13th Gen cpu_atom, 3900 \
             MHz) do the same work in the same time",
        ),
    ] {
        let sheet = sheet(&tree);
        assert_eq!(sheet.trust().speeds.to_string(), said);
        has_note(&sheet, &format!("speeds: {said}"));
        let toml = capture(tree.path()).unwrap().toml;
        let findings = check(&parse("host.toml", &toml).unwrap());
        let warned = findings
            .iter()
            .find(|finding| finding.rule == "speeds-assumed-equal");
        assert_eq!(
            warned.map(|f| f.severity),
            Some(Severity::Warning),
            "{findings:?}"
        );
        // That the kernel takes them for equal is known: it is not what is assumed.
        let capacity = sheet.figures.iter().find(|f| f.path.ends_with(".capacity"));
        assert_eq!(
            capacity.unwrap().provenance.confidence.to_string(),
            "derived"
        );
    }
}

/// What the firmware says of a hybrid's cores is their speed; the kernel's capacities stay.
#[test]
fn the_firmware_rates_the_cpus_of_a_hybrid() {
    let amd = "vendor_id\t: AuthenticAMD\nmodel name\t: Two kinds";
    for (what, vendor, ratings, speeds) in [
        ("levels", None, ["67", "39"], [1024, 596]),
        (
            "levels that say nothing",
            None,
            ["255", "255"],
            [1024, 1024],
        ),
        ("equal levels", None, ["50", "50"], [1024, 1024]),
        // AMD's are ranks: its cores differ by their clocks, here 5.2 and 3.9 GHz.
        ("ranks", Some(amd), ["236", "166"], [1024, 768]),
    ] {
        let tree = hybrid();
        if let Some(vendor) = vendor {
            tree.write("proc/cpuinfo", vendor);
        }
        for (cpu, rating) in ratings.iter().enumerate() {
            tree.cpu(cpu, "acpi_cppc/highest_perf", rating);
        }
        let sheet = sheet(&tree);
        let cpus = &sheet.machine.cpus;
        let found: Vec<u32> = cpus.iter().map(|cpu| cpu.speed()).collect();
        assert_eq!(found, speeds, "{what}");
        assert!(cpus.iter().all(|cpu| cpu.capacity_orig == 1024), "{what}");
        assert_eq!(
            sheet.trust().speeds.are_known(),
            speeds[1] != 1024,
            "{what}"
        );
    }
}

/// A hybrid whose cpufreq driver ranks its cores by these values.
fn ranked(driver: &str, values: [&str; 2]) -> Tree {
    let tree = hybrid();
    let file = match driver.starts_with("amd") {
        true => "cpufreq/amd_pstate_prefcore_ranking",
        false => "acpi_cppc/highest_perf",
    };
    for (cpu, value) in values.iter().enumerate() {
        tree.cpu(cpu, "cpufreq/scaling_driver", driver);
        tree.cpu(cpu, file, value);
    }
    tree
}

/// The kernel fills the CPUs in the order in which its cpufreq driver ranks them.
#[test]
fn the_driver_ranks_the_cpus() {
    use alight_machine::ItmtDriver::{AmdPstate, IntelPstate};
    for (what, driver, values, expected) in [
        ("levels", "intel_pstate", ["67", "39"], Some(IntelPstate)),
        ("passive", "intel_cpufreq", ["67", "39"], Some(IntelPstate)),
        ("equal levels", "intel_pstate", ["50", "50"], None),
        ("no levels", "intel_pstate", ["255", "255"], None),
        ("another driver", "acpi-cpufreq", ["67", "39"], None),
        (
            "preferred",
            "amd-pstate-epp",
            ["236", "166"],
            Some(AmdPstate),
        ),
    ] {
        let itmt = sheet(&ranked(driver, values)).machine.itmt;
        assert_eq!(itmt.as_ref().map(|itmt| itmt.driver), expected, "{what}");
        if let Some(itmt) = itmt {
            let stated: [u32; 2] = values.map(|value| value.parse().expect("a number"));
            assert_eq!(itmt.priority, stated, "{what}");
        }
    }
}
/// A ranking that the kernel does not follow, and the file that says so.
#[test]
fn a_ranking_that_is_switched_off_is_left_out_and_named() {
    let old = "proc/sys/kernel/sched_itmt_enabled";
    let new = "sys/kernel/debug/x86/sched_itmt_enabled";
    let amd = "sys/devices/system/cpu/amd_pstate/prefcore";
    for (driver, file, text, followed) in [
        ("intel_pstate", old, "0", false),
        ("intel_pstate", old, "1", true),
        ("intel_pstate", new, "N", false),
        ("intel_pstate", new, "Y", true),
        ("intel_pstate", amd, "disabled", true),
        ("amd-pstate-epp", amd, "disabled", false),
        ("amd-pstate-epp", amd, "enabled", true),
        ("amd-pstate", amd, "disabled", false),
        ("amd-pstate", new, "N", false),
    ] {
        let tree = ranked(driver, ["230", "166"]);
        tree.write(file, text);
        let sheet = sheet(&tree);
        let what = format!("{driver}: {file}: {text}");
        assert_eq!(sheet.machine.itmt.is_some(), followed, "{what}");
        let note = format!("/{file} says that this kernel does not follow it");
        let noted = notes_with(&sheet, &note).len();
        assert_eq!(noted, usize::from(!followed), "{what}: {:?}", sheet.notes);
    }
}

/// Where nothing is ranked, a switch says nothing.
#[test]
fn a_switch_without_a_ranking_is_not_noted() {
    let tree = ranked("intel_pstate", ["50", "50"]);
    tree.write("proc/sys/kernel/sched_itmt_enabled", "0");
    assert!(notes_with(&sheet(&tree), "sched_itmt_enabled").is_empty());
}

/// From 6.12 on a kernel shows unlike capacities; bases before it need the priorities all the same.
#[test]
fn priorities_are_kept_beside_unlike_capacities() {
    let tree = hybrid();
    for (cpu, (capacity, level)) in [("1024", "55"), ("689", "37")].into_iter().enumerate() {
        tree.cpu(cpu, "cpu_capacity", capacity);
        tree.cpu(cpu, "cpufreq/scaling_driver", "intel_pstate");
        tree.cpu(cpu, "acpi_cppc/highest_perf", level);
    }
    let machine = sheet(&tree).machine;
    assert_eq!(machine.cpus[1].capacity_orig, 689);
    assert_eq!(machine.itmt.expect("priorities").priority, [55, 37]);
}

#[test]
fn a_level_that_one_cpu_lacks_rates_none() {
    let tree = hybrid();
    tree.cpu(0, "acpi_cppc/highest_perf", "67");
    assert!(!sheet(&tree).trust().speeds.are_known());
}

/// Where neither clocks nor caches are known, the counters of a hybrid tell its cores apart.
#[test]
fn a_hybrid_without_clocks_and_caches_is_one_all_the_same() {
    let tree = hybrid();
    for cpu in 0..2 {
        for part in ["cpufreq", "cache"] {
            let path = format!("sys/devices/system/cpu/cpu{cpu}/{part}");
            let _ = std::fs::remove_dir_all(tree.path().join(path));
        }
    }
    tree.write("sys/devices/cpu_core/cpus", "0");
    tree.write("sys/devices/cpu_atom/cpus", "1");
    let speeds = sheet(&tree).trust().speeds;
    assert!(!speeds.are_known(), "{speeds}");
}

/// Names of the core types, where counters of a hybrid are missing: each CPU has its top clock in
/// MHz, its rating by the firmware and its L2.
#[test]
fn cores_of_one_make_are_told_apart_by_clock_and_speed() {
    type Core = (u32, u32, &'static str);
    let cases: &[(&str, &[Core], &[&str])] = &[
        (
            "one kind",
            &[(5200, 60, "2M"), (5200, 60, "2M")],
            &["13th Gen"],
        ),
        (
            "two kinds",
            &[(5200, 64, "2M"), (3900, 39, "4M")],
            &["13th Gen 5200 MHz", "13th Gen 3900 MHz"],
        ),
        (
            "favoured cores",
            &[(5200, 67, "2M"), (5200, 64, "2M"), (3900, 39, "4M")],
            &[
                "13th Gen 5200 MHz speed 1024",
                "13th Gen 5200 MHz speed 978",
                "13th Gen 3900 MHz",
            ],
        ),
        (
            "one clock",
            &[(3900, 64, "2M"), (3900, 32, "4M")],
            &["13th Gen speed 1024", "13th Gen speed 512"],
        ),
        (
            "one clock and no rating",
            &[(3900, 255, "2M"), (3900, 255, "4M")],
            &["13th Gen #0", "13th Gen #1"],
        ),
    ];
    for (what, cores, names) in cases {
        let tree = hybrid();
        tree.online(&format!("0-{}", cores.len() - 1));
        for (cpu, (mhz, rating, l2)) in cores.iter().enumerate() {
            tree.cpu(cpu, "topology/core_cpus_list", &cpu.to_string())
                .cpu(cpu, "cpufreq/related_cpus", &cpu.to_string())
                .cpu(cpu, "cpufreq/cpuinfo_max_freq", &format!("{mhz}000"))
                .cpu(cpu, "acpi_cppc/highest_perf", &rating.to_string())
                .cache(cpu, 2, 2, l2, &cpu.to_string());
        }
        let machine = sheet(&tree).machine;
        let found: Vec<&str> = machine
            .core_types
            .iter()
            .map(|core| core.name.as_str())
            .collect();
        assert_eq!(found, *names, "{what}");
    }
}
