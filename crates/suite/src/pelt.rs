// SPDX-License-Identifier: GPL-2.0-only
//! Load tracking as mathematics: a first-order filter that forgets half in 32
//! windows, after LISA's `lisa.pelt`. Written apart from the kernel's arithmetic,
//! which it is to judge: without windows, in real numbers.

/// A window of PELT, ns.
const WINDOW_NS: f64 = 1_048_576.0;
/// Windows in which half is forgotten.
const HALF_LIFE: f64 = 32.0;
/// Full scale.
const SCALE: f64 = 1024.0;

/// What is left of a signal after `ns` of the PELT clock, 0..=1.
fn left(ns: f64) -> f64 {
    0.5_f64.powf(ns / WINDOW_NS / HALF_LIFE)
}

/// `signal` after `ns` of the PELT clock, in which the task ran (`share` 1) or not (0).
pub fn after(signal: f64, ns: f64, share: f64) -> f64 {
    let left = left(ns);
    signal * left + share * SCALE * (1.0 - left)
}

/// How far the signal rises over its mean, for a task that runs `run_ns` each
/// `period_ns` (`pelt_swing(kind='above')`).
pub fn swing_above(run_ns: u64, period_ns: u64) -> f64 {
    if run_ns == 0 || run_ns >= period_ns {
        return 0.0;
    }
    let (run, period) = (run_ns as f64, period_ns as f64);
    SCALE * ((1.0 - left(run)) / (1.0 - left(period)) - run / period)
}

/// Time in which a signal rises from 0 to `margin` below `end`, ns (`pelt_settling_time()`).
pub fn settling_ns(end: f64, margin: f64) -> u64 {
    let share = ((end - margin) / SCALE).clamp(0.0, 0.999_999);
    (-(1.0 - share).log2() * HALF_LIFE * WINDOW_NS) as u64
}

#[cfg(test)]
mod tests;
