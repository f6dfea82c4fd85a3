// SPDX-License-Identifier: GPL-2.0-only
//! The timer events oriented governor (`drivers/cpuidle/governors/teo.c`): most
//! wakeups are timers', whose times are known. How often did something else come
//! before, and how much before?
//!
//! Four forms of it, one file each; [`crate::kernel::TeoForm`] says which
//! kernel has which. None of them looks at disabled states here: there are none.

mod early;
mod recent;
mod timer_if_deep;
mod timer_last;

use super::governor::{Choice, Outlook, Period};
use super::states::State;
use crate::kernel::TeoForm;
use early::Early;
use recent::Recent;
use timer_if_deep::TimerIfDeep;
use timer_last::TimerLast;

/// What is added to a metric (`PULSE`).
const PULSE: u32 = 1024;
/// A metric loses this part of itself at each wakeup, as a shift (`DECAY_SHIFT`).
const DECAY_SHIFT: u32 = 3;

/// What the governor remembers of one CPU (`struct teo_cpu`).
#[derive(Debug, Clone)]
pub(crate) enum Teo {
    Early(Early),
    Recent(Recent),
    TimerIfDeep(TimerIfDeep),
    TimerLast(TimerLast),
}

impl Teo {
    /// Of a CPU with `states` idle states (`teo_enable_device`).
    pub fn new(form: TeoForm, states: usize) -> Self {
        match form {
            TeoForm::EarlyHits { whole_us } => Teo::Early(Early::new(states, whole_us)),
            TeoForm::Recent { util_aware: _ } => Teo::Recent(Recent::new(states)),
            TeoForm::TimerIfDeep(beside) => Teo::TimerIfDeep(TimerIfDeep::new(states, beside)),
            TeoForm::TimerLast { near_timer_is_net } => {
                Teo::TimerLast(TimerLast::new(states, near_timer_is_net))
            }
        }
    }

    /// Chooses a state (`teo_select`). `utilized`: more than a 64th of the CPU's
    /// capacity is in use, of kernels that look at that.
    pub fn select(&mut self, look: &Outlook, utilized: bool) -> Choice {
        let (state, stop_tick) = match self {
            Teo::Early(memory) => memory.select(look),
            Teo::Recent(memory) => memory.select(look, utilized),
            Teo::TimerIfDeep(memory) => memory.select(look, utilized),
            Teo::TimerLast(memory) => memory.select(look),
        };
        Choice {
            state,
            stop_tick,
            forced: look.states.len() > 1 && look.latency_forbids_all(),
        }
    }

    /// The idle period is over (`teo_reflect`).
    pub fn reflect(&mut self, end: Period) {
        match self {
            Teo::Early(memory) => memory.last = Some(end),
            Teo::Recent(memory) => memory.last = Some(end),
            Teo::TimerIfDeep(memory) => memory.last = Some(end),
            Teo::TimerLast(memory) => memory.last = Some(end),
        }
    }

    /// Begins anew.
    pub fn forget(&mut self) {
        match self {
            Teo::Early(memory) => memory.forget(),
            Teo::Recent(memory) => memory.forget(),
            Teo::TimerIfDeep(memory) => memory.forget(),
            Teo::TimerLast(memory) => memory.forget(),
        }
    }
}

/// The first state above `state` that pays off within `duration_ns`, else the
/// shallowest (`teo_find_shallower_state`).
fn shallower(states: &[State], state: usize, duration_ns: u64) -> usize {
    (0..state)
        .rfind(|&i| states[i].residency_ns <= duration_ns)
        .unwrap_or(0)
}

/// A time that the stopped tick would not cut short, or the tick is there to
/// (`teo_time_ok`).
fn time_ok(look: &Outlook, ns: u64) -> bool {
    !look.tick_stopped || ns >= look.tick_ns
}

#[cfg(test)]
mod tests;
