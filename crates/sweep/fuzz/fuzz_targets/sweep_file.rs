// SPDX-License-Identifier: GPL-2.0-only
//! Any bytes as a sweep's file: read and its cells made by number, or refused,
//! without a panic. Nothing is simulated. Good seeds: the files in `sweeps/`.

#![no_main]

use alight_sweep::spec::Spec;
use alight_sweep::sweep::Sweep;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(spec) = Spec::parse("fuzz.toml", text) else {
        return;
    };
    // Files that the input names are none of its business, nor is this machine.
    let known = alight_machine::names();
    let is_known = |machine: &String| known.contains(&machine.as_str());
    let is_file = |workload: &String| workload.contains(['.', '/']);
    let mut workloads = spec.workloads.iter().flatten();
    if !spec.machines.iter().all(is_known) || workloads.any(is_file) {
        return;
    }
    let Ok(sweep) = Sweep::parse("fuzz.toml", text, &|_| ()) else {
        return;
    };
    let cells = sweep.cells();
    for number in [0, cells / 2, cells - 1] {
        let cell = sweep.cell(number);
        assert!(!cell.settings.is_empty());
        sweep.describe(&cell);
    }
    assert!(sweep.most_runs() > 0);
});
