// SPDX-License-Identifier: GPL-2.0-only
//! Copied trees as machines, by the name of a folder, an archive or a dump.

use std::fs;
use std::path::Path;

use alight_machine::{capture_bytes, capture_tree, is_tree, load, open};

#[path = "common/host.rs"]
mod host;
use host::Tree;

/// Two little CPUs and a big one, each kind with a clock.
fn phone() -> Tree {
    let tree = Tree::new();
    tree.online("0-2");
    for (cpu, capacity) in [(0, "400"), (1, "400"), (2, "1024")] {
        tree.cpu(cpu, "cpu_capacity", capacity);
        tree.cache(cpu, 0, 3, "2048K", "0-2");
    }
    for (policy, cpus, khz) in [(0, "0 1", "500000 1000000"), (2, "2", "700000 2000000")] {
        let file = |name: &str| format!("sys/devices/system/cpu/cpufreq/policy{policy}/{name}");
        tree.write(&file("related_cpus"), cpus);
        tree.write(&file("scaling_available_frequencies"), khz);
    }
    tree
}

fn add_folder(tar: &mut tar::Builder<Vec<u8>>, from: &Path, name: &str) {
    tar.append_dir_all(name, from).unwrap();
}

#[test]
fn a_folder_an_archive_and_a_dump_of_one_tree_are_one_machine() {
    let tree = phone();
    let mut tar = tar::Builder::new(Vec::new());
    add_folder(&mut tar, tree.path(), "phone");
    let archive = tempfile::tempdir().unwrap();
    let file = archive.path().join("phone.tar");
    fs::write(&file, tar.into_inner().unwrap()).unwrap();
    let dump = dump(tree.path());

    let folder = capture_tree(tree.path()).unwrap();
    let archive = capture_tree(&file).unwrap();
    let dump = capture_bytes(Path::new("phone"), dump.as_bytes()).unwrap();
    assert_eq!(archive, dump);
    let named = |toml: &str| toml.lines().skip(2).collect::<Vec<_>>().join("\n");
    assert_eq!(named(&folder.toml), named(&archive.toml));
    assert!(archive.toml.contains("name = \"phone\""));

    let machine = load(file.to_str().unwrap()).unwrap().machine;
    let clocks: Vec<_> = machine
        .freq_domains
        .iter()
        .map(|d| d.cpus.to_string())
        .collect();
    assert_eq!(clocks, ["0-1", "2"]);
    let tops: Vec<_> = machine.freq_domains.iter().map(|d| d.opps.len()).collect();
    assert_eq!(tops, [2, 2]);
}

/// The tree as `grep -r ""` prints it.
fn dump(root: &Path) -> String {
    let mut text = String::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(root).unwrap().display().to_string();
            for line in fs::read_to_string(&path).unwrap().lines() {
                text.push_str(&format!("/{name}:{line}\n"));
            }
        }
    }
    text
}

#[test]
fn the_tree_may_be_the_only_one_in_a_folder_or_its_sys() {
    let tree = phone();
    let sys = tree.path().join("sys");
    assert_eq!(
        capture_tree(&sys).unwrap().notes,
        capture_tree(tree.path()).unwrap().notes
    );
    let outer = tempfile::tempdir().unwrap();
    fs::rename(tree.path().join("sys"), outer.path().join("moved")).unwrap();
    fs::create_dir_all(outer.path().join("dump")).unwrap();
    fs::rename(outer.path().join("moved"), outer.path().join("dump/sys")).unwrap();
    let name = outer.path().to_str().unwrap();
    assert!(is_tree(name));
    assert_eq!(open(name).unwrap().resolve().unwrap().machine.cpus.len(), 3);
}

#[test]
fn a_folder_without_a_tree_is_refused() {
    let empty = tempfile::tempdir().unwrap();
    let error = capture_tree(empty.path()).unwrap_err().to_string();
    assert!(
        error.contains("no folder with `sys/devices/system/cpu`"),
        "{error}"
    );
    let missing = capture_tree(Path::new("nowhere.tar"))
        .unwrap_err()
        .to_string();
    assert!(
        missing.starts_with("nowhere.tar: cannot be read"),
        "{missing}"
    );
}

#[test]
fn kernels_without_a_list_of_cpus_have_a_folder_for_each() {
    let tree = Tree::new();
    for (cpu, online) in [(0, "1"), (1, "0"), (3, "1")] {
        tree.cpu(cpu, "online", online);
    }
    let captured = capture_tree(tree.path()).unwrap();
    let notes = captured.notes.join("\n");
    assert!(notes.contains("only the CPUs 0,3 are online"), "{notes}");
}
