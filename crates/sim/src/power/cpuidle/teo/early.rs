// SPDX-License-Identifier: GPL-2.0-only
//! teo of 5.1 to 5.13. For each state it counts how often the timer's time and the measured time
//! agreed, and how often not; and it remembers the last eight periods.
//!
//! Up to 5.4 times are whole microseconds, and a period lasts from the choice to the report of its
//! end.

use super::{DECAY_SHIFT, PULSE, time_ok};
use crate::power::cpuidle::governor::{Outlook, Period};

/// Number of periods remembered (`INTERVALS`).
const INTERVALS: usize = 8;
/// A period that lasted until the timer, or could have.
const TO_THE_TIMER: u64 = u64::MAX;

/// `struct teo_idle_state`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Metrics {
    /// Wakeups before the timer, after a time that suits this state.
    pub early_hits: u32,
    /// Wakeups by the timer whose time suited this state.
    pub hits: u32,
    /// Wakeups before the timer, whose time suited this state.
    pub misses: u32,
}

/// `struct teo_cpu`.
#[derive(Debug, Clone)]
pub(crate) struct Early {
    pub(super) states: Box<[Metrics]>,
    pub(super) intervals: [u64; INTERVALS],
    oldest: usize,
    sleep_length_ns: u64,
    pub(super) last: Option<Period>,
    whole_us: bool,
}

impl Early {
    pub fn new(states: usize, whole_us: bool) -> Self {
        Early {
            states: vec![Metrics::default(); states].into(),
            intervals: [TO_THE_TIMER; INTERVALS],
            oldest: 0,
            sleep_length_ns: 0,
            last: None,
            whole_us,
        }
    }

    pub fn forget(&mut self) {
        *self = Early::new(self.states.len(), self.whole_us);
    }

    /// A time in the kernel's unit.
    fn unit(&self, ns: u64) -> u64 {
        if self.whole_us { ns / 1000 } else { ns }
    }

    /// Returns the state, and whether the tick should stop.
    pub fn select(&mut self, look: &Outlook) -> (usize, bool) {
        if let Some(end) = self.last.take() {
            self.update(look, end);
        }
        self.sleep_length_ns = look.next_timer_ns;
        let (mut state, mut duration) = self.by_metrics(look);
        if state > 0 {
            (state, duration) = self.by_recent(look, state, duration);
        }

        let kept = look.states[state].spins || duration < self.unit(look.tick_ns);
        if kept && !look.tick_stopped {
            let to_tick = self.unit(look.delta_next_ns);
            if state > 0 && self.residency(look, state) > to_tick {
                state = self.shallower(look, state, to_tick);
            }
            return (state, false);
        }
        (state, true)
    }

    /// Residency of a state, in the kernel's unit.
    #[inline(always)]
    fn residency(&self, look: &Outlook, state: usize) -> u64 {
        self.unit(look.states[state].residency_ns)
    }

    /// Returns the state that suits the timer, or the one with the most early wakeups instead, and
    /// the expected time.
    #[inline(always)]
    fn by_metrics(&self, look: &Outlook) -> (usize, u64) {
        let mut duration = self.unit(look.next_timer_ns);
        let latency_limit = self.unit(look.latency_limit_ns);

        let mut state = 0;
        let mut forbidden = look.states.len();
        let (mut best, mut second) = (None, None);
        let mut early_hits = 0;
        for (i, metrics) in self.states.iter().enumerate() {
            if self.residency(look, i) > duration {
                break;
            }
            if self.unit(look.states[i].wakeup_ns) > latency_limit {
                forbidden = forbidden.min(i);
            }
            state = i;
            if early_hits < metrics.early_hits && time_ok(look, look.states[i].residency_ns) {
                (second, best) = (best, Some(i));
                early_hits = metrics.early_hits;
            }
        }

        // The timer is unreliable: take the state with the most early wakeups.
        if self.states[state].hits <= self.states[state].misses {
            if best == Some(state) {
                best = second;
            }
            if let Some(likely) = best {
                state = likely;
                duration = self.residency(look, likely);
            }
        }
        // These kernels take the first state that the latency limit forbids, not the one above it.
        (state.min(forbidden), duration)
    }

    /// If most of the last periods were shorter than `duration`: returns a shallower state, and the
    /// mean of those periods as the expected time.
    #[inline(always)]
    fn by_recent(&self, look: &Outlook, mut state: usize, mut duration: u64) -> (usize, u64) {
        let (mut count, mut sum) = (0, 0);
        for &interval in self.intervals.iter().filter(|&&i| i < duration) {
            count += 1;
            sum += interval;
        }
        if count > INTERVALS / 2 {
            let mean = sum / count as u64;
            let mean_ns = if self.whole_us { mean * 1000 } else { mean };
            if time_ok(look, mean_ns) {
                duration = mean;
                if self.residency(look, state) > mean {
                    state = self.shallower(look, state, mean);
                }
            }
        }
        (state, duration)
    }

    fn shallower(&self, look: &Outlook, state: usize, duration: u64) -> usize {
        (0..state)
            .rfind(|&i| self.unit(look.states[i].residency_ns) <= duration)
            .unwrap_or(0)
    }

    /// Updates the metrics by the last period (`teo_update`).
    fn update(&mut self, look: &Outlook, end: Period) {
        let sleep_length_ns = self.sleep_length_ns;
        // The end of polling or the tick ended it: it could have lasted until the timer.
        let caught = end.asks_again || end.by_tick && sleep_length_ns > look.tick_ns;
        let measured = if caught || end.span_ns >= sleep_length_ns {
            TO_THE_TIMER
        } else {
            let latency = self.unit(look.states[end.state].wakeup_ns);
            let measured = self.unit(match self.whole_us {
                true => end.span_ns,
                false => end.residency_ns,
            });
            match measured >= latency {
                true => measured - latency / 2,
                false => measured / 2,
            }
        };

        let (mut by_timer, mut hit) = (None, None);
        for i in 0..self.states.len() {
            let early_hits = &mut self.states[i].early_hits;
            *early_hits -= *early_hits >> DECAY_SHIFT;
            let residency = self.unit(look.states[i].residency_ns);
            if residency <= self.unit(sleep_length_ns) {
                by_timer = Some(i);
                if residency <= measured {
                    hit = Some(i);
                }
            }
        }
        if let Some(i) = by_timer {
            let metrics = &mut self.states[i];
            metrics.hits -= metrics.hits >> DECAY_SHIFT;
            metrics.misses -= metrics.misses >> DECAY_SHIFT;
            if hit == by_timer {
                metrics.hits += PULSE;
            } else {
                metrics.misses += PULSE;
                if let Some(early) = hit {
                    self.states[early].early_hits += PULSE;
                }
            }
        }
        self.intervals[self.oldest] = measured;
        self.oldest = (self.oldest + 1) % INTERVALS;
    }
}
