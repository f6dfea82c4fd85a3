// SPDX-License-Identifier: GPL-2.0-only
//! Weights by nice value, and the kernels' divisions by weights.

use crate::face::api::{Cgroup, DEFAULT_WEIGHT};
use crate::kernel::Division;
use alight_policy::abi::class;

/// Load weight by nice value, -20 first (`sched_prio_to_weight`).
const NICE_WEIGHT: [u32; 40] = [
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906, 3121, 2501, 1991, 1586, 1277, 1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87,
    70, 56, 45, 36, 29, 23, 18, 15,
];
/// Weight of a `SCHED_IDLE` task (`WEIGHT_IDLEPRIO`).
pub(crate) const IDLE_WEIGHT: u32 = 3;
/// Weight of nice 0.
pub(crate) const NICE_0: u32 = 1024;
/// Weight of nice 0 in the finer unit (`NICE_0_LOAD`).
pub(crate) const NICE_0_FINE: u64 = 1024 << 10;

/// Load weight of a task.
pub(crate) fn weight(task_class: u32, nice: i8) -> u32 {
    match task_class {
        class::IDLE => IDLE_WEIGHT,
        _ => NICE_WEIGHT[(i32::from(nice) + 20).clamp(0, 39) as usize],
    }
}

/// Least and greatest `tg->shares`, unscaled (`MIN_SHARES`, `MAX_SHARES`).
const SHARES: (u32, u32) = (2, 1 << 18);

/// `tg->shares` of a group in units of nice 0's 1024 (`sched_weight_from_cgroup`,
/// `sched_group_set_idle`).
pub(crate) fn shares(group: &Cgroup) -> u32 {
    match group.idle {
        true => IDLE_WEIGHT,
        false => {
            ((group.weight * 1024 + DEFAULT_WEIGHT / 2) / DEFAULT_WEIGHT).clamp(SHARES.0, SHARES.1)
        }
    }
}

/// 2^32 / weight (`sched_prio_to_wmult`).
pub(crate) fn inverse(weight: u32) -> u32 {
    ((1u64 << 32) / u64::from(weight.max(2))) as u32
}

/// (2^32 - 1) / weight, for the weight of a queue (`__update_inv_weight`).
pub(crate) fn inverse_of_sum(weight: u32) -> u32 {
    u32::MAX / weight.max(1)
}

/// `delta * weight / total`: the share of a queue's weight.
pub(crate) fn share(by: Division, delta: u64, weight: u32, total: u32) -> u64 {
    match by {
        Division::Inverse => scale_down(delta, weight, inverse_of_sum(total)),
        Division::RoundedInverse => scale_rounded(delta, weight, inverse_of_sum(total)),
        Division::Exact => scale_exact(delta, weight, total),
    }
}

/// Virtual time of `delta` for a task of this weight; `inverse` is 2^32 / weight
/// (`calc_delta_fair`).
#[inline]
pub(crate) fn virtual_time(by: Division, delta: u64, weight: u32, inverse: u32) -> u64 {
    if weight == NICE_0 {
        return delta;
    }
    match by {
        Division::Inverse => scale_down(delta, NICE_0, inverse),
        Division::RoundedInverse => scale_rounded(delta, NICE_0, inverse),
        Division::Exact => scale_exact(delta, NICE_0, weight),
    }
}

fn scale_exact(delta: u64, weight: u32, of: u32) -> u64 {
    (u128::from(delta) * u128::from(weight) / u128::from(of.max(1))) as u64
}

/// `calc_delta_mine`: in two steps of 16 bits if one of 32 would overflow.
fn scale_rounded(delta: u64, weight: u32, inv_of: u32) -> u64 {
    let rounded = |x: u128, bits: u32| (x + (1 << (bits - 1))) >> bits;
    let (product, inv_of) = (u128::from(delta) * u128::from(weight), u128::from(inv_of));
    if product > 1 << 32 {
        rounded(rounded(product, 16) * inv_of, 16) as u64
    } else {
        rounded(product * inv_of, 32) as u64
    }
}

/// `__calc_delta`: the factor is shifted to 32 bits; the kernel loses its low digits there, too.
#[inline]
fn scale_down(delta: u64, weight: u32, inv_of: u32) -> u64 {
    let mut factor = u64::from(weight) * u64::from(inv_of);
    let mut shift = 32;
    while factor >> 32 != 0 {
        factor >>= 1;
        shift -= 1;
    }
    ((u128::from(delta) * u128::from(factor)) >> shift) as u64
}

/// Is virtual time `a` before `b`? Virtual time may wrap.
#[inline]
pub(crate) fn before(a: u64, b: u64) -> bool {
    (a.wrapping_sub(b) as i64) < 0
}

#[cfg(test)]
mod tests;
