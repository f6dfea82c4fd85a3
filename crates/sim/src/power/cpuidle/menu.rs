// SPDX-License-Identifier: GPL-2.0-only
//! The menu governor (`drivers/cpuidle/governors/menu.c`). It predicts how long the CPU will be
//! idle, and chooses the deepest state that pays off in that time.
//!
//! The prediction is the time to the next timer times a correction factor: the share of such times
//! that passed in the past. If the last eight idle periods are alike and shorter, it is their
//! typical length. Up to 6.5 the governor looks up the timer first. Later kernels skip it if the
//! pattern predicts a very short time ([`crate::kernel::PatternFirst`] has the differences between
//! them).
//!
//! Not modelled: the second half of the correction factors (`nr_iowaiters`) and the performance
//! multiplier, since no task of the modelled workloads waits for I/O.

use super::governor::{Choice, Outlook, Period, RESIDENCY_THRESHOLD_NS};
use crate::base::queue::NEVER;
use crate::kernel::{Outliers, PatternFirst};

const NSEC_PER_USEC: u64 = 1000;
/// Number of idle periods remembered (`INTERVALS`).
const INTERVALS: usize = 8;
/// Number of orders of magnitude of the time to the next timer (`BUCKETS / 2`).
const BUCKETS: usize = 6;
/// A correction factor of `RESOLUTION * DECAY` is 1: the whole time to the next timer passed.
const RESOLUTION: u64 = 1024;
const DECAY: u64 = 8;
/// Idle periods of at least this length count as predicted perfectly (`MAX_INTERESTING`).
const MAX_INTERESTING_NS: u64 = 50_000 * NSEC_PER_USEC;
/// No prediction by pattern (`UINT_MAX`).
const NO_PATTERN: u32 = u32::MAX;

/// State of the governor for one CPU (`struct menu_device`), with its last idle period (`struct
/// cpuidle_device`).
#[derive(Debug, Clone)]
pub(crate) struct Menu {
    next_timer_ns: u64,
    last_residency_ns: u64,
    intervals: Intervals,
    correction_factor: [u32; BUCKETS],
    bucket: u8,
    last_state: u8,
    needs_update: bool,
    tick_wakeup: bool,
    poll_time_limit: bool,
}

impl Default for Menu {
    /// The state after `menu_enable_device`.
    fn default() -> Self {
        Menu {
            next_timer_ns: 0,
            last_residency_ns: 0,
            intervals: Intervals::default(),
            correction_factor: [(RESOLUTION * DECAY) as u32; BUCKETS],
            bucket: 0,
            last_state: 0,
            needs_update: false,
            tick_wakeup: false,
            poll_time_limit: false,
        }
    }
}

impl Menu {
    /// Chooses a state (`menu_select`). `pattern_first`: see [`crate::kernel::MenuForm`].
    #[inline]
    pub fn select(&mut self, look: &Outlook, pattern_first: Option<PatternFirst>) -> Choice {
        let states = look.states;
        let forced = Choice {
            state: 0,
            stop_tick: !states[0].spins,
            forced: true,
        };
        if states.len() == 1 {
            return forced;
        }
        if self.needs_update {
            self.update(look);
        }
        let pattern_ns = pattern_first.and_then(|rules| self.pattern_ns(rules));
        let soon = pattern_ns.filter(|&ns| {
            let believed = !look.tick_stopped || pattern_first.is_some_and(|rules| rules.hurries);
            ns <= RESIDENCY_THRESHOLD_NS && believed
        });
        let look = match soon {
            // The timer is not looked up.
            Some(_) => Outlook {
                next_timer_ns: NEVER,
                delta_next_ns: look.tick_ns / 2,
                ..*look
            },
            None => *look,
        };
        let look = &look;
        self.next_timer_ns = look.next_timer_ns;
        self.bucket = bucket(look.next_timer_ns) as u8;
        if look.latency_forbids_all() || look.next_timer_ns < states[1].residency_ns {
            return forced;
        }
        let predicted_ns = match pattern_first {
            Some(rules) => self.predict_beside(look, (pattern_ns, soon), rules),
            None => self.predict(look),
        };
        let hurries = pattern_first.is_none_or(|rules| rules.hurries);
        let latency_limit_ns = match hurries && !look.tick_stopped {
            true => look.latency_limit_ns.min(predicted_ns),
            false => look.latency_limit_ns,
        };
        deepest(look, predicted_ns, latency_limit_ns, !hurries)
    }

