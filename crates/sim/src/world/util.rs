// SPDX-License-Identifier: GPL-2.0-only
//! Utilization of a CPU, and whether utilization fits a capacity.

use alight_policy::Cpu;

/// Utilization of a CPU, with that of waiting tasks (`cpu_util`).
#[inline]
pub(crate) fn cpu_util(view: &Cpu) -> u32 {
    view.cfs
        .util_avg
        .max(view.util_est_enqueued)
        .min(view.capacity_orig)
}

/// Factors of `fits_capacity`: utilization must be below 1024/1280 of the capacity.
pub(crate) const FITS: (u64, u64) = (1280, 1024);

/// `fits_capacity(need, capacity)`.
#[inline]
pub(crate) fn fits(need: u32, capacity: u32) -> bool {
    u64::from(need) * FITS.0 < u64::from(capacity) * FITS.1
}
