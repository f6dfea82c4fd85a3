// SPDX-License-Identifier: GPL-2.0-only
//! menu: correction factors and predictions.

mod deepest;
mod intervals;
mod pattern_first;

use super::*;
use crate::base::table::Table;
use crate::power::cpuidle::{State, states};
use alight_machine::{IdleScope, IdleState};

const US: u64 = 1000;
const MS: u64 = 1000 * US;
const TICK: u64 = 4 * MS;

fn state(wakeup_us: u64, residency_us: u64) -> IdleState {
    IdleState {
        name: String::new(),
        entry_ns: 0,
        exit_ns: wakeup_us * US,
        wakeup_ns: wakeup_us * US,
        residency_ns: residency_us * US,
        power_uw: 0,
        scope: IdleScope::Core,
        polling: false,
        timer_stops: false,
    }
}

/// WFI, core sleep, cluster sleep of Juno.
fn arm() -> Table<State> {
    states(&[state(1, 1), state(1500, 2000), state(1600, 2500)])
}

/// WFI and a state that pays off only after more than two ticks.
fn arm_deep() -> Table<State> {
    states(&[state(1, 1), state(811, 1890), state(9825, 9987)])
}

/// POLL, C1 by mwait, C2.
fn x86() -> Table<State> {
    let watched = |state| IdleState {
        polling: true,
        ..state
    };
    states(&[watched(state(0, 0)), watched(state(1, 2)), state(100, 200)])
}

fn look(states: &Table<State>, next_timer_ns: u64, to_tick_ns: u64) -> Outlook<'_> {
    Outlook {
        states,
        next_timer_ns,
        delta_next_ns: next_timer_ns.min(to_tick_ns),
        latency_limit_ns: u64::MAX,
        tick_ns: TICK,
        tick_stopped: false,
    }
}

fn period(residency_ns: u64) -> Period {
    Period {
        state: 0,
        residency_ns,
        span_ns: residency_ns,
        by_tick: false,
        asks_again: false,
    }
}

/// A governor that has seen only idle periods of `residency_ns` with a timer at `next_timer_ns`.
fn seasoned(states: &Table<State>, next_timer_ns: u64, residency_ns: u64) -> Menu {
    let mut menu = Menu::default();
    for _ in 0..50 {
        menu.select(&look(states, next_timer_ns, TICK), None);
        menu.reflect(period(residency_ns));
    }
    menu
}

#[test]
fn times_to_the_timer_are_told_apart_by_their_magnitude() {
    for (ns, expected) in [
        (0, 0),
        (9_999, 0),
        (10 * US, 1),
        (100 * US, 2),
        (MS, 3),
        (10 * MS, 4),
        (100 * MS, 5),
        (1 << 40, 5),
    ] {
        assert_eq!(bucket(ns), expected, "{ns} ns");
    }
}

#[test]
fn a_period_is_learnt_without_its_exit_and_up_to_the_timer() {
    let states = arm();
    let p = period(0);
    let cases = [
        (
            Period {
                residency_ns: 9 * MS,
                ..p
            },
            10 * MS,
            8999,
            "less the exit latency",
        ),
        (
            Period {
                state: 1,
                residency_ns: 9 * MS,
                ..p
            },
            10 * MS,
            7500,
            "of its state",
        ),
        (
            Period {
                state: 1,
                residency_ns: 2 * MS,
                ..p
            },
            10 * MS,
            1000,
            "half if short",
        ),
        (
            Period {
                residency_ns: 12 * MS,
                ..p
            },
            10 * MS,
            10_000,
            "no longer than the timer",
        ),
        (
            Period {
                residency_ns: 3 * MS,
                by_tick: true,
                ..p
            },
            90 * MS,
            45_000,
            "by the tick",
        ),
        (
            Period {
                residency_ns: 3 * MS,
                by_tick: true,
                ..p
            },
            10 * MS,
            10_000,
            "timer near",
        ),
        (
            Period {
                residency_ns: 3 * MS,
                by_tick: true,
                ..p
            },
            4 * MS,
            2999,
            "tick on time",
        ),
    ];
    for (period, next_timer, expected_us, what) in cases {
        let mut menu = Menu::default();
        menu.select(&look(&states, next_timer, TICK), None);
        menu.reflect(period);
        menu.update(&look(&states, next_timer, TICK));
        assert_eq!(menu.intervals.last[0], expected_us, "{what}");
    }
}

#[test]
fn polling_to_its_limit_counts_as_idle_until_the_timer() {
    let states = x86();
    let mut menu = Menu::default();
    menu.select(&look(&states, 300 * US, TICK), None);
    menu.reflect(Period {
        residency_ns: 2 * US,
        asks_again: true,
        ..period(0)
    });
    menu.update(&look(&states, 300 * US, TICK));
    assert_eq!(menu.intervals.last[0], 300);
}

#[test]
fn the_correction_follows_the_share_of_the_timer() {
    let states = arm();
    for (residency, timer, expected, what) in [
        (8 * MS + US, 8 * MS, 8192, "all of it: unity"),
        (2 * MS + US, 8 * MS, 7168 + 256, "a quarter"),
        (60 * MS, 900 * MS, 8192, "50 ms or more: as good as all"),
    ] {
        let mut menu = Menu::default();
        menu.select(&look(&states, timer, TICK), None);
        menu.reflect(period(residency));
        menu.update(&look(&states, timer, TICK));
        let factor = menu.correction_factor[bucket(timer)];
        assert_eq!(factor, expected, "{what}");
    }
}

#[test]
fn it_learns_both_patterns_and_shares() {
    let arm = arm();
    // Other wakeups every 3 ms, while the CPU's next timer is far away.
    let mut menu = seasoned(&arm, 900 * MS, 3 * MS);
    let choice = menu.select(&look(&arm, 900 * MS, 3500 * US), None);
    assert_eq!(
        (choice.state, choice.stop_tick),
        (2, false),
        "3 ms are predicted"
    );
    // The timer wakes it every 20 ms.
    let mut menu = seasoned(&arm, 20 * MS, 20 * MS);
    let choice = menu.select(&look(&arm, 20 * MS, 3500 * US), None);
    assert_eq!(
        (choice.state, choice.stop_tick),
        (2, true),
        "20 ms are predicted"
    );
    // At first it knows only periods of length 0.
    let choice = Menu::default().select(&look(&arm, 20 * MS, 3500 * US), None);
    assert_eq!((choice.state, choice.stop_tick), (0, false), "boot");
}
