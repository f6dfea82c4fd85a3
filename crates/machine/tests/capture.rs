// SPDX-License-Identifier: GPL-2.0-only
//! Capturing hosts from small copies of sysfs: a big.LITTLE board, a server
//! with SMT and nodes, trees with holes and with nonsense.

#[path = "common/host.rs"]
mod host;

use std::fs;
use std::path::Path;

use alight_machine::{CpuSet, Error, Governor, Measured, capture, capture_measured};
use host::Tree;

fn cpus(text: &str) -> CpuSet {
    text.parse().unwrap()
}

/// A board like Juno r0 with a readable energy model.
fn juno() -> Tree {
    let tree = Tree::new();
    tree.online("0-5");
    for cpu in 0..6 {
        let big = cpu == 1 || cpu == 2;
        let (capacity, midr, cluster, l2) = match big {
            true => ("1024", "0x00000000410fd070", "1-2", "2048K"),
            false => ("446", "0x00000000410fd030", "0,3-5", "1024K"),
        };
        tree.cpu(cpu, "cpu_capacity", capacity)
            .cpu(cpu, "regs/identification/midr_el1", midr)
            .cpu(cpu, "topology/core_cpus_list", &cpu.to_string())
            .cpu(
                cpu,
                "cpufreq/related_cpus",
                &cluster.replace("3-5", "3 4 5").replace([',', '-'], " "),
            )
            .cpu(cpu, "cpufreq/scaling_governor", "schedutil")
            .cpu(cpu, "cpufreq/scaling_driver", "scpi-cpufreq")
            .cpu(cpu, "cpufreq/cpuinfo_transition_latency", "1200000")
            .cache(cpu, 2, 2, l2, cluster)
            .idle(cpu, 0, "WFI", 1, 1)
            .idle(cpu, 1, "cpu-sleep-0", 1500, 2000)
            .idle(cpu, 2, "cluster-sleep-0", 1600, 2500);
    }
    let model = [
        ("cpu0", 450_000, 33),
        ("cpu0", 850_000, 93),
        ("cpu1", 450_000, 168),
        ("cpu1", 1_100_000, 616),
    ];
    for (domain, khz, milliwatt) in model {
        let file = format!("sys/kernel/debug/energy_model/{domain}/ps:{khz}/power");
        tree.write(&file, &milliwatt.to_string());
    }
    tree
}

#[test]
fn a_board_with_two_kinds_of_core() {
    let sheet = juno().sheet();
    let machine = &sheet.machine;
    let names: Vec<&str> = machine
        .core_types
        .iter()
        .map(|core| core.name.as_str())
        .collect();
    assert_eq!(names, ["Cortex-A53", "Cortex-A57"]);
    let capacities: Vec<u32> = machine.cpus.iter().map(|cpu| cpu.capacity_orig).collect();
    assert_eq!(capacities, [446, 1024, 1024, 446, 446, 446]);
    assert_eq!(machine.freq_domains[1].cpus, cpus("1-2"));
    let big = &machine.freq_domains[1];
    let powers: Vec<u64> = big.opps.iter().map(|opp| opp.core_power_uw).collect();
    assert_eq!(powers, [168_000, 616_000]);
    assert_eq!(big.switch_ns, 1_200_000);
    assert_eq!(machine.governor, Governor::Schedutil);
    assert_eq!(machine.levels.len(), 2);
    assert_eq!(machine.core_types[0].l2_bytes, 256 * 1024);
    let states = &machine.core_types[0].idle_states;
    let scopes: Vec<String> = states.iter().map(|s| format!("{:?}", s.scope)).collect();
    assert_eq!(scopes, ["Core", "Core", "Cluster"]);
    // Figures that sysfs states are told from those that are assumed.
    let confidence = |path: &str| {
        let figure = sheet
            .figures
            .iter()
            .find(|figure| figure.path == path)
            .unwrap();
        figure.provenance.confidence.to_string()
    };
    assert_eq!(confidence("core_type.Cortex-A53.capacity"), "measured");
    assert_eq!(
        confidence("core_type.Cortex-A53.costs.switch_ns"),
        "assumed"
    );
    assert!(!sheet.notes.iter().any(|note| note.contains("energy model")));
}

