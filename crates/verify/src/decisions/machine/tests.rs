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
    let of = DomainFlags::of_version;
    assert_eq!(of(v61).named(0x917), mc);
    assert_eq!(of(v72).named(0x1217), mc);
    assert_eq!(of(v61).named(0x2000), flag::NUMA);
}

#[test]
fn flags_are_what_the_recorded_kernel_says_before_its_version() {
    let v72 = KernelVersion { major: 7, minor: 2 };
    let mut header = Header::default();
    let by_version = DomainFlags::of(&header, v72);
    // In another order, with one that the core does not know, and one that begins as another.
    let told = "SD_ASYM_CPUCAPACITY 2, SD_ASYM_CPUCAPACITY_FULL 4, SD_ASYM_PACKING 8, SD_NUMA 1";
    header.facts.insert("sd_flags".into(), told.into());
    let flags = DomainFlags::of(&header, v72);
    assert_eq!(flags.named(2), flag::ASYM);
    assert_eq!(flags.named(4 | 8), flag::ASYM_FULL);
    assert_eq!(flags.named(1), flag::NUMA);
    assert_eq!(by_version.named(1), flag::NEWIDLE);
}
