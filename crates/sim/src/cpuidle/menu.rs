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
        let (mut sum, mut squares, mut n, mut max, mut min) = (0u64, 0u64, 0u32, 0, u32::MAX);
        for &value in intervals_us {
            let kept = value <= threshold;
            let counted = if kept { value } else { 0 };
            sum += u64::from(counted);
            squares += u64::from(counted) * u64::from(counted);
            n += u32::from(kept);
            max = max.max(counted);
            min = min.min(if kept { value } else { u32::MAX });
        }
        if min >= predicted_us {
            return NO_PATTERN;
        }
        let mean = divide(sum, n);
        // The sum of (value - mean)^2 over those kept, in one pass: exact, since
        // the result fits even where a term does not.
        let deviation = squares
            .wrapping_add(u64::from(n).wrapping_mul(mean * mean))
            .wrapping_sub((2 * mean).wrapping_mul(sum));
        let variance = divide(deviation, n);
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
mod tests;
