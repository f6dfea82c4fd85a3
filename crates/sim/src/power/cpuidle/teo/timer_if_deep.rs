// SPDX-License-Identifier: GPL-2.0-only
//! teo from 6.6 to 6.18. It has bins as in `recent.rs`, but it first chooses a state by the bins,
//! and looks up the timer only if that state is deep. Read in 6.6.87 and 6.8.0, in 6.12.118, and as
//! it was from 6.14 to 6.18; [`Beside`] has the differences.

use super::{DECAY_SHIFT, PULSE, shallower};
use crate::kernel::Beside;
use crate::power::cpuidle::governor::{Outlook, Period, RESIDENCY_THRESHOLD_NS};

/// Number of wakeups whose bins are remembered (`NR_RECENT`).
const RECENT: usize = 9;
/// Entry of a wakeup that was not an intercept, or that has not happened yet.
const NONE: u8 = u8::MAX;
/// With a latency limit below this the timer is not looked up, ns (`LATENCY_THRESHOLD_NS`).
const LATENCY_THRESHOLD_NS: u64 = RESIDENCY_THRESHOLD_NS / 2;
/// Sleep length if the timer was not looked up (`KTIME_MAX`).
const UNASKED: u64 = i64::MAX as u64;

/// `struct teo_bin`.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bin {
    pub intercepts: u32,
    pub hits: u32,
    /// Intercepts among the last nine wakeups.
    pub recent: u32,
}

/// `struct teo_cpu`.
#[derive(Debug, Clone)]
pub(crate) struct TimerIfDeep {
    beside: Beside,
    pub(super) bins: Box<[Bin]>,
    pub(super) total: u32,
    recent: [u8; RECENT],
    oldest: usize,
    /// Hits after at least a tick, if every target residency is below a tick.
    pub(super) tick_hits: u32,
    /// Intercepts after at least a tick.
    tick_intercepts: u32,
    /// Wakeups after less than [`RESIDENCY_THRESHOLD_NS`], or before the exit latency had passed.
    pub(super) short_idles: u32,
    pub(super) sleep_length_ns: u64,
    pub(super) last: Option<Period>,
}

impl TimerIfDeep {
    pub fn new(states: usize, beside: Beside) -> Self {
        TimerIfDeep {
            beside,
            bins: vec![Bin::default(); states].into(),
            total: 0,
            recent: [NONE; RECENT],
            oldest: 0,
            tick_hits: 0,
            tick_intercepts: 0,
            short_idles: 0,
            sleep_length_ns: 0,
            last: None,
        }
    }

    pub fn forget(&mut self) {
        *self = TimerIfDeep::new(self.bins.len(), self.beside);
    }

    /// Returns the state, and whether the tick should stop.
    pub fn select(&mut self, look: &Outlook, utilized: bool) -> (usize, bool) {
        if let Some(end) = self.last.take() {
            self.update(look, end);
        }
        self.sleep_length_ns = UNASKED;
        let states = look.states;
        if states.len() < 2 {
            return (0, false);
        }
        if states.len() < 3 && utilized {
            return match !states[0].spins && state_ok(look, 0) {
                true => (0, false),
                false => settle(look, 1, states[1].residency_ns, look.tick_ns / 2),
            };
        }
        let deepest = states.len() - 1;
        let metrics = self.by_metrics(look, deepest);
        if metrics == 0 && self.beside == Beside::Nothing {
            // Without the timer's time the end of the period could not be classified.
            self.sleep_length_ns = look.next_timer_ns;
            return (0, false);
        }
        let allowed = (1..=deepest)
            .rfind(|&i| states[i].wakeup_ns <= look.latency_limit_ns)
            .unwrap_or(0);
        let mut state = metrics.min(allowed);
        if utilized {
            // One state shallower, but not polling.
            let less = state.saturating_sub(1);
            if !states[less].spins && state_ok(look, less) {
                state = less;
            }
        }
        match self.leaves_timer_alone(look, state) {
            true => (state, false),
            false => self.with_timer(look, state),
        }
    }

    /// The deepest state, or a shallower one that suits most of the wakeups which were too early
    /// for the deepest.
    fn by_metrics(&self, look: &Outlook, deepest: usize) -> usize {
        let above = &self.bins[..deepest];
        let sum = |of: fn(&Bin) -> u32| above.iter().map(of).fold(0, u32::wrapping_add);
        let (all, all_recent) = (sum(|bin| bin.intercepts), sum(|bin| bin.recent));
        let by_intercepts = 2 * all > self.total.wrapping_sub(sum(|bin| bin.hits));
        let by_recent = all_recent > RECENT as u32 / 2;
        if !by_intercepts && !by_recent {
            return deepest;
        }
        let (mut intercepts, mut recent) = (0, 0u32);
        let mut suitable = deepest;
        for i in (0..deepest).rev() {
            intercepts += self.bins[i].intercepts;
            recent = recent.wrapping_add(self.bins[i].recent);
            let suits = state_ok(look, i);
            if (!by_recent || recent.wrapping_mul(2) > all_recent)
                && (!by_intercepts || 2 * intercepts > all)
            {
                return if suits { i } else { suitable };
            }
            if suits {
                suitable = i;
            } else if suitable == deepest {
                break;
            }
        }
        deepest
    }

    /// Is `state` so shallow that the time of the next timer does not matter?
    fn leaves_timer_alone(&self, look: &Outlook, state: usize) -> bool {
        let tiny = look.states[state].residency_ns < RESIDENCY_THRESHOLD_NS;
        match self.beside {
            Beside::ShortPeriods => {
                let hasty = 2 * self.short_idles >= self.total;
                (state == 0 || tiny) && (hasty || look.latency_limit_ns < LATENCY_THRESHOLD_NS)
            }
            Beside::RecentAndUse | Beside::Nothing => state == 0 || look.states[0].spins && tiny,
        }
    }

