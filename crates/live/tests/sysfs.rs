// SPDX-License-Identifier: GPL-2.0-only
//! Machines as sysfs shows them, and the levels that are read from it.

use alight_live::sysfs::read;
use alight_policy::Mask;
use alight_policy::topology::{Description, LevelKind};
use std::fs;
use std::path::Path;

/// A sysfs with these files below /sys/devices/system.
fn tree(files: &[(String, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let path = root.path().join("sys/devices/system").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }
    root
}

fn machine(files: &[(String, &str)]) -> Description {
    read(tree(files).path()).unwrap()
}

fn span(machine: &Description, level: usize, cpu: usize) -> Vec<u32> {
    machine.levels[level].spans[cpu].iter().collect()
}

/// QEMU's virt board with two clusters in its device tree and no cache described, kernel 6.18.
fn two_clusters() -> Vec<(String, &'static str)> {
    let mut files = vec![
        ("cpu/possible".into(), "0-5"),
        ("cpu/online".into(), "0-5"),
        ("node/has_cpu".into(), "0"),
        ("node/online".into(), "0"),
        ("node/node0/cpulist".into(), "0-5"),
        ("node/node0/distance".into(), "10"),
    ];
    let own = ["0", "1", "2", "3", "4", "5"];
    for (cpu, own) in own.iter().enumerate() {
        let topology = format!("cpu/cpu{cpu}/topology");
        let big = cpu >= 4;
        files.push((
            format!("cpu/cpu{cpu}/cpu_capacity"),
            if big { "1024" } else { "446" },
        ));
        files.push((format!("{topology}/core_cpus_list"), own));
        files.push((
            format!("{topology}/cluster_cpus_list"),
            if big { "4-5" } else { "0-3" },
        ));
        files.push((format!("{topology}/package_cpus_list"), "0-5"));
    }
    files
}

/// Two nodes of one socket each: two cores of two threads behind one L3.
fn two_sockets() -> Vec<(String, &'static str)> {
    let mut files = vec![
        ("cpu/possible".into(), "0-7"),
        ("cpu/online".into(), "0-7"),
        ("node/has_cpu".into(), "0-1"),
        ("node/online".into(), "0-1"),
        ("node/node0/cpulist".into(), "0-1,4-5"),
        ("node/node1/cpulist".into(), "2-3,6-7"),
        ("node/node0/distance".into(), "10 21"),
        ("node/node1/distance".into(), "21 10"),
    ];
    for cpu in 0..8usize {
        let topology = format!("cpu/cpu{cpu}/topology");
        let cache = format!("cpu/cpu{cpu}/cache");
        let core = ["0,4", "1,5", "2,6", "3,7"][cpu % 4];
        let socket = ["0-1,4-5", "2-3,6-7"][cpu % 4 / 2];
        files.push((format!("{topology}/core_cpus_list"), core));
        files.push((format!("{topology}/cluster_cpus_list"), core));
        files.push((format!("{topology}/package_cpus_list"), socket));
        files.push((format!("{cache}/index0/level"), "1"));
        files.push((format!("{cache}/index0/shared_cpu_list"), core));
        files.push((format!("{cache}/index1/level"), "3"));
        files.push((format!("{cache}/index1/shared_cpu_list"), socket));
    }
    files
}

fn replace(files: &mut [(String, &'static str)], file: &str, text: &'static str) {
    files.iter_mut().find(|(name, _)| name == file).unwrap().1 = text;
}

#[test]
fn clusters_and_capacities_of_an_arm_board() {
    let machine = machine(&two_clusters());
    let capacities: Vec<_> = machine.cpus.iter().map(|c| c.capacity).collect();
    assert_eq!(capacities, [446, 446, 446, 446, 1024, 1024]);
    assert_eq!(machine.levels.len(), 4);
    assert_eq!(span(&machine, 0, 5), [5]);
    assert_eq!(span(&machine, 1, 5), [4, 5]);
    assert_eq!(
        span(&machine, 2, 5),
        [0, 1, 2, 3, 4, 5],
        "no cache is known: the package"
    );
    assert_eq!(span(&machine, 3, 5), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn threads_caches_and_nodes_of_a_server() {
    let machine = machine(&two_sockets());
    assert!(machine.cpus.iter().all(|c| c.capacity == 1024));
    assert_eq!(
        machine.cpus.iter().map(|c| c.node).collect::<Vec<_>>(),
        [0, 0, 1, 1, 0, 0, 1, 1]
    );
    assert_eq!(span(&machine, 0, 6), [2, 6]);
    assert_eq!(span(&machine, 1, 6), [2, 6], "a cluster that is the core");
    assert_eq!(span(&machine, 2, 6), [2, 3, 6, 7]);
    assert_eq!(span(&machine, 3, 6), [2, 3, 6, 7]);
    assert_eq!(machine.levels[4].kind, LevelKind::Numa { distance: 21 });
    assert_eq!(span(&machine, 4, 6), [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn a_cpu_that_is_not_online_stands_alone() {
    let mut files = two_clusters();
    replace(&mut files, "cpu/online", "0-3,5");
    let machine = machine(&files);
    assert_eq!(machine.cpus.len(), 6);
    for level in &machine.levels {
        assert_eq!(level.spans[4], Mask::from_iter([4]));
        assert!(!level.spans[0].contains(4));
    }
}

#[test]
fn a_kernel_without_nodes_has_one() {
    let files: Vec<_> = (two_clusters().into_iter())
        .filter(|(name, _)| !name.starts_with("node"))
        .collect();
    let machine = machine(&files);
    assert!(machine.cpus.iter().all(|c| c.node == 0));
    assert_eq!(span(&machine, 3, 0), [0, 1, 2, 3, 4, 5]);
}

#[test]
fn what_is_not_a_topology_is_refused_with_its_place() {
    let refused = |file: &str, text: &'static str| {
        let mut files = two_clusters();
        replace(&mut files, file, text);
        read(tree(&files).path()).unwrap_err().to_string()
    };
    let text = refused("cpu/cpu2/cpu_capacity", "big");
    assert!(
        text.ends_with("cpu2/cpu_capacity: found 'big', expected a number"),
        "{text}"
    );
    let text = refused("cpu/online", "0-");
    assert!(
        text.contains("cpu/online: found '0-', expected a list of CPUs"),
        "{text}"
    );
    let text = refused("node/node0/distance", "10 20");
    assert!(text.contains("node0/distance: found '10 20'"), "{text}");
    assert!(read(Path::new("/nonexistent")).is_err());
}
