// SPDX-License-Identifier: GPL-2.0-only
//! teo from 6.6 to 6.18.

use super::*;
use crate::kernel::Beside::{Nothing, RecentAndUse, ShortPeriods};

const NO_TIMER: u64 = i64::MAX as u64;

fn memory(beside: Beside, states: &Table<State>, timer: u64, ns: u64) -> TimerIfDeep {
    match seasoned(TeoForm::TimerIfDeep(beside), states, timer, ns) {
        Teo::TimerIfDeep(memory) => memory,
        _ => unreachable!("of that form"),
    }
}

/// teo_select(): whether the timer is looked up if the metrics lead to a shallow state. If it is
/// not, it counts as one that never comes, so the wakeup is an intercept.
#[test]
fn when_the_timer_is_left_alone() {
    let (arm, x86) = (arm(), x86());
    for (beside, states, ns, asked, what) in [
        (RecentAndUse, &arm, 300 * US, false, "6.6: the shallowest"),
        (
            Nothing,
            &arm,
            300 * US,
            true,
            "6.12: the shallowest, by its bins",
        ),
        (ShortPeriods, &arm, 300 * US, true, "6.18: not by moments"),
        (ShortPeriods, &arm, 10 * US, false, "6.18: by moments"),
        (RecentAndUse, &x86, 50 * US, false, "6.6: C1 above POLL"),
        (Nothing, &x86, 50 * US, false, "6.12: the same"),
        (ShortPeriods, &x86, 50 * US, true, "6.18: not by moments"),
        (RecentAndUse, &arm, 21 * MS, true, "6.6: a deep one"),
        (Nothing, &arm, 21 * MS, true, "6.12: a deep one"),
    ] {
        let mut teo = memory(beside, states, 20 * MS, ns);
        teo.select(&look(states, 20 * MS), false);
        let expected = if asked { 20 * MS } else { NO_TIMER };
        assert_eq!(teo.sleep_length_ns, expected, "{what}");
    }
    let mut teo = memory(ShortPeriods, &arm, 20 * MS, 300 * US);
    let limited = Outlook {
        latency_limit_ns: 7 * US,
        ..look(&arm, 20 * MS)
    };
    teo.select(&limited, false);
    assert_eq!(teo.sleep_length_ns, NO_TIMER, "6.18: below 7.5 us");
}

/// teo_update() of 6.6 and 6.12: if no target residency reaches a tick, hits after at least a tick
/// have their own bin. 6.18 has no such bin, and its total decays by itself.
#[test]
fn hits_behind_a_tick_are_counted_apart() {
    let x86 = x86();
    for (beside, tick_hits, deepest) in [
        (RecentAndUse, 1024, 0),
        (Nothing, 1024, 0),
        (ShortPeriods, 0, 1024),
    ] {
        let mut teo = TimerIfDeep::new(3, beside);
        for ns in [50 * MS, 50 * MS] {
            let (state, _) = teo.select(&look(&x86, 40 * MS), false);
            teo.last = Some(period(state, ns));
        }
        // The second wakeup is not booked yet.
        assert_eq!(teo.tick_hits, tick_hits, "{beside:?}");
        assert_eq!(teo.bins[2].hits, deepest, "{beside:?}");
        assert_eq!(teo.total, 1024, "{beside:?}");
    }
}

/// teo_select(): many wakeups within a tick keep the tick, even with a deep state. 6.18 counts
/// wakeups after at least a tick instead.
#[test]
fn intercepts_keep_the_tick() {
    let x86 = x86();
    for (beside, ns, stops, what) in [
        (Nothing, 300 * US, false, "6.12: within a tick"),
        (ShortPeriods, 300 * US, true, "6.18: these do not count"),
    ] {
        let mut teo = memory(beside, &x86, 20 * MS, ns);
        teo.select(&look(&x86, 20 * MS), false);
        // Intercepts of the deepest state, which leave the choice as it is.
        let bins = [(0, 0), (0, 0), (8000, 100)];
        for (bin, (intercepts, hits)) in teo.bins.iter_mut().zip(bins) {
            (bin.intercepts, bin.hits) = (intercepts, hits);
        }
        teo.total = 8100;
        let (state, stop) = teo.select(&look(&x86, 20 * MS), false);
        assert_eq!((state, stop), (2, stops), "{what}");
    }
}

/// Nine recent wakeups, only in 6.6. A hit after at least a tick does not use its slot, so the old
/// entry is subtracted twice.
#[test]
fn recent_intercepts_are_taken_off_twice_behind_a_tick() {
    let x86 = x86();
    let mut teo = TimerIfDeep::new(3, RecentAndUse);
    let mut wake = |ns: u64, timer: u64| {
        let (state, _) = teo.select(&look(&x86, timer), false);
        teo.last = Some(period(state, ns));
        teo.bins[1].recent as i32
    };
    // An intercept of C1, then hits after at least a tick.
    wake(60 * US, 40 * MS);
    let seen: Vec<i32> = (0..19).map(|_| wake(50 * MS, 40 * MS)).collect();
    assert_eq!(seen[..9], [1; 9]);
    assert_eq!(seen[9..18], [0; 9], "the ninth later takes it off");
    assert_eq!(seen[18], -1, "and the next but eight once more");
}

/// teo_cpu_is_utilized() was removed in 6.9: 6.6 takes one idle state less.
#[test]
fn only_6_6_looks_at_utilization() {
    let arm = arm();
    for (beside, expected) in [(RecentAndUse, 1), (Nothing, 2), (ShortPeriods, 2)] {
        let states = states(&[state(1, 1), state(1500, 2000), state(1600, 5000)]);
        let rules = crate::kernel::IdleRules {
            teo: Some(TeoForm::TimerIfDeep(beside)),
            ..crate::kernel::IDLE_6_6
        };
        let memory = crate::power::cpuidle::governor::Memory::new(
            alight_machine::IdleGovernor::Teo,
            &rules,
            [states.len()].into_iter(),
        );
        let utilized = memory.expect("there is teo").util_aware();
        let mut teo = seasoned(TeoForm::TimerIfDeep(beside), &arm, 20 * MS, 21 * MS);
        let choice = teo.select(&look(&arm, 20 * MS), utilized);
        assert_eq!(choice.state, expected, "{beside:?}");
    }
}
