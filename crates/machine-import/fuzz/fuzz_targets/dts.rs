// SPDX-License-Identifier: GPL-2.0-only
//! Sources of device trees that are not what they seem: taken or refused, without a panic.
//!
//! The first byte chooses: the rest is a whole source (0), or lines behind one that is right.

#![no_main]

use std::path::Path;

use alight_machine_import::{Format, import_bytes};
use libfuzzer_sys::fuzz_target;

const BOARD: &[u8] = include_bytes!("../../tests/data/board.dts");

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, rest)) = bytes.split_first() else {
        return;
    };
    let source = match which {
        0 => rest.to_vec(),
        _ => [BOARD, rest].concat(),
    };
    let _ = import_bytes(Path::new("fuzz.dts"), &source, Some(Format::Dts));
});
