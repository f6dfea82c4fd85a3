// SPDX-License-Identifier: GPL-2.0-only
//! Every format, byte for byte. After a change that is meant, `ALIGHT_BLESS=1 cargo test -p alight-trace` writes the
//! files anew; read the difference, and run tests/check_pftrace.py on the protobuf one.

use std::path::PathBuf;

use alight_trace::Format;

use crate::run;

#[test]
fn each_format_is_byte_for_byte_as_it_was() {
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let written = tempfile::tempdir().unwrap();
    for (name, format) in [
        ("pair.pftrace", Format::Perfetto),
        ("pair.txt", Format::Ftrace),
        ("pair.raw.txt", Format::FtraceRaw),
    ] {
        let path = written.path().join(name);
        run::write(&path, format);
        if std::env::var_os("ALIGHT_BLESS").is_some() {
            std::fs::copy(&path, golden.join(name)).unwrap();
        }
        let (now, then) = (
            std::fs::read(&path).unwrap(),
            std::fs::read(golden.join(name)).unwrap(),
        );
        let differs = now.iter().zip(&then).position(|(a, b)| a != b);
        assert!(
            now == then,
            "{name}: {} bytes, once {}; first difference at byte {differs:?}",
            now.len(),
            then.len()
        );
    }
}
