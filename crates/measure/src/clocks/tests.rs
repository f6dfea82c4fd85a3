// SPDX-License-Identifier: GPL-2.0-only

use super::*;

/// A made-up CPU 0 whose limits are 1 to 2 GHz of 0.8 to 3 GHz.
fn tree() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("sys/devices/system/cpu/cpu0/cpufreq");
    fs::create_dir_all(&folder).unwrap();
    for (file, khz) in [
        ("cpuinfo_min_freq", "800000"),
        ("cpuinfo_max_freq", "3000000"),
        ("scaling_min_freq", "1000000"),
        ("scaling_max_freq", "2000000"),
    ] {
        fs::write(folder.join(file), format!("{khz}\n")).unwrap();
    }
    root
}

fn limits(clock: &Clock) -> [String; 2] {
    ["scaling_min_freq", "scaling_max_freq"].map(|file| {
        let text = fs::read_to_string(clock.folder.join(file)).unwrap();
        text.trim_end().to_owned()
    })
}

#[test]
fn a_clock_is_held_and_its_limits_come_back() {
    let root = tree();
    let clock = Clock::of(root.path(), 0).unwrap();
    let mut changes = Changes::default();
    clock.hold(clock.highest, &mut changes).unwrap();
    assert_eq!(limits(&clock), ["3000000", "3000000"]);
    let mark = changes.mark();
    clock.hold(1_200_000, &mut changes).unwrap();
    assert_eq!(limits(&clock), ["1200000", "1200000"]);
    changes.back_to(mark);
    assert_eq!(limits(&clock), ["3000000", "3000000"]);
    drop(changes);
    assert_eq!(limits(&clock), ["1000000", "2000000"]);
}

#[test]
fn a_clock_that_cannot_be_held_is_as_before() {
    let root = tree();
    let clock = Clock::of(root.path(), 0).unwrap();
    fs::remove_file(clock.folder.join("scaling_max_freq")).unwrap();
    let mut changes = Changes::default();
    assert!(clock.hold(1_200_000, &mut changes).is_err());
    let least = fs::read_to_string(clock.folder.join("scaling_min_freq")).unwrap();
    assert_eq!(least.trim_end(), "1000000");
}

#[test]
fn a_guest_has_no_clock() {
    let root = tempfile::tempdir().unwrap();
    assert_eq!(Clock::of(root.path(), 0), None);
}
