// SPDX-License-Identifier: GPL-2.0-only
//! teo in all its forms.

use super::*;
use crate::base::table::Table;
use crate::kernel::Beside;
use crate::power::cpuidle::states;
use alight_machine::{IdleScope, IdleState};

const US: u64 = 1000;
const MS: u64 = 1000 * US;
const TICK: u64 = 4 * MS;

const TIMER_LAST: TeoForm = TeoForm::TimerLast {
    near_timer_is_net: true,
};

/// 5.4, 5.5, 6.1, 6.5, 6.6, 6.12, 6.18 and 7.2.
const FORMS: [TeoForm; 8] = [
    TeoForm::EarlyHits { whole_us: true },
    TeoForm::EarlyHits { whole_us: false },
    TeoForm::Recent { util_aware: false },
    TeoForm::Recent { util_aware: true },
    TeoForm::TimerIfDeep(Beside::RecentAndUse),
    TeoForm::TimerIfDeep(Beside::Nothing),
    TeoForm::TimerIfDeep(Beside::ShortPeriods),
    TIMER_LAST,
];

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

/// WFI, core sleep, cluster sleep, with target residencies of 1 us, 2 ms and 5 ms.
fn arm() -> Table<State> {
    states(&[state(1, 1), state(1500, 2000), state(1600, 5000)])
}

/// POLL, C1 and C2.
fn x86() -> Table<State> {
    let poll = IdleState {
        polling: true,
        ..state(0, 0)
    };
    states(&[poll, state(1, 2), state(100, 200)])
}

/// The tick runs, and comes in 3.5 ms.
fn look(states: &Table<State>, next_timer_ns: u64) -> Outlook<'_> {
    Outlook {
        states,
        next_timer_ns,
        delta_next_ns: next_timer_ns.min(3500 * US),
        latency_limit_ns: u64::MAX,
        tick_ns: TICK,
        tick_stopped: false,
    }
}

fn period(state: usize, ns: u64) -> Period {
    Period {
        state,
        residency_ns: ns,
        span_ns: ns,
        by_tick: false,
        asks_again: false,
    }
}

/// A governor that has seen 50 periods of `ns` with its timer at `next_timer_ns`.
fn seasoned(form: TeoForm, states: &Table<State>, next_timer_ns: u64, ns: u64) -> Teo {
    let mut teo = Teo::new(form, states.len());
    for _ in 0..50 {
        let chosen = teo.select(&look(states, next_timer_ns), false);
        teo.reflect(period(chosen.state, ns));
    }
    teo
}

/// The purpose of every form: to distinguish idle periods until the timer from periods that
/// something else ends.
#[test]
fn timers_are_trusted_until_something_else_comes_before() {
    let arm = arm();
    // (timer, woken after, state, the tick stops)
    for (timer, woken, expected, what) in [
        (20 * MS, 20 * MS, (2, true), "the timer wakes it"),
        (
            3 * MS,
            3 * MS,
            (1, false),
            "the timer comes before the tick",
        ),
        (100 * US, 100 * US, (0, false), "the timer comes at once"),
        (20 * MS, 300 * US, (0, false), "something wakes it at once"),
        (
            20 * MS,
            3 * MS,
            (1, false),
            "something wakes it after a while",
        ),
    ] {
        for form in FORMS {
            // 6.18 counts wakeups after at least a tick, not within it.
            let short_periods = form == TeoForm::TimerIfDeep(Beside::ShortPeriods);
            let expected = match short_periods && (timer, woken) == (20 * MS, 3 * MS) {
                true => (1, true),
                false => expected,
            };
            // Only half of the exit latency counts.
            let woken = if timer == woken {
                woken + 800 * US
            } else {
                woken
            };
            let mut teo = seasoned(form, &arm, timer, woken);
            let choice = teo.select(&look(&arm, timer), false);
            assert_eq!(
                (choice.state, choice.stop_tick),
                expected,
                "{what}: {form:?}"
            );
        }
    }
}

/// Nothing would correct a wrong choice with the tick stopped: shallow states are only for near
/// timers.
#[test]
fn without_a_tick_a_pattern_of_short_periods_is_not_trusted() {
    let arm = arm();
    for form in FORMS {
        let mut teo = seasoned(form, &arm, 20 * MS, 300 * US);
        let stopped = Outlook {
            tick_stopped: true,
            delta_next_ns: 20 * MS,
            ..look(&arm, 20 * MS)
        };
        let choice = teo.select(&stopped, false);
        assert_eq!((choice.state, choice.stop_tick), (2, true), "{form:?}");
    }
}

