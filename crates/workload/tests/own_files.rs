// SPDX-License-Identifier: GPL-2.0-only
//! The project's own workload files: read alike in both modes, and without a remark.

use alight_workload::{Mode, Workload};
use std::path::Path;

#[test]
fn own_files_load_alike_in_both_modes_and_need_no_remark() {
    // File, threads, what is measured besides loops.
    let table = [
        ("audio-chain", 3, &["tick_wakeup_latency_us"][..]),
        (
            "frame-pipeline",
            7,
            &["ui_wakeup_latency_us", "binder_wakeup_latency_us"],
        ),
        ("idle-hogs", 8, &["worker_wakeup_latency_us"]),
        ("light-tasks", 8, &["light0_wakeup_latency_us"]),
        ("lock-handover", 4, &["producer_wakeup_latency_us"]),
        (
            "periodic-mix",
            11,
            &["busy_wakeup_latency_us", "small_wakeup_latency_us"],
        ),
        ("ramp", 1, &["ramp_wakeup_latency_us"]),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads");
    for (name, threads, measured) in table {
        let path = folder.join(format!("{name}.json")).display().to_string();
        let load = |mode| Workload::load(&path, mode).unwrap_or_else(|e| panic!("{e}"));
        let (workgen, rtapp) = (load(Mode::Workgen), load(Mode::Rtapp));
        assert_eq!(workgen, rtapp, "{name}");
        assert_eq!(workgen.diagnostics, [], "{name}");
        assert_eq!(workgen.workload.tasks.len(), threads, "{name}");
        assert_eq!(workgen.workload.check(), Ok(()), "{name}");
        for measure in measured {
            let reported = workgen.workload.measures.iter().any(|m| m.name == *measure);
            assert!(reported, "{name}: {measure}");
        }
    }
    let files = std::fs::read_dir(folder).expect("a readable folder");
    let json = files.filter(|f| {
        f.as_ref()
            .is_ok_and(|f| f.path().extension().is_some_and(|e| e == "json"))
    });
    assert_eq!(json.count(), table.len(), "every file is in the table");
}