#[test]
fn microwatts_of_the_energy_model_are_told_by_its_flags() {
    let tree = juno();
    for domain in ["cpu0", "cpu1"] {
        tree.write(
            &format!("sys/kernel/debug/energy_model/{domain}/flags"),
            "0x1",
        );
    }
    tree.write(
        "sys/kernel/debug/energy_model/cpu0/ps:850000/power",
        "93500",
    );
    tree.write(
        "sys/kernel/debug/energy_model/cpu0/ps:450000/power",
        "33100",
    );
    tree.write(
        "sys/kernel/debug/energy_model/cpu1/ps:450000/power",
        "168000",
    );
    tree.write(
        "sys/kernel/debug/energy_model/cpu1/ps:1100000/power",
        "616000",
    );
    let powers: Vec<u64> = tree.sheet().machine.freq_domains[0]
        .opps
        .iter()
        .map(|opp| opp.core_power_uw)
        .collect();
    assert_eq!(powers, [33_100, 93_500]);
}

/// Two sockets of two cores with two threads; the L3 of a socket is said to
/// reach over its node, as with sub-NUMA clusters.
fn server() -> Tree {
    let tree = Tree::new();
    tree.online("0-7");
    tree.write(
        "proc/cpuinfo",
        "vendor_id\t: GenuineIntel\nmodel name\t: Xeon \"Gold\" 1\ncpu MHz\t\t: 2100.000",
    );
    for cpu in 0..8 {
        let (core, node) = (cpu % 4, if cpu % 4 < 2 { "0-1,4-5" } else { "2-3,6-7" });
        let pair = format!("{core},{}", core + 4);
        tree.cpu(cpu, "topology/thread_siblings_list", &pair)
            .cpu(cpu, "topology/package_cpus_list", node)
            .cpu(cpu, "cpufreq/related_cpus", &cpu.to_string())
            .cpu(cpu, "cpufreq/scaling_driver", "intel_pstate")
            .cpu(cpu, "cpufreq/scaling_governor", "powersave")
            .cpu(cpu, "cpufreq/cpuinfo_min_freq", "800000")
            .cpu(cpu, "cpufreq/base_frequency", "2100000")
            .cpu(cpu, "cpufreq/cpuinfo_max_freq", "3700000")
            .cpu(cpu, "cpufreq/cpuinfo_transition_latency", "4294967295")
            .cache(cpu, 0, 1, "32K", &pair)
            .cache(cpu, 2, 2, "2M", &pair)
            .cache(cpu, 3, 3, "32M", "0-7")
            .idle(cpu, 0, "POLL", 0, 0)
            .idle(cpu, 1, "C1", 2, 2)
            .idle(cpu, 2, "C6", 133, 600);
    }
    for (node, list, distance) in [(0, "0-1,4-5", "10 21"), (1, "2-3,6-7", "21 10")] {
        tree.write(&format!("sys/devices/system/node/node{node}/cpulist"), list);
        tree.write(
            &format!("sys/devices/system/node/node{node}/distance"),
            distance,
        );
    }
    tree
}

