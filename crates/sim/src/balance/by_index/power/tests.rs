// SPDX-License-Identifier: GPL-2.0-only
//! Test of the power of different CPUs.

use super::*;

#[test]
fn a_middling_cpu_has_1024() {
    for (capacity, least, most, power, tasks, because) in [
        (1024, 1024, 1024, 1024, 1, "all alike"),
        (1024, 516, 1024, 1361, 1, "a Cortex-A15 beside A7s"),
        (516, 516, 1024, 686, 1, "those"),
        (1024, 160, 1024, 1535, 1, "never two tasks"),
        (160, 160, 1024, 239, 0, "next to nothing"),
    ] {
        assert_eq!(scale(capacity, least, most), power, "{because}");
        assert_eq!(rounded(power), tasks, "{because}");
    }
}
