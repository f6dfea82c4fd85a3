// SPDX-License-Identifier: GPL-2.0-only
//! menu of 3.8 to 3.10: patterns, its own timer, and the correction factors.

use super::*;
use crate::base::table::Table;
use crate::power::cpuidle::{State, states};
use alight_machine::{IdleScope, IdleState};

const US: u64 = 1000;
const MS: u64 = 1000 * US;

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

/// WFI, core sleep, cluster sleep.
fn arm() -> Table<State> {
    states(&[state(1, 1), state(1500, 2000), state(1600, 5000)])
}

fn look(states: &Table<State>, next_timer_ns: u64) -> Outlook<'_> {
    Outlook {
        states,
        next_timer_ns,
        delta_next_ns: next_timer_ns,
        latency_limit_ns: u64::MAX,
        tick_ns: 4 * MS,
        tick_stopped: true,
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

/// A governor whose last eight periods took `us`.
fn after(us: [u64; 8]) -> RepeatMenu {
    RepeatMenu {
        intervals: us,
        ..RepeatMenu::default()
    }
}

/// get_typical_interval(): the longest are left out until six remain.
#[test]
fn a_pattern_is_what_six_of_eight_periods_agree_on() {
    for (what, us, expected) in [
        (
            "all alike",
            [100, 110, 90, 105, 95, 100, 100, 100],
            Some(100),
        ),
        ("nothing known", [0; 8], Some(0)),
        (
            "two long",
            [1000, 1000, 50_000, 1000, 70_000, 1000, 1000, 1000],
            Some(1000),
        ),
        (
            "three long",
            [1000, 9000, 50_000, 1000, 70_000, 1000, 1000, 1000],
            None,
        ),
        (
            "of equal ones all go at once, down to two that agree",
            [1000, 10, 20, 1000, 1000, 1000, 1000, 1000],
            Some(15),
        ),
        (
            "short ones are not left out",
            [1000, 100, 200, 1001, 1002, 1003, 1004, 1005],
            None,
        ),
        (
            "a deviation of 20 us",
            [10, 50, 10, 50, 10, 50, 10, 50],
            Some(30),
        ),
    ] {
        assert_eq!(after(us).typical(), expected, "{what}");
    }
}

/// menu_select(): the prediction, and the time of the governor's own timer if the prediction is too
/// short for some state.
#[test]
fn a_shallow_state_is_looked_at_again() {
    const NONE: [u64; 8] = [100, 20_000, 300, 40_000, 900, 60_000, 2000, 80_000];
    let arm = arm();
    // (last periods, timer in us) -> (state, own timer in us)
    for (last, timer_us, expected, what) in [
        (NONE, 900, (0, None), "a timer soon"),
        (NONE, 3000, (1, None), "core sleep until the timer"),
        (NONE, 20_000, (2, None), "cluster sleep until the timer"),
        (
            [300; 8],
            2000,
            (0, None),
            "a pattern, but four times 2 * (300 + 60) us lie behind the timer",
        ),
        (
            [300; 8],
            3000,
            (0, Some(720)),
            "a pattern, to be doubted after 2 * (300 + 60) us",
        ),
        (
            [2500; 8],
            20_000,
            (1, None),
            "four times 2 * (2500 + 60) us lie behind the timer",
        ),
        ([2500; 8], 40_000, (1, Some(5120)), "and here before"),
        (
            [6000; 8],
            3000,
            (2, None),
            "a pattern counts though its time lies behind the timer",
        ),
    ] {
        let mut menu = after(last);
        let choice = menu.select(&look(&arm, timer_us * US));
        let alarm_us = menu.alarm_ns().map(|ns| ns / US);
        assert_eq!((choice.state, alarm_us), expected, "{what}");
        assert!(choice.stop_tick, "{what}");
    }
}

/// menu_hrtimer_notify(): after the timer of the general case, the correction factor of this order
/// of magnitude is reset.
#[test]
fn a_prediction_that_was_far_too_short_is_forgotten() {
    let arm = arm();
    let expired = Period {
        asks_again: true,
        ..period(300 * US)
    };
    for (end, factor, what) in [
        (expired, UNITY, "its timer expired"),
        (period(200 * US), UNITY / 100, "something came before"),
    ] {
        let mut menu = after([100, 20_000, 300, 40_000, 900, 60_000, 2000, 80_000]);
        menu.correction_factor[4] = UNITY / 100;
        let choice = menu.select(&look(&arm, 50 * MS));
        // The prediction is 494 us.
        let expected = (0, Some(2 * (494 + 60) * US));
        assert_eq!((choice.state, menu.alarm_ns()), expected, "{what}");
        menu.reflect(end);
        assert_eq!(menu.correction_factor[4], factor, "{what}");
        assert_eq!(menu.alarm_ns(), None, "{what}");
    }
    // The timer of a pattern does not reset it.
    let mut menu = after([300; 8]);
    menu.select(&look(&arm, 9 * MS));
    menu.correction_factor[3] = 99;
    menu.reflect(expired);
    assert_eq!(menu.correction_factor[3], 99);
}

/// menu_update(): the exit latency is subtracted for the correction factor, but not for the
/// remembered periods.
#[test]
fn periods_are_remembered_with_their_exits() {
    let arm = arm();
    let mut menu = after([100, 20_000, 300, 40_000, 900, 60_000, 2000, 80_000]);
    assert_eq!(menu.select(&look(&arm, 8 * MS)).state, 2);
    menu.reflect(period(5600 * US));
    menu.select(&look(&arm, 8 * MS));
    assert_eq!(menu.intervals[0], 5600);
    // Half of the 8 ms went by.
    assert_eq!(menu.correction_factor[3], UNITY * 7 / 8 + RESOLUTION / 2);
    // More than 50 ms counts as the whole time.
    menu.select(&look(&arm, 900 * MS));
    menu.reflect(period(70 * MS));
    menu.select(&look(&arm, 900 * MS));
    assert_eq!(menu.correction_factor[5], UNITY);
}

/// POLL is for timers within 5 us, and for a latency limit of 0.
#[test]
fn polling_is_the_exception() {
    let poll = IdleState {
        polling: true,
        ..state(0, 0)
    };
    let x86 = states(&[poll, state(2, 2), state(100, 200)]);
    for (timer, limit, expected, what) in [
        (5 * US, u64::MAX, 0, "a timer in 5 us"),
        (6 * US, u64::MAX, 1, "a timer in 6 us: C1 in any case"),
        (MS, 0, 0, "no latency at all"),
        (MS, US, 1, "C1 though it takes 2 us: it is not asked"),
        (MS, 99 * US, 1, "C2 takes too long"),
        (MS, 100 * US, 2, "C2"),
    ] {
        let limited = Outlook {
            latency_limit_ns: limit,
            ..look(&x86, timer)
        };
        let mut menu = after([3, 900, 5, 2000, 700, 90, 1, 400]);
        menu.correction_factor = [UNITY; BUCKETS];
        menu.correction_factor[0] = 1;
        assert_eq!(menu.select(&limited).state, expected, "{what}");
    }
}
