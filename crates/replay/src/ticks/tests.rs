// SPDX-License-Identifier: GPL-2.0-only
use super::*;

/// The first tick by those that were seen at these us, at 250 Hz.
fn first(seen: &[u64]) -> Option<u64> {
    let mut ticks = Ticks::new(250);
    for us in seen {
        ticks.push(us * 1000);
    }
    ticks.first().map(|ns| ns / 1000)
}

#[test]
fn the_phase_is_that_of_the_earliest_of_those_alike() {
    for (seen, expected) in [
        (vec![], None),
        (vec![1000], Some(1000)),
        (vec![1000, 5000, 9000, 13000], Some(1000)),
        // Some were late.
        (vec![1002, 5001, 9040, 13001, 17900, 21003], Some(1001)),
        // Alike across the end of a tick.
        (vec![3999, 4001, 8000, 12000, 15999], Some(3999)),
        (vec![4000, 8000, 12000, 16000], Some(4000)),
        // CPUs that tick at other times.
        (vec![0, 1000, 2000, 3000, 4000, 5000, 6000, 7000], None),
    ] {
        assert_eq!(first(&seen), expected, "{seen:?}");
    }
}
