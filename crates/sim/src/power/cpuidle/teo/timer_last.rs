// SPDX-License-Identifier: GPL-2.0-only
//! teo of today's kernels, as read in 7.2. It has bins as in `recent.rs`, but it first chooses a
//! state by the bins, and looks up the timer only if its time can matter. Ticks and short periods
//! are counted separately. The changes of 7.1 for a stopped tick were read in the patch itself
//! (mail of 23 February 2026, "teo: Rearrange stopped tick handling").

use super::{DECAY_SHIFT, PULSE, shallower};
use crate::power::cpuidle::governor::{Outlook, Period, RESIDENCY_THRESHOLD_NS};

/// With a latency limit below this the timer is not looked up, ns.
const LATENCY_THRESHOLD_NS: u64 = RESIDENCY_THRESHOLD_NS / 2;
/// Sleep length if the timer was not looked up (`KTIME_MAX`); length of an endless period
/// (`S64_MAX`).
const ENDLESS: i64 = i64::MAX;

/// `struct teo_bin`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bin {
    pub intercepts: u32,
    pub hits: u32,
}

/// `struct teo_cpu`.
#[derive(Debug, Clone)]
pub(crate) struct TimerLast {
    pub(super) bins: Box<[Bin]>,
    pub(super) sleep_length_ns: i64,
    pub(super) total: u32,
    /// Wakeups by the tick.
    pub(super) total_tick: u32,
    /// Intercepts after at most a tick.
    pub(super) tick_intercepts: u32,
    /// Wakeups after less than [`RESIDENCY_THRESHOLD_NS`], or before the exit latency had passed.
    pub(super) short_idles: u32,
    /// See [`crate::kernel::TeoForm`].
    near_timer_is_net: bool,
    pub(super) last: Option<Period>,
}

/// Reduces a metric by an eighth, or to 0 if the eighth rounds to 0 (`teo_decay`).
fn decay(metric: &mut u32) {
    *metric = match *metric >> DECAY_SHIFT {
        0 => 0,
        part => *metric - part,
    };
}

impl TimerLast {
    pub fn new(states: usize, near_timer_is_net: bool) -> Self {
        TimerLast {
            bins: vec![Bin::default(); states].into(),
            sleep_length_ns: 0,
            total: 0,
            total_tick: 0,
            tick_intercepts: 0,
            short_idles: 0,
            near_timer_is_net,
            last: None,
        }
    }

    pub fn forget(&mut self) {
        *self = TimerLast::new(self.bins.len(), self.near_timer_is_net);
    }

    /// Returns the state, and whether the tick should stop.
    pub fn select(&mut self, look: &Outlook) -> (usize, bool) {
        if let Some(end) = self.last.take() {
            self.update(look, end);
        }
        self.sleep_length_ns = ENDLESS;
        let states = look.states;
        if states.len() < 2 {
            let duration_ns = states[0].residency_ns;
            return settle(look, 0, duration_ns, look.tick_ns / 2);
        }
        let allowed = (1..states.len())
            .rfind(|&i| states[i].wakeup_ns <= look.latency_limit_ns)
            .unwrap_or(0);
        let mut state = self.by_metrics(self.shallowest(look)).min(allowed);

        let tiny = state == 0 || states[state].residency_ns < RESIDENCY_THRESHOLD_NS;
        let hasty = 2 * self.short_idles >= self.total;
        let asks = look.tick_stopped && self.near_timer_is_net;
        if !asks && tiny && (hasty || look.latency_limit_ns < LATENCY_THRESHOLD_NS) {
            return (state, look.tick_stopped);
        }
        let mut duration_ns = look.next_timer_ns;
        self.sleep_length_ns = duration_ns as i64;

        // Nothing would correct a shallow state before a timer that is far off.
        let far = duration_ns > 2 * look.tick_ns;
        if asks && far && states[state].residency_ns < look.tick_ns {
            let deeper = state + 1..=allowed;
            let found = deeper
                .rev()
                .find(|&i| states[i].residency_ns <= duration_ns);
            return (found.unwrap_or(state), true);
        }
        if state == 0 {
            return (0, look.tick_stopped);
        }
        if states[state].residency_ns > duration_ns {
            state = shallower(states, state, duration_ns);
        }
        if states[state].residency_ns < look.tick_ns && 3 * self.tick_intercepts >= 2 * self.total {
            duration_ns = look.tick_ns / 2;
        }
        settle(look, state, duration_ns, look.delta_next_ns)
    }

