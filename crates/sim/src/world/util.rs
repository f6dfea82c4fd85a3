// SPDX-License-Identifier: GPL-2.0-only
//! How much of a CPU is used, and whether it fits.

use alight_policy::Cpu;

/// Utilization of a CPU, that of tasks that wait included (`cpu_util`).
#[inline]
pub(crate) fn cpu_util(view: &Cpu) -> u32 {
    view.cfs
        .util_avg
        .max(view.util_est_enqueued)
        .min(view.capacity_orig)
}

/// `fits_capacity`: what is used must be below 1024/1280 of what is there.
pub(crate) const FITS: (u64, u64) = (1280, 1024);

/// `fits_capacity(need, capacity)`.
#[inline]
pub(crate) fn fits(need: u32, capacity: u32) -> bool {
    u64::from(need) * FITS.0 < u64::from(capacity) * FITS.1
}
