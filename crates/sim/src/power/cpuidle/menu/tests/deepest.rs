// SPDX-License-Identifier: GPL-2.0-only
//! The chosen state by the predicted length of the idle period.

use super::*;

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

/// Some real tables have a deeper state that is quicker to leave than the one before it.
/// `menu_select` (6.5) tests the states by index and stops at the first that does not fit. Later
/// states are not tested, even if they would fit.
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
