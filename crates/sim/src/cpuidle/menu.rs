// SPDX-License-Identifier: GPL-2.0-only
//! The menu governor as of Linux 5.5 (`drivers/cpuidle/governors/menu.c`): how
//! long will this CPU be idle, and which state is worth entering for that long?
//!
//! The prediction is the time to the next timer, corrected by how much of such
//! times went by in the past, or the typical length of the last eight idle
//! periods if they look alike and it is shorter. Nobody waits for I/O in the
//! workloads modelled, so the kernel's second half of the correction factors
//! (`nr_iowaiters`) and its performance multiplier have no part.

use alight_machine::IdleState;

const NSEC_PER_USEC: u64 = 1000;
/// Idle periods remembered (`INTERVALS`).
const INTERVALS: usize = 8;
/// Orders of magnitude of the time to the next timer (`BUCKETS / 2`).
const BUCKETS: usize = 6;
/// A correction factor of `RESOLUTION * DECAY` says that the whole time to the
/// next timer went by.
const RESOLUTION: u64 = 1024;
const DECAY: u64 = 8;
/// Idle periods from here on count as predicted perfectly (`MAX_INTERESTING`).
const MAX_INTERESTING_NS: u64 = 50_000 * NSEC_PER_USEC;
/// No prediction by pattern (`UINT_MAX`).
const NO_PATTERN: u32 = u32::MAX;

/// What the governor remembers of one CPU (`struct menu_device`), and of its
/// last idle period (`struct cpuidle_device`).
#[derive(Debug, Clone)]
pub(crate) struct Menu {
    next_timer_ns: u64,
    last_residency_ns: u64,
    intervals_us: [u32; INTERVALS],
    correction_factor: [u32; BUCKETS],
    bucket: u8,
    interval_ptr: u8,
    last_state: u8,
    needs_update: bool,
    tick_wakeup: bool,
    poll_time_limit: bool,
}

impl Default for Menu {
    /// As `menu_enable_device` leaves it.
    fn default() -> Self {
        Menu {
            next_timer_ns: 0,
            last_residency_ns: 0,
            intervals_us: [0; INTERVALS],
            correction_factor: [(RESOLUTION * DECAY) as u32; BUCKETS],
            bucket: 0,
            interval_ptr: 0,
            last_state: 0,
            needs_update: false,
            tick_wakeup: false,
            poll_time_limit: false,
        }
    }
}

/// What is known when a CPU goes idle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outlook<'a> {
    /// The CPU's states, at least one.
    pub states: &'a [IdleState],
    /// Time to its next timer, the tick left out (`tick_nohz_get_sleep_length`).
    /// Below 2^40, so that products with a correction factor fit.
    pub next_timer_ns: u64,
    /// Time to its next timer or tick (`delta_next`).
    pub delta_next_ns: u64,
    /// Longest wakeup latency that is allowed (PM QoS).
    pub latency_limit_ns: u64,
    /// `TICK_NSEC`.
    pub tick_ns: u64,
    /// The tick is stopped already (`tick_nohz_tick_stopped`).
    pub tick_stopped: bool,
}

/// The governor's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    /// Index of the state to enter.
    pub state: usize,
    /// The tick should stop.
    pub stop_tick: bool,
    /// Nothing that happened in the past could have changed the answer.
    pub forced: bool,
}

/// The CPU spins in this state (`CPUIDLE_FLAG_POLLING`). A state entered by
/// mwait also watches `need_resched`, but it is a state of the hardware.
pub(crate) fn spins(state: &IdleState) -> bool {
    state.polling && state.residency_ns == 0
}

impl Menu {
    /// Chooses a state (`menu_select`).
    pub fn select(&mut self, look: &Outlook) -> Choice {
        let states = look.states;
        let forced = Choice {
            state: 0,
            stop_tick: !spins(&states[0]),
            forced: true,
        };
        if states.len() == 1 {
            return forced;
        }
        if self.needs_update {
            self.update(look);
        }
        self.next_timer_ns = look.next_timer_ns;
        self.bucket = bucket(look.next_timer_ns) as u8;
        if look.latency_limit_ns == 0
            || look.next_timer_ns < states[1].residency_ns
            || look.latency_limit_ns < states[1].wakeup_ns
        {
            return forced;
        }
        let predicted_ns = self.predict(look);
        let latency_limit_ns = if look.tick_stopped {
            look.latency_limit_ns
        } else {
            look.latency_limit_ns.min(predicted_ns)
        };
        deepest(look, predicted_ns, latency_limit_ns)
    }

    /// The idle period is over: it took `residency_ns`, wakeup included
    /// (`cpuidle_enter_state`, `menu_reflect`).
    pub fn reflect(&mut self, end: Period) {
        self.last_state = end.state as u8;
        self.last_residency_ns = end.residency_ns;
        self.tick_wakeup = end.by_tick;
        self.poll_time_limit = end.poll_time_limit;
        self.needs_update = true;
    }

