// SPDX-License-Identifier: GPL-2.0-only
//! Tests of load indices: averages over ticks, and missed ticks.

use super::*;

#[test]
fn each_average_takes_twice_as_long() {
    let mut index = LoadIndex::default();
    let mut seen = vec![];
    for tick in 1..=12 {
        index.update(1024, tick);
        seen.push(index.load);
    }
    assert_eq!(seen[0], [1024, 512, 256], "half, and a quarter of the way");
    assert_eq!(seen[1], [1024, 768, 448]);
    assert_eq!(seen[10][1], 1024, "rounded up, it gets there");
    assert!(seen[11][2] > 990 && seen[11][2] < 1024, "{:?}", seen[11]);
    index.update(0, 13);
    assert_eq!(index.load[..2], [0, 512]);
}

#[test]
fn missed_ticks_are_made_up_for() {
    for (missed, average_1, average_2, because) in [
        (0, 1000, 1000, "none missed"),
        (1, 500, 750, "96 of 128"),
        (2, 250, 562, "72 of 128"),
        (3, 125, 421, "one and two: 96, then 72 of 128"),
        (7, 7, 131, "one, two and four"),
        (8, 0, 93, "nothing is left of the first"),
        (31, 0, 0, "rounded away"),
        (32, 0, 0, "forgotten"),
    ] {
        let left = (left_of(1000, missed, 1), left_of(1000, missed, 2));
        assert_eq!(left, (average_1, average_2), "{missed}: {because}");
    }
    let mut index = LoadIndex {
        load: [1000; 3],
        at: 10,
    };
    index.update(0, 13);
    assert_eq!(index.load, [0, 125, 421], "two missed, and this one");
}
