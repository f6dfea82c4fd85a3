// SPDX-License-Identifier: GPL-2.0-only
//! Tests of the size of rings.

use super::*;

#[test]
fn each_cpu_gets_a_power_of_two_of_slots() {
    for (bytes, nr_cpus, expected) in [
        (1 << 20, 1, 1 << 15),
        (64 << 20, 4, 1 << 19),
        (64 << 20, 6, 1 << 18),
        // So many CPUs that `bytes` is not enough.
        (1 << 20, 4096, 128),
        (1 << 20, 0, 1 << 15),
    ] {
        assert_eq!(
            slots(bytes, nr_cpus),
            expected,
            "{bytes} bytes, {nr_cpus} CPUs"
        );
    }
}