    /// The shallowest state that the metrics may lead to. Up to 7.0, with the tick stopped, it is
    /// the first with a target residency of at least a tick; or the deepest, if its target
    /// residency is the same.
    fn shallowest(&self, look: &Outlook) -> usize {
        let (states, deepest) = (look.states, self.bins.len() - 1);
        if !look.tick_stopped || self.near_timer_is_net {
            return 0;
        }
        let pays = (0..deepest).find(|&i| states[i].residency_ns >= look.tick_ns);
        let least = pays.unwrap_or(deepest);
        match states[least].residency_ns == states[deepest].residency_ns {
            true => deepest,
            false => least,
        }
    }

    /// The deepest state, or a shallower one, from `least` on, that suits most of the wakeups which
    /// were too early for the deepest.
    fn by_metrics(&self, least: usize) -> usize {
        let bins: &[Bin] = &self.bins;
        let deepest = bins.len() - 1;
        let above = &bins[..deepest];
        let intercepts: u32 = above.iter().map(|bin| bin.intercepts).sum();
        let hits: u32 = above.iter().map(|bin| bin.hits).sum();
        if 2 * intercepts <= self.total.wrapping_sub(hits) {
            return deepest;
        }
        // Of bins with equal counts, the deepest.
        let most = (0..deepest)
            .max_by_key(|&i| above[i].intercepts)
            .unwrap_or(0);
        let mut sum = 0;
        (least..deepest)
            .rfind(|&i| {
                sum += above[i].intercepts;
                2 * sum > intercepts && i <= most
            })
            .unwrap_or(least)
    }

    /// Updates the metrics by the last period (`teo_update`).
    fn update(&mut self, look: &Outlook, end: Period) {
        let latency_ns = look.states[end.state].wakeup_ns as i64;
        decay(&mut self.short_idles);
        let measured_ns = if end.asks_again {
            ENDLESS
        } else {
            let residency_ns = end.residency_ns as i64;
            let (measured_ns, short) = match residency_ns >= latency_ns {
                true => {
                    let measured_ns = residency_ns - latency_ns / 2;
                    (measured_ns, measured_ns < RESIDENCY_THRESHOLD_NS as i64)
                }
                false => (residency_ns / 2, true),
            };
            self.short_idles += if short { PULSE } else { 0 };
            measured_ns
        };

        let mut before = 0;
        let (mut by_timer, mut by_duration) = (0, 0);
        for (i, bin) in self.bins.iter_mut().enumerate() {
            decay(&mut bin.hits);
            decay(&mut bin.intercepts);
            before += bin.hits + bin.intercepts;
            let residency_ns = look.states[i].residency_ns as i64;
            if residency_ns <= self.sleep_length_ns {
                by_timer = i;
                if residency_ns <= measured_ns {
                    by_duration = i;
                }
            }
        }
        self.total = before + PULSE;
        decay(&mut self.tick_intercepts);
        decay(&mut self.total_tick);
        if end.by_tick {
            self.total_tick += PULSE;
            let deepest = self.bins.len() - 1;
            if 3 * self.total_tick > 2 * self.total {
                // Nearly all wakeups are ticks: the tick should stop.
                self.bins[deepest].hits += PULSE;
                return;
            }
            if 3 * self.tick_intercepts < 2 * before {
                // No intercept came, though one was expected.
                self.bins[by_timer].hits += PULSE;
                return;
            }
        }
        let on_time = self.sleep_length_ns - measured_ns < latency_ns / 2;
        if by_timer == by_duration && on_time {
            self.bins[by_timer].hits += PULSE;
        } else {
            self.bins[by_duration].intercepts += PULSE;
            if measured_ns <= look.tick_ns as i64 {
                self.tick_intercepts += PULSE;
            }
        }
    }
}

/// Decides whether the tick stops. If it goes on, limits the state to one that pays off until the
/// tick, `to_tick_ns` from now.
fn settle(look: &Outlook, state: usize, duration_ns: u64, to_tick_ns: u64) -> (usize, bool) {
    let stops = !look.states[state].spins && duration_ns >= look.tick_ns;
    if stops || look.tick_stopped {
        return (state, true);
    }
    match state > 0 && look.states[state].residency_ns > to_tick_ns {
        true => (shallower(look.states, state, to_tick_ns), false),
        false => (state, false),
    }
}
