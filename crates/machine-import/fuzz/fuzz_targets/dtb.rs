// SPDX-License-Identifier: GPL-2.0-only
//! Flattened device trees that are not what they seem: taken or refused, without a panic.
//!
//! The first byte chooses: the rest is a whole file (0), or changes to one that is right. A change is
//! where (u16) and what (u8) stands there.

#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use alight_machine_import::{Format, import_bytes};
use libfuzzer_sys::fuzz_target;

#[path = "../../tests/common/blob.rs"]
mod blob;
use blob::{Node, blob};

/// Two CPUs with a cache, a clock and an idle state.
static BOARD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let cpu = |name: &str| {
        Node::new(name)
            .text("device_type", "cpu")
            .text("compatible", "arm,cortex-a53")
            .cells("capacity-dmips-mhz", &[485])
            .cells("dynamic-power-coefficient", &[100])
            .cells("operating-points-v2", &[1])
            .cells("cpu-idle-states", &[2])
            .cells("next-level-cache", &[3])
    };
    let state = Node::new("sleep")
        .cells("phandle", &[2])
        .cells("entry-latency-us", &[10])
        .cells("exit-latency-us", &[20])
        .cells("min-residency-us", &[30]);
    let cache = Node::new("l2")
        .cells("phandle", &[3])
        .cells("cache-size", &[65536]);
    let point = Node::new("opp")
        .cells("opp-hz", &[0, 1_000_000_000])
        .cells("opp-microvolt", &[900_000]);
    let cpus = Node::new("cpus")
        .child(cpu("cpu@0"))
        .child(cpu("cpu@1"))
        .child(state)
        .child(cache);
    let table = Node::new("table")
        .cells("phandle", &[1])
        .cells("opp-shared", &[])
        .child(point);
    blob(&Node::new("").child(cpus).child(table))
});

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, rest)) = bytes.split_first() else {
        return;
    };
    let file = match which {
        0 => rest.to_vec(),
        _ => {
            let mut file = BOARD.clone();
            for change in rest.chunks_exact(3) {
                let place = usize::from(u16::from_le_bytes([change[0], change[1]])) % file.len();
                file[place] = change[2];
            }
            file
        }
    };
    let _ = import_bytes(Path::new("fuzz.dtb"), &file, Some(Format::Dtb));
});
