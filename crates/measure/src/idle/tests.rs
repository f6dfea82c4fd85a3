// SPDX-License-Identifier: GPL-2.0-only

use super::*;

/// A made-up CPU 0 with these states: name, latency and residency in us, switched off.
fn tree(states: &[(&str, u64, u64, u64)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (number, (name, latency, residency, off)) in states.iter().enumerate() {
        let folder = format!("sys/devices/system/cpu/cpu0/cpuidle/state{number}");
        let folder = root.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        for (file, text) in [
            ("name", (*name).to_owned()),
            ("latency", latency.to_string()),
            ("residency", residency.to_string()),
            ("disable", off.to_string()),
            ("usage", "0".to_owned()),
        ] {
            fs::write(folder.join(file), format!("{text}\n")).unwrap();
        }
    }
    root
}

fn off(root: &Path) -> Vec<bool> {
    states(root, 0).iter().map(|state| state.off).collect()
}

const THREE: [(&str, u64, u64, u64); 3] = [("POLL", 0, 0, 0), ("C1", 1, 2, 0), ("C6", 170, 600, 0)];

#[test]
fn states_are_read_from_the_shallowest() {
    let root = tree(&THREE);
    let found = states(root.path(), 0);
    let words: Vec<(&str, u64, u64)> = (found.iter())
        .map(|state| (state.name.as_str(), state.latency_us, state.residency_us))
        .collect();
    assert_eq!(words, [("POLL", 0, 0), ("C1", 1, 2), ("C6", 170, 600)]);
    assert!(states(root.path(), 1).is_empty());
}

#[test]
fn the_state_of_a_sleep_is_the_deepest_one_entered() {
    for (before, after, state) in [
        ([5, 5, 5], [5, 5, 5], None),
        ([5, 5, 5], [6, 5, 5], Some(0)),
        // A guest that polls before it halts enters both.
        ([5, 5, 5], [6, 6, 5], Some(1)),
        ([5, 5, 5], [9, 5, 6], Some(2)),
    ] {
        assert_eq!(entered(&before, &after), state, "{before:?} {after:?}");
    }
}

#[test]
fn sleeps_are_long_enough_for_each_state() {
    let root = tree(&[
        ("C1", 1, 2, 0),
        ("C6", 170, 600, 0),
        ("C10", 900, 90_000, 0),
    ]);
    let lengths = lengths(&states(root.path(), 0));
    let us: Vec<u128> = lengths.iter().map(Duration::as_micros).collect();
    assert_eq!(us, [66, 1860, 2000, 40_000]);
}

#[test]
fn one_state_stays_on_and_the_others_come_back() {
    let root = tree(&[("POLL", 0, 0, 0), ("C1", 1, 2, 1), ("C6", 170, 600, 0)]);
    let states = states(root.path(), 0);
    let mut changes = Changes::default();
    alone(&states, 2, &mut changes).unwrap();
    assert_eq!(off(root.path()), [true, true, false]);
    drop(changes);
    assert_eq!(off(root.path()), [false, true, false]);
}

/// Counters that never move: no sleep is of any state, and nothing stays switched off.
#[test]
fn states_that_are_never_entered_have_no_figure() {
    let root = tree(&THREE);
    let cpu = crate::usable().unwrap()[0];
    let mut changes = Changes::default();
    let found = late(cpu, &states(root.path(), 0), Some(&mut changes)).unwrap();
    assert_eq!(found, []);
    assert_eq!(off(root.path()), [false; 3]);
}
