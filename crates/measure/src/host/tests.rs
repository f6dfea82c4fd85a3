// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn host(machine: &str, usable: &[usize]) -> Host {
    let sheet = alight_machine::load(machine).unwrap();
    let online: Vec<usize> = (0..sheet.machine.cpus.len()).collect();
    Host::new(Path::new("/nowhere"), &sheet, &online, usable)
}

#[test]
fn each_core_type_is_measured_on_its_first_cpu() {
    let host = host("juno-r0", &[0, 1, 2, 3, 4, 5]);
    let cpus: Vec<&[usize]> = host.cores.iter().map(|core| core.cpus.as_slice()).collect();
    // Those to wake: of the same type and cache first.
    assert_eq!(cpus, [[0, 3, 4, 5, 1, 2], [1, 2, 0, 3, 4, 5]]);
    assert_eq!(host.cores[0].ours.to_string(), "0,3-5");
    assert!(host.cores.iter().all(|core| core.sibling.is_none()));
    assert_eq!(host.cores[1].khz.last(), Some(&1_100_000));
}

#[test]
fn a_core_type_that_may_not_be_used_is_told() {
    let host = host("juno-r0", &[0, 3]);
    let names: Vec<&str> = host.cores.iter().map(|core| core.name.as_str()).collect();
    assert_eq!(names, ["Cortex-A53"]);
    assert_eq!(host.unusable, ["Cortex-A57"]);
    assert_eq!(host.pairs.len(), 1);
}

#[test]
fn pairs_are_found_at_each_distance() {
    let all: Vec<usize> = (0..384).collect();
    let host = host("epyc-9654-2s", &all);
    let distances: Vec<Distance> = host.pairs.iter().map(|(distance, ..)| *distance).collect();
    assert_eq!(distances, Distance::ALL);
    assert_eq!(host.pairs[0], (Distance::Core, 192, 0));
    assert_eq!(host.cores[0].sibling, Some(Sibling::Usable(192)));
    // A sibling is the last to be woken.
    assert_eq!(host.cores[0].cpus[..2], [0, 1]);
    assert_eq!(host.cores[0].cpus.last(), Some(&192));
}

#[test]
fn a_sibling_that_may_not_be_used_is_told() {
    let host = host("epyc-9654-2s", &[0, 1]);
    assert_eq!(host.cores[0].sibling, Some(Sibling::Unusable));
}

#[test]
fn the_last_level_cache_is_that_of_the_highest_level() {
    let root = tempfile::tempdir().unwrap();
    for (index, level, size) in [
        (0, "1", "48K"),
        (1, "1", "32K"),
        (2, "2", "1024K"),
        (3, "3", "32M"),
    ] {
        let folder = format!("sys/devices/system/cpu/cpu0/cache/index{index}");
        let folder = root.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("level"), level).unwrap();
        fs::write(folder.join("size"), size).unwrap();
    }
    assert_eq!(cache(root.path(), 0), Some(32 << 20));
    assert_eq!(cache(root.path(), 1), None);
}