    /// Books the end of an idle period (`cpuidle_enter_state`, `menu_reflect`). Its length includes
    /// the wakeup.
    pub fn reflect(&mut self, end: Period) {
        self.last_state = end.state as u8;
        self.last_residency_ns = end.residency_ns;
        self.tick_wakeup = end.by_tick;
        self.poll_time_limit = end.asks_again;
        self.needs_update = true;
    }

    /// Expected length of the idle period, ns.
    fn predict(&self, look: &Outlook) -> u64 {
        let by_timer_us = self.by_timer_us(look);
        let us = by_timer_us.min(self.intervals.typical(by_timer_us));
        let predicted_ns = u64::from(us) * NSEC_PER_USEC;
        // Without a tick nothing would correct a state that is too shallow.
        if look.tick_stopped && predicted_ns < look.tick_ns {
            return look.delta_next_ns;
        }
        predicted_ns
    }

    /// Typical length of the last periods if they are alike, ns.
    #[inline]
    fn pattern_ns(&self, rules: PatternFirst) -> Option<u64> {
        let us = match rules.outliers {
            Outliers::Longest => self.intervals.typical_of_shorter(),
            Outliers::BothEnds => self.intervals.typical_of_both_ends(),
        };
        us.map(|us| u64::from(us) * NSEC_PER_USEC)
    }

    /// Expected length, ns, after the search for a pattern. `soon`: the pattern's length if it is
    /// so short that the timer was not looked up.
    fn predict_beside(
        &self,
        look: &Outlook,
        (pattern_ns, soon): (Option<u64>, Option<u64>),
        rules: PatternFirst,
    ) -> u64 {
        let predicted_ns = soon.unwrap_or_else(|| {
            let by_timer_ns = u64::from(self.by_timer_us(look)) * NSEC_PER_USEC;
            pattern_ns.map_or(by_timer_ns, |ns| ns.min(by_timer_ns))
        });
        // A timer within two ticks corrects a wrong choice soon enough.
        let net = rules.near_timer_is_net && look.next_timer_ns <= 2 * look.tick_ns;
        if look.tick_stopped && predicted_ns < look.tick_ns && !net {
            return look.next_timer_ns;
        }
        predicted_ns
    }

    /// Time to the next timer times the correction factor, us.
    fn by_timer_us(&self, look: &Outlook) -> u32 {
        const UNIT: u64 = RESOLUTION * DECAY * NSEC_PER_USEC;
        let factor = u64::from(self.correction_factor[usize::from(self.bucket)]);
        ((look.next_timer_ns * factor + UNIT / 2) / UNIT) as u32
    }

    /// Updates the correction factor and the periods by the last idle period (`menu_update`).
    fn update(&mut self, look: &Outlook) {
        self.needs_update = false;
        let state = &look.states[usize::from(self.last_state)];
        let asleep = if self.last_residency_ns > 2 * state.wakeup_ns {
            self.last_residency_ns - state.wakeup_ns
        } else {
            self.last_residency_ns / 2
        };
        let measured = if self.tick_wakeup && self.next_timer_ns > look.tick_ns {
            // The tick was kept in vain: the CPU could have been idle for long.
            9 * MAX_INTERESTING_NS / 10
        } else if state.spins && self.poll_time_limit {
            self.next_timer_ns
        } else {
            asleep
        };
        let measured = measured.min(self.next_timer_ns);

        let factor = &mut self.correction_factor[usize::from(self.bucket)];
        *factor -= *factor / DECAY as u32;
        *factor += if measured == self.next_timer_ns || measured >= MAX_INTERESTING_NS {
            RESOLUTION as u32
        } else {
            (RESOLUTION * measured / self.next_timer_ns) as u32
        };

        self.intervals
            .push((measured / NSEC_PER_USEC).min(LONGEST_US) as u32);
    }
}

