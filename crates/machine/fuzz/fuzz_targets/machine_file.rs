// SPDX-License-Identifier: GPL-2.0-only
//! Any bytes as a machine file: read, checked, resolved and shown, or refused,
//! without a panic. Good seeds: the files in `machines/`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    // Files that the input names are none of its business.
    if text.contains("inherits") {
        return;
    }
    let Ok(draft) = alight_machine::parse("fuzz.toml", text) else {
        return;
    };
    alight_machine::check(&draft);
    if let Ok(sheet) = draft.resolve() {
        alight_machine::show(&sheet);
        alight_machine::to_json(&sheet);
    }
});