#[test]
fn a_server_with_smt_and_nodes() {
    let sheet = server().sheet();
    let machine = &sheet.machine;
    let levels: Vec<String> = machine
        .levels
        .iter()
        .map(|level| format!("{} {} {}", level.name, level.spans.len(), level.spans[0]))
        .collect();
    assert_eq!(levels, ["SMT 4 0,4", "MC 2 0-1,4-5", "NUMA 1 0-7"]);
    assert_eq!(machine.numa_distance, [10, 21, 21, 10]);
    assert_eq!(machine.core_types.len(), 1);
    assert_eq!(machine.core_types[0].name, "Xeon \"Gold\" 1");
    assert_eq!(machine.core_types[0].l2_bytes, 2 << 20);
    assert_eq!(machine.core_types[0].smt_percent, 62);
    assert!(machine.core_types[0].idle_states[0].polling);
    assert_eq!(machine.freq_domains.len(), 4);
    let khz: Vec<u32> = machine.freq_domains[0]
        .opps
        .iter()
        .map(|opp| opp.khz)
        .collect();
    assert_eq!(khz, [800_000, 2_100_000, 3_700_000]);
    // `powersave` of this driver follows the load.
    assert_eq!(machine.governor, Governor::Schedutil);
    for said in [
        "`powersave` is modelled",
        "no frequency table",
        "energy model",
        "250 Hz",
        "threads of a core",
    ] {
        assert!(
            sheet.notes.iter().any(|note| note.contains(said)),
            "{said}: {:?}",
            sheet.notes
        );
    }
}

#[test]
fn a_tree_with_nothing_but_cpus_gets_assumptions_that_are_said() {
    let tree = Tree::new();
    tree.online("0-1");
    let sheet = tree.sheet();
    assert_eq!(sheet.machine.cpus.len(), 2);
    for said in [
        "caches",
        "frequencies",
        "clock",
        "idle states",
        "L2",
        "kind of core",
    ] {
        assert!(
            sheet.notes.iter().any(|note| note.contains(said)),
            "{said}: {:?}",
            sheet.notes
        );
    }
}

#[test]
fn numbers_close_up_where_cpus_are_offline() {
    let tree = juno();
    tree.online("0,3-5");
    let sheet = tree.sheet();
    assert_eq!(sheet.machine.cpus.len(), 4);
    assert_eq!(sheet.machine.freq_domains[0].cpus, cpus("0-3"));
    assert_eq!(sheet.machine.cpus[0].capacity_orig, 1024);
    for said in ["only the CPUs 0,3-5 are online", "has the capacity 446"] {
        assert!(
            sheet.notes.iter().any(|note| note.contains(said)),
            "{said}: {:?}",
            sheet.notes
        );
    }
}

/// What was not measured stays within other costs: 0, and in no file.
#[test]
fn what_only_a_benchmark_knows_is_in_the_file_if_it_ran() {
    let tree = Tree::new();
    tree.online("0-1");
    let measured = Measured {
        costs: vec![
            ("wakeup_ns", 2112),
            ("block_ns", 1040),
            ("socket_new_ns", 1162),
        ],
        messages_kept: Some(131),
        one_processor: true,
        ..Measured::default()
    };
    let known = |measured: &Measured| {
        let captured = capture_measured(tree.path(), measured).unwrap();
        let machine = captured.draft().unwrap().resolve().unwrap().machine;
        let costs = machine.core_types[0].costs;
        let figures = [
            costs.block_ns,
            costs.socket_new_ns,
            machine.memory.messages_kept,
        ];
        (figures, machine.one_processor)
    };
    assert_eq!(known(&measured), ([1040, 1162, 131], true));
    assert_eq!(known(&Measured::default()), ([0; 3], false));
}

#[test]
fn nodes_without_cpus_are_left_out() {
    let tree = server();
    tree.write("sys/devices/system/node/node2/cpulist", "");
    tree.write("sys/devices/system/node/node2/distance", "14 24 10");
    tree.write("sys/devices/system/node/node0/distance", "10 21 14");
    tree.write("sys/devices/system/node/node1/distance", "21 10 24");
    assert_eq!(tree.sheet().machine.numa_distance, [10, 21, 21, 10]);
}

