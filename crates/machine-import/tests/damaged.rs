// SPDX-License-Identifier: GPL-2.0-only
//! Damaged descriptions of every format are taken or refused, and never a panic.

mod common;

use std::path::Path;

use alight_machine_import::{Format, import_bytes};
use common::blob::{Node, blob};
use proptest::prelude::*;

const DTS: &str = "/dts-v1/; / { cpus { a: cpu@0 { compatible = \"arm,cortex-a55\"; x = <(1 + 2 * 3) &a 'c'>, \
    [00 ff]; operating-points-v2 = <&t>; cpu-idle-states = <&s>; next-level-cache = <&l>; }; \
    cpu-map { cluster0 { core0 { cpu = <&a>; }; }; }; s: s { entry-latency-us = <1>; exit-latency-us = <2>; \
    min-residency-us = <3>; }; l: l { cache-size = <65536>; }; }; t: t { opp-shared; \
    o { opp-hz = /bits/ 64 <1000000000>; opp-microvolt = <900000>; }; }; }; &a { /delete-property/ x; };";
const XML: &str = "<?xml version=\"1.0\"?><topology><object type=\"Machine\" complete_cpuset=\"0xf\">\
    <object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\"/><object type=\"L3Cache\" depth=\"3\" cache_size=\"4096\">\
    <object type=\"Core\"><object type=\"PU\" os_index=\"0\"/></object><object type=\"Core\">\
    <object type=\"PU\" os_index=\"1\"/></object></object></object><cpukind cpuset=\"0x1\">\
    <info name=\"LinuxCapacity\" value=\"512\"/></cpukind></topology>";
const YAML: &str = "platform-info:\n  conf:\n    cpus-count: 2\n    freq-domains: [[0], [1]]\n    freqs: {0: &a [1, 2], 1: *a}\n    \
    cpu-capacities: {orig: {0: 100, 1: 1024}}\n";
const DUMP: &str = "/sys/devices/system/cpu/online:0-1\n/sys/devices/system/cpu/cpu0/cpu_capacity:512\n\
    /sys/devices/system/cpu/cpu1/cpu_capacity:1024\n/proc/cpuinfo:processor : 0\n";

fn dtb() -> Vec<u8> {
    let cpu = Node::new("cpu@0")
        .text("compatible", "arm,cortex-a55")
        .cells("operating-points-v2", &[1])
        .cells("capacity-dmips-mhz", &[1024]);
    let point = Node::new("opp").cells("opp-hz", &[0, 1_000_000_000]);
    blob(
        &Node::new("")
            .child(Node::new("cpus").child(cpu))
            .child(Node::new("table").cells("phandle", &[1]).child(point)),
    )
}

fn formats() -> [(Format, Vec<u8>); 5] {
    [
        (Format::Dts, DTS.into()),
        (Format::Hwloc, XML.into()),
        (Format::Lisa, YAML.into()),
        (Format::Sysfs, DUMP.into()),
        (Format::Dtb, dtb()),
    ]
}

#[test]
fn whole_ones_are_taken() {
    for (format, bytes) in formats() {
        let found = import_bytes(Path::new("any"), &bytes, None);
        let found = found.unwrap_or_else(|error| panic!("{format}: {error}"));
        assert_eq!(found.format, format);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damaged_ones_never_panic(
        which in 0_usize..5,
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0_u8..3), 1..8),
    ) {
        let (format, mut bytes) = formats()[which].clone();
        for (place, byte, how) in cuts {
            if bytes.is_empty() {
                break;
            }
            let at = place.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.truncate(at),
                _ => bytes.insert(at, byte % 128),
            }
        }
        let _ = import_bytes(Path::new("any"), &bytes, Some(format));
    }
}