    /// `state`, or a shallower one that pays off until the next timer.
    fn with_timer(&mut self, look: &Outlook, mut state: usize) -> (usize, bool) {
        let states = look.states;
        let mut duration_ns = look.next_timer_ns;
        self.sleep_length_ns = duration_ns;
        if state == 0 {
            return (0, false);
        }
        if states[state].residency_ns > duration_ns {
            let less = shallower(states, state, duration_ns);
            if self.beside == Beside::Nothing || state_ok(look, less) {
                state = less;
            }
        }
        if states[state].residency_ns < look.tick_ns
            && self.tick_intercepts() > self.total / 2 + self.total / 8
        {
            duration_ns = look.tick_ns / 2;
        }
        settle(look, state, duration_ns, look.delta_next_ns)
    }

    /// Number of intercepts that count for keeping the tick. 6.14 to 6.18 count those after *at
    /// least* a tick, which was corrected later.
    fn tick_intercepts(&self) -> u32 {
        match self.beside {
            Beside::ShortPeriods => self.tick_intercepts,
            Beside::RecentAndUse | Beside::Nothing => {
                self.bins.iter().map(|bin| bin.intercepts).sum()
            }
        }
    }

    /// Updates the metrics by the last period (`teo_update`).
    fn update(&mut self, look: &Outlook, end: Period) {
        let short_periods = self.beside == Beside::ShortPeriods;
        self.short_idles -= self.short_idles >> DECAY_SHIFT;
        let measured_ns = self.measured(look, end);

        let (mut by_timer, mut by_duration) = (0, 0);
        let mut sum = 0;
        for (i, bin) in self.bins.iter_mut().enumerate() {
            bin.hits -= bin.hits >> DECAY_SHIFT;
            bin.intercepts -= bin.intercepts >> DECAY_SHIFT;
            sum += bin.hits + bin.intercepts;
            let residency_ns = look.states[i].residency_ns;
            if residency_ns <= self.sleep_length_ns {
                by_timer = i;
                if residency_ns <= measured_ns {
                    by_duration = i;
                }
            }
        }
        self.tick_intercepts -= self.tick_intercepts >> DECAY_SHIFT;
        if short_periods {
            self.total -= self.total >> DECAY_SHIFT;
        } else {
            self.total = sum;
        }
        self.total += PULSE;
        let oldest = self.forget_oldest();
        if !short_periods && self.outlasts_all(look, measured_ns) {
            return;
        }
        if by_timer == by_duration && !self.timer_outlasts_all(look) {
            self.bins[by_timer].hits += PULSE;
            self.recent[oldest] = NONE;
            return;
        }
        let bin = &mut self.bins[by_duration];
        bin.intercepts += PULSE;
        if short_periods && measured_ns >= look.tick_ns {
            self.tick_intercepts += PULSE;
        }
        if self.beside == Beside::RecentAndUse {
            bin.recent = bin.recent.wrapping_add(1);
            self.recent[oldest] = by_duration as u8;
        }
    }

    /// Time for which the CPU could have been idle, ns.
    fn measured(&mut self, look: &Outlook, end: Period) -> u64 {
        let short_periods = self.beside == Beside::ShortPeriods;
        let caught = end.asks_again || end.by_tick && self.sleep_length_ns > look.tick_ns;
        if caught || !short_periods && end.span_ns >= self.sleep_length_ns {
            return u64::MAX;
        }
        let latency_ns = look.states[end.state].wakeup_ns;
        let reached = end.residency_ns >= latency_ns;
        let measured_ns = match reached {
            true => end.residency_ns - latency_ns / 2,
            false => end.residency_ns / 2,
        };
        if short_periods && (!reached || measured_ns < RESIDENCY_THRESHOLD_NS) {
            self.short_idles += PULSE;
        }
        measured_ns
    }

    /// Removes the ninth last wakeup from the recent counts, and returns its slot for the new
    /// wakeup. A hit after at least a tick does not use the slot. The old entry then stays and is
    /// subtracted again nine wakeups later, even below 0.
    fn forget_oldest(&mut self) -> usize {
        let oldest = self.oldest;
        self.oldest = (oldest + 1) % RECENT;
        let forgotten = self.recent[oldest];
        if forgotten != NONE {
            let bin = &mut self.bins[usize::from(forgotten)];
            bin.recent = bin.recent.wrapping_sub(1);
        }
        oldest
    }

    /// Was the timer at least a tick away, while every target residency is below a tick?
    fn timer_outlasts_all(&self, look: &Outlook) -> bool {
        let deepest = self.bins.len() - 1;
        self.beside != Beside::ShortPeriods
            && look.states[deepest].residency_ns < look.tick_ns
            && look.tick_ns <= self.sleep_length_ns
    }

    /// If every target residency is below a tick, counts hits after at least a tick separately. Was
    /// this one?
    fn outlasts_all(&mut self, look: &Outlook, measured_ns: u64) -> bool {
        let deepest = self.bins.len() - 1;
        if look.states[deepest].residency_ns >= look.tick_ns {
            return false;
        }
        self.tick_hits -= self.tick_hits >> DECAY_SHIFT;
        self.total += self.tick_hits;
        let hit = self.timer_outlasts_all(look) && look.tick_ns <= measured_ns;
        if hit {
            self.tick_hits += PULSE;
        }
        hit
    }
}

/// Is `state` acceptable? With the tick stopped its target residency must be at least a tick, since
/// nothing would correct it (`teo_state_ok`).
fn state_ok(look: &Outlook, state: usize) -> bool {
    !look.tick_stopped || look.states[state].residency_ns >= look.tick_ns
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
