// SPDX-License-Identifier: GPL-2.0-only
//! Scaling of the constants of the fair class.

use super::*;
use crate::kernel::KERNELS;

/// kernel/sched/fair.c, `sysctl_sched_*` and `update_sysctl`: the times that scale are multiplied,
/// `sysctl_sched_idle_min_granularity` is not.
#[test]
fn tunables_scale_by_the_logarithm_of_the_cpus() {
    for (cpus, factor) in [(1, 1), (2, 2), (4, 3), (6, 3), (8, 4), (384, 4)] {
        for kernel in &KERNELS {
            let t = Tunables::new(kernel, cpus, 1);
            match kernel.fair {
                Fair::Cfs(rules) => {
                    let idle = match rules.slice_floor {
                        SliceFloor::None => 0,
                        SliceFloor::Granularity => 750_000 * factor,
                        SliceFloor::GranularityUnlessIdle { idle_ns } => idle_ns,
                    };
                    assert_eq!(t.idle_slice_floor, idle, "{cpus} CPUs");
                    assert_eq!(t.latency, 6_000_000 * factor, "{cpus} CPUs");
                    assert_eq!(t.min_granularity, 750_000 * factor, "{cpus} CPUs");
                }
                Fair::Eevdf(rules) => {
                    assert!([700_000, 750_000].contains(&rules.base_slice_ns));
                    assert_eq!(t.base_slice, rules.base_slice_ns * factor, "{cpus} CPUs");
                }
            }
        }
    }
}
