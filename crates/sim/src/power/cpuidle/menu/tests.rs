// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::base::table::Table;
use crate::power::cpuidle::{State, states};
use alight_machine::{IdleScope, IdleState};
use proptest::prelude::*;

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

/// A governor that has seen idle periods of `residency_ns` with a timer at
/// `next_timer_ns` until it knew nothing else.
fn seasoned(states: &Table<State>, next_timer_ns: u64, residency_ns: u64) -> Menu {
    let mut menu = Menu::default();
    for _ in 0..50 {
        menu.select(&look(states, next_timer_ns, TICK), None);
        menu.reflect(period(residency_ns));
    }
    menu
}

/// The typical one of `intervals`, once `earlier` ones are forgotten.
fn typical_interval(earlier: &[u32], intervals: &[u32; 8], predicted_us: u32) -> u32 {
    let mut all = Intervals::default();
    for &us in earlier.iter().chain(intervals) {
        all.push(us);
    }
    all.typical(predicted_us)
}

#[test]
fn a_typical_interval_is_one_that_most_periods_had() {
    const NONE: u32 = NO_PATTERN;
    let cases: [(&str, [u32; 8], u32, u32); 8] = [
        (
            "all alike",
            [100, 110, 90, 105, 95, 100, 100, 100],
            9999,
            100,
        ),
        (
            "one long",
            [1000, 1000, 1000, 50_000, 1000, 1000, 1000, 1000],
            99_999,
            1000,
        ),
        (
            "two long",
            [1000, 1000, 1000, 50_000, 70_000, 1000, 1000, 1000],
            99_999,
            1000,
        ),
        (
            "three long",
            [1000, 9000, 1000, 50_000, 70_000, 1000, 1000, 1000],
            99_999,
            NONE,
        ),
        (
            "a ramp",
            [1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000],
            99_999,
            NONE,
        ),
        (
            "deviation of 20 us",
            [10, 50, 10, 50, 10, 50, 10, 50],
            9999,
            30,
        ),
        ("none below the timer", [500; 8], 500, NONE),
        ("just below the timer", [500; 8], 501, 500),
    ];
    for (what, intervals, predicted_us, expected) in cases {
        assert_eq!(
            typical_interval(&[], &intervals, predicted_us),
            expected,
            "{what}"
        );
    }
}

proptest! {
    /// The variance in one pass is the textbook's, whatever the intervals.
    #[test]
    fn a_typical_interval_agrees_with_the_textbook(
        intervals in prop::array::uniform8(prop_oneof![
            0u32..100, 900u32..1100, 0u32..(1 << 30)
        ]),
        earlier in prop::collection::vec(prop_oneof![0u32..4, 0u32..(1 << 30)], 0..20),
        predicted_us in 1u32..(1 << 30),
    ) {
        let found = typical_interval(&earlier, &intervals, predicted_us);
        prop_assert_eq!(found, textbook(&intervals, predicted_us));
    }
}

