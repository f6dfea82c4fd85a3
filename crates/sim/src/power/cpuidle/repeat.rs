// SPDX-License-Identifier: GPL-2.0-only
//! The menu governor of 3.8 to 3.10: the tick has stopped before it is asked, the
//! prediction is the time to the next timer times its correction, or the mean of
//! the last eight periods if they look alike ("repeat mode"), and a timer of its
//! own has it asked again where a shallow state turns out to be too shallow.
//!
//! What the later one does otherwise: a mean counts though it lies behind the
//! timer; periods are remembered with their exits; no state limits the latency
//! by the prediction but its own; nothing depends on the tick. Nobody waits for
//! I/O in the workloads modelled, and the load has no part in the performance
//! multiplier of these kernels (the code for it is commented out): it is 1. Read
//! in 3.9.6.

use super::governor::{Choice, Outlook, Period};

const NSEC_PER_USEC: u64 = 1000;
/// Periods remembered (`INTERVALS`).
const INTERVALS: usize = 8;
/// Orders of magnitude of the time to the next timer (`BUCKETS / 2`).
const BUCKETS: usize = 6;
/// A correction factor of `RESOLUTION * DECAY` is 1.
const RESOLUTION: u64 = 1024;
const DECAY: u64 = 8;
const UNITY: u64 = RESOLUTION * DECAY;
/// Periods from here on count as predicted perfectly, us (`MAX_INTERESTING`).
const MAX_INTERESTING_US: u64 = 50_000;
/// What periods of a pattern may differ by, us (`MAX_DEVIATION`).
const MAX_DEVIATION_US: u64 = 60;
/// With a timer farther off than this it is worth to wake up for a deeper state, us
/// (`perfect_cstate_ms`).
const PERFECT_US: u64 = 30_000;

/// Why the governor wants to be asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alarm {
    /// The pattern would have ended the period before (`MENU_HRTIMER_REPEAT`).
    Repeat,
    /// The prediction was far below the time to the timer (`MENU_HRTIMER_GENERAL`).
    General,
}

/// What the governor remembers of one CPU (`struct menu_device`).
#[derive(Debug, Clone)]
pub(crate) struct RepeatMenu {
    expected_us: u64,
    /// Latency that the last state was chosen with; 0 if it was none of the search.
    exit_us: u64,
    bucket: usize,
    /// 0: never used.
    correction_factor: [u64; BUCKETS],
    intervals: [u64; INTERVALS],
    oldest: usize,
    last: Option<Period>,
    /// The timer that is set, and for how long, ns.
    alarm: Option<(Alarm, u64)>,
}

impl Default for RepeatMenu {
    /// As `menu_enable_device` leaves it.
    fn default() -> Self {
        RepeatMenu {
            expected_us: 0,
            exit_us: 0,
            bucket: 0,
            correction_factor: [0; BUCKETS],
            intervals: [0; INTERVALS],
            oldest: 0,
            last: None,
            alarm: None,
        }
    }
}

impl RepeatMenu {
    /// Chooses a state (`menu_select`).
    pub fn select(&mut self, look: &Outlook) -> Choice {
        if let Some(end) = self.last.take() {
            self.update(end);
        }
        let choice = |state| Choice {
            state,
            stop_tick: true,
            // Polling has no limit in these kernels.
            forced: true,
        };
        self.exit_us = 0;
        self.alarm = None;
        let limit_us = look.latency_limit_ns / NSEC_PER_USEC;
        if limit_us == 0 {
            return choice(0);
        }
        self.expected_us = look.next_timer_ns / NSEC_PER_USEC;
        self.bucket = bucket(self.expected_us);
        let factor = &mut self.correction_factor[self.bucket];
        if *factor == 0 {
            *factor = UNITY;
        }
        let by_timer_us = (self.expected_us * *factor + UNITY / 2) / UNITY;
        let repeated_us = self.typical();
        let predicted_us = repeated_us.unwrap_or(by_timer_us);

        let first = usize::from(look.states[0].spins && look.states.len() > 1);
        let mut state = if self.expected_us > 5 { first } else { 0 };
        let mut too_long = false;
        for (i, found) in look.states.iter().enumerate().skip(first) {
            if found.residency_ns / NSEC_PER_USEC > predicted_us {
                too_long = true;
                continue;
            }
            let exit_us = found.wakeup_ns / NSEC_PER_USEC;
            if exit_us <= limit_us.min(predicted_us) {
                (state, self.exit_us) = (i, exit_us);
            }
        }
        if too_long {
            self.set_alarm(predicted_us, repeated_us.is_some());
        }
        choice(state)
    }

