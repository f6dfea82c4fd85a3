// SPDX-License-Identifier: GPL-2.0-only

use super::Files;

fn files() -> Files {
    let mut files = Files::default();
    files.add("sys/cpu/cpufreq/policy0/related_cpus", b"0 1".to_vec());
    files.add("sys/cpu/cpu0/online", b"1".to_vec());
    files.add_link("sys/cpu/cpu0/cpufreq", "../cpufreq/policy0");
    files.add_link("sys/cpu/cpu1", "/sys/cpu/cpu0");
    files.add_link("sys/round", "round");
    files.add_link("sys/out", "../../etc");
    files
}

#[test]
fn links_are_followed_within_the_tree() {
    let files = files();
    for (path, content) in [
        ("sys/cpu/cpu0/cpufreq/related_cpus", Some("0 1")),
        ("sys/cpu/cpu1/cpufreq/related_cpus", Some("0 1")),
        ("sys/cpu/cpu1/online", Some("1")),
        ("sys/cpu/cpu0/cpufreq", None),
        ("sys/cpu/cpu2/online", None),
        ("sys/round/online", None),
        ("sys/out/passwd", None),
    ] {
        assert_eq!(files.bytes(path), content.map(str::as_bytes), "{path}");
    }
}

#[test]
fn folders_exist_and_list_what_is_in_them() {
    let files = files();
    assert!(files.exists("sys/cpu/cpu1/cpufreq"));
    assert!(!files.exists("sys/cp"));
    assert!(!files.exists("sys/round"));
    let mut names = files.names_in("sys/cpu");
    names.dedup();
    assert_eq!(names, ["cpu0", "cpu1", "cpufreq"]);
    assert_eq!(files.names_in("sys/cpu/cpu1/cpufreq"), ["related_cpus"]);
}
