// SPDX-License-Identifier: GPL-2.0-only

use super::*;

#[test]
fn lists_of_cpus_are_bits() {
    assert_eq!(cpu_list("0-3,6"), Some(0b100_1111));
    assert_eq!(cpu_list("63"), Some(1 << 63));
    for wrong in ["", "64", "a", "3-", "0-64"] {
        assert_eq!(cpu_list(wrong), None, "{wrong}");
    }
}

#[test]
fn flags_keep_their_meaning_when_their_numbers_move() {
    let (v61, v72) = (
        KernelVersion { major: 6, minor: 1 },
        KernelVersion { major: 7, minor: 2 },
    );
    let mc = flag::NEWIDLE
        | flag::BALANCE_EXEC
        | flag::BALANCE_FORK
        | flag::WAKE_AFFINE
        | flag::SHARE_LLC
        | flag::PREFER_SIBLING;
    assert_eq!(flags(v61, 0x917), mc);
    assert_eq!(flags(v72, 0x1217), mc);
    assert_eq!(flags(v61, 0x2000), flag::NUMA);
}
