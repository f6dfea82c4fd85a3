// SPDX-License-Identifier: GPL-2.0-only

use super::*;

fn rounds(values: &[(Key, &[u64])]) -> Rounds {
    let mut rounds = Rounds::default();
    for (key, values) in values {
        values
            .iter()
            .for_each(|&value| rounds.add(key.clone(), value));
    }
    rounds
}

fn figure(reading: Reading) -> (u32, [u32; 2]) {
    (reading.value, reading.spread)
}

#[test]
fn the_fastest_core_type_has_the_speed_1024() {
    let rounds = rounds(&[
        (Key::Work(0), &[2000, 1990, 2010]),
        (Key::Work(1), &[1000, 1010, 1020]),
    ]);
    let speeds = speeds(&rounds, 2);
    let speeds: Vec<(u32, [u32; 2])> = speeds.into_iter().flatten().map(figure).collect();
    assert_eq!(speeds, [(1024, [1019, 1029]), (517, [512, 522])]);
    assert_eq!(super::speeds(&rounds, 1), [None]);
    assert_eq!(super::speeds(&Rounds::default(), 2), [None; 2]);
}

#[test]
fn the_share_of_a_thread_is_that_of_its_round() {
    let of = |alone: &[u64], beside: &[u64]| {
        let rounds = rounds(&[(Key::Work(0), alone), (Key::WorkBeside(0), beside)]);
        share(&rounds, 0).map(figure)
    };
    assert_eq!(
        of(&[1000, 2000, 1000], &[600, 1240, 650]),
        Some((62, [60, 65]))
    );
    // A thread is not faster beside another one: that is noise.
    assert_eq!(of(&[1000], &[1010]), Some((100, [100, 100])));
    assert_eq!(of(&[1000], &[]), None);
}

#[test]
fn speeds_by_frequency_are_parts_of_that_at_the_highest() {
    let rounds = rounds(&[
        (Key::WorkAt(0, 1000), &[500, 510]),
        (Key::WorkAt(0, 2000), &[1000, 1000]),
    ]);
    let found = by_frequency(&rounds, 0, &[1000, 2000]);
    let found: Vec<(u64, u32)> = found.iter().map(|(khz, part)| (*khz, part.value)).collect();
    assert_eq!(found, [(1000, 510), (2000, 1000)]);
}

#[test]
fn a_line_from_farther_away_takes_no_less() {
    let rounds = rounds(&[
        (Key::Line(Distance::Cache), &[50, 52, 51]),
        (Key::Line(Distance::Node), &[40, 41, 42]),
        (Key::Refill(Distance::Cache), &[12_800, 13_000, 12_800]),
        (Key::Memory, &[90]),
    ]);
    let found: Vec<_> = memory(&rounds)
        .into_iter()
        .map(|(key, reading)| (key, figure(reading)))
        .collect();
    assert_eq!(
        found,
        [
            ("llc_line_ns", (51, [50, 52])),
            ("cross_llc_line_ns", (51, [40, 51])),
            ("dram_line_ns", (90, [90, 90])),
            // 51 ns alone, 12.5 ns of many.
            ("refill_mlp", (4, [4, 4])),
        ]
    );
}

#[test]
fn without_another_core_the_cache_itself_is_the_line() {
    let rounds = rounds(&[(Key::Cache, &[14, 15, 16])]);
    let found = memory(&rounds);
    assert_eq!(figure(found[0].1), (15, [14, 16]));
}

/// A made-up machine with two CPUs and three idle states.
fn tree() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let cpus = root.path().join("sys/devices/system/cpu");
    for (file, text) in [
        ("online", "0-1"),
        ("cpu0/cpuidle/state0/name", "POLL"),
        ("cpu0/cpuidle/state1/name", "C1"),
        ("cpu0/cpuidle/state1/latency", "1"),
        ("cpu0/cpuidle/state2/name", "C6"),
        ("cpu0/cpuidle/state2/latency", "133"),
        ("cpu0/cpuidle/state2/residency", "600"),
    ] {
        let file = cpus.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    root
}

fn session(root: &std::path::Path, rounds: Rounds) -> (Session, Options, DataSheet) {
    let captured = alight_machine::capture(root)
        .unwrap()
        .draft()
        .unwrap()
        .resolve()
        .unwrap();
    let options = Options {
        root: root.to_owned(),
        rounds: 3,
    };
    let host = crate::host::Host::new(root, &captured, &[0, 1], &[0, 1]);
    let mut session = Session::new(&options, host);
    session.rounds = rounds;
    (session, options, captured)
}

#[test]
fn exits_are_what_sleeps_end_later_than_in_the_shallowest_state() {
    let root = tree();
    let us = |us: &[u64]| us.iter().map(|us| us * 1000).collect::<Vec<_>>();
    let rounds = rounds(&[
        (Key::Late(0, 0), &us(&[10, 11, 10])),
        (Key::Late(0, 1), &us(&[12, 13, 12])),
        (Key::Late(0, 2), &us(&[100, 102, 104])),
        (Key::AfterIdle(0), &us(&[9, 9, 9])),
        (Key::Interrupted(0), &us(&[3, 4, 3])),
        (Key::Cost(0, "idle_exit_ns"), &us(&[50, 50, 50])),
        (Key::Cost(0, "ipi_receive_ns"), &us(&[0, 0, 0])),
    ]);
    let (session, options, captured) = session(root.path(), rounds);
    let found = of(&session, &options, &captured, Vec::new()).unwrap();
    let row = |end: &str| {
        let row = found
            .rows
            .iter()
            .find(|row| row.path.ends_with(end))
            .expect("measured");
        (row.value.as_str(), row.spread.as_str())
    };
    assert_eq!(row("idle_state.C1.exit_us"), ("2", "2 to 2"));
    assert_eq!(row("idle_state.C6.exit_us"), ("91", "90 to 94"));
    // What leaving the idle loop takes is without the exit of a state.
    assert_eq!(row("idle_exit_ns"), ("1000", "1000 to 2000"));
    assert_eq!(row("ipi_receive_ns"), ("2000", "2000 to 2000"));
}

/// Whatever a busy machine makes of the figures, the file passes the checks.
#[test]
fn a_file_of_any_figures_can_be_used() {
    let root = tree();
    for values in [[0, 0, 0], [1, 1, 1], [u64::MAX; 3], [0, 7, u64::MAX]] {
        let mut all = Rounds::default();
        let keys = [
            Key::Cost(0, "switch_ns"),
            Key::Cost(0, "wakeup_ns"),
            Key::Cost(0, "idle_exit_ns"),
            Key::Cost(0, "ipi_send_ns"),
            Key::AfterIdle(0),
            Key::Interrupted(0),
            Key::Late(0, 1),
            Key::Late(0, 2),
            Key::Work(0),
            Key::WorkBeside(0),
            Key::Line(Distance::Cache),
            Key::Refill(Distance::Cache),
            Key::Cache,
            Key::Memory,
            Key::OneProcessor,
        ];
        for key in keys {
            values.iter().for_each(|&value| all.add(key.clone(), value));
        }
        let (session, options, captured) = session(root.path(), all);
        let found = of(&session, &options, &captured, Vec::new());
        let found = found.unwrap_or_else(|error| panic!("{values:?}: {error}"));
        assert!(!found.rows.is_empty());
    }
}
