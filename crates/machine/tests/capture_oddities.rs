// SPDX-License-Identifier: GPL-2.0-only
//! Hosts that are odd but real, or copied without some files: what is captured of
//! them can be used, and what was not known is in the file.

#[path = "common/host.rs"]
mod host;

use alight_machine::{Confidence, Machine, MachineLevel, capture};
use host::{Tree, has_note, notes_with, sheet};

fn level<'a>(machine: &'a Machine, name: &str) -> Option<&'a MachineLevel> {
    machine.levels.iter().find(|level| level.name == name)
}

fn spans(machine: &Machine, name: &str) -> String {
    let spans = level(machine, name).map(|level| level.spans.iter().map(ToString::to_string));
    spans.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// `cpus` CPUs under one L2, each a core.
fn small(cpus: usize) -> Tree {
    let tree = Tree::new();
    let all = format!("0-{}", cpus - 1);
    tree.online(&all);
    for cpu in 0..cpus {
        tree.cpu(cpu, "topology/core_cpus_list", &cpu.to_string())
            .cpu(cpu, "topology/package_cpus_list", &all)
            .cache(cpu, 2, 2, "1024K", &all)
            .idle(cpu, 0, "WFI", 1, 1);
    }
    tree
}

/// A board whose CPUs have clocks of their own, all with the same table.
fn one_table(capacities: &[u32]) -> Tree {
    let tree = small(capacities.len());
    for (cpu, capacity) in capacities.iter().enumerate() {
        tree.cpu(cpu, "cpu_capacity", &capacity.to_string())
            .cpu(cpu, "cpufreq/related_cpus", &cpu.to_string())
            .cpu(cpu, "cpufreq/cpuinfo_min_freq", "400000")
            .cpu(cpu, "cpufreq/cpuinfo_max_freq", "2800000");
    }
    tree
}

#[test]
fn one_table_of_frequencies_may_be_that_of_two_capacities() {
    let sheet = sheet(&one_table(&[718, 731, 1024, 718]));
    let machine = &sheet.machine;
    let of_cpu = |cpu: usize| {
        let domain = &machine.freq_domains[machine.cpus[cpu].freq_domain];
        let capacities: Vec<u32> = domain.opps.iter().map(|opp| opp.capacity).collect();
        (domain.cpus.to_string(), capacities)
    };
    assert_eq!(of_cpu(0), ("0".to_owned(), vec![102, 718]));
    assert_eq!(of_cpu(1), ("1".to_owned(), vec![104, 731]));
    assert_eq!(of_cpu(2), ("2".to_owned(), vec![146, 1024]));
    assert_eq!(of_cpu(3), ("3".to_owned(), vec![102, 718]));
    assert_eq!(machine.core_types.len(), 3);
    assert_eq!(machine.cpus[0].core_type, machine.cpus[3].core_type);
}

#[test]
fn cores_of_one_make_and_clock_are_told_apart_by_capacity() {
    let tree = one_table(&[718, 1024, 718]);
    for cpu in 0..3 {
        tree.cpu(cpu, "regs/identification/midr_el1", "0x410fd870");
    }
    let machine = sheet(&tree).machine;
    let names: Vec<&str> = (machine.core_types.iter())
        .map(|core| core.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["Cortex-A725 capacity 718", "Cortex-A725 capacity 1024"]
    );
}

#[test]
fn one_clock_of_two_capacities_becomes_a_clock_for_each() {
    let tree = one_table(&[718, 1024]);
    for cpu in 0..2 {
        tree.cpu(cpu, "cpufreq/related_cpus", "0 1");
    }
    let sheet = sheet(&tree);
    assert_eq!(sheet.machine.freq_domains.len(), 2);
    has_note(&sheet, "the CPUs 0-1 share a clock but differ in capacity");
}

/// Latency and residency of the states, us; whether their order is noted.
#[test]
fn idle_states_stay_in_the_order_of_the_kernel() {
    for (states, noted) in [
        (&[(1, 1), (8800, 8800), (8500, 8500)][..], true),
        (&[(1, 1), (8500, 9000), (8800, 8800)], true),
        (&[(1, 1), (8500, 8500), (8800, 8800)], false),
        (&[(1, 1), (8500, 400)], false),
    ] {
        let tree = small(1);
        for (index, &(latency, residency)) in states.iter().enumerate() {
            tree.idle(0, index, &format!("C{index}"), latency, residency);
        }
        let sheet = sheet(&tree);
        let captured: Vec<(u64, u64)> = sheet.machine.core_types[0]
            .idle_states
            .iter()
            .map(|state| (state.wakeup_ns / 1000, state.residency_ns / 1000))
            .collect();
        let written: Vec<(u64, u64)> = states.iter().map(|&(l, r)| (l.into(), r.into())).collect();
        assert_eq!(captured, written);
        let notes = notes_with(&sheet, "the kernel's order is kept");
        assert_eq!(notes.len(), usize::from(noted), "{:?}", sheet.notes);
    }
}

#[test]
fn a_disabled_idle_state_is_left_out() {
    let tree = small(1);
    tree.idle(0, 1, "C1", 10, 20).idle(0, 2, "C6", 100, 200);
    tree.cpu(0, "cpuidle/state1/disable", "1");
    let sheet = sheet(&tree);
    let states = &sheet.machine.core_types[0].idle_states;
    let names: Vec<&str> = states.iter().map(|state| state.name.as_str()).collect();
    assert_eq!(names, ["WFI", "C6"]);
    has_note(&sheet, "the idle state C1 is disabled: it is left out");
}

/// Files that say who shares what as masks of bits, as they are beside the lists.
#[test]
fn masks_are_read_where_lists_are_missing() {
    let tree = Tree::new();
    tree.online("0-3,32-35");
    let node = |number: usize, mask: &str, distance: &str| {
        let file = |name: &str| format!("sys/devices/system/node/node{number}/{name}");
        tree.write(&file("cpumap"), mask)
            .write(&file("distance"), distance);
    };
    node(0, "00000003,00000003", "10 21");
    node(1, "0000000c,0000000c", "21 10");
    for cpu in [0, 1, 2, 3, 32, 33, 34, 35] {
        let low = 1 << (cpu % 32);
        tree.cpu(
            cpu,
            "topology/thread_siblings",
            &format!("{low:08x},{low:08x}"),
        )
        .cpu(cpu, "cache/index3/level", "3")
        .cpu(cpu, "cache/index3/type", "Unified")
        .cpu(cpu, "cache/index3/shared_cpu_map", "f,0000000f");
    }
    let sheet = sheet(&tree);
    let machine = &sheet.machine;
    assert_eq!(spans(machine, "SMT"), "0,4 1,5 2,6 3,7");
    assert_eq!(spans(machine, "MC"), "0-1,4-5 2-3,6-7");
    assert_eq!(spans(machine, "NUMA"), "0-7");
    assert_eq!(machine.numa_distance, [10, 21, 21, 10]);
}

/// Files below `sys/devices/system`, and what they say.
type Files = &'static [(&'static str, &'static str)];

/// What a tree of four CPUs lacks or says, and the note on it.
#[test]
fn what_cannot_be_read_or_is_not_modelled_is_named() {
    let cases: &[(&str, Files, &str)] = &[
        (
            "no siblings",
            &[],
            "the SMT siblings are not known: each CPU counts as a core of its own",
        ),
        (
            "no caches, no packages",
            &[],
            "the caches and packages are not known: each node counts as one last-level cache",
        ),
        (
            "no caches",
            &[("cpu/cpu0/topology/package_cpus_list", "0-3")],
            "the caches are not known: each package counts as one last-level cache",
        ),
        (
            "no nodes",
            &[],
            "sysfs has no nodes: all CPUs count as one node",
        ),
        (
            "a node without CPUs to read",
            &[
                ("node/node0/cpulist", "0-3"),
                ("node/node1/distance", "20 10"),
            ],
            "node 1 has neither `cpulist` nor `cpumap`, so its CPUs are not known: the node is \
             left out",
        ),
        (
            "CPUs without a node",
            &[("node/node0/cpulist", "0-1")],
            "no node has the CPUs 2-3: they are put into the first node",
        ),
        (
            "distances without rows",
            &[("node/node0/cpulist", "0-1"), ("node/node1/cpulist", "2-3")],
            "the distances between nodes are not known: 20 is assumed",
        ),
        (
            "distances that differ by direction",
            &[
                ("node/node0/cpulist", "0-1"),
                ("node/node1/cpulist", "2-3"),
                ("node/node0/distance", "10 21"),
                ("node/node1/distance", "31 10"),
            ],
            "10 to 255: [[10, 31], [31, 10]] are used",
        ),
        (
            "nodes that are one",
            &[
                ("node/node0/cpulist", "0-1"),
                ("node/node1/cpulist", "2-3"),
                ("node/node0/distance", "10 10"),
                ("node/node1/distance", "10 10"),
            ],
            "nodes whose distance is that within a node are merged",
        ),
        (
            "books of s390",
            &[
                ("cpu/cpu0/topology/book_siblings_list", "0-1"),
                ("cpu/cpu1/topology/book_siblings_list", "0-1"),
                ("cpu/cpu2/topology/book_siblings_list", "2-3"),
                ("cpu/cpu3/topology/book_siblings_list", "2-3"),
            ],
            "the kernel's level BOOK (CPUs 0-1 and 2-3) is not modelled: it is left out",
        ),
        (
            "drawers of s390",
            &[
                ("cpu/cpu0/topology/drawer_siblings_list", "0-1"),
                ("cpu/cpu1/topology/drawer_siblings_list", "0-1"),
                ("cpu/cpu2/topology/drawer_siblings_list", "2-3"),
                ("cpu/cpu3/topology/drawer_siblings_list", "2-3"),
            ],
            "the kernel's level DRAWER (CPUs 0-1 and 2-3) is not modelled: it is left out",
        ),
        (
            "clusters within an L3",
            &[
                ("cpu/cpu0/topology/cluster_cpus_list", "0-1"),
                ("cpu/cpu1/topology/cluster_cpus_list", "0-1"),
                ("cpu/cpu2/topology/cluster_cpus_list", "2-3"),
                ("cpu/cpu3/topology/cluster_cpus_list", "2-3"),
            ],
            "that the kernel builds it (CONFIG_SCHED_CLUSTER, from 5.16 on) is assumed",
        ),
        (
            "siblings that contradict each other",
            &[
                ("cpu/cpu0/topology/core_cpus_list", "0-1"),
                ("cpu/cpu1/topology/core_cpus_list", "1-2"),
            ],
            "the CPUs disagree about the sharing of a core (CPU 1 says 1-2): the sets used are \
             0-1 and 2 and 3",
        ),
        (
            "capacities of some",
            &[("cpu/cpu0/cpu_capacity", "512")],
            "the capacity of the CPUs 1-3 is not known: 1024 is assumed",
        ),
    ];
    for (what, files, note) in cases {
        let tree = Tree::new();
        tree.online("0-3");
        for (file, text) in *files {
            tree.write(&format!("sys/devices/system/{file}"), text);
        }
        let sheet = sheet(&tree);
        assert!(
            sheet.notes.iter().any(|known| known.contains(note)),
            "{what}: {:#?}",
            sheet.notes
        );
    }
}

/// Clusters of CPUs by `cluster_cpus_list` in one L3, and the level that they become.
#[test]
fn clusters_are_a_level() {
    let x86 = "vendor_id\t: GenuineIntel\nmodel name\t: x";
    for (what, cores, clusters, cpuinfo, level, assumed) in [
        (
            "two clusters",
            ["0", "1", "2", "3"],
            ["0-1", "2-3"],
            x86,
            "0-1 2-3",
            false,
        ),
        (
            "an unknown kernel",
            ["0", "1", "2", "3"],
            ["0-1", "2-3"],
            "",
            "0-1 2-3",
            true,
        ),
        (
            "a core and a cluster",
            ["0-1", "0-1", "2", "3"],
            ["0-1", "2-3"],
            x86,
            "0-1 2-3",
            false,
        ),
        (
            "the cores",
            ["0-1", "0-1", "2-3", "2-3"],
            ["0-1", "2-3"],
            x86,
            "",
            false,
        ),
        (
            "the L3",
            ["0", "1", "2", "3"],
            ["0-3", "0-3"],
            x86,
            "",
            false,
        ),
    ] {
        let tree = Tree::new();
        tree.online("0-3").write("proc/cpuinfo", cpuinfo);
        for (cpu, core) in cores.into_iter().enumerate() {
            tree.cpu(cpu, "topology/core_cpus_list", core)
                .cpu(cpu, "topology/cluster_cpus_list", clusters[cpu / 2])
                .cpu(cpu, "topology/package_cpus_list", "0-3")
                .cache(cpu, 3, 3, "8192K", "0-3");
        }
        let sheet = sheet(&tree);
        assert_eq!(spans(&sheet.machine, "CLS"), level, "{what}");
        let figure = sheet
            .figures
            .iter()
            .find(|figure| figure.path == "topology.cls");
        let found = figure.map(|figure| figure.provenance.confidence);
        let expected = match (level, assumed) {
            ("", _) => None,
            (_, true) => Some(Confidence::Assumed),
            (_, false) => Some(Confidence::Measured),
        };
        assert_eq!(found, expected, "{what}");
        let notes = notes_with(&sheet, "the level CLS");
        assert_eq!(
            notes.len(),
            usize::from(assumed),
            "{what}: {:?}",
            sheet.notes
        );
    }
}

/// A clock that reaches over two caches in part: power domains end where either ends.
#[test]
fn clocks_across_caches_divide_the_power_domains() {
    let tree = Tree::new();
    tree.online("0-3");
    for (cpu, cache, clock) in [
        (0, "0-1", "0"),
        (1, "0-1", "1 2"),
        (2, "2-3", "1 2"),
        (3, "2-3", "3"),
    ] {
        tree.cache(cpu, 2, 2, "1024K", cache)
            .cpu(cpu, "cpufreq/related_cpus", clock)
            .cpu(cpu, "cpufreq/cpuinfo_max_freq", "1000000");
    }
    let sheet = sheet(&tree);
    let clusters = sheet.machine.clusters.iter();
    let clusters: Vec<String> = clusters.map(|cluster| cluster.cpus.to_string()).collect();
    assert_eq!(clusters, ["0", "1", "2", "3"]);
}

#[test]
fn an_l3_beyond_the_package_is_no_level_of_the_scheduler() {
    let tree = Tree::new();
    tree.online("0-3");
    for cpu in 0..4 {
        let package = if cpu < 2 { "0-1" } else { "2-3" };
        tree.cache(cpu, 3, 3, "8192K", "0-3")
            .cpu(cpu, "topology/package_cpus_list", package);
    }
    let machine = sheet(&tree).machine;
    assert_eq!(spans(&machine, "MC"), "0-1 2-3");
    assert!(machine.cpus.iter().all(|cpu| cpu.llc == 0), "one L3");
}

#[test]
fn numbers_that_no_machine_has_are_refused_by_their_file() {
    for (file, text, says) in [
        (
            "cpu_capacity",
            "0",
            "cpu0/cpu_capacity: found `0`, expected a whole number from 1 to 65535",
        ),
        (
            "cache/index2/size",
            "4096M",
            "index2/size: found `4096M`, expected a size such as `512K`, from 0K to 1048576K",
        ),
        (
            "cpufreq/cpuinfo_max_freq",
            "900000000",
            "cpuinfo_max_freq: found `900000000`, expected a whole number from 0 to 100000000",
        ),
        (
            "cpufreq/scaling_available_frequencies",
            "1 x",
            "scaling_available_frequencies: found `1 x`, expected whole numbers from 0 to 100000000",
        ),
        (
            "cpufreq/schedutil/rate_limit_us",
            "99999999",
            "rate_limit_us: found `99999999`, expected a whole number from 0 to 10000000",
        ),
        (
            "topology/core_cpus",
            "xyz",
            "core_cpus: found `xyz`, expected a mask of CPUs such as `ff`",
        ),
    ] {
        let tree = one_table(&[1024]);
        if file == "topology/core_cpus" {
            std::fs::remove_file(
                tree.path()
                    .join("sys/devices/system/cpu/cpu0/topology/core_cpus_list"),
            )
            .unwrap();
        }
        tree.cpu(0, file, text);
        let error = capture(tree.path()).unwrap_err().to_string();
        assert!(error.contains(says), "{file}: {error}");
    }
}
