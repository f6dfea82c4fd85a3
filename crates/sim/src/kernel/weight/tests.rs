// SPDX-License-Identifier: GPL-2.0-only
//! Weights, inverse weights, and their rounding by kernel.

use super::*;

/// kernel/sched/core.c: `sched_prio_to_wmult` at nice -20, -19, 0, 19 and for SCHED_IDLE.
#[test]
fn inverse_weights_are_the_kernels() {
    for (class, nice, wmult) in [
        (class::NORMAL, -20, 48388),
        (class::NORMAL, -19, 59856),
        (class::NORMAL, 0, 4194304),
        (class::NORMAL, 19, 286331153),
        (class::IDLE, 0, 1431655765),
    ] {
        assert_eq!(inverse(weight(class, nice)), wmult, "nice {nice}");
    }
}

#[test]
fn virtual_time_runs_by_weight() {
    for (nice, expected) in [(0, 1_000_000), (-5, 328_000), (5, 3_056_000)] {
        let w = weight(class::NORMAL, nice);
        for by in [Division::RoundedInverse, Division::Inverse, Division::Exact] {
            let v = virtual_time(by, 1_000_000, w, inverse(w));
            assert!(v.abs_diff(expected) < 1000, "nice {nice}, {by:?}: {v}");
        }
    }
}

/// 1 ms at nice 5 is 3056716.4 ns of virtual time.
#[test]
fn kernels_round_in_their_own_ways() {
    let w = weight(class::NORMAL, 5);
    for (by, delta, expected, because) in [
        (Division::Exact, 1_000_000, 3_056_716, "3056716.4"),
        (Division::Inverse, 1_000_000, 3_056_716, "3056716.4"),
        (Division::RoundedInverse, 1_000_000, 3_056_716, "3056716.4"),
        (Division::Exact, 9, 27, "27.51, rounded down"),
        (Division::Inverse, 9, 27, "27.51, rounded down"),
        (Division::RoundedInverse, 9, 28, "27.51, rounded"),
    ] {
        let v = virtual_time(by, delta, w, inverse(w));
        assert_eq!(v, expected, "{delta} ns, {by:?}: {because}");
    }
}
