// SPDX-License-Identifier: GPL-2.0-only
//! The machine that a scheduler goes by, from small copies of sysfs and from
//! machine files, and when energy decides on it.

use alight_arguments::Gated;
use alight_live::machine::{Energy, Host, NoHost};
use alight_policy::topology::LevelKind;
use alight_policy::{Mask, Scheduler};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A folder that stands for `/`.
struct Root(TempDir);

impl Root {
    fn write(&self, file: &str, text: &str) -> &Self {
        let path = self.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
        self
    }

    fn device(&self, file: &str, text: &str) -> &Self {
        self.write(&format!("sys/devices/system/{file}"), text)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn host(&self) -> Host {
        Host::read(self.path(), None, &[]).unwrap()
    }

    fn refused(&self, told: Option<&str>) -> NoHost {
        Host::read(self.path(), told, &[]).unwrap_err()
    }

    /// Does energy decide under this base?
    fn energy(&self, base: &str) -> String {
        energy(&self.host(), base).1.to_string()
    }
}

fn energy(host: &Host, base: &str) -> (alight_policy::Core, Energy) {
    let params = Scheduler::parse(base).unwrap().params;
    host.core(&params).unwrap()
}

/// QEMU's virt board with two clusters in its device tree and no cache described, kernel 6.18.
fn two_clusters() -> Root {
    let root = Root(tempfile::tempdir().unwrap());
    root.device("cpu/possible", "0-5")
        .device("cpu/online", "0-5")
        .device("node/node0/cpulist", "0-5")
        .device("node/node0/distance", "10");
    for cpu in 0..6 {
        let big = cpu >= 4;
        let file = |name: &str| format!("cpu/cpu{cpu}/{name}");
        root.device(&file("cpu_capacity"), if big { "1024" } else { "446" })
            .device(&file("topology/core_cpus_list"), &cpu.to_string())
            .device(
                &file("topology/cluster_cpus_list"),
                if big { "4-5" } else { "0-3" },
            )
            .device(&file("topology/package_cpus_list"), "0-5");
    }
    root
}

/// The same with operating points, under schedutil.
fn with_energy_model() -> Root {
    let root = two_clusters();
    for (first, cpus, points) in [
        (0, "0-3", [(450_000, 33_000), (850_000, 93_000)]),
        (4, "4-5", [(450_000, 168_000), (1_100_000, 616_000)]),
    ] {
        let domain = format!("sys/kernel/debug/energy_model/cpu{first}");
        root.write(&format!("{domain}/cpus"), cpus)
            .write(&format!("{domain}/flags"), "0x1");
        for (khz, power) in points {
            root.write(&format!("{domain}/ps:{khz}/power"), &power.to_string())
                .write(&format!("{domain}/ps:{khz}/frequency"), &khz.to_string());
        }
    }
    for cpu in 0..6 {
        root.device(
            &format!("cpu/cpu{cpu}/cpufreq/scaling_governor"),
            "schedutil",
        );
    }
    root.write("proc/sys/kernel/sched_energy_aware", "1");
    root
}

/// Two nodes of one socket each: two cores of two threads behind one L3.
fn two_sockets() -> Root {
    let root = Root(tempfile::tempdir().unwrap());
    root.device("cpu/possible", "0-7")
        .device("cpu/online", "0-7")
        .device("node/node0/cpulist", "0-1,4-5")
        .device("node/node1/cpulist", "2-3,6-7")
        .device("node/node0/distance", "10 21")
        .device("node/node1/distance", "21 10");
    for cpu in 0..8usize {
        let file = |name: &str| format!("cpu/cpu{cpu}/{name}");
        let core = ["0,4", "1,5", "2,6", "3,7"][cpu % 4];
        let socket = ["0-1,4-5", "2-3,6-7"][cpu % 4 / 2];
        for (name, text) in [
            ("topology/core_cpus_list", core),
            ("topology/cluster_cpus_list", core),
            ("topology/package_cpus_list", socket),
            ("cache/index0/level", "1"),
            ("cache/index0/shared_cpu_list", core),
            ("cache/index1/level", "3"),
            ("cache/index1/shared_cpu_list", socket),
        ] {
            root.device(&file(name), text);
        }
    }
    root
}

fn span(host: &Host, level: usize, cpu: usize) -> Vec<u32> {
    host.description.levels[level].spans[cpu].iter().collect()
}

fn capacities(host: &Host) -> Vec<u32> {
    host.description.cpus.iter().map(|c| c.capacity).collect()
}

#[test]
fn clusters_and_capacities_of_an_arm_board() {
    let host = two_clusters().host();
    assert_eq!(capacities(&host), [446, 446, 446, 446, 1024, 1024]);
    assert_eq!(host.description.levels.len(), 4);
    assert_eq!(span(&host, 0, 5), [5]);
    assert_eq!(span(&host, 1, 5), [4, 5]);
    let all = [0, 1, 2, 3, 4, 5];
    assert_eq!(span(&host, 2, 5), all, "no cache is known: the package");
    assert_eq!(span(&host, 3, 5), all);
}

#[test]
fn threads_caches_and_nodes_of_a_server() {
    let host = two_sockets().host();
    assert_eq!(capacities(&host), [1024; 8]);
    let nodes: Vec<u32> = host.description.cpus.iter().map(|c| c.node).collect();
    assert_eq!(nodes, [0, 0, 1, 1, 0, 0, 1, 1]);
    assert_eq!(span(&host, 0, 6), [2, 6]);
    assert_eq!(span(&host, 1, 6), [2, 6], "a cluster that is the core");
    assert_eq!(span(&host, 2, 6), [2, 3, 6, 7]);
    assert_eq!(span(&host, 3, 6), [2, 3, 6, 7]);
    let numa = &host.description.levels[4];
    assert_eq!(numa.kind, LevelKind::Numa { distance: 21 });
    assert_eq!(span(&host, 4, 6), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_cpu_that_is_not_online_stands_alone() {
    let root = two_clusters();
    root.device("cpu/online", "0-3,5");
    let host = root.host();
    assert_eq!(host.description.cpus.len(), 6);
    assert!(!host.online.contains(4));
    for level in &host.description.levels {
        assert_eq!(level.spans[4], Mask::from_iter([4]));
        assert!(!level.spans[0].contains(4));
    }
}

#[test]
fn a_kernel_without_nodes_has_one() {
    let root = two_clusters();
    fs::remove_dir_all(root.path().join("sys/devices/system/node")).unwrap();
    let host = root.host();
    assert!(host.description.cpus.iter().all(|c| c.node == 0));
    assert_eq!(span(&host, 3, 0), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn what_is_not_a_topology_is_refused_with_its_place() {
    for (file, text, place) in [
        (
            "cpu/cpu2/cpu_capacity",
            "big",
            "cpu2/cpu_capacity: found `big`, expected a whole number",
        ),
        (
            "cpu/online",
            "0-",
            "cpu/online: found `0-`, expected a CPU list such as `0-3,8`",
        ),
        (
            "node/node0/distance",
            "10 20",
            "node0/distance: found `10 20`, expected a distance for each node",
        ),
    ] {
        let root = two_clusters();
        root.device(file, text);
        let error = root.refused(None);
        assert!(!error.is_input(), "nobody typed it");
        let text = error.to_string();
        assert!(text.ends_with(place), "{text}");
    }
    let nowhere = Root(tempfile::tempdir().unwrap());
    let text = nowhere.refused(None).to_string();
    assert!(text.contains("cpu/online: cannot be read"), "{text}");
}

#[test]
fn energy_decides_where_the_kernel_would_let_it() {
    type Change = fn(&Root);
    let cases: [(&str, Change, &str); 8] = [
        (
            "linux-6.1",
            |_| (),
            "energy-aware placement: 2 performance domains",
        ),
        (
            "linux-3.9",
            |_| (),
            "no energy-aware placement: the base does not know it",
        ),
        (
            "linux-6.1",
            |root| _ = root.write("proc/sys/kernel/sched_energy_aware", "0"),
            "no energy-aware placement: /proc/sys/kernel/sched_energy_aware is 0",
        ),
        (
            "linux-6.1",
            |root| _ = root.device("cpu/cpu4/cpufreq/scaling_governor", "performance"),
            "no energy-aware placement: the governor of CPU 4 is performance, not schedutil",
        ),
        (
            "linux-6.1",
            |root| {
                fs::remove_dir_all(root.path().join("sys/devices/system/cpu/cpu3/cpufreq")).unwrap()
            },
            "no energy-aware placement: there is no cpufreq",
        ),
        (
            "linux-6.1",
            |root| {
                fs::remove_dir_all(root.path().join("sys/kernel/debug/energy_model/cpu4")).unwrap()
            },
            "no energy-aware placement: there is no energy model of CPU 4",
        ),
        (
            "linux-7.2",
            |root| {
                (0..4)
                    .for_each(|cpu| _ = root.device(&format!("cpu/cpu{cpu}/cpu_capacity"), "1024"))
            },
            "no energy-aware placement: all CPUs have the same capacity",
        ),
        (
            "linux-7.2",
            |root| {
                _ = root.write(
                    "sys/kernel/debug/energy_model/cpu0/ps:850000/power",
                    "5000000000",
                )
            },
            "no energy-aware placement: the energy model of CPUs 0-3 has a power above 4294 W or a \
             frequency above 4 THz",
        ),
    ];
    for (base, change, expected) in cases {
        let root = with_energy_model();
        change(&root);
        assert_eq!(root.energy(base), expected, "{base}");
    }
}

#[test]
fn the_energy_model_is_the_kernels() {
    let root = with_energy_model();
    let (core, _) = energy(&root.host(), "linux-7.2");
    let domains: Vec<(Vec<u32>, u32)> = (core.perf.iter())
        .map(|d| (d.span.iter().collect(), d.nr_states))
        .collect();
    // The domain found last comes first.
    assert_eq!(domains, [(vec![4, 5], 2), (vec![0, 1, 2, 3], 2)]);
    let little = &core.perf[1].state[..2];
    assert_eq!(little[1].performance, 446);
    assert_eq!(little[1].cost, 93_000 * 10 / 446);
}

#[test]
fn of_an_artificial_model_the_costs_count() {
    let root = with_energy_model();
    for (first, khz, performance, cost) in [
        (0, 450_000, 236, 5),
        (0, 850_000, 446, 6),
        (4, 450_000, 418, 9),
        (4, 1_100_000, 1024, 11),
    ] {
        let state = format!("sys/kernel/debug/energy_model/cpu{first}/ps:{khz}");
        root.write(&format!("{state}/power"), "0")
            .write(&format!("{state}/cost"), &cost.to_string())
            .write(&format!("{state}/performance"), &performance.to_string());
    }
    let (core, _) = energy(&root.host(), "linux-7.2");
    let costs: Vec<u64> = (core.perf.iter().rev())
        .flat_map(|d| d.state[..2].iter().map(|s| s.cost))
        .collect();
    assert_eq!(costs, [50, 60, 90, 110]);
}

/// The board's machine file.
const BOARD: &str = r#"
schema = "alight.machine/1"
name = "board"
description = "two clusters"
hz = { value = 250, source = "guess" }
governor = { value = "schedutil", source = "guess" }
[sources]
guess = { text = "for a test", confidence = "assumed" }
[topology]
source = "guess"
cpus = "0-5"
core = ["0", "1", "2", "3", "4", "5"]
llc = ["0-3", "4-5"]
node = ["0-5"]
power_gated = ["PKG"]
[core_type.small]
source = "guess"
cpus = "0-3"
capacity = 300
l2_kib = 512
costs = "little"
[[core_type.small.idle_state]]
name = "WFI"
exit_us = 1
residency_us = 1
power_mw = 10
source = "guess"
[core_type.large]
source = "guess"
cpus = "4-5"
capacity = 1024
l2_kib = 512
costs = "big"
[[core_type.large.idle_state]]
name = "WFI"
exit_us = 1
residency_us = 1
power_mw = 10
source = "guess"
[freq_domain.small]
source = "guess"
cpus = "0-3"
khz = [450_000, 850_000]
core_power_mw = [33, 93]
cluster_power_mw = [26, 57]
switch_us = 500
[freq_domain.large]
source = "guess"
cpus = "4-5"
khz = [450_000, 1_100_000]
core_power_mw = [168, 616]
cluster_power_mw = [24, 64]
switch_us = 500
[cluster.small]
source = "guess"
cpus = "0-3"
idle_power_mw = 56
off_power_mw = 17
[cluster.large]
source = "guess"
cpus = "4-5"
idle_power_mw = 65
off_power_mw = 24
[memory]
source = "guess"
llc_line_ns = 20
cross_llc_line_ns = 120
cross_node_line_ns = 120
dram_line_ns = 150
refill_mlp = 3
channel_lines = 4
working_set_kib = 32
"#;

/// The file with these changes.
fn file(root: &Root, changes: &[(&str, &str)]) -> PathBuf {
    let text = changes.iter().fold(BOARD.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    let path = root.path().join("board.toml");
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn a_machine_file_tells_what_the_kernel_does_not_know() {
    // As a board whose firmware says nothing: no capacities, no energy model, no cpufreq.
    let root = two_clusters();
    for cpu in 0..6 {
        let silent = format!("sys/devices/system/cpu/cpu{cpu}/cpu_capacity");
        fs::remove_file(root.path().join(silent)).unwrap();
    }
    assert_eq!(capacities(&root.host()), [1024; 6]);

    let path = file(&root, &[]);
    let host = Host::read(root.path(), path.to_str(), &[]).unwrap();
    assert!(host.told);
    assert_eq!(capacities(&host), [300, 300, 300, 300, 1024, 1024]);
    let (core, energy) = energy(&host, "linux-6.5");
    assert_eq!(energy, Energy::On(2));
    assert_eq!(core.perf[1].span, Mask::from_iter(0..4));
    let gated = |host: &Host| -> Vec<bool> {
        let levels = host.description.levels.iter();
        levels.map(|level| level.gated).collect()
    };
    assert_eq!(gated(&host), [false, true], "MC, and PKG as the file says");
    let host = Host::read(root.path(), path.to_str(), &[Gated::Mc]).unwrap();
    assert_eq!(gated(&host), [true, true]);
}

#[test]
fn what_switches_energy_off_does_so_with_a_machine_file_too() {
    let root = with_energy_model();
    root.write("proc/sys/kernel/sched_energy_aware", "0");
    let path = file(&root, &[]);
    let host = Host::read(root.path(), path.to_str(), &[]).unwrap();
    assert!(matches!(energy(&host, "linux-6.5").1, Energy::Switched(_)));
}

#[test]
fn cpus_that_may_come_stand_alone_beside_a_machine_file() {
    let root = two_clusters();
    root.device("cpu/possible", "0-7")
        .device("cpu/present", "0-5");
    let path = file(&root, &[]);
    let host = Host::read(root.path(), path.to_str(), &[]).unwrap();
    assert_eq!(host.description.cpus.len(), 8);
    assert_eq!(span(&host, 0, 7), [7]);
    let (core, energy) = energy(&host, "linux-6.5");
    assert_eq!((core.topology.nr_cpus, energy), (8, Energy::On(2)));
}

#[test]
fn a_machine_file_of_another_machine_is_refused_with_its_line() {
    type Case = (
        fn(&Root),
        &'static [(&'static str, &'static str)],
        &'static str,
    );
    let cases: [Case; 4] = [
        (
            |root| _ = root.device("cpu/possible", "0-7"),
            &[],
            "board.toml:11:8: error [host-cpus]: `topology.cpus`: found the CPUs 0-5, expected the \
             CPUs of this host, 0-7",
        ),
        (
            |root| _ = root.device("cpu/cpu2/topology/core_cpus_list", "2-3"),
            &[],
            "board.toml:12:19: error [host-cores]: `topology.core`: found `2`, expected the CPUs \
             that CPU 2 of this host shares it with, `2-3`",
        ),
        (
            |root| {
                for cpu in 0..6 {
                    root.device(&format!("cpu/cpu{cpu}/cache/index0/level"), "2")
                        .device(&format!("cpu/cpu{cpu}/cache/index0/shared_cpu_list"), "0-5");
                }
            },
            &[],
            "board.toml:13:8: error [host-caches]: `topology.llc`: found `0-3`, expected the CPUs \
             that CPU 0 of this host shares it with, `0-5`",
        ),
        (
            |root| {
                root.device("node/node0/cpulist", "0-3")
                    .device("node/node0/distance", "10 20")
                    .device("node/node1/cpulist", "4-5")
                    .device("node/node1/distance", "20 10");
            },
            &[],
            "board.toml:14:9: error [host-nodes]: `topology.node`: found `0-5`, expected the CPUs \
             that CPU 0 of this host shares it with, `0-3`",
        ),
    ];
    for (change, edits, expected) in cases {
        let root = two_clusters();
        change(&root);
        let path = file(&root, edits);
        let error = root.refused(path.to_str());
        assert!(error.is_input());
        let text = error.to_string();
        assert!(
            text.contains("is not this host; give the file of this machine, or none"),
            "{text}"
        );
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn a_machine_file_that_cannot_be_is_refused_as_everywhere() {
    let root = two_clusters();
    let refused = |told: &str| {
        let error = root.refused(Some(told));
        assert!(error.is_input());
        error.to_string()
    };
    let path = file(&root, &[("capacity = 300", "capacity = \"much\"")]);
    let text = refused(path.to_str().unwrap());
    assert!(text.contains("board.toml:19:12:"), "{text}");
    let text = refused("juno-r3");
    assert!(
        text.contains("unknown machine `juno-r3`, the nearest valid: `juno-r"),
        "{text}"
    );
    let text = refused("/nonexistent.toml");
    assert!(text.contains("/nonexistent.toml: cannot be read"), "{text}");
}
