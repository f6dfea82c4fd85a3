// SPDX-License-Identifier: GPL-2.0-only
//! The menu governor of 3.8 to 3.10. The tick is stopped before the governor is asked. The
//! prediction is the time to the next timer times its correction factor, or the mean of the last
//! eight periods if they are alike ("repeat mode"). A timer of its own asks it again when a shallow
//! state turns out to be too shallow.
//!
//! Differences from the later menu: the mean counts even if it is later than the timer; periods are
//! remembered with their exits; the prediction limits only each state's own latency; nothing
//! depends on the tick. The performance multiplier is 1: no task of the modelled workloads waits
//! for I/O, and the code for the load is commented out in these kernels. Read in 3.9.6.

use super::governor::{Choice, Outlook, Period};

const NSEC_PER_USEC: u64 = 1000;
/// Number of periods remembered (`INTERVALS`).
const INTERVALS: usize = 8;
/// Number of orders of magnitude of the time to the next timer (`BUCKETS / 2`).
const BUCKETS: usize = 6;
/// A correction factor of `RESOLUTION * DECAY` is 1.
const RESOLUTION: u64 = 1024;
const DECAY: u64 = 8;
const UNITY: u64 = RESOLUTION * DECAY;
/// Periods of at least this length count as predicted perfectly, us (`MAX_INTERESTING`).
const MAX_INTERESTING_US: u64 = 50_000;
/// Margin by which the governor's timer exceeds the prediction, us (`MAX_DEVIATION`).
const MAX_DEVIATION_US: u64 = 60;
/// If the next timer is farther off, it pays to wake up for a deeper state, us
/// (`perfect_cstate_ms`).
const PERFECT_US: u64 = 30_000;

/// Why the governor wants to be asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alarm {
    /// The pattern predicted an earlier end of the period (`MENU_HRTIMER_REPEAT`).
    Repeat,
    /// The prediction was far below the time to the timer (`MENU_HRTIMER_GENERAL`).
    General,
}

/// State of the governor for one CPU (`struct menu_device`).
#[derive(Debug, Clone)]
pub(crate) struct RepeatMenu {
    expected_us: u64,
    /// Exit latency of the last chosen state, us; 0 if the search did not choose it.
    exit_us: u64,
    bucket: usize,
    /// 0: never used.
    correction_factor: [u64; BUCKETS],
    intervals: [u64; INTERVALS],
    oldest: usize,
    last: Option<Period>,
    /// The governor's timer that is set, and its time, ns.
    alarm: Option<(Alarm, u64)>,
}

impl Default for RepeatMenu {
    /// The state after `menu_enable_device`.
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

    /// Sets the governor's timer, since a deeper state than the chosen one would pay off later.
    fn set_alarm(&mut self, predicted_us: u64, repeats: bool) {
        // Both are `unsigned int` in the kernel, in us and in ns.
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

    /// Books the end of an idle period (`menu_reflect`; `menu_hrtimer_notify` if the governor's
    /// timer expired, else `menu_hrtimer_cancel`).
    pub fn reflect(&mut self, end: Period) {
        let alarm = self.alarm.take();
        if end.asks_again && alarm.is_some_and(|(alarm, _)| alarm == Alarm::General) {
            // The correction factor was wrong.
            self.correction_factor[self.bucket] = UNITY;
        }
        self.last = Some(end);
    }

    /// Mean of the last periods if they are close together after up to two of the longest are left
    /// out, us (`get_typical_interval`).
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
            // Leaves out all that are as long as the longest.
            let longest = kept[kept.len() - 1];
            kept = &kept[..kept.partition_point(|&us| us < longest)];
        }
    }

    /// Updates the correction factor and the periods by the last period (`menu_update`).
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
