// SPDX-License-Identifier: GPL-2.0-only
//! menu from 6.6 on.

use super::*;
use crate::kernel::{Kernel, MenuForm};
use alight_policy::Scheduler;

fn rules(base: &str) -> PatternFirst {
    let scheduler = Scheduler::parse(base).expect("a base");
    match Kernel::of(&scheduler).expect("it has a row").idle.menu {
        MenuForm::PatternFirst(rules) => rules,
        form => unreachable!("{base} has {form:?}"),
    }
}

/// A governor that remembers these periods, us.
fn after(periods: [u32; 8]) -> Menu {
    let mut menu = Menu::default();
    for us in periods {
        menu.intervals.push(us);
    }
    menu
}

/// get_typical_interval(): up to 6.14 only the longest are left out. The rest may be one period, or
/// two that are alike.
#[test]
fn which_periods_are_left_out() {
    for (what, intervals, longest, both) in [
        (
            "all alike",
            [1000, 1010, 990, 1000, 1000, 1000, 1000, 1000],
            Some(1000),
            Some(1000),
        ),
        (
            "two short",
            [1000, 10, 1000, 1000, 20, 1000, 1000, 1000],
            Some(15),
            Some(1000),
        ),
        (
            "two short, the others not quite alike",
            [1000, 10, 1001, 1002, 20, 1003, 1004, 1005],
            None,
            Some(1002),
        ),
        (
            "one short, one long",
            [1000, 10, 1000, 1000, 9000, 1000, 1000, 1000],
            Some(10),
            Some(1000),
        ),
        (
            "two long",
            [1000, 8000, 1000, 1000, 9000, 1000, 1000, 1000],
            Some(1000),
            Some(1000),
        ),
        (
            "three long",
            [1000, 8000, 1000, 7000, 9000, 1000, 1000, 1000],
            None,
            None,
        ),
        ("none at all", [0; 8], None, None),
        ("one at all", [0, 0, 0, 9000, 0, 0, 0, 0], None, None),
    ] {
        let menu = after(intervals);
        assert_eq!(menu.intervals.typical_of_shorter(), longest, "{what}");
        assert_eq!(menu.intervals.typical_of_both_ends(), both, "{what}");
    }
    for (base, outliers) in [
        ("linux-6.6", Outliers::Longest),
        ("linux-6.12", Outliers::Longest),
        ("linux-6.18", Outliers::BothEnds),
        ("linux-7.2", Outliers::BothEnds),
    ] {
        assert_eq!(rules(base).outliers, outliers, "{base}");
    }
}

/// Below 15 us the timer does not matter. If it is not looked up, its correction is not updated.
/// With the tick stopped 6.6 does not look it up either, and takes the deepest state for that.
/// Later kernels look it up, and from 7.1 on a timer within two ticks is near enough.
#[test]
fn a_pattern_of_moments_needs_no_timer() {
    let arm = arm();
    let pattern = |next_timer_ns| look(&arm, next_timer_ns, TICK);
    for (base, asked, near) in [
        ("linux-6.6", NEVER, 2),
        ("linux-6.12", 20 * MS, 2),
        ("linux-6.18", 20 * MS, 2),
        ("linux-7.0", 20 * MS, 2),
        ("linux-7.2", 20 * MS, 0),
        ("linux-7.3", 20 * MS, 0),
    ] {
        let rules = Some(rules(base));
        let mut menu = Menu::default();
        for _ in 0..20 {
            menu.select(&pattern(20 * MS), rules);
            menu.reflect(period(10 * US));
        }
        let choice = menu.select(&pattern(20 * MS), rules);
        assert_eq!((choice.state, choice.stop_tick), (0, false), "{base}");
        assert_eq!(menu.next_timer_ns, NEVER, "{base}");
        assert_eq!(usize::from(menu.bucket), BUCKETS - 1, "{base}");
        let stopped = Outlook {
            tick_stopped: true,
            ..pattern(20 * MS)
        };
        assert_eq!(menu.select(&stopped, rules).state, 2, "{base}");
        assert_eq!(menu.next_timer_ns, asked, "{base}");
        let soon = Outlook {
            delta_next_ns: 7 * MS,
            next_timer_ns: 7 * MS,
            ..stopped
        };
        assert_eq!(menu.select(&soon, rules).state, near, "{base}");
    }
}

/// menu_select(): in 6.6 the first real state replaces polling; later only one with a target
/// residency below 15 us does.
#[test]
fn polling_gives_way_to_a_quick_state() {
    let state = |wakeup_us, residency_us, polling| IdleState {
        polling,
        ..state(wakeup_us, residency_us)
    };
    for (quick, pattern_us, early, late, because) in [
        (state(1, 12, true), 5, 1, 1, "it pays off soon"),
        (
            state(6, 12, true),
            5,
            0,
            0,
            "its exit takes longer than the rest",
        ),
        (state(1, 16, true), 5, 1, 0, "it pays off too late"),
    ] {
        let states = states(&[state(0, 0, true), quick]);
        let look = look(&states, 20 * MS, TICK);
        for (base, expected) in [
            ("linux-6.6", early),
            ("linux-6.12", late),
            ("linux-6.18", late),
            ("linux-7.2", late),
        ] {
            let choice = after([pattern_us; 8]).select(&look, Some(rules(base)));
            assert_eq!(choice.state, expected, "{base}: {because}");
        }
    }
}

/// `interactivity_req` of 6.6: while the tick goes on, no state is chosen whose wakeup takes longer
/// than the predicted idle time.
#[test]
fn the_prediction_limits_the_latency_up_to_6_13() {
    let slow = states(&[state(1, 1), state(3000, 2000)]);
    let running = look(&slow, 20 * MS, TICK);
    let stopped = Outlook {
        tick_stopped: true,
        ..running
    };
    for (base, look, expected, because) in [
        ("linux-6.6", running, 0, "3 ms for 2.2 ms"),
        ("linux-6.6", stopped, 1, "the tick is stopped"),
        ("linux-6.12", running, 1, "it pays off"),
    ] {
        let choice = after([2200; 8]).select(&look, Some(rules(base)));
        assert_eq!(choice.state, expected, "{base}: {because}");
    }
}