#[test]
fn without_a_tick_a_near_timer_is_net_enough_from_7_1_on() {
    // States pay off from 1 us, 2 ms and 5 ms on; most periods end after 3 ms.
    let arm = arm();
    for (near_timer_is_net, timer, state, because) in [
        (true, 6 * MS, 1, "the timer will correct it"),
        (true, 20 * MS, 2, "nothing would for long"),
        (
            false,
            6 * MS,
            2,
            "no state that a tick's time is too long for",
        ),
        (false, 20 * MS, 2, "the same"),
    ] {
        let form = TeoForm::TimerLast { near_timer_is_net };
        let mut teo = seasoned(form, &arm, 20 * MS, 3 * MS);
        let stopped = Outlook {
            tick_stopped: true,
            delta_next_ns: timer,
            ..look(&arm, timer)
        };
        let choice = teo.select(&stopped, false);
        assert_eq!((choice.state, choice.stop_tick), (state, true), "{because}");
    }
}

/// A state that wakes up too late is not taken. Up to 5.13 the first such state is taken.
#[test]
fn a_latency_limit_is_kept_from_5_14_on() {
    let arm = arm();
    for (limit, early, since) in [
        (1550 * US, 2, 1),
        (1499 * US, 1, 0),
        (1600 * US, 2, 2),
        (0, 0, 0),
    ] {
        for form in FORMS {
            let expected = match form {
                TeoForm::EarlyHits { .. } => early,
                _ => since,
            };
            let mut teo = seasoned(form, &arm, 20 * MS, 21 * MS);
            let limited = Outlook {
                latency_limit_ns: limit,
                ..look(&arm, 20 * MS)
            };
            let choice = teo.select(&limited, false);
            assert_eq!(choice.state, expected, "{limit} ns: {form:?}");
            assert_eq!(choice.forced, limit < 1500 * US, "{limit} ns: {form:?}");
        }
    }
}

/// teo_update() of 5.4: the timer's state gets a hit or a miss. Only with a miss does the state
/// that would have been right get an early hit.
#[test]
fn early_hits_are_those_of_the_state_that_would_have_been_right() {
    let arm = arm();
    let mut teo = Early::new(3, true);
    for ns in [21 * MS, 21 * MS, 3 * MS] {
        let (state, _) = teo.select(&look(&arm, 20 * MS));
        assert_eq!(state, 2);
        teo.last = Some(period(state, ns));
    }
    teo.select(&look(&arm, 20 * MS));
    let metrics = |i: usize| {
        let m = &teo.states[i];
        (m.hits, m.misses, m.early_hits)
    };
    // 3 ms less half of 1600 us are 2200 us.
    assert_eq!(metrics(0), (0, 0, 0));
    assert_eq!(metrics(1), (0, 0, 1024));
    let twice = 1024 - 128 + 1024;
    assert_eq!(metrics(2), (twice - twice / 8, 1024, 0));
    assert_eq!(teo.intervals[..4], [u64::MAX, u64::MAX, 2200, u64::MAX]);
}

/// teo_update() of 6.1: all metrics decay by an eighth. Five of nine recent wakeups change the
/// choice before the sums do.
#[test]
fn nine_recent_wakeups_are_remembered() {
    let arm = arm();
    let mut teo = Recent::new(3);
    let wake = |teo: &mut Recent, ns: u64| {
        let (state, stop) = teo.select(&look(&arm, 20 * MS), false);
        teo.last = Some(period(state, ns));
        (state, stop)
    };
    for _ in 0..40 {
        assert_eq!(wake(&mut teo, 21 * MS), (2, true));
    }
    let mut chosen = vec![];
    for _ in 0..6 {
        chosen.push(wake(&mut teo, 300 * US).0);
    }
    // Each wakeup is booked one wakeup later.
    assert_eq!(chosen, [2, 2, 2, 2, 2, 0], "the fifth makes the majority");
    assert_eq!(teo.bins[0].recent, 5);
    for _ in 0..9 {
        wake(&mut teo, 21 * MS);
    }
    teo.select(&look(&arm, 20 * MS), false);
    assert_eq!(teo.bins[0].recent, 0, "forgotten");
    let sum: u32 = teo.bins.iter().map(|bin| bin.hits + bin.intercepts).sum();
    assert_eq!(teo.total, sum);
}

