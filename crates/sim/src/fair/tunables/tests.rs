// SPDX-License-Identifier: GPL-2.0-only

use super::*;
use crate::kernel::KERNELS;

/// kernel/sched/fair.c, `sysctl_sched_*` and `update_sysctl`: what scales is
/// multiplied, `sysctl_sched_idle_min_granularity` is not.
#[test]
fn tunables_scale_by_the_logarithm_of_the_cpus() {
    for (cpus, factor) in [(1, 1), (2, 2), (4, 3), (6, 3), (8, 4), (384, 4)] {
        for kernel in &KERNELS {
            let t = Tunables::new(kernel, cpus, 1);
            match kernel.fair {
                Fair::Cfs(_) => {
                    assert_eq!(t.latency, 6_000_000 * factor, "{cpus} CPUs");
                    assert_eq!(t.min_granularity, 750_000 * factor, "{cpus} CPUs");
                    assert!(t.idle_slice_floor <= 750_000, "{cpus} CPUs");
                }
                Fair::Eevdf(_) => assert_eq!(t.base_slice, 700_000 * factor, "{cpus} CPUs"),
            }
        }
    }
}