    /// A state deeper than the chosen one would pay off later.
    fn set_alarm(&mut self, predicted_us: u64, repeats: bool) {
        // An unsigned int in the kernel, and so are its nanoseconds.
        let timer_us = (2 * (predicted_us + MAX_DEVIATION_US)) as u32;
        let timer_ns = u64::from(timer_us.wrapping_mul(NSEC_PER_USEC as u32));
        self.alarm = if repeats && u64::from(timer_us.wrapping_mul(4)) < self.expected_us {
            Some((Alarm::Repeat, timer_ns))
        } else if PERFECT_US < self.expected_us {
            Some((Alarm::General, timer_ns))
        } else {
            None
        };
    }

    /// Time from the choice after which it wants to be asked again, ns.
    pub fn alarm_ns(&self) -> Option<u64> {
        self.alarm.map(|(_, ns)| ns)
    }

    /// The idle period is over (`menu_reflect`; `menu_hrtimer_notify` if its timer
    /// expired, else `menu_hrtimer_cancel`).
    pub fn reflect(&mut self, end: Period) {
        let alarm = self.alarm.take();
        if end.asks_again && alarm.is_some_and(|(alarm, _)| alarm == Alarm::General) {
            // What was learnt is of no use.
            self.correction_factor[self.bucket] = UNITY;
        }
        self.last = Some(end);
    }

    /// Mean of the last periods if they lie close together, once up to two of the
    /// longest are left out, us (`get_typical_interval`).
    fn typical(&self) -> Option<u64> {
        let mut sorted = self.intervals;
        sorted.sort_unstable();
        let mut kept = &sorted[..];
        loop {
            let n = kept.len() as u64;
            let mean = kept.iter().sum::<u64>() / n;
            let squares: u64 = kept.iter().map(|us| us.abs_diff(mean).pow(2)).sum();
            let deviation = (squares / n).isqrt();
            let most = 4 * kept.len() >= 3 * INTERVALS;
            if mean > 6 * deviation && most || deviation <= 20 {
                return Some(mean);
            }
            if 4 * kept.len() <= 3 * INTERVALS {
                return None;
            }
            // All that are as long as the longest go.
            let longest = kept[kept.len() - 1];
            kept = &kept[..kept.partition_point(|&us| us < longest)];
        }
    }

    /// Learns from the last period (`menu_update`).
    fn update(&mut self, end: Period) {
        let idle_us = end.residency_ns / NSEC_PER_USEC;
        let measured_us = match idle_us > self.exit_us {
            true => idle_us - self.exit_us,
            false => idle_us,
        };
        let factor = &mut self.correction_factor[self.bucket];
        *factor = *factor * (DECAY - 1) / DECAY;
        *factor += match self.expected_us > 0 && measured_us < MAX_INTERESTING_US {
            true => RESOLUTION * measured_us / self.expected_us,
            false => RESOLUTION,
        };
        *factor = (*factor).max(1);
        self.intervals[self.oldest] = idle_us;
        self.oldest = (self.oldest + 1) % INTERVALS;
    }
}

/// Order of magnitude of a time (`which_bucket`).
fn bucket(us: u64) -> usize {
    const LIMITS_US: [u64; BUCKETS - 1] = [10, 100, 1000, 10_000, 100_000];
    LIMITS_US.iter().filter(|&&limit| us >= limit).count()
}

#[cfg(test)]
mod tests;