/// teo_select() of 6.5: a CPU that is utilized by more than a 64th is expected to wake soon, but it
/// does not poll.
#[test]
fn a_utilized_cpu_rests_one_state_above() {
    let (arm, x86) = (arm(), x86());
    let two = states(&[state(1, 1), state(1500, 2000)]);
    let lone_c1 = {
        let mut known = x86.to_vec();
        known.truncate(2);
        // SAFETY: governors choose among them.
        unsafe { Table::new(known) }
    };
    for (states, timer, idle, utilized, what) in [
        (
            &arm,
            20 * MS,
            (2, true),
            (1, false),
            "cluster sleep, core sleep",
        ),
        (&arm, 3 * MS, (1, false), (0, false), "core sleep, WFI"),
        (&x86, 20 * MS, (2, true), (1, false), "C2, C1"),
        (
            &x86,
            100 * US,
            (1, false),
            (1, false),
            "C1 rather than POLL",
        ),
        (
            &two,
            20 * MS,
            (1, true),
            (0, false),
            "two states: the first",
        ),
        (&lone_c1, 20 * MS, (1, true), (1, false), "but no polling"),
    ] {
        for (in_use, expected) in [(false, idle), (true, utilized)] {
            let form = TeoForm::Recent { util_aware: true };
            let mut teo = seasoned(form, states, timer, timer + 900 * US);
            let choice = teo.select(&look(states, timer), in_use);
            assert_eq!(
                (choice.state, choice.stop_tick),
                expected,
                "{what}, utilized: {in_use}"
            );
        }
    }
    // With the tick stopped: only if the shallower state is deep enough to stay in.
    let mut teo = seasoned(TeoForm::Recent { util_aware: true }, &arm, 20 * MS, 21 * MS);
    let stopped = Outlook {
        tick_stopped: true,
        ..look(&arm, 20 * MS)
    };
    assert_eq!(teo.select(&stopped, true).state, 2);
}

/// teo_update() of 7.2: ticks that find nothing to do show that the tick should stop, regardless of
/// the number of intercepts.
#[test]
fn ticks_that_dominate_stop_the_tick() {
    let arm = arm();
    let mut teo = TimerLast::new(3, true);
    let mut wake = |by_tick, ns| {
        let (state, stop) = teo.select(&look(&arm, 200 * MS));
        teo.last = Some(Period {
            by_tick,
            ..period(state, ns)
        });
        (state, stop)
    };
    for _ in 0..30 {
        wake(false, 300 * US);
    }
    assert_eq!(wake(false, 300 * US), (0, false), "busy with intercepts");
    let mut ticks = 0;
    while !wake(true, 3500 * US).1 {
        ticks += 1;
        assert!(ticks < 20, "the tick never stops");
    }
    // Metrics lose an eighth each time. With the ninth, ticks are more than two
    // thirds of all wakeups (1 - (7/8)^9 = 0.70) and count as hits; four of those
    // leave less than two thirds to intercepts within a tick ((7/8)^4 = 0.59).
    assert_eq!(ticks, 8 + 4);
}

/// teo_select() of 7.2: the timer is not looked up on a CPU that is mostly woken within 15 us; such
/// a wakeup counts as an intercept.
#[test]
fn moments_need_no_timer() {
    let arm = arm();
    let form = TIMER_LAST;
    for (ns, asked, what) in [(10 * US, false, "moments"), (300 * US, true, "longer")] {
        let Teo::TimerLast(mut teo) = seasoned(form, &arm, 20 * MS, ns) else {
            unreachable!("of that form")
        };
        assert_eq!(teo.select(&look(&arm, 20 * MS)), (0, false), "{what}");
        assert_eq!(teo.sleep_length_ns == 20 * MS as i64, asked, "{what}");
        let limited = Outlook {
            latency_limit_ns: 7 * US,
            ..look(&arm, 20 * MS)
        };
        teo.select(&limited);
        assert_ne!(teo.sleep_length_ns, 20 * MS as i64, "below 7.5 us, {what}");
        let stopped = Outlook {
            tick_stopped: true,
            ..look(&arm, 20 * MS)
        };
        assert_eq!(teo.select(&stopped), (2, true), "no tick: until the timer");
    }
}

/// Metrics of 7.2 vanish; before, they stayed at 7.
#[test]
fn small_metrics_vanish_in_7_2_only() {
    let arm = arm();
    let left = |teo: &Teo| match teo {
        Teo::Early(memory) => memory.states[0].early_hits,
        Teo::Recent(memory) => memory.bins[0].intercepts,
        Teo::TimerIfDeep(memory) => memory.bins[0].intercepts,
        Teo::TimerLast(memory) => memory.bins[0].intercepts,
    };
    for form in FORMS {
        let mut teo = Teo::new(form, 3);
        for ns in [300 * US].into_iter().chain([21 * MS; 60]) {
            let chosen = teo.select(&look(&arm, 20 * MS), false);
            teo.reflect(period(chosen.state, ns));
        }
        let expected = if form == TIMER_LAST { 0 } else { 7 };
        assert_eq!(left(&teo), expected, "{form:?}");
        teo.forget();
        assert_eq!(left(&teo), 0, "{form:?}");
    }
}

mod timer_if_deep;
