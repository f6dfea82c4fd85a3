// SPDX-License-Identifier: GPL-2.0-only
//! teo from 5.14 on, as read in 6.1 and 6.5. Each state has a bin that counts wakeups by the timer
//! ("hits") and other wakeups ("intercepts") after a time that suits it. The bins of the last nine
//! wakeups are remembered. The timer is looked up first.
//!
//! 6.5 prefers a shallower state if the CPU is utilized; 6.1 and today's kernels do not.

use super::{DECAY_SHIFT, PULSE, shallower, time_ok};
use crate::power::cpuidle::governor::{Outlook, Period};
use crate::power::cpuidle::states::State;

/// Number of wakeups whose bins are remembered (`NR_RECENT`).
const RECENT: usize = 9;
/// Entry of a wakeup that was not an intercept, or that has not happened yet.
const NONE: u8 = u8::MAX;

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
pub(crate) struct Recent {
    pub(super) bins: Box<[Bin]>,
    pub(super) total: u32,
    recent: [u8; RECENT],
    oldest: usize,
    sleep_length_ns: u64,
    pub(super) last: Option<Period>,
}

/// Sums over the bins of all states shallower than one.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    intercepts: u32,
    hits: u32,
    recent: u32,
}

impl Recent {
    pub fn new(states: usize) -> Self {
        Recent {
            bins: vec![Bin::default(); states].into(),
            total: 0,
            recent: [NONE; RECENT],
            oldest: 0,
            sleep_length_ns: 0,
            last: None,
        }
    }

    pub fn forget(&mut self) {
        *self = Recent::new(self.bins.len());
    }

    /// Returns the state, and whether the tick should stop.
    pub fn select(&mut self, look: &Outlook, utilized: bool) -> (usize, bool) {
        if let Some(end) = self.last.take() {
            self.update(look, end);
        }
        self.sleep_length_ns = look.next_timer_ns;
        let (state, duration_ns) = self.by_metrics(look, utilized);
        let kept = look.states[state].spins || duration_ns < look.tick_ns;
        if !kept || look.tick_stopped {
            return (state, true);
        }
        match state > 0 && look.states[state].residency_ns > look.delta_next_ns {
            true => (shallower(look.states, state, look.delta_next_ns), false),
            false => (state, false),
        }
    }

    /// Returns the state, and the expected idle time, ns.
    fn by_metrics(&self, look: &Outlook, utilized: bool) -> (usize, u64) {
        let states = look.states;
        let sleep_length_ns = look.next_timer_ns;
        if states.len() < 2 || states[1].residency_ns > sleep_length_ns {
            return (0, sleep_length_ns);
        }
        if states.len() < 3 && utilized {
            let short_ns = middle(states, 0);
            let shallow = !states[0].spins && time_ok(look, short_ns);
            return (usize::from(!shallow), short_ns);
        }

        let (mut state, mut allowed) = (0, 0);
        let (mut sums, mut above) = (Sums::default(), Sums::default());
        for i in 1..states.len() {
            let bin = &self.bins[i - 1];
            sums.intercepts += bin.intercepts;
            sums.hits += bin.hits;
            sums.recent += bin.recent;
            if states[i].residency_ns > sleep_length_ns {
                break;
            }
            state = i;
            if states[i].wakeup_ns <= look.latency_limit_ns {
                allowed = i;
            }
            above = sums;
        }

        let (mut state, mut duration_ns) = self.alternative(look, state, above);
        state = state.min(allowed);
        if utilized {
            // One state shallower, but not polling.
            let floor = usize::from(states[0].spins).min(state);
            let shallow = shallower(states, state, duration_ns).max(floor);
            let short_ns = middle(states, shallow);
            if time_ok(look, short_ns) {
                (state, duration_ns) = (shallow, short_ns);
            }
        }
        (state, duration_ns)
    }

    /// Returns a state shallower than `state` if most wakeups came before `state` would have paid
    /// off, and the expected idle time, ns.
    fn alternative(&self, look: &Outlook, state: usize, above: Sums) -> (usize, u64) {
        let by_intercepts = 2 * above.intercepts > self.total.wrapping_sub(above.hits);
        let by_recent = above.recent > RECENT as u32 / 2;
        let found = (state, look.next_timer_ns);
        if !by_intercepts && !by_recent {
            return found;
        }
        let (mut intercepts, mut recent) = (0, 0);
        let mut suitable = found;
        for i in (0..state).rev() {
            intercepts += self.bins[i].intercepts;
            recent += self.bins[i].recent;
            let span_ns = middle(look.states, i);
            let suits = time_ok(look, span_ns);
            if (!by_recent || 2 * recent > above.recent)
                && (!by_intercepts || 2 * intercepts > above.intercepts)
            {
                return if suits { (i, span_ns) } else { suitable };
            }
            if suits {
                suitable = (i, span_ns);
            } else if suitable == found {
                break;
            }
        }
        found
    }

    /// Updates the metrics by the last period (`teo_update`).
    fn update(&mut self, look: &Outlook, end: Period) {
        let sleep_length_ns = self.sleep_length_ns;
        // The end of polling or the tick ended it: it could have lasted until the timer.
        let caught = end.asks_again || end.by_tick && sleep_length_ns > look.tick_ns;
        let measured_ns = if caught || end.span_ns >= sleep_length_ns {
            u64::MAX
        } else {
            let latency_ns = look.states[end.state].wakeup_ns;
            match end.residency_ns >= latency_ns {
                true => end.residency_ns - latency_ns / 2,
                false => end.residency_ns / 2,
            }
        };

        self.total = PULSE;
        let (mut by_timer, mut by_duration) = (0, 0);
        for (i, bin) in self.bins.iter_mut().enumerate() {
            bin.hits -= bin.hits >> DECAY_SHIFT;
            bin.intercepts -= bin.intercepts >> DECAY_SHIFT;
            self.total += bin.hits + bin.intercepts;
            let residency_ns = look.states[i].residency_ns;
            if residency_ns <= sleep_length_ns {
                by_timer = i;
                if residency_ns <= measured_ns {
                    by_duration = i;
                }
            }
        }
        let forgotten = std::mem::replace(&mut self.recent[self.oldest], NONE);
        if forgotten != NONE {
            self.bins[usize::from(forgotten)].recent -= 1;
        }
        if by_timer == by_duration {
            self.bins[by_timer].hits += PULSE;
        } else {
            let bin = &mut self.bins[by_duration];
            bin.intercepts += PULSE;
            bin.recent += 1;
            self.recent[self.oldest] = by_duration as u8;
        }
        self.oldest = (self.oldest + 1) % RECENT;
    }
}

/// Middle of a bin, ns; the bin must not be the last (`teo_middle_of_bin`).
fn middle(states: &[State], bin: usize) -> u64 {
    (states[bin].residency_ns + states[bin + 1].residency_ns) / 2
}
