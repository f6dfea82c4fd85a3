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
