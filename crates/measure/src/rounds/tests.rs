// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn a_figure_is_the_median_of_its_rounds_between_the_least_and_the_largest() {
    for (rounds, expected) in [
        (&[][..], None),
        (&[7], Some((7, [7, 7]))),
        (&[9, 5], Some((9, [5, 9]))),
        // One round that something disturbed moves the spread, not the figure.
        (&[812, 90_000, 809, 820, 815], Some((815, [809, 90_000]))),
        (&[u64::MAX, 1, 2], Some((2, [1, MOST]))),
    ] {
        let mut all = Rounds::default();
        rounds.iter().for_each(|&ns| all.add(Key::Memory, ns));
        let found = all.reading(&Key::Memory);
        let found = found.map(|reading| (reading.value, reading.spread));
        assert_eq!(found, expected, "{rounds:?}");
    }
}

#[test]
fn costs_are_those_of_one_core_type() {
    let mut rounds = Rounds::default();
    for (core, name, ns) in [
        (0, "switch_ns", 900),
        (1, "switch_ns", 2000),
        (0, "futex_ns", 50),
        (0, "switch_ns", 910),
    ] {
        rounds.add(Key::Cost(core, name), ns);
    }
    rounds.add(Key::Work(0), 5);
    let costs = rounds.costs(0);
    let names: Vec<(&str, u32)> = costs.iter().map(|(name, ns)| (*name, ns.value)).collect();
    assert_eq!(names, [("futex_ns", 50), ("switch_ns", 910)]);
}