/// Longer times, and a timer that never comes, count as this: 18 minutes. Eight squares of it fit
/// 64 bits.
const LONGEST_US: u64 = 1 << 30;

/// Order of magnitude of a time (`which_bucket`).
fn bucket(ns: u64) -> usize {
    const LIMITS_US: [u64; BUCKETS - 1] = [10, 100, 1000, 10_000, 100_000];
    LIMITS_US
        .iter()
        .map(|us| usize::from(ns >= us * NSEC_PER_USEC))
        .sum()
}

/// The last idle periods, us: in the order they came, sorted by length, and summed, so that the
/// search for a pattern needs no loop over them.
///
/// A period is below 2^31 us. It is signed, since vector instructions of every x86-64 compare
/// signed numbers.
#[derive(Debug, Clone)]
struct Intervals {
    last: [i32; INTERVALS],
    /// The shortest first; the last element is longer than any period.
    sorted: [i32; INTERVALS + 1],
    sum: u64,
    squares: u64,
    /// Index of the oldest in `last`.
    oldest: u8,
}

impl Default for Intervals {
    fn default() -> Self {
        let mut sorted = [0; INTERVALS + 1];
        sorted[INTERVALS] = i32::MAX;
        Intervals {
            last: [0; INTERVALS],
            sorted,
            sum: 0,
            squares: 0,
            oldest: 0,
        }
    }
}

impl Intervals {
    /// Replaces the oldest period by a new one.
    #[inline]
    fn push(&mut self, us: u32) {
        let us = us as i32;
        let oldest = usize::from(self.oldest) % INTERVALS;
        let old = std::mem::replace(&mut self.last[oldest], us);
        self.oldest = oldest as u8 + 1;
        let (more, less) = (us as u64, old as u64);
        self.sum = self.sum + more - less;
        self.squares = self.squares + more * more - less * less;

        // Removes the old one, then inserts the new one. Their places are unpredictable, so there
        // is no branch on them.
        let s = self.sorted;
        let mut rest = [0; INTERVALS + 1];
        for i in 0..INTERVALS {
            rest[i + 1] = if s[i] < old { s[i] } else { s[i + 1] };
        }
        for i in 0..INTERVALS {
            self.sorted[i] = us.min(rest[i + 1]).max(rest[i]);
        }
    }

    /// Their mean if they are close together after up to two of the longest are left out;
    /// [`NO_PATTERN`] if they are not, or if all are at least `predicted_us` long
    /// (`get_typical_interval`).
    #[inline]
    fn typical(&self, predicted_us: u32) -> u32 {
        if self.sorted[0] as u32 >= predicted_us {
            return NO_PATTERN;
        }
        if let Some(mean) = mean_if_alike(self.sum, self.squares, 8) {
            return mean;
        }
        let [_, _, _, _, _, third, second, first, _] = self.sorted;
        if first == second || second == third {
            return self.typical_with_ties();
        }
        // Each count has code of its own, so the compiler replaces the division by a constant.
        let (first, second) = (first as u64, second as u64);
        let (sum, squares) = (self.sum - first, self.squares - first * first);
        if let Some(mean) = mean_if_alike(sum, squares, 7) {
            return mean;
        }
        let (sum, squares) = (sum - second, squares - second * second);
        mean_if_alike(sum, squares, 6).unwrap_or(NO_PATTERN)
    }

    /// Their mean if they are close together after up to two of the longest are left out
    /// (`get_typical_interval` of 6.6 and 6.12). Periods of length 0 are no pattern.
    fn typical_of_shorter(&self) -> Option<u32> {
        let (mut sum, mut squares, mut n) = (self.sum, self.squares, INTERVALS);
        while n != 0 && self.sorted[n - 1] != 0 {
            if let Some(mean) = mean_if_alike(sum, squares, n as u64) {
                return Some(mean);
            }
            if n * 4 <= INTERVALS * 3 {
                return None;
            }
            let longest = self.sorted[n - 1];
            while n != 0 && self.sorted[n - 1] == longest {
                n -= 1;
                sum -= longest as u64;
                squares -= longest as u64 * longest as u64;
            }
        }
        None
    }

