// SPDX-License-Identifier: GPL-2.0-only
//! The timer events oriented governor (`drivers/cpuidle/governors/teo.c`). Most wakeups come from
//! timers, whose times are known. It counts how often something else came before, and how long
//! before.
//!
//! It has four forms, one file each; [`crate::kernel::TeoForm`] says which kernel has which. The
//! code for disabled states is left out, since there are none here.

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

/// Increment of a metric (`PULSE`).
const PULSE: u32 = 1024;
/// A metric decays by this shift at each wakeup (`DECAY_SHIFT`).
const DECAY_SHIFT: u32 = 3;

/// State of the governor for one CPU (`struct teo_cpu`).
#[derive(Debug, Clone)]
pub(crate) enum Teo {
    Early(Early),
    Recent(Recent),
    TimerIfDeep(TimerIfDeep),
    TimerLast(TimerLast),
}

impl Teo {
    /// The state for a CPU with `states` idle states (`teo_enable_device`).
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

    /// Chooses a state (`teo_select`). `utilized`: more than a 64th of the CPU's capacity is used;
    /// only in kernels that look at it.
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

    /// Books the end of an idle period (`teo_reflect`).
    pub fn reflect(&mut self, end: Period) {
        match self {
            Teo::Early(memory) => memory.last = Some(end),
            Teo::Recent(memory) => memory.last = Some(end),
            Teo::TimerIfDeep(memory) => memory.last = Some(end),
            Teo::TimerLast(memory) => memory.last = Some(end),
        }
    }

    /// Resets the state.
    pub fn forget(&mut self) {
        match self {
            Teo::Early(memory) => memory.forget(),
            Teo::Recent(memory) => memory.forget(),
            Teo::TimerIfDeep(memory) => memory.forget(),
            Teo::TimerLast(memory) => memory.forget(),
        }
    }
}

/// The deepest state shallower than `state` that pays off within `duration_ns`, else state 0
/// (`teo_find_shallower_state`).
fn shallower(states: &[State], state: usize, duration_ns: u64) -> usize {
    (0..state)
        .rfind(|&i| states[i].residency_ns <= duration_ns)
        .unwrap_or(0)
}

/// Is a time acceptable as a prediction? With the tick stopped it must be at least a tick, since
/// nothing would correct a shallow state (`teo_time_ok`).
fn time_ok(look: &Outlook, ns: u64) -> bool {
    !look.tick_stopped || ns >= look.tick_ns
}

#[cfg(test)]
mod tests;
