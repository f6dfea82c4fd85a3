// SPDX-License-Identifier: GPL-2.0-only
//! Any bytes as XML of hwloc: taken or refused, without a panic.

#![no_main]

use std::path::Path;

use alight_machine_import::{Format, import_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = import_bytes(Path::new("fuzz"), bytes, Some(Format::Hwloc));
});