#[test]
fn nonsense_is_refused_by_the_name_of_its_file() {
    for (file, text, says) in [
        (
            "cpu0/cpu_capacity",
            "many",
            "cpu0/cpu_capacity: found `many`, expected a whole number",
        ),
        (
            "cpu1/cpufreq/related_cpus",
            "1 x",
            "cpu1/cpufreq/related_cpus: found `1 x`",
        ),
        (
            "cpu0/cache/index2/shared_cpu_list",
            "5-2",
            "shared_cpu_list: found `5-2`",
        ),
        (
            "cpu0/cache/index2/size",
            "1 GB",
            "size: found `1 GB`, expected a size such as `512K`",
        ),
        (
            "cpu2/cpuidle/state1/latency",
            "-1",
            "state1/latency: found `-1`",
        ),
        (
            "cpu3/regs/identification/midr_el1",
            "0xzz",
            "midr_el1: found `0xzz`",
        ),
        (
            "online",
            "0-99999",
            "online: found `0-99999`, expected a CPU list",
        ),
    ] {
        let tree = juno();
        tree.write(&format!("sys/devices/system/cpu/{file}"), text);
        let error = capture(tree.path()).unwrap_err();
        assert!(matches!(error, Error::Captured { .. }), "{file}: {error:?}");
        assert!(error.to_string().contains(says), "{file}: {error}");
    }
}

#[test]
fn an_empty_tree_has_no_machine() {
    let tree = Tree::new();
    let error = capture(tree.path()).unwrap_err().to_string();
    assert!(
        error.contains("sys/devices/system/cpu/online: cannot be read"),
        "{error}"
    );
}

/// Every file of a tree in turn, of the CPUs those of the first, holds
/// something else: a machine that can be used, or an error that names the file.
#[test]
fn garbage_in_any_file_is_refused_or_makes_a_machine() {
    const GARBAGE: [&[u8]; 7] = [
        b"",
        b"\xff\xfe\0",
        b"18446744073709551615",
        b"0",
        b"1023",
        b"\"]\n[x",
        b"0-1023",
    ];
    for tree in [juno(), server()] {
        let is_first = |file: &Path| {
            let text = file.to_string_lossy();
            !(1..8).any(|cpu| text.contains(&format!("/cpu/cpu{cpu}/")))
        };
        for file in files_under(tree.path())
            .iter()
            .filter(|file| is_first(file))
        {
            let original = fs::read(file).unwrap();
            for garbage in GARBAGE {
                fs::write(file, garbage).unwrap();
                match capture(tree.path()) {
                    Ok(captured) => assert!(captured.draft().unwrap().resolve().is_ok()),
                    Err(Error::Captured { .. } | Error::Read { .. }) => {}
                    Err(error) => panic!("{}: {garbage:?}: {error}", file.display()),
                }
            }
            fs::write(file, original).unwrap();
        }
    }
}

fn files_under(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_under(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// A machine file is used under other kernels than the captured one.
#[test]
fn timers_end_slices_as_by_the_default_of_7_1_unless_such_a_kernel_says_otherwise() {
    let unknown = Tree::new();
    unknown.online("0-1");
    let debugfs = "sched/features in debugfs of the captured kernel 7.2.13";
    let default = "default of kernels from 7.1 on for this architecture";
    for (tree, says, expected, source) in [
        (&server(), None, true, Some(default)),
        (&server(), Some(true), true, Some(debugfs)),
        (&server(), Some(false), false, Some(debugfs)),
        (&juno(), None, false, None),
        (&juno(), Some(true), true, Some(debugfs)),
        (&juno(), Some(false), false, Some(debugfs)),
        (&unknown, None, false, None),
    ] {
        let measured = Measured {
            hrtick: says,
            kernel: Some("7.2.13".to_owned()),
            ..Measured::default()
        };
        let captured = capture_measured(tree.path(), &measured).unwrap();
        let sheet = captured.draft().unwrap().resolve().unwrap();
        let figure = sheet.figures.iter().find(|figure| figure.path == "hrtick");
        let found = figure.map(|figure| figure.provenance.source.as_str());
        assert_eq!(
            (sheet.machine.hrtick, found),
            (expected, source),
            "{says:?}"
        );
    }
}
