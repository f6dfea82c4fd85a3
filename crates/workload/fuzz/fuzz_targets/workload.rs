// SPDX-License-Identifier: GPL-2.0-only
//! Any text, read as an rt-app file in both modes and as a command line: nothing panics, and what
//! loads satisfies `Workload::check`.
#![no_main]

use alight_workload::{Mode, Workload, lint};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    for mode in [Mode::Workgen, Mode::Rtapp] {
        if let Ok(loaded) = Workload::from_rtapp("fuzzed.json", &text, mode) {
            assert_eq!(loaded.workload.check(), Ok(()));
        }
        lint::render_json("fuzzed.json", mode, &lint::lint(&text, mode));
    }
    if let Ok(loaded) = Workload::from_command_line(&text) {
        assert_eq!(loaded.workload.check(), Ok(()));
    }
});
