// SPDX-License-Identifier: GPL-2.0-only
//! Load-tracking arithmetic of `policy/pelt.h`, one signal set at a time.

use crate::abi::{Pelt, Pelt13, table};

/// `v * y^n` with `y^32 = 1/2`.
pub fn decay(v: u64, n: u64) -> u64 {
    // SAFETY: arithmetic on values only.
    unsafe { (table().decay_load)(v, n) }
}

/// Accumulates time up to `now` ns at load weight `load`, `runnable` tasks and
/// `running` 0 or 1; true if a period of 1.048576 ms ended.
pub fn accumulate(a: &mut Pelt, now: u64, load: u64, runnable: u64, running: u64) -> bool {
    // SAFETY: `a` is exclusively borrowed.
    unsafe { (table().pelt_update_sum)(a, now, load, runnable, running) != 0 }
}

/// Computes the averages from the sums.
pub fn average(a: &mut Pelt, weight: u64) {
    // SAFETY: `a` is exclusively borrowed.
    unsafe { (table().pelt_update_avg)(a, weight) }
}

/// Contribution of `n` full periods in the form of 2013.
pub fn full13(n: u64) -> u32 {
    // SAFETY: arithmetic on values only.
    unsafe { (table().compute_runnable_contrib)(n) }
}

/// Accumulates time up to `now` ns in the form of 2013.
pub fn update13(a: &mut Pelt13, now: u64, runnable: bool) {
    // SAFETY: `a` is exclusively borrowed.
    unsafe { (table().update_entity_runnable_avg)(a, now, runnable.into()) }
}