    /// Expected length of the idle period, ns.
    fn predict(&self, look: &Outlook) -> u64 {
        const UNIT: u64 = RESOLUTION * DECAY * NSEC_PER_USEC;
        let factor = u64::from(self.correction_factor[usize::from(self.bucket)]);
        let by_timer_us = ((look.next_timer_ns * factor + UNIT / 2) / UNIT) as u32;
        let us = by_timer_us.min(typical_interval(&self.intervals_us, by_timer_us));
        let predicted_ns = u64::from(us) * NSEC_PER_USEC;
        // Without a tick, nobody would correct a wrong choice of a shallow state.
        if look.tick_stopped && predicted_ns < look.tick_ns {
            return look.delta_next_ns;
        }
        predicted_ns
    }

    /// Learns from the last idle period (`menu_update`).
    fn update(&mut self, look: &Outlook) {
        self.needs_update = false;
        let state = &look.states[usize::from(self.last_state)];
        let measured = if self.tick_wakeup && self.next_timer_ns > look.tick_ns {
            // The tick was kept for nothing: it could have been idle for long.
            9 * MAX_INTERESTING_NS / 10
        } else if spins(state) && self.poll_time_limit {
            self.next_timer_ns
        } else if self.last_residency_ns > 2 * state.wakeup_ns {
            self.last_residency_ns - state.wakeup_ns
        } else {
            self.last_residency_ns / 2
        };
        let measured = measured.min(self.next_timer_ns);

        let factor = &mut self.correction_factor[usize::from(self.bucket)];
        *factor -= *factor / DECAY as u32;
        *factor += match measured {
            0 if self.next_timer_ns != 0 => 0,
            all if all == self.next_timer_ns || all >= MAX_INTERESTING_NS => RESOLUTION as u32,
            part => (RESOLUTION * part / self.next_timer_ns) as u32,
        };

        self.intervals_us[usize::from(self.interval_ptr)] = (measured / NSEC_PER_USEC) as u32;
        self.interval_ptr = (self.interval_ptr + 1) % INTERVALS as u8;
    }
}

/// An idle period that has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Period {
    /// State that the governor chose.
    pub state: usize,
    /// From its entry until the CPU executed again.
    pub residency_ns: u64,
    /// The tick ended it (`tick_nohz_idle_got_tick`).
    pub by_tick: bool,
    /// It was spent polling and lasted as long as polling may (`poll_time_limit`).
    pub poll_time_limit: bool,
}

/// Order of magnitude of a time (`which_bucket`).
fn bucket(ns: u64) -> usize {
    const LIMITS_US: [u64; BUCKETS - 1] = [10, 100, 1000, 10_000, 100_000];
    LIMITS_US
        .iter()
        .map(|us| usize::from(ns >= us * NSEC_PER_USEC))
        .sum()
}

/// Mean of the last intervals if they lie close together, once up to two of the
/// longest are left out; [`NO_PATTERN`] if they do not, or if all are at least
/// `predicted_us` long (`get_typical_interval`).
fn typical_interval(intervals_us: &[u32; INTERVALS], predicted_us: u32) -> u32 {
    let mut threshold = i32::MAX as u32;
    loop {
        let (mut sum, mut n, mut max, mut min) = (0u64, 0u32, 0, u32::MAX);
        for &value in intervals_us {
            if value <= threshold {
                sum += u64::from(value);
                n += 1;
                max = max.max(value);
                min = min.min(value);
            }
        }
        if min >= predicted_us {
            return NO_PATTERN;
        }
        let mean = divide(sum, n);
        let squares = intervals_us
            .iter()
            .filter(|&&value| value <= threshold)
            .map(|&value| u64::from(value).abs_diff(mean).pow(2))
            .sum();
        let variance = divide(squares, n);
        let mostly_alike = variance <= u64::MAX / 36
            && mean * mean > variance * 36
            && n as usize * 4 >= INTERVALS * 3;
        if mostly_alike || variance <= 400 {
            return mean as u32;
        }
        if n as usize * 4 <= INTERVALS * 3 {
            return NO_PATTERN;
        }
        threshold = max - 1;
    }
}

/// `sum / n`; the counts that occur are divided by without a division.
fn divide(sum: u64, n: u32) -> u64 {
    match n {
        8 => sum / 8,
        7 => sum / 7,
        6 => sum / 6,
        n => sum / u64::from(n),
    }
}

