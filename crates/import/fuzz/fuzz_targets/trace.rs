// SPDX-License-Identifier: GPL-2.0-only
//! Traces that are not what they seem: nothing panics, and errors of damage say where it is.
//!
//! The first byte chooses: the rest is a whole file (0), or changes to a capture that was right
//! before. A change is where (u24), how many bytes are overwritten from there on (1 to 8), and with
//! what (u64). The last change may cut the file short (length 0).
#![no_main]

use std::sync::LazyLock;

use alight_import::{Error, Options, import_bytes};
use libfuzzer_sys::fuzz_target;

macro_rules! captures {
    ($($name:literal),*) => {
        [$(&include_bytes!(concat!("../../tests/data/amd64-6.1-cloud/", $name, ".zst"))[..]),*]
    };
}

/// Captures of each form.
static CAPTURES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let packed = captures![
        "groups.data", "lost.data", "zstd.data", "pipe.data", "v7.dat", "v7plain.dat", "v6.dat",
        "ftrace.txt", "hotplug.script", "v7.raw"
    ];
    packed.map(|bytes| zstd::decode_all(bytes).expect("a capture")).to_vec()
});

/// A change of a file.
const CHANGE: usize = 12;

fuzz_target!(|bytes: &[u8]| {
    let Some((&which, rest)) = bytes.split_first() else {
        return;
    };
    let file = match which {
        0 => rest.to_vec(),
        _ => {
            let mut file = CAPTURES[usize::from(which - 1) % CAPTURES.len()].clone();
            for change in rest.chunks_exact(CHANGE) {
                let at = u32::from_le_bytes([change[0], change[1], change[2], 0]) as usize;
                let at = at % file.len().max(1);
                let count = usize::from(change[3] % 9);
                if count == 0 {
                    file.truncate(at);
                    break;
                }
                for (byte, value) in file.iter_mut().skip(at).zip(&change[4..4 + count]) {
                    *byte = *value;
                }
            }
            file
        }
    };
    match import_bytes(file, None, &Options::default()) {
        Ok(report) => drop(report.text()),
        Err(Error::Foreign(_) | Error::Asked(_)) => {}
        Err(error) => assert!(error.to_string().starts_with("at byte "), "{error}"),
    }
});