/// [`Intervals::typical`] as its description has it, step by step.
fn textbook(intervals: &[u32; 8], predicted_us: u32) -> u32 {
    let mut kept: Vec<u128> = intervals.iter().map(|&us| u128::from(us)).collect();
    loop {
        if kept.iter().all(|&us| us >= u128::from(predicted_us)) {
            return NO_PATTERN;
        }
        let n = kept.len() as u128;
        let mean = kept.iter().sum::<u128>() / n;
        let variance = kept.iter().map(|us| us.abs_diff(mean).pow(2)).sum::<u128>() / n;
        if variance <= 400 || (n >= 6 && mean * mean > 36 * variance) {
            return mean as u32;
        }
        if n <= 6 {
            return NO_PATTERN;
        }
        let longest = kept.iter().max().copied();
        kept.retain(|us| Some(*us) != longest);
    }
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
fn the_deepest_state_that_pays_off_in_time() {
    let none = u64::MAX;
    // (states, predicted us, next timer us, next tick us or None if it is
    // stopped, latency limit us) -> (state, stop the tick)
    let cases = [
        (
            arm(),
            1500,
            10_000,
            Some(3000),
            none,
            (0, false),
            "too short for any",
        ),
        (
            arm(),
            2200,
            10_000,
            Some(3000),
            none,
            (1, false),
            "pays off before the tick",
        ),
        (
            arm(),
            2200,
            10_000,
            Some(1500),
            none,
            (0, false),
            "the tick comes too soon",
        ),
        (
            arm(),
            3000,
            10_000,
            Some(3000),
            none,
            (2, false),
            "deepest, tick kept",
        ),
        (
            arm(),
            9000,
            10_000,
            Some(3000),
            none,
            (2, true),
            "deepest, tick stopped",
        ),
        (
            arm(),
            9000,
            10_000,
            Some(3000),
            1550,
            (1, true),
            "limit below cluster sleep",
        ),
        (
            arm(),
            9000,
            10_000,
            Some(3000),
            10,
            (0, true),
            "limit below core sleep",
        ),
        (
            arm_deep(),
            5000,
            50_000,
            Some(3000),
            none,
            (1, false),
            "the tick will ask again",
        ),
        (
            arm_deep(),
            5000,
            50_000,
            None,
            none,
            (2, true),
            "nobody would ask again",
        ),
        (
            arm_deep(),
            5000,
            8000,
            None,
            none,
            (1, true),
            "the timer comes too soon",
        ),
        (x86(), 0, 1000, Some(3000), 0, (0, false), "poll"),
        (
            x86(),
            1,
            1000,
            Some(3000),
            1,
            (1, false),
            "rather mwait than poll",
        ),
        (
            x86(),
            150,
            1000,
            Some(3000),
            150,
            (1, false),
            "too short for C2",
        ),
    ];
    for (states, predicted, timer, tick, limit, expected, what) in cases {
        let look = Outlook {
            tick_stopped: tick.is_none(),
            ..look(&states, timer * US, tick.unwrap_or(timer) * US)
        };
        let choice = deepest(&look, predicted * US, u64::saturating_mul(limit, US), false);
        assert_eq!((choice.state, choice.stop_tick), expected, "{what}");
    }
}

#[test]
fn no_choice_without_time_latency_or_a_second_state() {
    let forced = |stop_tick| Choice {
        state: 0,
        stop_tick,
        forced: true,
    };
    let (arm, x86, single) = (arm(), x86(), states(&[state(1, 1)]));
    let limited = |states, limit_ns| Outlook {
        latency_limit_ns: limit_ns,
        ..look(states, 10 * MS, TICK)
    };
    let cases = [
        (
            look(&single, 10 * MS, TICK),
            forced(true),
            "one state: tickless",
        ),
        (
            look(&arm, 1999 * US, TICK),
            forced(true),
            "timer before a second state pays",
        ),
        (
            limited(&arm, 1499 * US),
            forced(true),
            "latency of the second state",
        ),
        (
            limited(&x86, 0),
            forced(false),
            "no latency at all: poll, with the tick",
        ),
        (
            look(&x86, US, TICK),
            forced(false),
            "timer at once: poll, with the tick",
        ),
    ];
    for (look, expected, what) in cases {
        assert_eq!(Menu::default().select(&look, None), expected, "{what}");
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
    // Wakeups every 3 ms from elsewhere, the next own timer far away.
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

/// Real tables have a deeper state that is quicker to leave than the one before it. `menu_select`
/// (6.5) goes through the states by index and stops at the first that does not suit: what lies
/// behind it is not looked at, though it may suit.
#[test]
fn states_are_taken_in_the_order_of_the_kernel_whatever_their_latencies_are() {
    let (wfi, c5, c6) = (state(1, 1), state(8800, 8800), state(8500, 8500));
    let given = states(&[wfi.clone(), c5.clone(), c6.clone()]);
    let rising = states(&[wfi, c6, c5]);
    // (predicted, longest latency, state as given, state in rising order), us
    for (predicted, latency, of_given, of_rising) in [
        (9000, u64::MAX / US, 2, 2),
        (8600, u64::MAX / US, 0, 1),
        (8400, u64::MAX / US, 0, 0),
        (9000, 8600, 0, 1),
    ] {
        for (table, expected) in [(&given, of_given), (&rising, of_rising)] {
            let outlook = Outlook {
                tick_stopped: true,
                ..look(table, predicted * US, predicted * US)
            };
            let chosen = deepest(&outlook, predicted * US, latency * US, false);
            assert_eq!(
                chosen.state, expected,
                "{predicted} us, latency {latency} us"
            );
        }
    }
}

mod pattern_first;