    /// Their mean if they are close together after at most two are left out: the shortest or the
    /// longest, whichever is farther from the mean (`get_typical_interval` of 7.2).
    fn typical_of_both_ends(&self) -> Option<u32> {
        let (mut low, mut high) = (0, INTERVALS);
        // Sums over those that are kept.
        let (mut sum, mut squares) = (self.sum, self.squares);
        while low < high && self.sorted[high - 1] != 0 {
            let n = (high - low) as u64;
            let mean = sum / n;
            let variance = squares / n - mean * mean;
            let most = n * 4 >= INTERVALS as u64 * 3;
            let close = mean * mean > variance.saturating_mul(36) && most;
            if close || variance <= 400 {
                return Some(mean as u32);
            }
            if n * 4 <= INTERVALS as u64 * 3 {
                return None;
            }
            let (shortest, longest) = (self.sorted[low], self.sorted[high - 1]);
            let low_goes = mean - shortest as u64 > longest as u64 - mean;
            let farthest = if low_goes { shortest } else { longest };
            while low < high && self.sorted[if low_goes { low } else { high - 1 }] == farthest {
                sum -= farthest as u64;
                squares -= farthest as u64 * farthest as u64;
                match low_goes {
                    true => low += 1,
                    false => high -= 1,
                }
            }
        }
        None
    }

    /// [`Intervals::typical`] if several of the longest are equal: they are left out together.
    #[inline(never)]
    fn typical_with_ties(&self) -> u32 {
        let (mut sum, mut squares, mut n) = (self.sum, self.squares, INTERVALS);
        while n * 4 > INTERVALS * 3 {
            let longest = self.sorted[n - 1];
            while n != 0 && self.sorted[n - 1] == longest {
                n -= 1;
                sum -= longest as u64;
                squares -= longest as u64 * longest as u64;
            }
            if let Some(mean) = mean_if_alike(sum, squares, n as u64) {
                return mean;
            }
        }
        NO_PATTERN
    }
}

/// Mean of `n` periods with this sum and sum of squares, if they are close together: their standard
/// deviation is at most 20 us or, with three quarters of the periods, below a sixth of the mean.
#[inline(always)]
fn mean_if_alike(sum: u64, squares: u64, n: u64) -> Option<u32> {
    let mean = sum / n;
    // The sum of (value - mean)^2 in one pass. It is exact: the result fits even where a term does
    // not. Periods are below 2^40 ns, so 36 times their variance fits, too.
    let deviation = squares.wrapping_add(mean.wrapping_mul((n * mean).wrapping_sub(2 * sum)));
    let variance = deviation / n;
    let most = n * 4 >= INTERVALS as u64 * 3;
    (variance <= 400 || (most && mean * mean > variance * 36)).then_some(mean as u32)
}

/// The deepest state that pays off within `predicted_ns` and wakes up within `latency_limit_ns`
/// (second half of `menu_select`). `patient`: not [`PatternFirst::hurries`].
fn deepest(look: &Outlook, mut predicted_ns: u64, latency_limit_ns: u64, patient: bool) -> Choice {
    let Outlook {
        states,
        tick_ns,
        tick_stopped,
        ..
    } = *look;
    let mut chosen = 0;
    for (i, state) in states.iter().enumerate() {
        if patient && state.wakeup_ns > latency_limit_ns {
            break;
        }
        if state.residency_ns > predicted_ns {
            // Prefers a real state to polling, unless a timer comes very soon.
            let better = match patient {
                true => {
                    state.wakeup_ns <= predicted_ns && state.residency_ns < RESIDENCY_THRESHOLD_NS
                }
                false => true,
            };
            if states[chosen].spins
                && better
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
                // The state is shallow so far: keep the tick, which asks the governor again.
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
    within_tick(look, chosen, predicted_ns)
}

/// Stops the tick if the period is long enough. Else limits the state to one that pays off until
/// the tick (last part of `menu_select`).
#[inline(always)]
fn within_tick(look: &Outlook, mut chosen: usize, predicted_ns: u64) -> Choice {
    let states = look.states;
    let stop_tick = look.tick_stopped || !(states[chosen].spins || predicted_ns < look.tick_ns);
    if !stop_tick {
        // The tick will come: take no state that pays off only after it.
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
mod tests;