/// The deepest state that pays off within `predicted_ns` and wakes up within
/// `latency_limit_ns`; second half of `menu_select`.
fn deepest(look: &Outlook, mut predicted_ns: u64, latency_limit_ns: u64) -> Choice {
    let Outlook {
        states,
        tick_ns,
        tick_stopped,
        ..
    } = *look;
    let mut chosen = 0;
    for (i, state) in states.iter().enumerate() {
        if state.residency_ns > predicted_ns {
            // Rather a real state than busy polling, unless a timer comes very soon.
            if spins(&states[chosen])
                && state.wakeup_ns <= latency_limit_ns
                && state.residency_ns <= look.next_timer_ns
            {
                predicted_ns = state.residency_ns;
                chosen = i;
                break;
            }
            if predicted_ns < tick_ns {
                break;
            }
            if !tick_stopped {
                // Shallow so far: keep the tick, which will ask again.
                predicted_ns = states[chosen].residency_ns;
                break;
            }
            if states[chosen].residency_ns < tick_ns && state.residency_ns <= look.delta_next_ns {
                chosen = i;
            }
            return Choice {
                state: chosen,
                stop_tick: true,
                forced: false,
            };
        }
        if state.wakeup_ns > latency_limit_ns {
            break;
        }
        chosen = i;
    }
    let stop_tick = tick_stopped || !(spins(&states[chosen]) || predicted_ns < tick_ns);
    if !stop_tick {
        // The tick will come: no deeper than pays off until then.
        while chosen > 0 && states[chosen].residency_ns > look.delta_next_ns {
            chosen -= 1;
        }
    }
    Choice {
        state: chosen,
        stop_tick,
        forced: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alight_machine::IdleScope;

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
    fn arm() -> Vec<IdleState> {
        vec![state(1, 1), state(1500, 2000), state(1600, 2500)]
    }

    /// WFI and a state that pays off only after more than two ticks.
    fn arm_deep() -> Vec<IdleState> {
        vec![state(1, 1), state(811, 1890), state(9825, 9987)]
    }

    /// POLL, C1 by mwait, C2.
    fn x86() -> Vec<IdleState> {
        let watched = |state| IdleState {
            polling: true,
            ..state
        };
        vec![watched(state(0, 0)), watched(state(1, 2)), state(100, 200)]
    }

    fn look(states: &[IdleState], next_timer_ns: u64, to_tick_ns: u64) -> Outlook<'_> {
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
            by_tick: false,
            poll_time_limit: false,
        }
    }

    /// A governor that has seen idle periods of `residency_ns` with a timer at
    /// `next_timer_ns` until it knew nothing else.
    fn seasoned(states: &[IdleState], next_timer_ns: u64, residency_ns: u64) -> Menu {
        let mut menu = Menu::default();
        for _ in 0..50 {
            menu.select(&look(states, next_timer_ns, TICK));
            menu.reflect(period(residency_ns));
        }
        menu
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
                typical_interval(&intervals, predicted_us),
                expected,
                "{what}"
            );
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
            let choice = deepest(&look, predicted * US, u64::saturating_mul(limit, US));
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
        let (arm, x86) = (arm(), x86());
        let limited = |states, limit_ns| Outlook {
            latency_limit_ns: limit_ns,
            ..look(states, 10 * MS, TICK)
        };
        let cases = [
            (
                look(&arm[..1], 10 * MS, TICK),
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
            assert_eq!(Menu::default().select(&look), expected, "{what}");
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
            menu.select(&look(&states, next_timer, TICK));
            menu.reflect(period);
            menu.update(&look(&states, next_timer, TICK));
            assert_eq!(menu.intervals_us[0], expected_us, "{what}");
        }
    }

    #[test]
    fn polling_to_its_limit_counts_as_idle_until_the_timer() {
        let states = x86();
        let mut menu = Menu::default();
        menu.select(&look(&states, 300 * US, TICK));
        menu.reflect(Period {
            residency_ns: 2 * US,
            poll_time_limit: true,
            ..period(0)
        });
        menu.update(&look(&states, 300 * US, TICK));
        assert_eq!(menu.intervals_us[0], 300);
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
            menu.select(&look(&states, timer, TICK));
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
        let choice = menu.select(&look(&arm, 900 * MS, 3500 * US));
        assert_eq!(
            (choice.state, choice.stop_tick),
            (2, false),
            "3 ms are predicted"
        );
        // The timer wakes it every 20 ms.
        let mut menu = seasoned(&arm, 20 * MS, 20 * MS);
        let choice = menu.select(&look(&arm, 20 * MS, 3500 * US));
        assert_eq!(
            (choice.state, choice.stop_tick),
            (2, true),
            "20 ms are predicted"
        );
        // At first it knows only periods of length 0.
        let choice = Menu::default().select(&look(&arm, 20 * MS, 3500 * US));
        assert_eq!((choice.state, choice.stop_tick), (0, false), "boot");
    }
}
