// SPDX-License-Identifier: GPL-2.0-only

use alight_recording::workload::{Event, TaskFact, WorkloadWriter};
use alight_recording::{CpuFact, End, Header};

use super::*;
use crate::small::lines;
use crate::{TaskId, latency};

/// A recording of one task that is woken on CPU 0 and runs on CPU 1.
fn write(path: &Path, told: &[Capability]) {
    let cpu = |cpu, capacity| CpuFact {
        cpu,
        capacity,
        core: String::new(),
        cluster: String::new(),
        package: String::new(),
        llc: None,
    };
    let header = Header {
        kernel: "6.1.0".into(),
        arch: "x86_64".into(),
        cpus: vec![cpu(0, 512), cpu(1, 1024)],
        ..Header::default()
    };
    let mut writer = WorkloadWriter::create(path, header, 1).unwrap();
    writer
        .task(&TaskFact {
            time: 1000,
            pid: 100,
            comm: Some("mp3".into()),
            ..TaskFact::default()
        })
        .unwrap();
    let prio = 120;
    let events = [
        (
            1000,
            0,
            Recorded::Wakeup {
                pid: 100,
                prio,
                target_cpu: 1,
            },
        ),
        (
            1500,
            1,
            Recorded::Switch {
                prev: 0,
                prev_prio: prio,
                left: Left::Runnable,
                next: 100,
                next_prio: prio,
            },
        ),
        (
            2000,
            0,
            Recorded::Frequency {
                of_cpu: 1,
                khz: 1_000_000,
            },
        ),
    ];
    for (time, cpu, what) in events {
        writer.event(&Event { time, cpu, what }).unwrap();
    }
    writer
        .finish(End::default(), &told.iter().copied().collect())
        .unwrap();
}

#[test]
fn a_recording_is_a_trace_of_what_it_tells() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run.alight");
    write(&path, &[Capability::Wakeups, Capability::Frequency]);
    let trace = Trace::open(&path).unwrap();
    assert_eq!(trace.window, 1000..2000);
    assert_eq!(trace.known.capacities, [512, 1024]);
    assert_eq!(
        trace.available(),
        ["sched_switch", "sched_wakeup", "cpu_frequency"]
    );
    assert_eq!(
        lines(&latency::wakeup(&trace, &TaskId::parse("mp3")).unwrap()),
        ["Time wakeup_latency cpu target_cpu", "1000 5e-7 0 1"]
    );
    // The event of a frequency stands for the CPU whose clock it is.
    let clocks = trace.event("cpu_frequency").unwrap();
    assert_eq!(lines(&clocks)[1..], ["2000 1 1 1000000"]);
    assert_eq!(
        trace.event("cpu_idle").unwrap_err().to_string(),
        "the trace has no event `cpu_idle`: the recording lacks `idle`"
    );
    assert_eq!(
        trace.event("sched_pelt_se").unwrap_err().to_string(),
        "the trace has no event `sched_pelt_se`: runs of the model tell it, recordings do not"
    );
}

#[test]
fn a_file_that_is_no_recording_is_refused_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.alight");
    std::fs::write(&path, "no recording").unwrap();
    let error = Trace::open(&path).unwrap_err().to_string();
    assert!(
        error.starts_with(&format!("{}: ", path.display())),
        "{error}"
    );
    let missing = folder.path().join("none.alight");
    assert!(Trace::open(&missing).is_err());
}
